/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <Python.h>
#include <arrowdevice/arrowdevice.h>

#include "guard.h"

/* The call that was interrupted may still release Python objects, which may call the library. So the exception is not
 * set before that call has ended. */
struct raised {
  PyObject *type, *value, *traceback;
  int depth; /* of the interrupted call */
};

static __thread struct raised raised;
static __thread int depth;

static int check(void* user) {
  (void)user;
  if (raised.type != NULL) return depth == raised.depth;
  if (!guard_enter()) return 0; /* no thread may take the GIL when the interpreter ends */
  const PyGILState_STATE state = PyGILState_Ensure();
  const int interrupts = PyErr_CheckSignals() != 0;
  if (interrupts) {
    PyErr_Fetch(&raised.type, &raised.value, &raised.traceback);
    raised.depth = depth;
  }
  PyGILState_Release(state);
  guard_leave();
  return interrupts;
}

void signals_begin(void) {
  if (depth++ == 0) arrowdevice_interrupt_set_check(check, NULL);
}

void signals_end(void) {
  if (--depth == 0) arrowdevice_interrupt_set_check(NULL, NULL);
}

int signals_raise(void) {
  if (raised.type == NULL || depth >= raised.depth) return 0;
  PyErr_Restore(raised.type, raised.value, raised.traceback);
  raised = (struct raised){NULL, NULL, NULL, 0};
  return 1;
}
