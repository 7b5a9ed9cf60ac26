/* SPDX-License-Identifier: Apache-2.0 */
/* Runs Python's signal handlers while a call of the library waits. */
#ifndef ARROWDEVICE_PYTHON_SIGNALS_H
#define ARROWDEVICE_PYTHON_SIGNALS_H

/* From signals_begin() to signals_end(), an exception of a signal handler ends the waits of this thread with ECANCELED.
 * The pairs may be nested. Neither needs the GIL. */
void signals_begin(void);
void signals_end(void);

/* Raises the exception of a handler that has not been raised yet, and returns 1. Returns 0 if there is none. Needs the
 * GIL. */
int signals_raise(void);

#endif
