/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file buffer.h
 * Device memory: pools, buffers and sub-buffers.
 *
 * Every device has a default pool, so an application needs these functions only for its own buffers
 * or limits.
 */
#ifndef ARROWDEVICE_BUFFER_H
#define ARROWDEVICE_BUFFER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- pools -------------------------------------------------------------------------------------------------------- */

/* Flags of arrowdevice_pool_options */
#define ARROWDEVICE_POOL_WAIT_FOR_CONTEXT 1 /* memory is reused after all work of the context */
#define ARROWDEVICE_POOL_SHAREABLE 2        /* other processes can open the memory */

/** Options of a pool. arrowdevice_pool_create() reads the struct only during the call. */
struct arrowdevice_pool_options {
  uint32_t struct_size;
  /**
   * ARROWDEVICE_POOL_WAIT_FOR_CONTEXT: when memory is released, the pool records an event after all
   * work of the device's context so far, on all queues. The pool reuses or frees the memory when
   * that event has fired. This protects a consumer that releases an array although its own work
   * still uses the memory. Each release then costs a driver call, and it may end graph captures in
   * that context (see the backend's manual). Memory that waits counts for `max_bytes`. If the
   * device is full, an allocation does not wait for such memory and fails with ENOMEM. `allocate`
   * must be NULL.
   *
   * ARROWDEVICE_POOL_SHAREABLE: other processes can open the memory without a copy (see ipc.h). A
   * process that opens an array sees whole allocations of the pool. They may contain other arrays of
   * the pool, now and later. Arrays for processes that must not see each other's data therefore
   * need different pools. In a child process after `fork`, the pool is empty, and `max_bytes` applies to
   * the child's own memory. `allocate` must be NULL.
   */
  uint32_t flags;
  /**
   * Bytes that the pool may cache for reuse. 0 means a quarter of the free memory, up to a maximum.
   * The maximum is 1 GiB or an eighth of the device's memory, whichever is larger. For memory that
   * the CPU uses in place, it is 1 GiB. If the number is negative, the pool caches no memory.
   */
  int64_t max_cached_bytes;
  /**
   * Limit of the bytes in use and cached together. Beyond it, allocations fail with ENOMEM. 0 means
   * no limit.
   */
  int64_t max_bytes;
  /**
   * Allocates memory for the pool, or is NULL to use the driver's allocator. Returns 0 or an errno
   * value. The library calls it from any thread and holds no lock.
   *
   * `native_queue` is the vendor's queue that uses the memory first. If it is NULL, the memory must
   * be ready for every queue when the function returns. While the function runs,
   * arrowdevice_queue_destroy() of that queue may wait for it. A thread that destroys the queue
   * must therefore not hold a lock that this function takes.
   */
  int (*allocate)(void* user, int64_t size, int64_t alignment, void* native_queue, void** out);
  /**
   * Frees memory that `allocate` gave. The work on it has finished. `native_queue` is always NULL.
   * The library calls it from any thread and holds no lock. It never calls it after `exit` has
   * begun.
   */
  void (*deallocate)(void* user, void* buffer, int64_t size, void* native_queue);
  /**
   * Ends the pool's use of `user`. The library calls it once, from any thread, after the last
   * `deallocate`. The library does not call it after `exit` has begun, nor in a child process after
   * `fork`, nor if arrowdevice_pool_create() failed. May be NULL.
   */
  void (*destroy)(void* user);
  void* user; /* passed to the functions above; the pool uses it until `destroy` is called */
};

/**
 * Statistics of a pool. In the CPU's own pool, a copy between arrays of the CPU counts with the
 * structs of its array. It raises `peak_bytes` only when the statistics are read.
 */
struct arrowdevice_pool_stats {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t used_bytes;         /* bytes of live buffers */
  int64_t cached_bytes;       /* bytes that the pool caches for reuse */
  int64_t peak_bytes;         /* largest sum of used and cached bytes so far */
  int64_t allocations;        /* buffers that the pool gave out */
  int64_t driver_allocations; /* those of them that the driver or the application allocated */
};

/**
 * Creates a pool of a device's memory.
 *
 * The call itself calls none of the functions in the options. If it fails, the library never calls
 * them, `destroy` included. `user` still belongs to the caller. If it succeeds, the pool uses them
 * until it calls `destroy`. That happens after arrowdevice_pool_destroy(), when no buffer, stream
 * or device uses the pool.
 *
 * @param device   The device.
 * @param options  Options, or NULL for the defaults. `allocate` and `deallocate` must both be set
 *                 or both be NULL.
 * @param out      Receives the pool. The caller destroys it with arrowdevice_pool_destroy().
 *
 * Errors:
 * - EINVAL if `flags` has unknown bits, `max_bytes` is negative, or only one of `allocate` and
 *   `deallocate` is set.
 * - EINVAL if `allocate` is set together with ARROWDEVICE_POOL_WAIT_FOR_CONTEXT or
 *   ARROWDEVICE_POOL_SHAREABLE.
 * - ENOTSUP if ARROWDEVICE_POOL_SHAREABLE is set, and the device lacks ARROWDEVICE_DEVICE_SHAREABLE.
 * - ENOTSUP if ARROWDEVICE_POOL_WAIT_FOR_CONTEXT is set, and the driver cannot record such an
 *   event.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_create(struct arrowdevice_device* device,
                                            const struct arrowdevice_pool_options* options,
                                            struct arrowdevice_pool** out, struct arrowdevice_error* error);

/**
 * Reads the statistics of a pool.
 *
 * @param pool  The pool.
 * @param out   Receives the statistics. The caller sets its `struct_size`.
 *
 * Errors: the general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_get_stats(const struct arrowdevice_pool* pool, struct arrowdevice_pool_stats* out,
                                               struct arrowdevice_error* error);

/**
 * Frees all memory that a pool caches and that is not in use. The call also frees what the library
 * caches for the pool's device in pools of its own: memory for handles (see ipc.h) and, if the
 * device's `staging_type` is 0, host memory for staged copies.
 *
 * @param pool  The pool.
 *
 * Errors: the general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_pool_trim(struct arrowdevice_pool* pool, struct arrowdevice_error* error);

/**
 * Destroys a pool. Live buffers hold references, so the memory survives until the last buffer is
 * freed.
 *
 * @param pool  The pool, or NULL.
 *
 * Thread-safety: free. The application calls it once.
 */
ARROWDEVICE_API void arrowdevice_pool_destroy(struct arrowdevice_pool* pool);

/* -- buffers ------------------------------------------------------------------------------------------------------ */

/**
 * Allocates device memory.
 *
 * @param device  The device.
 * @param pool    Pool of the device, or NULL for its default pool.
 * @param queue   Queue of `device` that uses the memory first. NULL if any queue may be the first.
 * @param size    Bytes, more than 0.
 * @param out     Receives an address or a handle, depending on the device. The caller frees it with
 *                arrowdevice_buffer_free().
 *
 * Errors:
 * - ENOMEM if the device or the host has no memory, or if the pool has reached its limit.
 * - EINVAL if `size` is 0 or negative, or if the pool or queue belongs to another device.
 * - EIO if the driver fails.
 * - The error of the application's `allocate`, if the pool has one and it fails.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_buffer_allocate(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
                                                struct arrowdevice_queue* queue, int64_t size, void** out,
                                                struct arrowdevice_error* error);

/**
 * Frees memory of arrowdevice_buffer_allocate(). If `buffer` is other memory, the call logs that
 * and leaves it alone.
 *
 * @param device  Device of the buffer.
 * @param queue   Queue whose work so far may still use the memory, or NULL if no work does. The
 *                library reuses the memory only after that work.
 * @param buffer  The buffer, or NULL.
 *
 * Thread-safety: free. Returns at once.
 */
ARROWDEVICE_API void arrowdevice_buffer_free(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                             void* buffer);

/**
 * Creates a sub-buffer: a range of a buffer that is used as a buffer.
 *
 * If buffers are addresses, the result is the address `offset` bytes after `buffer`. The library
 * then does not check that the range lies within the buffer.
 *
 * @param device  Device of the buffer.
 * @param buffer  The buffer, which must outlive its sub-buffers.
 * @param offset  Bytes. If buffers are handles, a multiple of the device's `sub_buffer_alignment`.
 * @param size    Bytes, more than 0.
 * @param out     Receives the sub-buffer. The caller destroys it with
 *                arrowdevice_sub_buffer_destroy().
 *
 * Errors:
 * - EINVAL if `offset` is negative or not aligned, if `size` is 0 or negative, or if the backend
 *   refuses the range.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_sub_buffer_create(struct arrowdevice_device* device, const void* buffer, int64_t offset,
                                                  int64_t size, void** out, struct arrowdevice_error* error);

/**
 * Destroys a sub-buffer. The application calls it before it frees the buffer. If buffers are
 * addresses, the call has no effect.
 *
 * @param device  Device of the sub-buffer, or NULL.
 * @param sub     The sub-buffer, or NULL.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API void arrowdevice_sub_buffer_destroy(struct arrowdevice_device* device, void* sub);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_BUFFER_H */
