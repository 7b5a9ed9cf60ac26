/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards calls into foreign producers. A producer may be Python code: the release of a NumPy array takes the GIL. Any
 * thread may release, also while the interpreter ends and later. Taking the GIL then ends the thread or crashes. So
 * each foreign struct is wrapped by callbacks that do not call the producer after the guard is closed. The process then
 * frees the memory.
 */
#ifndef ARROWDEVICE_PYTHON_GUARD_H
#define ARROWDEVICE_PYTHON_GUARD_H

#include <arrowdevice/abi.h>
#include <stdint.h>

/* Each replaces a foreign struct by a guarded one. Fails with ENOMEM and leaves the struct unchanged. */
int guard_array(struct ArrowArray* inout);
int guard_stream(struct ArrowDeviceArrayStream* inout); /* also guards its arrays, and copies its schema */

/* Begins a call into foreign code. Returns 0 if the guard is closed; the caller must not call then. */
int guard_enter(void);

/* Ends a call into foreign code, after guard_enter() has returned 1. */
void guard_leave(void);

/* Closes the guard. Only this thread may then call foreign code, while there is an interpreter. Waits without the GIL
 * for running calls, at most the given time. Returns the number of calls that still run. */
int64_t guard_close(int64_t timeout_ns);

#endif
