/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_ASYNC_H
#define ARROWDEVICE_ASYNC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN 0
#define ARROWDEVICE_ASYNC_LAYOUT_40_BYTES 1
#define ARROWDEVICE_ASYNC_LAYOUT_48_BYTES 2

struct arrowdevice_async_options {
  uint32_t struct_size;
  uint32_t flags;

  int32_t depth;

  int32_t upstream_layout;

  uint32_t copy_flags;
  uint32_t reserved;

  struct arrowdevice_queue* queue;
  struct arrowdevice_pool* pool;
  struct arrowdevice_device* source_device;

  int (*submit)(void* user, void (*job)(void* arg), void* arg);

  void* user;

  const char* (*get_metadata)(void* user, int32_t kind);
};

ARROWDEVICE_API int arrowdevice_async_produce(struct ArrowDeviceArrayStream* moved,
                                              struct ArrowAsyncDeviceStreamHandler* handler,
                                              const struct arrowdevice_async_options* options,
                                              struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_async_collect(ArrowDeviceType device_type,
                                              const struct arrowdevice_async_options* options,
                                              struct ArrowAsyncDeviceStreamHandler** out_handler,
                                              struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_async_to_device(struct ArrowAsyncDeviceStreamHandler* downstream,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_async_options* options,
                                                struct ArrowAsyncDeviceStreamHandler** out_upstream,
                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
