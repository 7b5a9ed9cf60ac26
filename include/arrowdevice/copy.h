/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file copy.h
 * Copies of arrays between devices.
 *
 * - arrowdevice_array_copy() always copies and leaves its source alone.
 * - arrowdevice_array_to_device() takes its source over, so the caller keeps nothing alive. It
 *   shares the memory if the device can use it, else it copies.
 * - arrowdevice_array_to_host() does the same for the CPU and gives a plain `ArrowArray`.
 */
#ifndef ARROWDEVICE_COPY_H
#define ARROWDEVICE_COPY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of copies */
#define ARROWDEVICE_COPY_ASYNC 1   /* returns while the copy runs */
#define ARROWDEVICE_COPY_ALWAYS 2  /* copies even if the device can share the memory */
#define ARROWDEVICE_COPY_NEVER 4   /* fails with ENOTSUP if the device cannot share the memory */
#define ARROWDEVICE_COPY_NO_TRIM 8 /* also copies the rows before a slice */

/** Options of copies. */
struct arrowdevice_copy_options {
  uint32_t struct_size;
  /**
   * ARROWDEVICE_COPY_ASYNC: the call returns when the copy is submitted. The result's `sync_event`
   * fires when the copy is complete. Two kinds of copies still keep the calling thread busy until
   * their last piece is submitted: staged copies, which go through host memory, and copies of 8 MiB
   * or more between a GPU and pageable host memory, such as that of `malloc`. If the target has no
   * events, the call waits for the copy without limit.
   *
   * ARROWDEVICE_COPY_ALWAYS and ARROWDEVICE_COPY_NEVER exclude each other. They have an effect only
   * in arrowdevice_array_to_device() and arrowdevice_array_to_host().
   *
   * ARROWDEVICE_COPY_NO_TRIM: the copy of a slice also has the rows before it and keeps its offset.
   */
  uint32_t flags;
  /**
   * Queue for the copy, or NULL for a queue of the library. The copy runs after the queue's work so
   * far. The queue must be of this backend:
   *
   * | source | target | backend of the queue |
   * |---|---|---|
   * | any | device memory | the target's |
   * | device memory | host memory | the source's |
   * | host memory | host memory | either, or the CPU's; the CPU waits for the queue's work and copies |
   *
   * Host memory is the CPU, or another device with both ARROWDEVICE_DEVICE_HOST_READABLE and
   * ARROWDEVICE_DEVICE_ADDRESSES, such as CUDA_HOST.
   *
   * For any other queue the call fails with EINVAL, even if no copy is needed. The application may
   * destroy the queue when the call returns, even with ARROWDEVICE_COPY_ASYNC.
   */
  struct arrowdevice_queue* queue;
  /**
   * Pool of the target device that provides the memory, or NULL for the device's default pool. The
   * copy holds a reference. The call fails with EINVAL for a pool of another device.
   */
  struct arrowdevice_pool* pool;
  /**
   * Device of the source, or NULL to find it from the array. If the device is wrapped, the
   * application must not unwrap it as long as it must keep the source array (see
   * arrowdevice_array_copy()).
   */
  struct arrowdevice_device* source_device;
  /**
   * Limit in nanoseconds of the time that the CPU waits in total before the last piece of the copy
   * is submitted: for the source's event, for offsets and sizes that it reads back, and for memory
   * of staged copies. The limit does not cover the wait for the copy itself. After it, the call
   * fails with ETIMEDOUT, and earlier pieces of the copy may still run. ARROWDEVICE_NO_TIMEOUT (0)
   * waits without limit.
   */
  int64_t timeout_ns;
};

/**
 * Copies an array to a device, with one allocation, one submission and one event.
 *
 * The copy has only the bytes that the array's rows need, unless ARROWDEVICE_COPY_NO_TRIM is set.
 *
 * The copy runs after the source's event. The caller may release the source:
 *
 * - if the call failed with ETIMEDOUT: after arrowdevice_wait_idle() has succeeded
 * - if the call succeeded with ARROWDEVICE_COPY_ASYNC, and `out->sync_event` is not NULL: after
 *   arrowdevice_array_wait() or arrowdevice_array_is_ready() on `out` has reported that the event
 *   fired
 * - if these functions fail, or `out` is released before they report it: after `out` was released
 *   and arrowdevice_wait_idle() has succeeded
 * - in all other cases: when the call returns
 *
 * Until then the caller must not release the array, change its data, or unwrap its device.
 *
 * @param array    The source, which stays as it is.
 * @param schema   Type of the array.
 * @param to       Target device.
 * @param options  Options. With NULL the call waits for the copy, uses a queue of the library, and
 *                 allocates from the target's default pool.
 * @param out      Receives the copy. Its children may be moved out and released on their own.
 *
 * Errors:
 * - EINVAL if the array does not match its schema, or if the queue or pool does not fit the
 *   devices.
 * - EINVAL if the flags are unknown or contradict each other.
 * - ENOTSUP if a format is unknown, or if the backend cannot import the array's event.
 * - ENODEV if the array's device is not present.
 * - ENOMEM if the host or the device has no memory, or if the pool has reached its limit.
 * - ETIMEDOUT if a wait exceeds `timeout_ns`.
 * - EIO if the producer's work or the copy failed.
 * - The general errors.
 * Implements: "Synchronization"; the layouts of the columnar format.
 * Thread-safety: free on a `const` array. Blocks until the copy is complete. With
 * ARROWDEVICE_COPY_ASYNC it blocks until the copy is submitted. Before that, the library may read
 * offsets and sizes back from the source device.
 */
ARROWDEVICE_API int arrowdevice_array_copy(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                           struct arrowdevice_device* to,
                                           const struct arrowdevice_copy_options* options, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

/**
 * Puts an array on a device: shares the memory if the device can use it, else copies it.
 *
 * If the array is copied, the library releases the source when the copy is complete, even with
 * ARROWDEVICE_COPY_ASYNC. The caller keeps nothing alive.
 *
 * If the source's device is wrapped, arrowdevice_device_unwrap() waits for such copies. If `to` is
 * host memory, or if `options.queue` is a queue of the source device, the event of `out` belongs to
 * the source device. The unwrap then fails with EBUSY until `out` is released.
 *
 * @param moved    The array.
 * @param schema   Type of the array.
 * @param to       Target device.
 * @param options  Options, or NULL for the defaults, as for arrowdevice_array_copy().
 * @param out      Receives the array on `to`.
 *
 * Errors:
 * - ENOTSUP if ARROWDEVICE_COPY_NEVER is set and the device cannot share the memory.
 * - All errors of arrowdevice_array_copy().
 * Implements: "Moving an array", "Synchronization".
 * Thread-safety: per object. A copy blocks as arrowdevice_array_copy() does. If the memory is
 * shared, but arrays of `to` cannot carry the source's event, the call blocks until the event has
 * fired or the time-out ends.
 */
ARROWDEVICE_API int arrowdevice_array_to_device(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                                struct arrowdevice_device* to,
                                                const struct arrowdevice_copy_options* options,
                                                struct ArrowDeviceArray* out, struct arrowdevice_error* error);

/**
 * Puts an array on the CPU: shares the memory if the CPU can read it, else copies it. The data is
 * ready on return.
 *
 * @param moved    The array.
 * @param schema   Type of the array.
 * @param options  Options, or NULL for the defaults. ARROWDEVICE_COPY_ASYNC has no effect.
 * @param out      Receives the CPU array.
 *
 * Errors: all errors of arrowdevice_array_to_device().
 * Implements: "Synchronization"; the layouts of the columnar format.
 * Thread-safety: per object. Blocks until the data is ready. The time-out limits the wait for the
 * source's event, but not the copy.
 */
ARROWDEVICE_API int arrowdevice_array_to_host(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                              const struct arrowdevice_copy_options* options, struct ArrowArray* out,
                                              struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_COPY_H */
