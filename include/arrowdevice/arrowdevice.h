/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrowdevice.h
 * The C API of libarrowdevice: it includes every header but backend.h, and states the conventions
 * of all functions.
 *
 * The library exports, imports, copies and releases Arrow data on any device that a backend drives.
 *
 * | header | content |
 * |---|---|
 * | base.h | version, errors, time-outs, log, deferred work |
 * | device.h | devices, wrapped contexts, default pools |
 * | backend_registry.h | plugins and backends that are linked in |
 * | queue.h | queues, and copies of bytes |
 * | buffer.h | pools, buffers, sub-buffers |
 * | array.h | device arrays: export, ownership, waits, slices, validation |
 * | copy.h | copies of arrays between devices |
 * | view.h | imported arrays and their typed buffers |
 * | stream.h | streams of device arrays |
 * | async.h | async streams |
 * | dlpack.h | exchange with tensor libraries |
 * | ipc.h | arrays for other processes of the machine |
 * | link.h | streams between processes of the machine |
 * | abi.h | the structs of the Arrow format |
 *
 * The conventions below hold for every function, unless its comment says otherwise. The library
 * needs no call to start or end it.
 *
 * **Result.** A function returns 0 or an `errno` value. `error` may be NULL. The function fills it
 * on failure and leaves it untouched on success, so one struct can serve many calls. The library
 * stores no last error.
 *
 * | value | meaning |
 * |---|---|
 * | EINVAL | the input is wrong |
 * | ENOTSUP | the type, layout or device type is not supported |
 * | ENODEV | there is no such driver or device |
 * | ENOMEM | host or device memory is exhausted; the message says which |
 * | EIO | the device failed, now or in earlier work |
 * | ETIMEDOUT | a wait exceeded its time-out |
 * | ECANCELED | the stream was cancelled, or the thread's check ended a wait |
 * | EBUSY | the driver or the library is busy (see the general errors and the function) |
 * | EEXIST, ENOENT | as the function says |
 *
 * **General errors.** Every function that returns a code may fail with these:
 *
 * - EINVAL if a pointer is NULL and its description does not allow NULL.
 * - EINVAL if an input is released, if an output is also an input, or if options have an invalid
 *   `struct_size` or unknown flags.
 * - ENOMEM if the host has no memory.
 * - ENODEV if a device is no longer wrapped, after arrowdevice_device_unwrap().
 * - ENODEV if a driver is needed after `exit` has begun or in a child process after `fork`.
 * - EBUSY if the driver cannot tell if work has ended.
 * - EBUSY if the application is recording the queue's work into a graph of the vendor's API, such as
 *   a CUDA graph.
 * - EIO, ENOMEM or another code of the backend if a driver call fails.
 * - ECANCELED if the function waits, and the thread's check ends the wait (see
 *   arrowdevice_interrupt_set_check()).
 *
 * **NULL.** If the object is NULL, a function that returns `void` does nothing, and a function that
 * returns a pointer returns NULL.
 *
 * **Ownership.** The name of a parameter says how it is owned:
 *
 * - `moved`: on success the library owns the object. The library sets `release` of a moved struct
 *   to NULL. The caller must not use a moved pointer again. On failure the object still belongs to
 *   the caller, who may call again. The object is untouched, with one exception: after ETIMEDOUT or
 *   ECANCELED it may have become a shared owner of the same memory.
 * - `inout`: the array stays valid and still belongs to the caller. It and the result are then
 *   owners of the same memory, and both must be released.
 * - `out`: if the call succeeds, the caller owns each object in it, and must release or destroy
 *   it. If the call fails, every output struct's `release` and every output pointer is
 *   NULL.
 * - All other parameters are borrowed for the call. The caller may release a schema, or destroy a
 *   queue or pool, as soon as the call returns, also if it fails.
 * - Devices are never destroyed.
 *
 * **Failure.** If a call fails, nothing is leaked. If it fails with ETIMEDOUT, ECANCELED or EBUSY,
 * device work that it submitted may still run. The library frees its own memory when that work has
 * finished. The caller may release the arrays of the call at these times:
 *
 * | after | `moved` and `inout` arrays | borrowed arrays |
 * |---|---|---|
 * | ETIMEDOUT, ECANCELED | at once; the library holds a reference | when arrowdevice_wait_idle() has succeeded |
 * | EBUSY | when arrowdevice_wait_idle() has succeeded | when arrowdevice_wait_idle() has succeeded |
 *
 * If a call fails with another code, its work has finished, unless the function's comment says
 * otherwise.
 *
 * A function that only waits, such as arrowdevice_array_wait(), submits no work. After ETIMEDOUT,
 * ECANCELED or EBUSY the caller may call it again, or release the array.
 *
 * **Options and info.** The caller sets `struct_size` of every struct that starts with it, inputs
 * and outputs alike. The library reads or fills members up to the smaller of `struct_size` and its
 * own size. In an output it zeroes the members beyond its own size. It leaves `struct_size` as it
 * is. If `struct_size` is smaller than the struct was in version 0.1, the call fails with EINVAL.
 * NULL options, and options that are zero after `struct_size`, mean the defaults. Members named
 * `reserved` are zero.
 *
 * **Time-outs.** `timeout_ns` is in nanoseconds and means the same in parameters, options and the
 * backend table:
 *
 * - If it is greater than 0, it is the limit for the whole call. The library does not interrupt
 *   calls of a driver or a producer, nor a copy that the CPU makes.
 * - ARROWDEVICE_NO_TIMEOUT (0) waits without limit.
 * - If it is less than 0, the call does not wait. It fails with ETIMEDOUT if it would have to.
 *   ARROWDEVICE_POLL (-1) names this.
 *
 * **Threads.** Functions on different objects may run at the same time on any threads. Functions
 * that take the same object as `const` may also run at the same time. A `Thread-safety:` line says
 * more:
 *
 * - "free": the function may be called from any thread at any time.
 * - "free on a `const` array": several threads may pass the same array, if no thread changes or
 *   releases it meanwhile.
 * - "per object": while one thread changes an array, queue, view or stream, no other thread may use
 *   that object.
 *
 * **Blocking.** A function waits for device work only if its comment says so. Every function may
 * take as long as the driver's calls take.
 *
 * **Units.** Sizes of memory are in bytes. Lengths and offsets of arrays are in rows.
 *
 * **Process.** After `exit` has begun, a release frees only host memory and calls no driver. In a
 * child process after `fork`, arrays on the CPU work as before. In that child, the release of an
 * array on a device calls neither a driver nor a producer.
 *
 * **The format.** An `Implements:` line quotes sections and members of the format's pages, most of
 * them of "The Arrow C Device data interface".
 */
#ifndef ARROWDEVICE_ARROWDEVICE_H
#define ARROWDEVICE_ARROWDEVICE_H

/* IWYU pragma: begin_exports */
#include "abi.h"
#include "array.h"
#include "async.h"
#include "backend_registry.h"
#include "base.h"
#include "buffer.h"
#include "copy.h"
#include "device.h"
#include "dlpack.h"
#include "ipc.h"
#include "link.h"
#include "queue.h"
#include "stream.h"
#include "view.h"
/* IWYU pragma: end_exports */

#endif /* ARROWDEVICE_ARROWDEVICE_H */
