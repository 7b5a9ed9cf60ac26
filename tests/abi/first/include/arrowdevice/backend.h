/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend.h
 * The backend table: the one header that the author of a backend includes.
 *
 * A backend drives one family of device types. It knows bytes, queues and events, and nothing of Arrow. It is a shared
 * object `libarrowdevice-<name>.so` that exports one symbol, arrowdevice_backend_entry(), or a table that the program
 * passes to arrowdevice_backend_register().
 *
 * Rules for every function of the table:
 *
 * - Handles (`void* device`, `queue`, `event`) are of the plugin's own making. Buffers are addresses or handles, as
 *   ARROWDEVICE_DEVICE_ADDRESSES of the device says.
 * - `error` is never NULL. A function that fails returns an errno value and fills `code`, `native_code` and `message`;
 *   the library fills `backend`. Out parameters of a failed call are not looked at.
 * - The library serialises the calls on one queue (copy, event_record, queue_wait_event, and buffer calls that name
 *   it). Everything else may be called from several threads at once.
 * - No exception leaves a function, and none disturbs the caller's vendor state (current context, current device).
 * - Plugins are opened with `RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE` and never unloaded.
 * - After `exit` has begun and in a child after `fork`, no function is called any more.
 *
 * What the fields of arrowdevice_native_device and arrowdevice_native_queue mean, by backend. Those that are not named
 * are ignored when a device is adopted or a queue wrapped, and NULL or 0 in what is given.
 *
 * - cuda: `context` the CUcontext, of the GPU whose ordinal is `device_id`. `device`, the ordinal as a number, and
 *   `api_version`, the driver's (12040 for CUDA 12.4), are filled in, and ignored when adopting. Queue: a CUstream of
 *   that context; NULL or 1 is the legacy default stream, 2 that of the calling thread.
 * - hip: `device` the ordinal as a number, `api_version` the runtime's (60200000 for HIP 6.2 and later patches of it).
 *   Queue: a hipStream_t; NULL or 1 is the default stream, 2 that of the calling thread.
 * - opencl: `context` the cl_context; `device` the cl_device_id, which may be NULL where the context has one device, or
 *   has the one that `device_id` counts; `platform` the cl_platform_id, given only. Queue: the cl_command_queue, in
 *   order, of that context and device.
 * - vulkan: `platform` VkInstance, `physical_device` VkPhysicalDevice, `device` VkDevice, `queue` VkQueue and
 *   `queue_family` its family, `get_proc_addr` vkGetInstanceProcAddr (NULL: the system's loader), `api_version` that of
 *   the instance (0: 1.1), `extensions` the device extensions that were enabled, `features` a VkPhysicalDeviceFeatures2
 *   with the chain that vkCreateDevice was given (NULL: nothing beyond 1.0), `lock` and `unlock` around every use of a
 *   VkQueue. Queue: `queue` VkQueue and `family` its family.
 * - level_zero: `context` the ze_context_handle_t, which its owner keeps until the device is retired; `device` the
 *   ze_device_handle_t, NULL for the GPU that `device_id` counts; `platform` the ze_driver_handle_t, given only. Queue:
 *   an immediate ze_command_list_handle_t of that context and device. All are handles of the loader.
 */
#ifndef ARROWDEVICE_BACKEND_H
#define ARROWDEVICE_BACKEND_H

#include "arrowdevice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the table that this header describes. It grows by appending; another number is another table. */
#define ARROWDEVICE_BACKEND_ABI_VERSION 1

/** Flags of arrowdevice_pointer_info */
#define ARROWDEVICE_POINTER_KNOWN 1         /* the driver knows the address or handle */
#define ARROWDEVICE_POINTER_HOST_READABLE 2 /* the CPU reads it in place */

/** One piece of a copy. Frozen. A NULL device is host memory; both ends are of this backend, or host memory. */
struct arrowdevice_backend_region {
  void *dst_device, *dst;
  int64_t dst_offset; /* bytes */
  void* src_device;
  const void* src;
  int64_t src_offset, size; /* bytes; size is more than 0 */
  uint64_t reserved;
};

/** What a driver knows of an address or handle. */
struct arrowdevice_pointer_info {
  uint32_t struct_size, flags; /* ARROWDEVICE_POINTER_* */
  ArrowDeviceType device_type;
  int32_t reserved;
  int64_t device_id;
  void* base;   /* start of the allocation, NULL if not known */
  int64_t size; /* bytes of the allocation, -1 if not known */
};

/**
 * The table. Required functions first, optional ones after. The library copies the lesser of `struct_size` and its own
 * size, so an old plugin works with a new library and a new plugin with an old one.
 */
struct arrowdevice_backend {
  uint32_t struct_size;                /* sizeof(struct arrowdevice_backend) as the plugin was compiled */
  uint32_t abi_version;                /* ARROWDEVICE_BACKEND_ABI_VERSION */
  const char* name;                    /* "cuda": 1 to 15 of a-z 0-9 _, the one in the file's name */
  const char* version;                 /* of the plugin, free text */
  const ArrowDeviceType* device_types; /* `n_device_types` of them, 1 at least */
  int32_t n_device_types;
  uint32_t reserved;

  /** How many devices of a type there are: ids 0 .. n-1. Starts the driver. No driver, no device: 0, not an error;
   *  ENODEV with a message where the reason is worth telling. */
  int (*device_count)(ArrowDeviceType device_type, int64_t* out, struct arrowdevice_error* error);
  /** Open a device. Called once for each; the handle lives as long as the process. */
  int (*device_open)(ArrowDeviceType device_type, int64_t device_id, void** device, struct arrowdevice_error* error);
  /** Fill everything but `struct_size`, `device_type`, `device_id` and `backend`, which the library fills. `out` is
   * zero but for `total_memory` -1 and alignments 1. */
  int (*device_get_info)(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error);
  /** Get memory, `size` > 0 bytes. `queue`: where it is used first, for stream-ordered allocation. */
  int (*buffer_allocate)(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                         struct arrowdevice_error* error);
  /** Give it back. `queue`: its work so far may still use the memory. NULL: nothing does. Must not block. */
  void (*buffer_free)(void* device, void* queue, void* buffer);
  /** Make an in-order queue. */
  int (*queue_create)(void* device, void** queue, struct arrowdevice_error* error);
  /** Let it go without waiting: work and events in flight survive. */
  void (*queue_destroy)(void* queue);
  /** Enqueue a whole batch. Only enqueues; host memory of the regions stays valid until the copies are done, the array
   *  `regions` does not. Buffers are what arrays carry, also those of other producers. Regions of one batch may run in
   *  any order. On failure any prefix may have been enqueued. */
  int (*queue_copy)(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                    struct arrowdevice_error* error);
  /** An internal event (a fence, a timeline value, whatever suits) that fires after the queue's work so far. */
  int (*event_record)(void* queue, void** event, struct arrowdevice_error* error);
  /** `*ready` becomes 1 or 0; a failed event is an error, EIO. Does not block. */
  int (*event_query)(void* event, int* ready, struct arrowdevice_error* error);
  /** Block until it fires: ETIMEDOUT after `timeout_ns`, EIO if the work failed. The
   *  convention of arrowdevice.h holds: 0 waits without limit, less than 0 does not wait. */
  int (*event_wait)(void* event, int64_t timeout_ns, struct arrowdevice_error* error);
  /** Work enqueued later on `queue` runs after `event`, which may be of another device of this backend. */
  int (*queue_wait_event)(void* queue, void* event, struct arrowdevice_error* error);
  /** Also while it is pending: what waits for it still waits. */
  void (*event_destroy)(void* event);

  /* Optional from here: NULL if not there; in pairs where marked. All are of table version 1. */

  /** The event in the form that the format names for the device type: a pointer to the native event, alive as long as
   *  the event. Absent, or without event_import: arrays are finished before they are published and carry NULL. */
  int (*event_publish)(void* event, void** sync_event, struct arrowdevice_error* error);
  /** A foreign published event as an internal one. Borrows: `event_destroy` leaves the foreign one alone. */
  int (*event_import)(void* device, void* sync_event, void** event, struct arrowdevice_error* error);
  /** Pair; required where buffers are handles. A part of a buffer as a buffer; may outlive nothing of its parent. */
  int (*sub_buffer_create)(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                           struct arrowdevice_error* error);
  void (*sub_buffer_destroy)(void* device, void* sub);
  /** Pair. An application's queue as one of ours, borrowed until queue_destroy; and the way back. */
  int (*queue_wrap)(void* device, const struct arrowdevice_native_queue* native, void** queue,
                    struct arrowdevice_error* error);
  int (*queue_get_native)(void* queue, struct arrowdevice_native_queue* out, struct arrowdevice_error* error);
  /** Pair. An application's context as a device; the same handles give the same device. One device_unwrap comes for
   * each successful device_wrap, the last one when nothing of the device is in use any more. */
  int (*device_wrap)(ArrowDeviceType device_type, int64_t device_id, const struct arrowdevice_native_device* native,
                     void** device, struct arrowdevice_error* error);
  int (*device_unwrap)(void* device, struct arrowdevice_error* error);
  /** The handles behind a device. */
  int (*device_get_native)(void* device, struct arrowdevice_native_device* out, struct arrowdevice_error* error);
  /** ARROWDEVICE_PEER_*: what `to` can do with memory of `from`. NULL is the host. Absent: direct copies to and from
   *  the host and within one device, nothing else. */
  int (*device_get_peer_flags)(void* from, void* to, uint32_t* out, struct arrowdevice_error* error);
  /** The device (context) that a foreign buffer or event belongs to; either may be NULL. EINVAL, ENOTSUP: that cannot
   * be told, and it is taken to be of the device with that id. After any other failure the array is refused with the
   *  message: ENODEV, if it belongs to none that can be used. */
  int (*device_locate)(ArrowDeviceType device_type, int64_t device_id, const void* buffer, void* sync_event,
                       void** device, struct arrowdevice_error* error);
  /** What the driver knows of an address or handle; not known is not an error. */
  int (*pointer_get_info)(void* device, const void* buffer, struct arrowdevice_pointer_info* out,
                          struct arrowdevice_error* error);
  /** Pair. Make ordinary host memory fast to copy from and to. */
  int (*host_register)(void* device, void* memory, int64_t size, struct arrowdevice_error* error);
  void (*host_unregister)(void* device, void* memory);
  /** Bytes free and in all. */
  int (*device_get_memory_info)(void* device, int64_t* free_bytes, int64_t* total_bytes,
                                struct arrowdevice_error* error);
};

/** The one symbol that a plugin exports. */
#define ARROWDEVICE_BACKEND_ENTRY "arrowdevice_backend_entry"

/**
 * The type of that symbol.
 *
 * @param host_abi  the table version that the library speaks.
 * @param error     filled when NULL is returned: why this backend is not to be used. Never NULL.
 * @return a table that stays valid as long as the process, or NULL.
 */
typedef const struct arrowdevice_backend* (*arrowdevice_backend_entry_function)(uint32_t host_abi,
                                                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_BACKEND_H */
