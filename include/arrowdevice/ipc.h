/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ipc.h
 * Arrays for other processes of the same machine, without a copy.
 *
 * 1. The owner process calls arrowdevice_array_get_ipc_handle(). The handle has bytes and file
 *    descriptors.
 * 2. The owner process sends both to a receiving process. Descriptors go through a Unix socket, as a
 *    control message of type SCM_RIGHTS. The program does this itself.
 * 3. The owner process releases the handle. It may release its array too.
 * 4. The receiving process receives the message with MSG_CMSG_CLOEXEC. It calls
 *    arrowdevice_array_open_ipc_handle() and closes the descriptors. It has an ordinary array, which
 *    it releases like any other.
 *
 * **Memory.** Only memory of a pool with ARROWDEVICE_POOL_SHAREABLE can be opened elsewhere. Other
 * arrays are copied into such a pool for each handle. The environment variable
 * `ARROWDEVICE_SHAREABLE_POOLS` makes the library's own default pools shareable.
 *
 * **Lifetime.** The first descriptor of a handle is the write end of a pipe. The owner's memory stays
 * in use until every process has closed its duplicates of this descriptor. Handles, messages that
 * were not received, and opened arrays have duplicates. If a process ends, also by SIGKILL, the
 * kernel closes its descriptors. Then a thread of the library releases the owner's array. In manual
 * mode arrowdevice_deferred_run() does so. If the owner process ends first, opened arrays stay valid.
 *
 * **Trust.** A receiving process can read the whole allocations in which the array lies. It cannot
 * write memory of the CPU. The owner process can write the memory at any time, also after the checks
 * of arrowdevice_array_open_ipc_handle(). Functions of the library that read the array's data
 * could then read beyond the memory. A process that does not trust the owner process opens the handle
 * with ARROWDEVICE_COPY_ALWAYS and validates the array.
 *
 * **Fork.** A child process closes its duplicates of the pipes of its parent's handles. It keeps the
 * descriptors that its parent has received, and its duplicates of opened arrays.
 */
#ifndef ARROWDEVICE_IPC_H
#define ARROWDEVICE_IPC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_copy_options; /* in copy.h */

/** An IPC handle of an array. The struct never grows. */
struct arrowdevice_ipc_handle {
  const uint8_t* bytes;
  int64_t size;           /* of `bytes` */
  const int* descriptors; /* they close on `exec`; the first becomes -1 in a child after `fork` */
  int32_t n_descriptors;  /* 1 to 32 */
  int32_t reserved;
  int64_t copied_bytes; /* bytes that were copied because of the handle, 0 if the memory is shared */
  /** Closes the descriptors and frees the bytes. NULL if the handle is released. */
  void (*release)(struct arrowdevice_ipc_handle* handle);
  void* private_data;
};

/**
 * Makes a handle of an array. The handle holds a reference to the array's memory.
 *
 * If the memory is shareable, the handle refers to it. Otherwise the library copies the array into
 * shareable memory of the same device, and the handle refers to the copy. `copied_bytes` is the size
 * of the copy. The log at level "debug" has the reason.
 *
 * @param inout    The array, which stays valid. If it is not copied, it becomes a shared owner, as
 *                 with arrowdevice_array_share().
 * @param schema   Type of the array. The handle has it too.
 * @param options  Options, or NULL for the defaults.
 *                 - ARROWDEVICE_COPY_NEVER: the call fails with ENOTSUP if a copy is necessary.
 *                 - ARROWDEVICE_COPY_ALWAYS: the array is copied. If `pool` serves only this handle,
 *                   the receiving process cannot see other arrays.
 *                 - ARROWDEVICE_COPY_ASYNC has no effect. The data is ready when the call returns.
 *                 - `pool`: a shareable pool of the array's device for a copy. With NULL, it is the
 *                   device's default pool if that is shareable, else a pool of the library.
 *                 - `queue` and ARROWDEVICE_COPY_NO_TRIM have an effect on a copy only, as for
 *                   arrowdevice_array_copy().
 *                 - `source_device` and `timeout_ns` are as for arrowdevice_array_copy().
 * @param out      Receives the handle.
 *
 * Errors:
 * - EINVAL if the array does not match its schema, or if the pool is not shareable.
 * - ENOTSUP if the device has no shareable memory, or if the schema has something that Arrow's IPC
 *   format cannot express, such as a dictionary of dictionaries.
 * - ENOTSUP if ARROWDEVICE_COPY_NEVER is set and a copy is necessary. The message has the reason.
 * - EMFILE or ENFILE if there are no more descriptors.
 * - ENOSPC if the user's limit of descriptors in epoll sets is reached.
 * - All errors of arrowdevice_array_copy().
 * Thread-safety: per object. Blocks until the array is ready and the copy is complete, or until the
 * time-out ends.
 */
ARROWDEVICE_API int arrowdevice_array_get_ipc_handle(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                                     const struct arrowdevice_copy_options* options,
                                                     struct arrowdevice_ipc_handle* out,
                                                     struct arrowdevice_error* error);

/**
 * Releases a handle. Descriptors that were sent stay open in other processes.
 *
 * @param handle  The handle. If it is NULL or released, the call has no effect.
 *
 * Thread-safety: per object. Any thread may call it. Does not block.
 */
ARROWDEVICE_API void arrowdevice_ipc_handle_release(struct arrowdevice_ipc_handle* handle);

/**
 * Opens a handle of another process, or of this one. A handle may be opened several times.
 *
 * The library checks every number of the handle against the sizes that the kernel or the driver
 * reports. It checks the last offsets of texts and binaries too. On devices whose buffers have no
 * addresses, such as OpenCL, it also checks the sizes of variadic buffers. It reads no other data.
 * arrowdevice_array_validate() checks the rest.
 *
 * The array must not be written. Memory of the CPU is mapped for reading only, so a write ends the
 * process.
 *
 * @param bytes          The handle's bytes.
 * @param size           Number of bytes.
 * @param descriptors    The handle's descriptors in their order, with the numbers that they have in
 *                       this process. The library duplicates what it keeps. The caller closes them,
 *                       whether the call succeeds or not.
 * @param n_descriptors  Number of descriptors.
 * @param options        Options, or NULL for the defaults.
 *                       - ARROWDEVICE_COPY_ALWAYS: the call first copies the bytes of all buffers, as
 *                         they are, to memory that no other process can open. It checks the copy. The
 *                         memory of the owner process is not used any more when the call returns.
 *                       - The other flags have no effect.
 *                       - `pool`: a pool of the array's device for the copy. With NULL, the library
 *                         chooses a pool that is not shareable.
 *                       - `source_device`: the device of the array. With NULL, the device is found by
 *                         its UUID, or by its id if it has no UUID. A wrapped device is never found.
 *                       - `timeout_ns` limits the waits for a device.
 *                       - `queue` is NULL.
 * @param out            Receives the array, which is ready. When it is released, the owner process may
 *                       reuse the memory, unless other duplicates exist.
 * @param out_schema     Receives the type of the array. The caller releases it.
 *
 * Errors:
 * - EINVAL if the bytes or the descriptors are not those of a handle, or if the owner process
 *   could make the memory smaller.
 * - EINVAL if `queue` is not NULL, or if the pool or `source_device` does not fit the array's device.
 * - ENOTSUP if the handle is of a version that the library does not read.
 * - ENODEV if this process does not see the array's device. The message has its UUID or its id.
 * - ETIMEDOUT if a wait exceeds `timeout_ns`. Nothing is opened.
 * - EMFILE or ENFILE if there are no more descriptors.
 * - ENOMEM if the memory cannot be mapped, or if there is no memory for a copy.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free. If the CPU cannot read the device, the call waits until sizes are read back and
 * a copy is complete, or until the time-out ends.
 */
ARROWDEVICE_API int arrowdevice_array_open_ipc_handle(const uint8_t* bytes, int64_t size, const int* descriptors,
                                                      int64_t n_descriptors,
                                                      const struct arrowdevice_copy_options* options,
                                                      struct ArrowDeviceArray* out, struct ArrowSchema* out_schema,
                                                      struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_IPC_H */
