/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_COPY_H
#define ARROWDEVICE_COPY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_COPY_ASYNC 1
#define ARROWDEVICE_COPY_ALWAYS 2
#define ARROWDEVICE_COPY_NEVER 4
#define ARROWDEVICE_COPY_NO_TRIM 8

struct arrowdevice_copy_options {
  uint32_t struct_size;

  uint32_t flags;

  struct arrowdevice_queue* queue;

  struct arrowdevice_pool* pool;

  struct arrowdevice_device* source_device;

  int64_t timeout_ns;
};

ARROWDEVICE_API int arrowdevice_array_copy(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                           struct arrowdevice_device* to,
                                           const struct arrowdevice_copy_options* options, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_to_device(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_copy_options* options,
                                                struct ArrowDeviceArray* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_to_host(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                              const struct arrowdevice_copy_options* options, struct ArrowArray* out,
                                              struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_array_to_host_async(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                                    const struct arrowdevice_copy_options* options,
                                                    void (*done)(void* user, struct ArrowArray* array,
                                                                 struct ArrowDeviceArray* source,
                                                                 const struct arrowdevice_error* error),
                                                    void* user, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
