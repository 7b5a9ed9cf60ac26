/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, pools and buffers. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>

#include "program.h"

enum { SIZE = 256, HALF = SIZE / 2 };

static void check_queue(struct arrowdevice_device* device, int required_only) {
  int handle = 0;
  struct arrowdevice_queue *queue, *wrapped;
  struct arrowdevice_native_queue native = {.struct_size = sizeof native, .family = 11, .queue = &handle};
  OK(arrowdevice_queue_create(device, &queue, &error));
  OK(arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, &error));
  if (required_only) {
    FAILS(ENOTSUP, arrowdevice_queue_wrap(device, &native, &wrapped, &error));
    CHECK(wrapped == NULL);
    FAILS(ENOTSUP, arrowdevice_queue_get_native(queue, &native, &error));
  } else {
    OK(arrowdevice_queue_wrap(device, &native, &wrapped, &error));
    memset(&native, 0, sizeof native);
    native.struct_size = sizeof native;
    OK(arrowdevice_queue_get_native(wrapped, &native, &error));
    CHECK(native.struct_size == sizeof native && native.family == 11 && native.queue == &handle);
    arrowdevice_queue_destroy(wrapped);
  }
  arrowdevice_queue_destroy(queue);
}

/* -- a pool over the program's own allocator */

struct own {
  int allocations, deallocations, destroyed;
};

static int own_allocate(void* user, int64_t size, int64_t alignment, void* native_queue, void** out) {
  struct own* own = user;
  (void)native_queue;
  ++own->allocations;
  return posix_memalign(out, (size_t)(alignment > 64 ? alignment : 64), (size_t)size);
}

static void own_deallocate(void* user, void* buffer, int64_t size, void* native_queue) {
  struct own* own = user;
  (void)size, (void)native_queue;
  ++own->deallocations;
  free(buffer);
}

static void own_destroy(void* user) { ++((struct own*)user)->destroyed; }

static void check_own_pool(struct arrowdevice_device* cpu) {
  struct own own = {0, 0, 0};
  const struct arrowdevice_pool_options options = {.struct_size = sizeof options,
                                                   .max_cached_bytes = -1,
                                                   .max_bytes = 1 << 20,
                                                   .allocate = own_allocate,
                                                   .deallocate = own_deallocate,
                                                   .destroy = own_destroy,
                                                   .user = &own};
  struct arrowdevice_pool* pool;
  void* buffer;
  OK(arrowdevice_pool_create(cpu, &options, &pool, &error));
  OK(arrowdevice_buffer_allocate(cpu, pool, NULL, SIZE, &buffer, &error));
  CHECK(own.allocations == 1);
  arrowdevice_buffer_free(cpu, NULL, buffer);
  CHECK(own.deallocations == 1);
  FAILS(ENOMEM, arrowdevice_buffer_allocate(cpu, pool, NULL, 2 << 20, &buffer, &error));
  arrowdevice_pool_destroy(pool);
  CHECK(own.destroyed == 1);
}

/* -- a pool over the driver's */

static void check_pool(struct arrowdevice_device* device) {
  const struct arrowdevice_pool_options options = {.struct_size = sizeof options, .max_cached_bytes = 1 << 20};
  struct arrowdevice_pool_stats stats = {.struct_size = sizeof stats};
  struct arrowdevice_pool *pool, *own, *used;
  void* buffer;
  OK(arrowdevice_pool_create(device, &options, &pool, &error));
  OK(arrowdevice_device_get_pool(device, &own, &error));
  CHECK(own != NULL && own != pool);
  OK(arrowdevice_device_set_pool(device, pool, &error));
  OK(arrowdevice_device_get_pool(device, &used, &error));
  CHECK(used == pool);

  OK(arrowdevice_buffer_allocate(device, NULL, NULL, SIZE, &buffer, &error));
  OK(arrowdevice_pool_get_stats(pool, &stats, &error));
  CHECK(stats.struct_size == sizeof stats);
  CHECK(stats.used_bytes >= SIZE);
  CHECK(stats.allocations == 1);
  CHECK(stats.driver_allocations == 1);
  arrowdevice_buffer_free(device, NULL, buffer);
  OK(arrowdevice_pool_get_stats(pool, &stats, &error));
  CHECK(stats.used_bytes == 0);
  CHECK(stats.cached_bytes >= SIZE);
  CHECK(stats.peak_bytes >= stats.cached_bytes);
  OK(arrowdevice_pool_trim(pool, &error));
  OK(arrowdevice_pool_get_stats(pool, &stats, &error));
  CHECK(stats.cached_bytes == 0);

  OK(arrowdevice_device_set_pool(device, NULL, &error));
  OK(arrowdevice_device_get_pool(device, &used, &error));
  CHECK(used == own);
  arrowdevice_pool_destroy(pool);
}

/* -- bytes to the device, within it in swapped halves, and back */

static void check_copies(struct arrowdevice_device* device) {
  unsigned char in[SIZE], out[SIZE];
  for (int i = 0; i < SIZE; ++i) in[i] = (unsigned char)(i * 7 + 3);
  memset(out, 0, sizeof out);

  struct arrowdevice_queue* queue;
  void *first, *second, *part;
  OK(arrowdevice_queue_create(device, &queue, &error));
  OK(arrowdevice_buffer_allocate(device, NULL, queue, SIZE, &first, &error));
  OK(arrowdevice_buffer_allocate(device, NULL, queue, SIZE, &second, &error));
  OK(arrowdevice_sub_buffer_create(device, second, HALF, HALF, &part, &error));
  CHECK((char*)part == (char*)second + HALF); /* a device with addresses */

  const struct arrowdevice_copy_region in_regions[] = {
      {.dst_device = device, .dst = first, .src = in, .size = HALF},
      {.dst_device = device, .dst = first, .dst_offset = HALF, .src = in, .src_offset = HALF, .size = HALF},
  };
  const struct arrowdevice_copy_region within[] = {
      {.dst_device = device, .dst = second, .src_device = device, .src = first, .src_offset = HALF, .size = HALF},
      {.dst_device = device, .dst = part, .src_device = device, .src = first, .size = HALF},
  };
  const struct arrowdevice_copy_region back[] = {{.dst = out, .src_device = device, .src = second, .size = SIZE}};
  OK(arrowdevice_queue_copy(queue, in_regions, 2, &error));
  OK(arrowdevice_queue_copy(queue, within, 2, &error));
  OK(arrowdevice_queue_copy(queue, back, 1, &error));
  OK(arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, &error));
  CHECK(memcmp(out, in + HALF, HALF) == 0);
  CHECK(memcmp(out + HALF, in, HALF) == 0);

  const struct arrowdevice_copy_region negative[] = {{.dst = out, .src_device = device, .src = second, .size = -1}};
  FAILS(EINVAL, arrowdevice_queue_copy(queue, negative, 1, &error));
  arrowdevice_sub_buffer_destroy(device, part);
  arrowdevice_buffer_free(device, queue, second);
  arrowdevice_buffer_free(device, queue, first);
  arrowdevice_buffer_free(device, NULL, in); /* not freed, but logged */
  arrowdevice_queue_destroy(queue);
}

void check_bytes(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only) {
  check_queue(device, required_only);
  check_own_pool(cpu);
  check_pool(device);
  check_copies(device);
}
