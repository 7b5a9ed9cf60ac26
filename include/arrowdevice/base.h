/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file base.h
 * The parts that every other header of the C API needs: version, errors, time-outs, log,
 * interruption and deferred work.
 *
 * arrowdevice.h has the conventions of all functions, the general errors included.
 */
#ifndef ARROWDEVICE_BASE_H
#define ARROWDEVICE_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#ifdef __cplusplus
static_assert(sizeof(void*) == 8, "libarrowdevice is for 64-bit platforms");
extern "C" {
#else
_Static_assert(sizeof(void*) == 8, "libarrowdevice is for 64-bit platforms");
#endif

#if defined(__GNUC__)
#define ARROWDEVICE_API __attribute__((visibility("default")))
#else
#define ARROWDEVICE_API
#endif

#define ARROWDEVICE_VERSION_MAJOR 0
#define ARROWDEVICE_VERSION_MINOR 1
#define ARROWDEVICE_VERSION_PATCH 0

/* Values of timeout_ns */
#define ARROWDEVICE_NO_TIMEOUT 0 /* waits without limit */
#define ARROWDEVICE_POLL (-1)    /* does not wait; every negative value means the same */

/**
 * Describes why a call failed. It has 512 bytes, the caller owns it, and there is nothing to
 * release. The texts are UTF-8 and always end with a zero byte.
 */
struct arrowdevice_error {
  int32_t code;        /* the errno value that the function returned */
  int32_t native_code; /* the vendor's own code, 0 if there is none */
  char backend[16];    /* name of the backend, such as "cuda"; "" if the library itself failed */
  char message[488];   /* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (8388608 bytes on CUDA 0)" */
};

struct arrowdevice_device;
struct arrowdevice_queue;
struct arrowdevice_pool;
struct arrowdevice_view;
struct arrowdevice_backend;
struct DLManagedTensorVersioned; /* declared by DLPack, whose header is not needed here */

/**
 * Returns the library's version as "major.minor.patch". The text is static.
 *
 * Thread-safety: free.
 */
ARROWDEVICE_API const char* arrowdevice_version(void);

/* -- log ---------------------------------------------------------------------------------------------------------- */

/**
 * Sends the library's log to a function of the application.
 *
 * If no handler is set, the library prints messages of level 0 to standard error and drops the
 * others. The environment variable `ARROWDEVICE_LOG` sets the highest level to print: "error",
 * "warning", "info", "debug", or a number from 0 to 3. It does not limit a handler. The
 * library logs single copies and the growth of pools only if the variable is "debug".
 *
 * @param log   Handler, or NULL to restore the default. The library calls it from any thread.
 *              `level` is 0 for errors, 1 for warnings, 2 for info and 3 for debug. `message` is a
 *              line of UTF-8 without a line end. The handler must not call the library.
 * @param user  Passed to `log`. After the handler is replaced, other threads may still be calling
 *              it, and the library does not report when the last call has returned. `user`
 *              therefore usually lives as long as the process.
 *
 * Thread-safety: free. If another thread is logging meanwhile, its message may still reach the
 * former handler.
 */
ARROWDEVICE_API void arrowdevice_log_set_handler(void (*log)(void* user, int level, const char* message), void* user);

/* -- interruption ------------------------------------------------------------------------------------------------- */

/**
 * Sets a function that can end the waits of the calling thread. NULL removes it.
 *
 * While a call of this thread waits for a device or for another thread of the library, the library
 * calls `check` about 20 times per second. If the result is not 0, the wait ends and the call fails
 * with ECANCELED. Afterwards the same rules hold as after ETIMEDOUT (see **Failure** in
 * arrowdevice.h). Calls of the driver and of producers are not interrupted. The library does not
 * call `check` in a wait of less than 50 milliseconds.
 *
 * @param check  The function, or NULL. There is one per thread. The library calls it on this
 *               thread and holds no lock meanwhile. It may call the library, but not with an object
 *               of the waiting call.
 * @param user   Passed to `check`.
 *
 * Thread-safety: free. Applies to the calling thread only.
 */
ARROWDEVICE_API void arrowdevice_interrupt_set_check(int (*check)(void* user), void* user);

/* -- deferred work ------------------------------------------------------------------------------------------------ */

/**
 * Selects which thread completes deferred work: the application's or the library's.
 *
 * The library defers a release if the device still uses the memory. By default the library starts
 * one thread at the first deferred work. This thread completes deferred work. A call that defers
 * work completes up to two earlier items too, on its own thread. A call that lacks memory completes
 * all items that it can. Do not hold a lock that a release callback takes in such a call. In manual
 * mode there is no such thread, no call completes the work of others, and the application calls
 * arrowdevice_deferred_run().
 *
 * @param on  1 for manual mode, or 0 for the library's thread. Every other value counts as 1.
 *
 * Errors:
 * - EBUSY if `on` changes the mode, and work has been deferred or an IPC handle (see ipc.h) has
 *   been made at any time before.
 * - The general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_deferred_set_manual(int on, struct arrowdevice_error* error);

/**
 * Completes deferred work whose events have fired, on the calling thread. Does not wait for events.
 * The call also releases the arrays of IPC handles that no process uses any more (see ipc.h).
 *
 * The call may run the release callbacks of producers on the calling thread.
 *
 * @param max   Largest number of items to complete. If it is negative, the call completes all that
 *              it can.
 * @param done  Receives the number of completed items. May be NULL.
 *
 * Errors: the general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_deferred_run(int64_t max, int64_t* done, struct arrowdevice_error* error);

/**
 * Waits until no work is deferred. Work of calls that failed with ETIMEDOUT, ECANCELED or EBUSY
 * counts as deferred until it is complete or has failed. A copy of arrowdevice_array_to_host_async()
 * counts until its `done` has returned. A program that must free all memory before it ends calls
 * this function.
 *
 * In manual mode the calling thread completes deferred work while it waits.
 *
 * @param timeout_ns  Time-out in nanoseconds, as the conventions say.
 *
 * Errors:
 * - ETIMEDOUT if some work is not complete when the time-out ends. That work stays deferred.
 * - EBUSY if the call is made from a release callback that runs as deferred work, or from `done` of
 *   arrowdevice_array_to_host_async().
 * - The general errors.
 * Thread-safety: free. Blocks up to `timeout_ns`.
 */
ARROWDEVICE_API int arrowdevice_wait_idle(int64_t timeout_ns, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_BASE_H */
