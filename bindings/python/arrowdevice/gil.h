/* SPDX-License-Identifier: Apache-2.0 */
/* Releases the GIL from threads that may not hold it, also when there is no interpreter. */
#ifndef ARROWDEVICE_PYTHON_GIL_H
#define ARROWDEVICE_PYTHON_GIL_H

/* Returns whether this Python reports which thread holds the GIL. Call it before the other functions. */
int gil_is_supported(void);

/* Releases the GIL. Returns the state for gil_restore(), or NULL if this thread does not hold the GIL. */
void* gil_release(void);

/* Takes the GIL again. Has no effect if the state is NULL. */
void gil_restore(void* state);

#endif
