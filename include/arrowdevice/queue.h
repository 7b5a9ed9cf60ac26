/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file queue.h
 * Queues: create or wrap one, copy bytes on it, make it wait for an array, and wait for its work.
 *
 * A queue runs its work in order. If a queue is optional, the function's comment says what NULL
 * means. For copies, NULL means a queue of the library.
 */
#ifndef ARROWDEVICE_QUEUE_H
#define ARROWDEVICE_QUEUE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A vendor's queue: `CUstream`, `hipStream_t`, `cl_command_queue`, `VkQueue` or an immediate Level
 * Zero list.
 */
struct arrowdevice_native_queue {
  uint32_t struct_size;
  uint32_t family; /* Vulkan: the family of the queue */
  void* queue;     /* the handle, or NULL for the vendor's default stream */
};

/**
 * One region of a copy of bytes. The struct is frozen: it never grows, because it is passed in
 * arrays.
 *
 * `dst_device` and `src_device` are devices of the queue's backend, or NULL or the CPU's device for
 * memory of the program.
 */
struct arrowdevice_copy_region {
  struct arrowdevice_device* dst_device;
  void* dst;          /* address or handle, depending on the device */
  int64_t dst_offset; /* bytes */
  struct arrowdevice_device* src_device;
  const void* src;    /* address or handle, depending on the device */
  int64_t src_offset; /* bytes */
  int64_t size;       /* bytes; a region of 0 bytes copies no data */
  uint64_t reserved;
};

/**
 * Creates an in-order queue of the library on a device.
 *
 * @param device  The device.
 * @param out     Receives the queue. The caller destroys it with arrowdevice_queue_destroy().
 *
 * Errors:
 * - EIO if the driver fails.
 * - The general errors, including ENOMEM if the driver has no memory for a queue.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_queue_create(struct arrowdevice_device* device, struct arrowdevice_queue** out,
                                             struct arrowdevice_error* error);

/**
 * Wraps an application's own queue.
 *
 * The library borrows the native queue. The application keeps it alive until
 * arrowdevice_queue_destroy() has returned. Afterwards the library does not use it.
 *
 * @param device  Device of the native queue.
 * @param native  Handle of the queue. The library reads the struct only during the call.
 * @param out     Receives the queue. The caller destroys it with arrowdevice_queue_destroy().
 *
 * Errors:
 * - ENOTSUP if the backend cannot wrap queues.
 * - EINVAL if the backend refuses the queue, because it is out of order or belongs to another
 *   context.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_queue_wrap(struct arrowdevice_device* device,
                                           const struct arrowdevice_native_queue* native,
                                           struct arrowdevice_queue** out, struct arrowdevice_error* error);

/**
 * Gets the vendor's handle behind a queue. It is borrowed until the queue is destroyed.
 *
 * @param queue  The queue.
 * @param out    Receives the handle. The caller sets its `struct_size`.
 *
 * Errors:
 * - ENOTSUP if the backend has no handle to give.
 * - The general errors.
 * Thread-safety: per object.
 */
ARROWDEVICE_API int arrowdevice_queue_get_native(const struct arrowdevice_queue* queue,
                                                 struct arrowdevice_native_queue* out, struct arrowdevice_error* error);

/**
 * Enqueues copies of bytes. They run after the queue's work so far. Regions of one call may run in
 * any order.
 *
 * If the call fails, some of the regions may have been copied, or may still be in progress. Their
 * memory must stay valid until arrowdevice_queue_finish() has succeeded.
 *
 * @param queue    The queue.
 * @param regions  `n` regions. The library reads the structs only during the call. The memory that
 *                 they name must stay valid until the copies are complete.
 * @param n        Number of regions.
 *
 * Errors:
 * - EINVAL if `n`, a size or an offset is negative, or if an address or handle is NULL.
 * - EINVAL if a device is not the CPU's and belongs to another backend than the queue.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: per object. Returns before the copies are complete, unless the queue belongs to
 * the CPU.
 *
 * On a device with ARROWDEVICE_DEVICE_COPY_BLOCKS, pageable host memory, such as that of `malloc`,
 * may make the call wait. If it is the source or destination of a region, the call may wait for the
 * queue's work so far. If it is the destination, the call may also wait for the copy. Memory of the
 * device's `staging_type` avoids these waits. If both ends of a region are host memory of any type,
 * the call may wait for the queue's work so far and for the copy.
 */
ARROWDEVICE_API int arrowdevice_queue_copy(struct arrowdevice_queue* queue,
                                           const struct arrowdevice_copy_region* regions, int64_t n,
                                           struct arrowdevice_error* error);

/**
 * Makes a queue wait for an array's event, so that work that is queued later runs after it.
 *
 * If the queue's device cannot wait for such an event, the CPU waits during the call.
 *
 * @param queue          The queue that waits.
 * @param array          The array.
 * @param source_device  Device of the array, or NULL to find it from the array.
 *
 * Errors:
 * - EINVAL if the array's `sync_event` is not NULL, although the format defines no events for its
 *   device type.
 * - ENOTSUP if the backend of the array's device cannot import events.
 * - ENODEV if the array's device is not present.
 * - EIO if the producer's work failed, or if the driver fails.
 * - The general errors.
 * Implements: "Synchronization".
 * Thread-safety: free on a `const` array, per object on the queue. If the CPU waits, it waits
 * without limit.
 */
ARROWDEVICE_API int arrowdevice_queue_wait_array(struct arrowdevice_queue* queue, const struct ArrowDeviceArray* array,
                                                 struct arrowdevice_device* source_device,
                                                 struct arrowdevice_error* error);

/**
 * Waits until all work that was given to this queue so far has finished. After ETIMEDOUT the
 * application may call again.
 *
 * A wrapped queue may have other work, from the application or from another wrap. The call may wait
 * for that work too, but the application must not rely on this.
 *
 * @param queue       The queue.
 * @param timeout_ns  Time-out in nanoseconds, as the conventions say.
 *
 * Errors:
 * - ETIMEDOUT if the work is not complete when the time-out ends.
 * - EIO if some of the work failed.
 * - The general errors.
 * Thread-safety: per object. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_queue_finish(struct arrowdevice_queue* queue, int64_t timeout_ns,
                                             struct arrowdevice_error* error);

/**
 * Destroys a queue. Work in flight still completes, and its events still fire.
 *
 * The application may destroy a wrapped native queue as soon as this function returns. The library
 * no longer uses it, neither for arrays that were copied on it, nor for deferred releases, nor for
 * pools.
 *
 * If an Arrow stream (stream.h, async.h) uses a wrapped queue, that stream continues on a queue of
 * the library, after all work so far. If the driver cannot tell when that work ends, the Arrow
 * stream fails with the driver's error. A queue of arrowdevice_queue_create() stays in use until
 * the Arrow stream is released.
 *
 * @param queue  The queue, or NULL.
 *
 * Thread-safety: per object. The application may call it while an Arrow stream uses the queue. It
 * returns at once, with one exception: if the queue is wrapped, and an Arrow stream is calling the
 * driver or an allocator with it at that moment, the function waits for that call.
 */
ARROWDEVICE_API void arrowdevice_queue_destroy(struct arrowdevice_queue* queue);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_QUEUE_H */
