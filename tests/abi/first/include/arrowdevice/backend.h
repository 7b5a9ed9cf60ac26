/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_BACKEND_H
#define ARROWDEVICE_BACKEND_H

#include "arrowdevice.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARROWDEVICE_BACKEND_ABI_VERSION 1

#define ARROWDEVICE_POINTER_KNOWN 1
#define ARROWDEVICE_POINTER_HOST_READABLE 2

struct arrowdevice_backend_region {
  void *dst_device, *dst;
  int64_t dst_offset;
  void* src_device;
  const void* src;
  int64_t src_offset, size;
  uint64_t reserved;
};

struct arrowdevice_pointer_info {
  uint32_t struct_size, flags;
  ArrowDeviceType device_type;
  int32_t reserved;
  int64_t device_id;
  void* base;
  int64_t size;
};

#define ARROWDEVICE_MEMORY_DESCRIPTOR 1
#define ARROWDEVICE_MEMORY_BYTES 2

struct arrowdevice_memory_record {
  uint32_t struct_size;
  int32_t kind;
  int32_t descriptor;
  uint32_t memory_type;
  int64_t size;
  uint8_t device_uuid[16];
  uint8_t driver_uuid[16];
  uint8_t bytes[72];
};

struct arrowdevice_backend {
  uint32_t struct_size;
  uint32_t abi_version;
  const char* name;
  const char* version;
  const ArrowDeviceType* device_types;
  int32_t n_device_types;
  uint32_t reserved;

  int (*device_count)(ArrowDeviceType device_type, int64_t* out, struct arrowdevice_error* error);

  int (*device_open)(ArrowDeviceType device_type, int64_t device_id, void** device, struct arrowdevice_error* error);

  int (*device_get_info)(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error);

  int (*buffer_allocate)(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                         struct arrowdevice_error* error);

  void (*buffer_free)(void* device, void* queue, void* buffer);

  int (*queue_create)(void* device, void** queue, struct arrowdevice_error* error);

  void (*queue_destroy)(void* queue);

  int (*queue_copy)(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                    struct arrowdevice_error* error);

  int (*event_record)(void* queue, void** event, struct arrowdevice_error* error);

  int (*event_query)(void* event, int* ready, struct arrowdevice_error* error);

  int (*event_wait)(void* event, int64_t timeout_ns, struct arrowdevice_error* error);

  int (*queue_wait_event)(void* queue, void* event, struct arrowdevice_error* error);

  void (*event_destroy)(void* event);

  int (*event_publish)(void* event, void** sync_event, struct arrowdevice_error* error);

  int (*event_import)(void* device, void* sync_event, void** event, struct arrowdevice_error* error);

  int (*sub_buffer_create)(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                           struct arrowdevice_error* error);

  void (*sub_buffer_destroy)(void* device, void* sub);

  int (*queue_wrap)(void* device, const struct arrowdevice_native_queue* native, void** queue,
                    struct arrowdevice_error* error);

  int (*queue_get_native)(void* queue, struct arrowdevice_native_queue* out, struct arrowdevice_error* error);

  int (*device_wrap)(ArrowDeviceType device_type, int64_t device_id, const struct arrowdevice_native_device* native,
                     void** device, struct arrowdevice_error* error);

  int (*device_unwrap)(void* device, struct arrowdevice_error* error);

  int (*device_get_native)(void* device, struct arrowdevice_native_device* out, struct arrowdevice_error* error);

  int (*device_get_peer_flags)(void* from, void* to, uint32_t* out, struct arrowdevice_error* error);

  int (*device_locate)(ArrowDeviceType device_type, int64_t device_id, const void* buffer, void* sync_event,
                       void** device, struct arrowdevice_error* error);

  int (*pointer_get_info)(void* device, const void* buffer, struct arrowdevice_pointer_info* out,
                          struct arrowdevice_error* error);

  int (*device_get_memory_info)(void* device, int64_t* free_bytes, int64_t* total_bytes,
                                struct arrowdevice_error* error);

  int (*device_record_event)(void* device, void** event, struct arrowdevice_error* error);

  void (*device_trim)(void* device);

  int (*staging_allocate)(void* device, int64_t size, void** out, struct arrowdevice_error* error);

  void (*staging_free)(void* device, void* memory);

  int (*shareable_allocate)(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                            struct arrowdevice_error* error);

  void (*shareable_free)(void* device, void* queue, void* buffer);

  int (*memory_export)(void* device, const void* buffer, struct arrowdevice_memory_record* out,
                       struct arrowdevice_error* error);

  int (*memory_import)(void* device, const struct arrowdevice_memory_record* record, void** buffer, int64_t* size,
                       struct arrowdevice_error* error);

  void (*memory_close)(void* device, void* buffer);
};

#define ARROWDEVICE_BACKEND_ENTRY "arrowdevice_backend_entry"

typedef const struct arrowdevice_backend* (*arrowdevice_backend_entry_function)(uint32_t host_abi,
                                                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
