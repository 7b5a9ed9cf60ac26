/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_DEVICE_H
#define ARROWDEVICE_DEVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_DEVICE_ADDRESSES 1
#define ARROWDEVICE_DEVICE_HOST_READABLE 2
#define ARROWDEVICE_DEVICE_EVENTS 4
#define ARROWDEVICE_DEVICE_WAIT_BLOCKS 8
#define ARROWDEVICE_DEVICE_WRAPPED 16
#define ARROWDEVICE_DEVICE_COPY_BLOCKS 32

#define ARROWDEVICE_DEVICE_STREAM_ORDERED 64
#define ARROWDEVICE_DEVICE_SHAREABLE 128

#define ARROWDEVICE_PEER_ACCESS 1
#define ARROWDEVICE_PEER_COPY 2
#define ARROWDEVICE_PEER_REMOTE 4

struct arrowdevice_device_info {
  uint32_t struct_size;
  ArrowDeviceType device_type;
  int64_t device_id;
  char name[128];
  char vendor[64];
  char backend[16];
  uint8_t uuid[16];
  int64_t total_memory;
  int64_t buffer_alignment;
  int64_t sub_buffer_alignment;
  uint64_t flags;
  ArrowDeviceType staging_type;
  int32_t numa_node;
};

struct arrowdevice_device_counters {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t driver_allocations;
  int64_t submissions;
  int64_t regions;
  int64_t events;
  int64_t host_waits;
  int64_t readbacks;
  int64_t bytes_in;
  int64_t bytes_out;
  int64_t staged_bytes;
};

struct arrowdevice_native_device {
  uint32_t struct_size, queue_family, api_version, n_extensions;
  void *platform, *physical_device, *device, *context, *queue, *get_proc_addr;
  const char* const* extensions;
  const void* features;

  void (*lock)(void* user, void* native_queue);
  void (*unlock)(void* user, void* native_queue);
  void* lock_user;
};

ARROWDEVICE_API int arrowdevice_device_find_by_id(ArrowDeviceType device_type, int64_t device_id,
                                                  struct arrowdevice_device** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_find_by_name(const char* name, struct arrowdevice_device** out,
                                                    struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_count(ArrowDeviceType device_type, int64_t* out,
                                             struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_list(struct arrowdevice_device** out, int64_t capacity, int64_t* count,
                                            struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_get_info(const struct arrowdevice_device* device,
                                                struct arrowdevice_device_info* out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_get_peer_flags(const struct arrowdevice_device* from,
                                                      const struct arrowdevice_device* to, uint32_t* out,
                                                      struct arrowdevice_error* error);

ARROWDEVICE_API const char* arrowdevice_device_type_get_name(ArrowDeviceType device_type);

ARROWDEVICE_API int arrowdevice_device_get_memory_info(const struct arrowdevice_device* device, int64_t* free_bytes,
                                                       int64_t* total_bytes, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_get_counters(const struct arrowdevice_device* device,
                                                    struct arrowdevice_device_counters* out,
                                                    struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_wrap(ArrowDeviceType device_type, int64_t device_id,
                                            const struct arrowdevice_native_device* native,
                                            struct arrowdevice_device** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_unwrap(struct arrowdevice_device* device, int64_t timeout_ns,
                                              struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_get_native(const struct arrowdevice_device* device,
                                                  struct arrowdevice_native_device* out,
                                                  struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_set_pool(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_device_get_pool(const struct arrowdevice_device* device, struct arrowdevice_pool** out,
                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
