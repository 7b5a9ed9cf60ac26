/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gil.h"

#include <Python.h>
#include <dlfcn.h>

/*
 * Returns the current thread state. The limited API has no such function. PyGILState_Check() does not help, because it
 * returns 1 on every thread once there has been a second interpreter. The function has one name in Python 3.11 and
 * 3.12, and another one in newer versions.
 */
static PyThreadState* (*current_state)(void);

int gil_is_supported(void) {
  void* found = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
  if (found == NULL) found = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
  *(void**)&current_state = found;
  return found != NULL;
}

/* Python 3.11 returns the state of the thread that holds the GIL. A thread unknown to Python has no state. No thread
 * has one after the interpreter has ended. */
void* gil_release(void) {
  PyThreadState* const own = PyGILState_GetThisThreadState();
  return own != NULL && own == current_state() ? PyEval_SaveThread() : NULL;
}

void gil_restore(void* state) {
  if (state != NULL) PyEval_RestoreThread(state);
}
