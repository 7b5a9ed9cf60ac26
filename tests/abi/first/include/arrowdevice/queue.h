/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_QUEUE_H
#define ARROWDEVICE_QUEUE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_native_queue {
  uint32_t struct_size;
  uint32_t family;
  void* queue;
};

struct arrowdevice_copy_region {
  struct arrowdevice_device* dst_device;
  void* dst;
  int64_t dst_offset;
  struct arrowdevice_device* src_device;
  const void* src;
  int64_t src_offset;
  int64_t size;
  uint64_t reserved;
};

ARROWDEVICE_API int arrowdevice_queue_create(struct arrowdevice_device* device, struct arrowdevice_queue** out,
                                             struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_queue_wrap(struct arrowdevice_device* device,
                                           const struct arrowdevice_native_queue* native,
                                           struct arrowdevice_queue** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_queue_get_native(const struct arrowdevice_queue* queue,
                                                 struct arrowdevice_native_queue* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_queue_copy(struct arrowdevice_queue* queue,
                                           const struct arrowdevice_copy_region* regions, int64_t n,
                                           struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_queue_wait_array(struct arrowdevice_queue* queue, const struct ArrowDeviceArray* array,
                                                 struct arrowdevice_device* source_device,
                                                 struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_queue_finish(struct arrowdevice_queue* queue, int64_t timeout_ns,
                                             struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_queue_destroy(struct arrowdevice_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
