/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

struct parts {
  PyObject* owner;
  const void** buffers;
  struct ArrowArray** children; /* pointers to `room`, which follow each other */
  struct ArrowArray* room;
};

static void free_parts(struct parts* parts) {
  free((void*)parts->buffers);
  free((void*)parts->children);
  free(parts->room);
  free(parts);
}

static void release(struct ArrowArray* array) {
  struct parts* const parts = array->private_data;
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (parts->room[i].release != NULL) parts->room[i].release(&parts->room[i]);
  }
  array->release = NULL;
  if (!guard_enter()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(parts->owner);
  PyGILState_Release(state);
  guard_leave();
  free_parts(parts);
}

/* Returns memory for n values of at least one. */
static void* zeroed(int64_t n, size_t size) { return calloc(n > 0 ? (size_t)n : 1, size); }

int parts_array(PyObject* owner, int64_t n_buffers, int64_t n_children, struct ArrowArray* out) {
  struct parts* const parts = calloc(1, sizeof *parts);
  if (parts == NULL) return ENOMEM;
  parts->buffers = zeroed(n_buffers, sizeof *parts->buffers);
  parts->children = zeroed(n_children, sizeof *parts->children);
  parts->room = zeroed(n_children, sizeof *parts->room);
  if (parts->buffers == NULL || parts->children == NULL || parts->room == NULL) {
    free_parts(parts);
    return ENOMEM;
  }
  for (int64_t i = 0; i < n_children; ++i) parts->children[i] = &parts->room[i];
  Py_INCREF(owner);
  parts->owner = owner;
  memset(out, 0, sizeof *out);
  out->n_buffers = n_buffers;
  out->n_children = n_children;
  out->buffers = parts->buffers;
  out->children = parts->children;
  out->release = release;
  out->private_data = parts;
  return 0;
}
