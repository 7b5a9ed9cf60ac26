/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_STREAM_H
#define ARROWDEVICE_STREAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_STREAM_READ_AHEAD 1

struct arrowdevice_stream_options {
  uint32_t struct_size;

  uint32_t flags;

  int32_t depth;

  uint32_t copy_flags;

  struct arrowdevice_queue* queue;

  struct arrowdevice_pool* pool;

  struct arrowdevice_device* source_device;

  int64_t timeout_ns;
};

#define ARROWDEVICE_METADATA_STREAM 0
#define ARROWDEVICE_METADATA_ITEM 1

ARROWDEVICE_API int arrowdevice_stream_from_arrays(struct ArrowSchema* moved, struct ArrowDeviceArray* moved_arrays,
                                                   int64_t n, ArrowDeviceType device_type,
                                                   struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_from_host(struct ArrowArrayStream* moved, struct ArrowDeviceArrayStream* out,
                                                 struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_to_host(struct ArrowDeviceArrayStream* moved,
                                               const struct arrowdevice_stream_options* options,
                                               struct ArrowArrayStream* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_to_device(struct ArrowDeviceArrayStream* moved, struct arrowdevice_device* to,
                                                 const struct arrowdevice_stream_options* options,
                                                 struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_get_schema(struct ArrowDeviceArrayStream* stream, struct ArrowSchema* out,
                                                  struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_get_next(struct ArrowDeviceArrayStream* stream, struct ArrowDeviceArray* out,
                                                struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_get_metadata(struct ArrowDeviceArrayStream* stream, int32_t kind,
                                                    const char** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_stream_cancel(struct ArrowDeviceArrayStream* stream, struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_stream_release(struct ArrowDeviceArrayStream* stream);

#ifdef __cplusplus
}
#endif

#endif
