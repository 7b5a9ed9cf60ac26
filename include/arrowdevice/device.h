/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h
 * Devices: find them, describe them, wrap an application's own context, and choose their default
 * pool.
 *
 * A device is one kind of memory, named by an `(ArrowDeviceType, device_id)` pair: `CUDA` 0 is the
 * memory of GPU 0, and `CUDA_HOST` 0 is its pinned host memory. Behind every device but the CPU is
 * a vendor's context. Pointers to devices stay valid until the process ends, and devices are never
 * destroyed.
 *
 * The library starts a driver when the application first asks for devices of one of the driver's
 * types, for their number, or for the list of all devices.
 */
#ifndef ARROWDEVICE_DEVICE_H
#define ARROWDEVICE_DEVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of arrowdevice_device_info */
#define ARROWDEVICE_DEVICE_ADDRESSES 1     /* buffers are addresses; without the flag they are handles */
#define ARROWDEVICE_DEVICE_HOST_READABLE 2 /* the CPU reads and writes the device's memory in place */
#define ARROWDEVICE_DEVICE_EVENTS 4        /* the device can publish sync events */
#define ARROWDEVICE_DEVICE_WAIT_BLOCKS 8   /* arrowdevice_queue_wait_array() may block the calling thread */
#define ARROWDEVICE_DEVICE_WRAPPED 16      /* the device is an application's own context */
#define ARROWDEVICE_DEVICE_COPY_BLOCKS 32  /* some copies of host memory may wait for the queue's work */
/* Memory allocated for a queue is usable only after the work that the queue has at the allocation. */
#define ARROWDEVICE_DEVICE_STREAM_ORDERED 64
#define ARROWDEVICE_DEVICE_SHAREABLE 128 /* the device has memory that other processes can open */

/* Peer flags */
#define ARROWDEVICE_PEER_ACCESS 1 /* the device uses the other device's memory in place */
#define ARROWDEVICE_PEER_COPY 2   /* the device copies the other device's memory directly, without staging */
#define ARROWDEVICE_PEER_REMOTE 4 /* with ACCESS: each use goes over the bus, because the memory stays where it is */

/** Properties of a device, filled by arrowdevice_device_get_info(). */
struct arrowdevice_device_info {
  uint32_t struct_size;
  ArrowDeviceType device_type;
  int64_t device_id;
  char name[128]; /* as the driver reports it */
  char vendor[64];
  char backend[16];             /* name of the backend that drives the device */
  uint8_t uuid[16];             /* zeros if unknown; CUDA, OpenCL and other APIs report the same one for a GPU */
  int64_t total_memory;         /* bytes, -1 if the size is unknown */
  int64_t buffer_alignment;     /* bytes; alignment of the start of every allocation */
  int64_t sub_buffer_alignment; /* bytes; alignment of the start of every sub-buffer */
  uint64_t flags;               /* ARROWDEVICE_DEVICE_* */
  ArrowDeviceType staging_type; /* device type of its pinned host memory, 0 if no type stands for it */
  int32_t numa_node;            /* the host's NUMA node that is nearest to the device, -1 if unknown */
};

/**
 * Counters of the library's use of a device since the process began. They count only work that
 * reached the driver. An allocation that a pool serves from its cache is not counted.
 */
struct arrowdevice_device_counters {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t driver_allocations; /* allocations made by the driver */
  int64_t submissions;        /* batches of copies submitted */
  int64_t regions;            /* regions in these batches */
  int64_t events;             /* events recorded */
  int64_t host_waits;         /* times that the CPU waited for an event of this device */
  int64_t readbacks;          /* batches submitted only to read sizes and ranges back */
  int64_t bytes_in;           /* bytes copied to the device */
  int64_t bytes_out;          /* bytes copied from the device */
  int64_t staged_bytes;       /* bytes that went through staging memory, in both directions */
};

/**
 * Handles of a vendor's context: those of an application, or those behind a device of the library.
 * The manual of each backend says which fields it uses. arrowdevice_device_wrap() ignores all other
 * fields. arrowdevice_device_get_native() sets them to zero.
 */
struct arrowdevice_native_device {
  uint32_t struct_size, queue_family, api_version, n_extensions;
  void *platform, *physical_device, *device, *context, *queue, *get_proc_addr;
  const char* const* extensions; /* extensions that the application enabled (Vulkan) */
  const void* features;
  /**
   * Locks and unlocks `native_queue`, if the API requires external synchronization. Both may be
   * NULL. A thread of the library may hold a lock of the backend when it calls `lock`. A thread
   * that holds the application's lock must therefore not call the library, because the two threads
   * could wait for each other.
   */
  void (*lock)(void* user, void* native_queue);
  void (*unlock)(void* user, void* native_queue);
  void* lock_user; /* passed to `lock` and `unlock` as `user` */
};

/* -- find and describe devices ------------------------------------------------------------------------------------ */

/**
 * Finds a device by its type and id. Loads the backend of its type if necessary.
 *
 * @param device_type  An `ARROW_DEVICE_*` value.
 * @param device_id    Id from 0 to n-1. For the CPU, -1 and 0 name one device. For CUDA_HOST,
 *                     ROCM_HOST and CUDA_MANAGED, -1 means 0.
 * @param out          Receives the device, which is never a wrapped one.
 *
 * Errors:
 * - ENODEV if there is no driver or no such device. The message says why.
 *   arrowdevice_backend_get_report() lists every place that the library searched.
 * - ENOTSUP if neither the format nor any backend knows the device type.
 * - EINVAL if the backend reports properties that the library cannot use.
 * - EIO if the driver fails.
 * - The general errors.
 * Implements: "ArrowDeviceType", "ArrowDeviceArray.device_id".
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_find_by_id(ArrowDeviceType device_type, int64_t device_id,
                                                  struct arrowdevice_device** out, struct arrowdevice_error* error);

/**
 * Finds a device by a text such as "opencl:0", as arrowdevice_device_find_by_id() does by type and
 * id. The text is not the `name` of arrowdevice_device_info.
 *
 * @param name  A name of arrowdevice_device_type_get_name(), a colon and the id, such as "opencl:0"
 *              or "cuda_host:1". Without a colon and an id, as in "cpu", the id is 0. Upper and lower
 *              case are the same.
 * @param out   Receives the device, which is never a wrapped one.
 *
 * Errors:
 * - EINVAL if the name has another form or begins with an unknown type name. The message suggests
 *   the nearest name.
 * - All errors of arrowdevice_device_find_by_id().
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_find_by_name(const char* name, struct arrowdevice_device** out,
                                                    struct arrowdevice_error* error);

/**
 * Counts the devices of a type. Their ids are 0 to n-1.
 *
 * @param device_type  An `ARROW_DEVICE_*` value.
 * @param out          Receives the number. It is 0 if the driver is absent or if the call fails.
 *
 * Errors:
 * - ENOTSUP if neither the format nor any backend knows the device type.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_count(ArrowDeviceType device_type, int64_t* out,
                                             struct arrowdevice_error* error);

/**
 * Lists the devices of all backends, ordered by type, then by id. Loads every backend.
 *
 * If a backend fails, the list lacks its devices. arrowdevice_backend_get_report() and the log say
 * why.
 *
 * @param out       Receives as many devices as fit. May be NULL if `capacity` is 0.
 * @param capacity  Length of `out`, in devices.
 * @param count     Receives the number of all devices, even if it is larger than `capacity`.
 *
 * Errors:
 * - EINVAL if `capacity` is negative.
 * - The general errors.
 * Thread-safety: free. May block while drivers start.
 */
ARROWDEVICE_API int arrowdevice_device_list(struct arrowdevice_device** out, int64_t capacity, int64_t* count,
                                            struct arrowdevice_error* error);

/**
 * Describes a device. Calls no driver.
 *
 * @param device  The device.
 * @param out     Receives the properties. The caller sets its `struct_size`.
 *
 * Errors: the general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_device_get_info(const struct arrowdevice_device* device,
                                                struct arrowdevice_device_info* out, struct arrowdevice_error* error);

/**
 * Reports how the device `to` can use memory of the device `from`.
 *
 * @param from  Device that has the memory.
 * @param to    Device that uses the memory.
 * @param out   Receives a sum of `ARROWDEVICE_PEER_*`. It is 0 if the library stages data between
 *              the devices through the host. For the same device twice, the result is ACCESS and
 *              COPY.
 *
 * Errors:
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_peer_flags(const struct arrowdevice_device* from,
                                                      const struct arrowdevice_device* to, uint32_t* out,
                                                      struct arrowdevice_error* error);

/**
 * Returns the name of a device type, such as "opencl", or NULL if the format has no name for it.
 * The text is static.
 *
 * @param device_type  An `ARROW_DEVICE_*` value.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const char* arrowdevice_device_type_get_name(ArrowDeviceType device_type);

/**
 * Reads how much memory a device has now, as the driver reports it.
 *
 * @param device       The device.
 * @param free_bytes   Receives the free bytes, or -1 if the driver does not report them. May be
 *                     NULL.
 * @param total_bytes  Receives all bytes, or -1 if the driver does not report them. May be NULL.
 *
 * Errors:
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_memory_info(const struct arrowdevice_device* device, int64_t* free_bytes,
                                                       int64_t* total_bytes, struct arrowdevice_error* error);

/**
 * Reads the counters of a device.
 *
 * @param device  The device.
 * @param out     Receives the counters. The caller sets its `struct_size`.
 *
 * Errors: the general errors.
 * Thread-safety: free. If other threads count meanwhile, the result may lack their latest counts.
 */
ARROWDEVICE_API int arrowdevice_device_get_counters(const struct arrowdevice_device* device,
                                                    struct arrowdevice_device_counters* out,
                                                    struct arrowdevice_error* error);

/* -- wrap an application's context -------------------------------------------------------------------------------- */

/**
 * Wraps an application's own context as a device.
 *
 * The same handles give the same device, and the library counts the calls. Each successful call
 * needs one arrowdevice_device_unwrap().
 *
 * @param device_type  An `ARROW_DEVICE_*` value.
 * @param device_id    Id that the device's arrays carry: the vendor's ordinal if there is one.
 *                     Several devices may share an id.
 * @param native       Handles of the context. The library borrows them until the device is
 *                     unwrapped.
 * @param out          Receives the device.
 *
 * Errors:
 * - ENOTSUP if the backend cannot wrap contexts, or if neither the format nor any backend knows the
 *   type.
 * - EINVAL if the backend refuses the handles.
 * - ENODEV if there is no driver.
 * - EBUSY if another thread is unwrapping the device.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free. May block while a driver starts.
 */
ARROWDEVICE_API int arrowdevice_device_wrap(ArrowDeviceType device_type, int64_t device_id,
                                            const struct arrowdevice_native_device* native,
                                            struct arrowdevice_device** out, struct arrowdevice_error* error);

/**
 * Undoes one arrowdevice_device_wrap().
 *
 * When the device has been unwrapped as often as it was wrapped, the call waits for all deferred
 * work of the process. It then destroys the library's own queues of the device, frees the memory
 * that the device's default pool caches, and stops using the handles. Afterwards every call on the
 * device fails with ENODEV, this one included. If the call fails, the device stays usable, and the
 * application may call again.
 *
 * @param device      A wrapped device.
 * @param timeout_ns  Time-out in nanoseconds, as the conventions say.
 *
 * Errors:
 * - EBUSY if an array of the device is alive, or if a pool or queue that the application created on
 *   it is alive.
 * - EBUSY if another thread is unwrapping the device.
 * - EBUSY if the call is made from a release callback that runs as deferred work.
 * - ETIMEDOUT if work is not complete when the time-out ends.
 * - ENOTSUP if the backend cannot wrap contexts.
 * - EINVAL if the device is not wrapped.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_device_unwrap(struct arrowdevice_device* device, int64_t timeout_ns,
                                              struct arrowdevice_error* error);

/**
 * Gets the vendor's handles behind a device. They are borrowed. If the device is wrapped, they
 * stay valid until it is unwrapped, otherwise until the process ends.
 *
 * @param device  The device.
 * @param out     Receives the handles. The caller sets its `struct_size`.
 *
 * Errors:
 * - ENOTSUP if the backend has no handles to give.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_native(const struct arrowdevice_device* device,
                                                  struct arrowdevice_native_device* out,
                                                  struct arrowdevice_error* error);

/* -- default pool ------------------------------------------------------------------------------------------------- */

/**
 * Makes a pool the default pool of its device. The device holds a reference until another pool
 * replaces it.
 *
 * @param device  The device.
 * @param pool    A pool of the device, or NULL for the library's own pool.
 *
 * Errors:
 * - EINVAL if the pool belongs to another device.
 * - The general errors.
 * Thread-safety: free. If other threads are copying meanwhile, they use the pool with which they
 * started.
 */
ARROWDEVICE_API int arrowdevice_device_set_pool(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_error* error);

/**
 * Gets the default pool of a device.
 *
 * @param device  The device.
 * @param out     Receives the pool, which is borrowed and valid while it is the default. The caller
 *                must not destroy it.
 *
 * Errors: the general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_device_get_pool(const struct arrowdevice_device* device, struct arrowdevice_pool** out,
                                                struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_DEVICE_H */
