/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend.h
 * The backend table: the only header that the author of a backend includes.
 *
 * A backend drives one family of device types. It works with bytes, queues and events, and knows no
 * Arrow types. It is either a shared object `libarrowdevice-<name>.so` that exports
 * arrowdevice_backend_entry(), or a table that the application passes to
 * arrowdevice_backend_register().
 *
 * Rules for every function of the table:
 *
 * - The backend defines its handles (`void* device`, `queue`, `event`). Buffers are addresses or
 *   handles, as the device's flag ARROWDEVICE_DEVICE_ADDRESSES says.
 * - `error` is never NULL. A function that fails returns an errno value and fills `code`,
 *   `native_code` and `message`. The library fills `backend`. If a call fails, the library does not
 *   read its out parameters.
 * - The library makes one call at a time on a queue: queue_copy, event_record, queue_wait_event,
 *   and buffer functions with that queue. It may make all other calls from several threads at once.
 * - No function throws, and none changes the caller's vendor state, such as the current context or
 *   device.
 * - The library opens plugins with `RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE` and never unloads them.
 * - The library calls no function after `exit` has begun, nor in a child process after `fork`.
 *
 * The manual of each backend, `backends/<name>/README.md`, says how it uses the fields of
 * arrowdevice_native_device and arrowdevice_native_queue. When a backend wraps a context or queue,
 * it ignores the fields that its manual does not name. When it gives handles, these fields are NULL
 * or 0.
 */
#ifndef ARROWDEVICE_BACKEND_H
#define ARROWDEVICE_BACKEND_H

#include "arrowdevice.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the table in this header. A table grows at its end and keeps its version. */
#define ARROWDEVICE_BACKEND_ABI_VERSION 1

/* Flags of arrowdevice_pointer_info */
#define ARROWDEVICE_POINTER_KNOWN 1         /* the driver knows the address or handle */
#define ARROWDEVICE_POINTER_HOST_READABLE 2 /* the CPU reads the memory in place */

/**
 * One region of a copy. The struct is frozen: it never grows, because it is passed in arrays.
 * `dst_device` and `src_device` are devices of this backend, or NULL for memory of the program.
 */
struct arrowdevice_backend_region {
  void *dst_device, *dst;
  int64_t dst_offset; /* bytes */
  void* src_device;
  const void* src;
  int64_t src_offset, size; /* bytes; size is more than 0 */
  uint64_t reserved;
};

/**
 * Facts that a driver has about an address or handle. The type ARROW_DEVICE_CPU stands for memory
 * of the program that the device uses in place, although no call of the driver allocated it.
 */
struct arrowdevice_pointer_info {
  uint32_t struct_size, flags; /* ARROWDEVICE_POINTER_* */
  ArrowDeviceType device_type;
  int32_t reserved;
  int64_t device_id;
  void* base;   /* start of the allocation, NULL if it is unknown */
  int64_t size; /* bytes of the allocation, -1 if they are unknown */
};

/* Kinds of arrowdevice_memory_record */
#define ARROWDEVICE_MEMORY_DESCRIPTOR 1 /* `descriptor` refers to the memory */
#define ARROWDEVICE_MEMORY_BYTES 2      /* `bytes` name the memory */

/** Memory of one process as another process of the same machine opens it. */
struct arrowdevice_memory_record {
  uint32_t struct_size;
  int32_t kind;            /* ARROWDEVICE_MEMORY_* */
  int32_t descriptor;      /* file descriptor, or -1 */
  uint32_t memory_type;    /* the vendor's number for the kind of memory, or 0 */
  int64_t size;            /* bytes of the whole allocation */
  uint8_t device_uuid[16]; /* as in arrowdevice_device_info; zeros for the CPU */
  uint8_t driver_uuid[16]; /* of the driver, if the vendor has such an id; else zeros */
  uint8_t bytes[72];       /* for ARROWDEVICE_MEMORY_BYTES */
};

/**
 * The table. Required functions come first, optional ones follow.
 *
 * The library copies the smaller of `struct_size` and its own size. An old plugin therefore works
 * with a new library, and a new plugin works with an old library.
 */
struct arrowdevice_backend {
  uint32_t struct_size;                /* sizeof(struct arrowdevice_backend) when the plugin was compiled */
  uint32_t abi_version;                /* ARROWDEVICE_BACKEND_ABI_VERSION */
  const char* name;                    /* 1 to 15 of a-z, 0-9 and _, such as "cuda"; the file's name has it too */
  const char* version;                 /* version of the plugin, free text */
  const ArrowDeviceType* device_types; /* `n_device_types` types, at least 1 */
  int32_t n_device_types;
  uint32_t reserved;

  /**
   * Counts the devices of a type, whose ids are 0 to n-1. Starts the driver. If there is no driver
   * or no device, the call either succeeds with a count of 0, or fails with ENODEV and a message
   * that helps the user. arrowdevice_device_count() reports 0 in both cases.
   */
  int (*device_count)(ArrowDeviceType device_type, int64_t* out, struct arrowdevice_error* error);
  /**
   * Opens a device. The library calls it once for each device and uses the handle until the process
   * ends.
   */
  int (*device_open)(ArrowDeviceType device_type, int64_t device_id, void** device, struct arrowdevice_error* error);
  /**
   * Fills all fields but `struct_size`, `device_type`, `device_id` and `backend`, which the library
   * fills. Before the call, `total_memory` and `numa_node` are -1, the alignments are 1, and all
   * other fields are 0.
   */
  int (*device_get_info)(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error);
  /**
   * Allocates memory. `size` is in bytes and more than 0. If `queue` is not NULL, it uses the
   * memory first. If the memory is usable only after the work that `queue` has at the time of the
   * call, the backend sets ARROWDEVICE_DEVICE_STREAM_ORDERED in device_get_info(). The library then
   * lets other queues use the memory only after that work. If nothing can be allocated for the queue
   * now, such as during a capture, the call fails with EBUSY, and the library asks without a queue.
   */
  int (*buffer_allocate)(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                         struct arrowdevice_error* error);
  /**
   * Frees memory. If `queue` is not NULL, its work so far may still use the memory. If it is NULL,
   * no work does. Must not block.
   */
  void (*buffer_free)(void* device, void* queue, void* buffer);
  /** Creates an in-order queue. */
  int (*queue_create)(void* device, void** queue, struct arrowdevice_error* error);
  /** Destroys a queue without a wait. Work and events in flight survive. */
  void (*queue_destroy)(void* queue);
  /**
   * Enqueues a batch of copies. Regions of one batch may run in any order.
   * Host memory of the regions stays valid until the copies are complete, but the array `regions`
   * does not. `dst` and `src` are pointers or handles as in `ArrowArray.buffers`, and may come from
   * a foreign producer. If the call fails, the backend may have enqueued the first regions.
   *
   * Some drivers wait for the queue's work when they copy pageable host memory, or copy from host
   * memory to host memory. The backend of such a driver sets ARROWDEVICE_DEVICE_COPY_BLOCKS in
   * device_get_info().
   */
  int (*queue_copy)(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                    struct arrowdevice_error* error);
  /**
   * Records an internal event, such as a fence or a timeline value, that fires after the queue's
   * work so far.
   */
  int (*event_record)(void* queue, void** event, struct arrowdevice_error* error);
  /**
   * Sets `*ready` to 1 if the event has fired, else to 0. Fails with EIO only if the work failed or
   * the device is lost. EIO promises that the work no longer uses its memory. Any other code means
   * that the driver cannot tell: the library then keeps the memory and asks again. Does not block.
   */
  int (*event_query)(void* event, int* ready, struct arrowdevice_error* error);
  /**
   * Waits until the event fires. EIO means the same as in event_query. `timeout_ns` is as in
   * arrowdevice.h: if it is greater than 0, the call fails with ETIMEDOUT after this time.
   * ARROWDEVICE_NO_TIMEOUT (0) waits without limit. If it is less than 0, the call does not wait,
   * and fails with ETIMEDOUT if the event has not fired.
   */
  int (*event_wait)(void* event, int64_t timeout_ns, struct arrowdevice_error* error);
  /**
   * Makes work that is enqueued later on `queue` run after `event`, which may be of another device
   * of this backend.
   */
  int (*queue_wait_event)(void* queue, void* event, struct arrowdevice_error* error);
  /** Destroys an event. If the event is pending, work that waits for it still waits. */
  void (*event_destroy)(void* event);

  /* Optional functions follow. An absent function is NULL. The functions of a pair are both present or both absent. All
   * are of table version 1. */

  /**
   * Gives a pointer to the native event, in the form that the format defines for the device type.
   * The native event lives as long as the event. If this function or event_import is absent, the
   * library waits until an array is ready before it gives the array out, and `sync_event` is NULL.
   */
  int (*event_publish)(void* event, void** sync_event, struct arrowdevice_error* error);
  /**
   * Imports a foreign published event. The backend borrows it: `event_destroy` leaves the foreign
   * event alone.
   */
  int (*event_import)(void* device, void* sync_event, void** event, struct arrowdevice_error* error);
  /**
   * Creates a sub-buffer, which the library destroys before it frees the parent. A pair with
   * sub_buffer_destroy. The pair is required if buffers are handles.
   */
  int (*sub_buffer_create)(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                           struct arrowdevice_error* error);
  /** Destroys a sub-buffer. */
  void (*sub_buffer_destroy)(void* device, void* sub);
  /**
   * Wraps an application's queue, which is borrowed until queue_destroy. A pair with
   * queue_get_native.
   */
  int (*queue_wrap)(void* device, const struct arrowdevice_native_queue* native, void** queue,
                    struct arrowdevice_error* error);
  /**
   * Gives the vendor's handle behind a queue. The application may then submit work to it: later
   * waits of the queue take effect at once, and later events cover that work.
   */
  int (*queue_get_native)(void* queue, struct arrowdevice_native_queue* out, struct arrowdevice_error* error);
  /**
   * Wraps an application's context as a device. The same handles give the same device. A pair with
   * device_unwrap.
   */
  int (*device_wrap)(ArrowDeviceType device_type, int64_t device_id, const struct arrowdevice_native_device* native,
                     void** device, struct arrowdevice_error* error);
  /**
   * Undoes one device_wrap. The library calls it once for each successful device_wrap. It makes the
   * last call when nothing of the device is in use.
   */
  int (*device_unwrap)(void* device, struct arrowdevice_error* error);
  /** Gives the handles behind a device. */
  int (*device_get_native)(void* device, struct arrowdevice_native_device* out, struct arrowdevice_error* error);
  /**
   * Reports how `to` can use memory of `from`, as ARROWDEVICE_PEER_*. NULL means the host.
   * Without this function, the library makes direct copies only between the host and a device, and
   * within one device.
   */
  int (*device_get_peer_flags)(void* from, void* to, uint32_t* out, struct arrowdevice_error* error);
  /**
   * Finds the device (context) to which a foreign buffer or event belongs. Either may be NULL. If
   * the backend cannot tell, it fails with EINVAL or ENOTSUP, and the library uses the device with
   * that id. If it fails with another code, the library refuses the array with that error. It fails
   * with ENODEV if the buffer belongs to no device that it can use.
   */
  int (*device_locate)(ArrowDeviceType device_type, int64_t device_id, const void* buffer, void* sync_event,
                       void** device, struct arrowdevice_error* error);
  /**
   * Describes an address or handle. If the driver does not know it, the call succeeds without
   * ARROWDEVICE_POINTER_KNOWN.
   */
  int (*pointer_get_info)(void* device, const void* buffer, struct arrowdevice_pointer_info* out,
                          struct arrowdevice_error* error);
  /** Reports the free bytes and all bytes of a device. */
  int (*device_get_memory_info)(void* device, int64_t* free_bytes, int64_t* total_bytes,
                                struct arrowdevice_error* error);
  /**
   * Records an internal event that fires after all work of the device's context so far, on all
   * queues, those of the application included. Fails with ENOTSUP if the driver cannot.
   */
  int (*device_record_event)(void* device, void** event, struct arrowdevice_error* error);
  /**
   * Returns memory that the backend keeps for later allocations to the system, and destroys objects
   * that it keeps for reuse. Memory and objects that are in use stay.
   */
  void (*device_trim)(void* device);
  /**
   * Allocates staging memory: host memory that the driver copies from and to the device fast and
   * without a wait. `size` is in bytes and more than 0. The CPU reads and writes the memory by its
   * address. In regions it is memory of the program, so its device is NULL.
   *
   * The library stages copies of pageable memory in it, if the device has no `staging_type`. If the
   * backend lacks this function too, the library stages in plain memory. A pair with staging_free.
   */
  int (*staging_allocate)(void* device, int64_t size, void** out, struct arrowdevice_error* error);
  /** Frees staging memory that no work uses. Must not block. */
  void (*staging_free)(void* device, void* memory);
  /**
   * Allocates memory that memory_export() can export. The arguments are those of buffer_allocate.
   * Bytes that nobody has written are 0. A pair with shareable_free.
   */
  int (*shareable_allocate)(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                            struct arrowdevice_error* error);
  /** Frees memory of shareable_allocate. The rules are those of buffer_free. */
  void (*shareable_free)(void* device, void* queue, void* buffer);
  /**
   * Exports an allocation of shareable_allocate, from its start. Before the call, `descriptor` is -1
   * and all other fields are 0. A descriptor is new and closes on `exec`. The caller closes it.
   * Required with shareable_allocate.
   */
  int (*memory_export)(void* device, const void* buffer, struct arrowdevice_memory_record* out,
                       struct arrowdevice_error* error);
  /**
   * Opens memory that another process exported. Borrows the descriptor. `*size` receives the bytes
   * of the memory as the kernel or the driver reports them. The backend trusts no number of the
   * record. It fails with EINVAL if the memory could become smaller later, or if the record does not
   * name such memory. A pair with memory_close.
   */
  int (*memory_import)(void* device, const struct arrowdevice_memory_record* record, void** buffer, int64_t* size,
                       struct arrowdevice_error* error);
  /** Closes memory of memory_import that no work uses. Must not block. */
  void (*memory_close)(void* device, void* buffer);
};

/** Name of the only symbol that a plugin exports. */
#define ARROWDEVICE_BACKEND_ENTRY "arrowdevice_backend_entry"

/**
 * Type of that symbol.
 *
 * @param host_abi  Version of the table that the library uses.
 * @param error     Filled if the result is NULL, with the reason why the backend cannot be used.
 *                  Never NULL.
 * @return A table that stays valid until the process ends, or NULL.
 */
typedef const struct arrowdevice_backend* (*arrowdevice_backend_entry_function)(uint32_t host_abi,
                                                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_BACKEND_H */
