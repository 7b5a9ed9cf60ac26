/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gil.h"

#include <Python.h>
#include <dlfcn.h>

/*
 * The limited API has no question for it. PyGILState_Check() is not the answer: it says yes to everybody once there has
 * been a second interpreter. So it is asked which thread state is current, by the name that this has in newer Pythons,
 * or the one it had in 3.11 and 3.12.
 */
static PyThreadState* (*current_state)(void);

int gil_can_be_asked(void) {
  void* found = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
  if (found == NULL) found = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
  *(void**)&current_state = found;
  return found != NULL;
}

/* In 3.11 the current state is that of whichever thread has the GIL. Threads that Python does not know have none, and
 * once the interpreter is gone nobody has. */
void* gil_let_go(void) {
  PyThreadState* const own = PyGILState_GetThisThreadState();
  return own != NULL && own == current_state() ? PyEval_SaveThread() : NULL;
}

void gil_take_back(void* let_go) {
  if (let_go != NULL) PyEval_RestoreThread(let_go);
}
