/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other libraries hand to Python programs calls back into Python when it is released or pulled: a NumPy array
 * takes the GIL to give its memory back. Releases come from any thread, also while the interpreter ends and after it,
 * when taking the GIL ends the thread or crashes. So every foreign struct gets a callback of ours around its own, which
 * stops calling once the door is closed. What is not released then goes with the process.
 */
#ifndef ARROWDEVICE_PYTHON_GUARD_H
#define ARROWDEVICE_PYTHON_GUARD_H

#include <arrowdevice/abi.h>
#include <stdint.h>

/* Each takes a foreign struct and puts its own in its place. ENOMEM: it is left as it was. */
int guard_array(struct ArrowArray* inout);
int guard_stream(struct ArrowDeviceArrayStream* inout); /* its arrays are guarded as they come, its schema is a copy */

/* A stretch of foreign code: 0 if it must not run any more. After 1, leave. */
int guard_enter(void);
void guard_leave(void);

/* No foreign code from here on, but on this thread as long as there is an interpreter. Waits for what is in it now, up
 * to the time given, without the GIL. Returns how many are in it still. */
int64_t guard_close(int64_t timeout_ns);

#endif
