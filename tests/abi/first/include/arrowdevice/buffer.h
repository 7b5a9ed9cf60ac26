/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_BUFFER_H
#define ARROWDEVICE_BUFFER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_POOL_WAIT_FOR_CONTEXT 1
#define ARROWDEVICE_POOL_SHAREABLE 2

struct arrowdevice_pool_options {
  uint32_t struct_size;

  uint32_t flags;

  int64_t max_cached_bytes;

  int64_t max_bytes;

  int (*allocate)(void* user, int64_t size, int64_t alignment, void* native_queue, void** out);

  void (*deallocate)(void* user, void* buffer, int64_t size, void* native_queue);

  void (*destroy)(void* user);
  void* user;
};

struct arrowdevice_pool_stats {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t used_bytes;
  int64_t cached_bytes;
  int64_t peak_bytes;
  int64_t allocations;
  int64_t driver_allocations;
};

ARROWDEVICE_API int arrowdevice_pool_create(struct arrowdevice_device* device,
                                            const struct arrowdevice_pool_options* options,
                                            struct arrowdevice_pool** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_pool_get_stats(const struct arrowdevice_pool* pool, struct arrowdevice_pool_stats* out,
                                               struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_pool_trim(struct arrowdevice_pool* pool, struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_pool_destroy(struct arrowdevice_pool* pool);

ARROWDEVICE_API int arrowdevice_buffer_allocate(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_queue* queue, int64_t size, void** out,
                                                struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_buffer_free(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                             void* buffer);

ARROWDEVICE_API int arrowdevice_sub_buffer_create(struct arrowdevice_device* device, const void* buffer, int64_t offset,
                                                  int64_t size, void** out, struct arrowdevice_error* error);

ARROWDEVICE_API void arrowdevice_sub_buffer_destroy(struct arrowdevice_device* device, void* sub);

#ifdef __cplusplus
}
#endif

#endif
