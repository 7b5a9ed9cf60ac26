/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ipc.h
 * Arrays for other processes of the same machine, without a copy.
 *
 * 1. The owner calls arrowdevice_array_get_ipc_handle(). The handle has bytes and file descriptors.
 * 2. The owner sends both to another process. Descriptors go through a Unix socket, as a control
 *    message of type SCM_RIGHTS. The library takes no part in this.
 * 3. The owner releases the handle. It may release its array too.
 * 4. The other process calls arrowdevice_array_open_ipc_handle() and closes the descriptors that it
 *    has received. It has an ordinary array, which it releases like any other.
 *
 * **Memory.** Only memory of a pool with ARROWDEVICE_POOL_SHAREABLE can be opened elsewhere. Other
 * arrays are copied once into such a pool. The environment variable `ARROWDEVICE_SHAREABLE_POOLS`
 * makes the library's own default pools shareable.
 *
 * **Lifetime.** The first descriptor of a handle is the write end of a pipe. The owner's memory is
 * used until the last copy of this descriptor is closed, in all processes: in handles, in messages
 * that nobody has received, and in arrays that were opened. If a process ends, also by SIGKILL, the
 * kernel closes its descriptors. A thread of the library then releases the owner's array, or
 * arrowdevice_deferred_run() in manual mode. If the owner ends first, arrays that were opened stay
 * valid.
 *
 * **Trust.** A process that opens a handle of the CPU can read the whole allocations in which the
 * array lies, and cannot write them. The owner can write them at any time, also after the checks of
 * arrowdevice_array_open_ipc_handle(). A process that does not trust the owner copies the array and
 * validates the copy.
 *
 * **Fork.** A child process closes its copies of the handles that its parent has. It keeps its copies
 * of the arrays that its parent has opened.
 */
#ifndef ARROWDEVICE_IPC_H
#define ARROWDEVICE_IPC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_copy_options; /* in copy.h */

/** A handle of an array. The struct is frozen: it never grows. */
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
 * shareable memory of the same device, and the handle refers to the copy. The copy has only the
 * bytes that the array's rows need. `copied_bytes` and the log at level "debug" tell of such copies.
 *
 * @param inout    The array, which stays valid. If it is not copied, it becomes a shared owner, as
 *                 with arrowdevice_array_share().
 * @param schema   Type of the array. The handle has it too.
 * @param options  Options, or NULL for the defaults.
 *                 - ARROWDEVICE_COPY_NEVER: the call fails with ENOTSUP if a copy is necessary.
 *                 - ARROWDEVICE_COPY_ALWAYS: the array is copied. The other process then sees no
 *                   memory of other arrays, if `pool` serves only this handle.
 *                 - ARROWDEVICE_COPY_ASYNC has no effect. The data is ready when the call returns.
 *                 - `pool`: a shareable pool of the array's device that serves a copy. With NULL, it
 *                   is the device's default pool if that is shareable, else a pool of the library.
 * @param out      Receives the handle.
 *
 * Errors:
 * - EINVAL if the array does not match its schema, or if the pool is not shareable.
 * - ENOTSUP if the backend has no shareable memory, or if the schema has something that Arrow's IPC
 *   format cannot express, such as a dictionary of dictionaries.
 * - ENOTSUP if ARROWDEVICE_COPY_NEVER is set and a copy is necessary. The message names the buffer.
 * - EMFILE or ENFILE if there are no more descriptors.
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
 * Thread-safety: per object, from any thread. Does not block.
 */
ARROWDEVICE_API void arrowdevice_ipc_handle_release(struct arrowdevice_ipc_handle* handle);

/**
 * Opens a handle of another process, or of this one. A handle may be opened several times.
 *
 * The library checks each number of the handle against the sizes that the kernel or the driver
 * reports, and the last offsets of texts and binaries. It reads no other data.
 * arrowdevice_array_validate() checks the rest.
 *
 * Memory of the CPU is mapped for reading only. A write to it ends the process.
 *
 * @param bytes          The handle's bytes.
 * @param size           Number of bytes.
 * @param descriptors    The handle's descriptors in their order, with the numbers that they have in
 *                       this process. The library duplicates what it keeps. The caller closes them,
 *                       whether the call succeeds or not.
 * @param n_descriptors  Number of descriptors.
 * @param out            Receives the array, which is ready. The other process may use the memory
 *                       again when it is released.
 * @param out_schema     Receives the type of the array. The caller releases it.
 *
 * Errors:
 * - EINVAL if the bytes or the descriptors are not those of a handle, or if the owner could take
 *   the memory back.
 * - ENOTSUP if the handle is of a version that the library does not read.
 * - ENODEV if this process does not see the array's device. The message has its UUID.
 * - EMFILE or ENFILE if there are no more descriptors.
 * - ENOMEM if the memory cannot be mapped.
 * - EIO if the driver fails.
 * - The general errors.
 * Thread-safety: free. On a device that the CPU cannot read, the call waits for the driver to read
 * sizes back.
 */
ARROWDEVICE_API int arrowdevice_array_open_ipc_handle(const uint8_t* bytes, int64_t size, const int* descriptors,
                                                      int64_t n_descriptors, struct ArrowDeviceArray* out,
                                                      struct ArrowSchema* out_schema, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_IPC_H */
