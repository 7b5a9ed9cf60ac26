/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dlpack.h
 * DLPack: passes arrays of numbers to and from tensor libraries, without a copy. The arrays have no
 * nulls.
 *
 * - An array of integers or floats is a tensor of rank 1.
 * - Fixed-size lists of them are tensors of higher rank. For example, 10 rows of `+w:3` of `+w:4`
 *   of `f` have the shape 10, 3, 4.
 * - Device types have the same numbers in DLPack and in the Arrow format. Most ids are the same
 *   too.
 * - The id in DLPack is always 0 for the CPU (id -1 here), CUDA_HOST, ROCM_HOST and CUDA_MANAGED.
 *
 * docs/dlpack.md has the tables of types and devices.
 */
#ifndef ARROWDEVICE_DLPACK_H
#define ARROWDEVICE_DLPACK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exports an array as a tensor of DLPack 1.0, which consumers of every later 1.x can read.
 *
 * The tensor is read-only, compact and row-major, and has strides. The array's offset is in
 * `byte_offset`, even if buffers are handles.
 *
 * @param inout           The array, which stays valid and becomes a shared owner, as with
 *                        arrowdevice_array_share().
 * @param schema          Type of the array. The library reads it only during the call. DLPack has
 *                        no dtype for some types, such as timestamps. To export them, pass a
 *                        number type of the same layout, such as int64.
 * @param consumer_queue  Queue that uses the tensor. Work that is queued later waits for the
 *                        array's event, as with arrowdevice_queue_wait_array(). If it is NULL, the
 *                        CPU waits.
 * @param out             Receives the tensor. The consumer calls its `deleter` once, from any
 *                        thread, and the `deleter` never blocks. The `deleter` does not wait for
 *                        `consumer_queue`: the consumer calls it after its device work on the
 *                        tensor has finished. If the tensor is the last owner, the `deleter`
 *                        releases the memory, and the library may reuse it at once.
 *
 * Errors:
 * - EINVAL if the array does not match its schema.
 * - ENOTSUP if visible rows have nulls, or if DLPack knows no such device. The message names the
 *   child.
 * - ENOTSUP if the type is neither a number nor a fixed-size list of numbers. Booleans are not
 *   supported, because they are bits in Arrow and bytes in DLPack.
 * - All errors of arrowdevice_queue_wait_array().
 * Implements: "Memory management", "Synchronization".
 * Thread-safety: per object. The CPU waits if `consumer_queue` is NULL or cannot wait. It also
 * waits to count nulls on a device. These waits have no limit.
 */
ARROWDEVICE_API int arrowdevice_dlpack_export(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                              struct arrowdevice_queue* consumer_queue,
                                              struct DLManagedTensorVersioned** out, struct arrowdevice_error* error);

/**
 * Imports a tensor of DLPack 1 as an array.
 *
 * Rank 1 gives an array of numbers, and rank 0 gives an array of one row. Higher ranks give
 * fixed-size lists, whose child is named "item". Fields are nullable and have no nulls.
 *
 * @param moved           The tensor. When the last owner of the array is released, the library
 *                        calls the tensor's `deleter`, on that thread or as deferred work. The
 *                        `deleter` may be NULL. On failure the tensor is untouched, even if it has
 *                        another major version. The application must not write to its memory while
 *                        the array lives.
 * @param producer_queue  Queue that has the producer's work. The array's event fires after the work
 *                        so far. If arrays of the device carry no events, the call waits. NULL
 *                        means that the data is ready.
 * @param out             Receives the array.
 * @param out_schema      Receives the type of the array. May be NULL if the caller knows the type.
 *
 * Errors:
 * - EINVAL if the number of dimensions, an extent or the device id is negative.
 * - EINVAL if the shape or the data is missing, or if sizes overflow.
 * - ENOTSUP if the tensor has another major version, or a device type or dtype that Arrow does not
 *   name. Booleans are not supported.
 * - ENOTSUP if the strides are not compact and row-major, or if there are more than 64 dimensions.
 * - ENOTSUP if an extent after the first dimension is above 2^31 - 1. The message names the
 *   dimension.
 * - ENOTSUP if buffers are handles and `byte_offset` is not a multiple of an element.
 * - ENODEV if a queue is given and the device is not present.
 * - EIO if the queue failed.
 * - The general errors.
 * Implements: "The ArrowDeviceArray structure", "Synchronization".
 * Thread-safety: per object. Blocks only if it waits for the queue's work.
 */
ARROWDEVICE_API int arrowdevice_dlpack_import(struct DLManagedTensorVersioned* moved,
                                              struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                              struct ArrowSchema* out_schema, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_DLPACK_H */
