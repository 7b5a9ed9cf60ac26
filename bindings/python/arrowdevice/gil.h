/* SPDX-License-Identifier: Apache-2.0 */
/* Letting go of the GIL where it is not known whether the calling thread has it, or whether there is a Python at all.
 */
#ifndef ARROWDEVICE_PYTHON_GIL_H
#define ARROWDEVICE_PYTHON_GIL_H

/* Whether this Python can be asked. To be found out before anything else here is called. */
int gil_can_be_asked(void);

/* What to take it back with; NULL: this thread does not have it. */
void* gil_let_go(void);
void gil_take_back(void* let_go);

#endif
