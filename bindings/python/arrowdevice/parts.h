/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of given buffers and children. */
#ifndef ARROWDEVICE_PYTHON_PARTS_H
#define ARROWDEVICE_PYTHON_PARTS_H

#include <Python.h>
#include <arrowdevice/abi.h>
#include <stdint.h>

/* Makes an array with room for its buffers and children, which the caller then sets. The release of the array releases
 * the children. It then drops the owner, from any thread, unless the interpreter has ended. Needs the GIL. Fails with
 * ENOMEM. */
int parts_array(PyObject* owner, int64_t n_buffers, int64_t n_children, struct ArrowArray* out);

#endif
