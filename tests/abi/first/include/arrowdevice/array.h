/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_ARRAY_H
#define ARROWDEVICE_ARRAY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_VALIDATE_STRUCTURE 0
#define ARROWDEVICE_VALIDATE_FULL 1
#define ARROWDEVICE_VALIDATE_STRICT 2

ARROWDEVICE_API int arrowdevice_array_export(struct arrowdevice_device* device, struct ArrowArray* moved,
                                             struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                             struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_export_event(struct arrowdevice_device* device, struct ArrowArray* moved,
                                                   void* sync_event,
                                                   void (*event_release)(void* user, void* sync_event), void* user,
                                                   struct ArrowDeviceArray* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_from_host(struct ArrowArray* moved, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_get_device(const struct ArrowDeviceArray* array, struct arrowdevice_device** out,
                                                 struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_array_move(struct ArrowDeviceArray* from, struct ArrowDeviceArray* to);

ARROWDEVICE_API void arrowdevice_array_release(struct ArrowDeviceArray* array);

ARROWDEVICE_API int arrowdevice_array_release_after(struct ArrowDeviceArray* moved, struct arrowdevice_queue* queue,
                                                    struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_share(struct ArrowDeviceArray* inout, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_is_ready(const struct ArrowDeviceArray* array,
                                               struct arrowdevice_device* source_device, int* out,
                                               struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_wait(const struct ArrowDeviceArray* array,
                                           struct arrowdevice_device* source_device, int64_t timeout_ns,
                                           struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_open_eventfd(const struct ArrowDeviceArray* array,
                                                   struct arrowdevice_device* source_device, int* out,
                                                   struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_slice(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                            int64_t offset, int64_t length, struct ArrowDeviceArray* out,
                                            struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_select(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                             const int64_t* children, int64_t n, struct ArrowDeviceArray* out,
                                             struct ArrowSchema* out_schema, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_validate(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                               struct arrowdevice_device* source_device, int level,
                                               struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_schema_copy(const struct ArrowSchema* schema, struct ArrowSchema* out,
                                            struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_schema_release(struct ArrowSchema* schema);

ARROWDEVICE_API void arrowdevice_host_array_release(struct ArrowArray* array);

#ifdef __cplusplus
}
#endif

#endif
