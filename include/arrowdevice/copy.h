/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file copy.h
 * Copies of arrays between devices.
 *
 * - arrowdevice_array_copy() always copies and leaves its source alone.
 * - arrowdevice_array_to_device() takes its source over, so the caller need not keep it alive. It
 *   shares the memory if the device can use it at full speed, else it copies.
 * - arrowdevice_array_to_host() puts an array on the CPU and gives a plain `ArrowArray`. It shares
 *   memory that the CPU can read, else it copies.
 * - arrowdevice_array_to_host_async() does the same while the caller goes on.
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
   * fires when the copy is complete. If the target has no events, the call waits for the copy
   * without limit. If the source is host memory with an event, such as CUDA_HOST, the call waits
   * for that event.
   *
   * Two kinds of copies are divided into pieces. For these, even an asynchronous call returns only
   * when most pieces have been copied and the last one is submitted:
   *
   * - staged copies, which go from device to device through host memory
   * - copies of 8 MiB or more to a GPU from pageable host memory, such as that of `malloc`
   *
   * The library does not divide a copy of the second kind if the target has
   * ARROWDEVICE_DEVICE_COPY_BLOCKS and the application's `queue` still waits for an event or runs
   * other work. The call then copies the source to pinned memory, submits the copy from there, and
   * returns. If there is not enough pinned memory, the call waits for the queue's work.
   *
   * ARROWDEVICE_COPY_ALWAYS and ARROWDEVICE_COPY_NEVER exclude each other. They have an effect only
   * in arrowdevice_array_to_device() and arrowdevice_array_to_host(). Memory that the device would
   * use over the bus (ARROWDEVICE_PEER_REMOTE), such as CUDA_HOST memory on a GPU, is shared only
   * with ARROWDEVICE_COPY_NEVER. Otherwise it is copied.
   *
   * ARROWDEVICE_COPY_NO_TRIM: the copy of a slice also has the rows before it and keeps its offset.
   */
  uint32_t flags;
  /**
   * Queue for the copy, or NULL for a queue of the library. The copy runs after the queue's work so
   * far. The application may destroy the queue when the call returns, even with
   * ARROWDEVICE_COPY_ASYNC.
   *
   * The table below names the backend of the queue. The queue may be of any device of that backend.
   * With a queue of another backend the call fails with EINVAL, even if no copy is needed. In the
   * table, host memory is the CPU, or another device with both
   * ARROWDEVICE_DEVICE_HOST_READABLE and ARROWDEVICE_DEVICE_ADDRESSES, such as CUDA_HOST.
   *
   * | source | target | backend of the queue |
   * |---|---|---|
   * | any | device memory | the target's |
   * | device memory | host memory | the source's |
   * | host memory | host memory | the source's, the target's or the CPU's |
   *
   * In the last row the CPU copies, after it has waited for the queue's work.
   */
  struct arrowdevice_queue* queue;
  /**
   * Pool of the target device that provides the memory, or NULL for the device's default pool. The
   * copy holds a reference. The call fails with EINVAL for a pool of another device.
   */
  struct arrowdevice_pool* pool;
  /**
   * Device of the source, or NULL to find it from the array. A wrapped device must stay wrapped as
   * long as the caller must keep the source array (see arrowdevice_array_copy()).
   */
  struct arrowdevice_device* source_device;
  /**
   * Time-out in nanoseconds for all waits of the call together: for the source's event, for the
   * queue's work, for offsets and sizes that the CPU reads back, and for the copy. After that time
   * the call fails with ETIMEDOUT, and the work that was submitted runs on as deferred work.
   * ARROWDEVICE_NO_TIMEOUT (0) waits without limit. With ARROWDEVICE_POLL, the call fails if it
   * would have to wait.
   */
  int64_t timeout_ns;
};

/**
 * Copies an array to a device, with one allocation. The copy is one submission and one event. Two
 * kinds of copies need several of both: copies that are divided into pieces (see
 * ARROWDEVICE_COPY_ASYNC), and copies of more than 2 MiB between pageable host memory and a GPU, in
 * either direction.
 *
 * The copy has only the bytes that the array's rows need, unless ARROWDEVICE_COPY_NO_TRIM is set.
 *
 * The copy runs after the source's event. Until the copy no longer needs the source, the caller
 * must not release it, change its data, or unwrap its device. That moment comes when the call
 * returns, with two exceptions:
 *
 * - After ETIMEDOUT, ECANCELED or EBUSY, it comes when arrowdevice_wait_idle() has succeeded. Before that, the
 *   caller may call again with the same array.
 * - After success with ARROWDEVICE_COPY_ASYNC, if `out->sync_event` is not NULL, it comes when
 *   arrowdevice_array_wait() or arrowdevice_array_is_ready() has reported that the event of `out`
 *   fired.
 *
 * A caller that does not want to wait for the event of `out` has three choices:
 *
 * - It calls arrowdevice_array_to_device() with ARROWDEVICE_COPY_ALWAYS instead. The library then
 *   releases the source.
 * - If it gave a queue in the options, it calls arrowdevice_array_release_after() for the source
 *   with that queue.
 * - It releases `out`, so that the running copy becomes deferred work. It releases the source
 *   later, when arrowdevice_wait_idle() has succeeded.
 *
 * If arrowdevice_array_wait() or arrowdevice_array_is_ready() fails with another code than
 * ETIMEDOUT, ECANCELED or EBUSY, the caller makes the third choice.
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
 * Thread-safety: free on a `const` array, per object on the queue. Blocks until the copy is
 * complete. With ARROWDEVICE_COPY_ASYNC it blocks until the copy is submitted. Before that, the
 * library may read offsets and sizes back from the source device.
 */
ARROWDEVICE_API int arrowdevice_array_copy(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                           struct arrowdevice_device* to,
                                           const struct arrowdevice_copy_options* options, struct ArrowDeviceArray* out,
                                           struct arrowdevice_error* error);

/**
 * Puts an array on a device: shares the memory if the device can use it at full speed, else copies
 * it.
 *
 * If the array is copied, the library releases the source when the copy is complete or has failed,
 * even with ARROWDEVICE_COPY_ASYNC. The caller keeps nothing alive. After ETIMEDOUT or ECANCELED
 * the caller still owns `moved`, and may release it at once or call again.
 *
 * If the source's device is wrapped, arrowdevice_device_unwrap() waits for such copies. In two
 * cases it fails with EBUSY until `out` is released, because `out` has an event of the source
 * device:
 *
 * - `to` is host memory with events, such as CUDA_HOST.
 * - `options.queue` is a queue of the source device.
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
 * Thread-safety: per object. Blocks until the data is ready.
 */
ARROWDEVICE_API int arrowdevice_array_to_host(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                              const struct arrowdevice_copy_options* options, struct ArrowArray* out,
                                              struct arrowdevice_error* error);

/**
 * Starts to put an array on the CPU, and returns without waiting. A thread of the library does what
 * arrowdevice_array_to_host() does.
 *
 * If the call succeeds, the library owns `moved` and calls `done` once, on a thread of the library.
 * `done` may run before this call returns. The arrays of one device are copied one after the other,
 * each after its event. Arrays of different devices do not wait for each other. The library does not
 * call `done` after `exit` has begun. A forked child does not call `done` for copies of its parent.
 *
 * `done` may call the library, except arrowdevice_wait_idle(), which fails with EBUSY. While `done`
 * runs, later copies from the same device wait.
 *
 * @param moved    The array. If the call fails, it still belongs to the caller.
 * @param schema   Type of the array. The library copies it.
 * @param options  Options, or NULL for the defaults. `timeout_ns` limits the time from this call to
 *                 the end of the copy. The copy waits for the work that `queue` has now, and runs on
 *                 a queue of the library. ARROWDEVICE_COPY_ASYNC has no effect.
 * @param done     Receives the result. After `done` returns, the library releases the array that
 *                 `done` has not moved out.
 *                 - On success `array` is the CPU array. `done` may move it out. `source` and
 *                   `error` are NULL.
 *                 - On failure `error` says why, and has the errors of arrowdevice_array_to_host().
 *                   `source` is the array of the call. `done` may move it out. `array` is NULL.
 * @param user     Passed to `done`.
 *
 * Errors:
 * - EINVAL if the queue or pool does not fit the devices.
 * - EINVAL if the flags are unknown or contradict each other.
 * - ENOTSUP if the backend cannot import the array's event.
 * - ENODEV if the array's device is not present.
 * - ENOMEM if the library can start no thread.
 * - The general errors.
 * Implements: "Synchronization"; the layouts of the columnar format.
 * Thread-safety: per object. Does not wait for devices.
 */
ARROWDEVICE_API int arrowdevice_array_to_host_async(struct ArrowDeviceArray* moved, const struct ArrowSchema* schema,
                                                    const struct arrowdevice_copy_options* options,
                                                    void (*done)(void* user, struct ArrowArray* array,
                                                                 struct ArrowDeviceArray* source,
                                                                 const struct arrowdevice_error* error),
                                                    void* user, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_COPY_H */
