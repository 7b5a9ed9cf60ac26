/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as a program makes them by hand, with a count of structs that are not released. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

static const int32_t ids[BATCHES][ROWS] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};
static const int32_t offsets[ROWS + 1] = {0, 3, 3, 3, 7};
static const char names[] = "onefour";
static const uint8_t validity[1] = {0xd}; /* row 1 is null, row 2 is empty */

static atomic_int live; /* threads of the library release too */

int live_structs(void) { return atomic_load(&live); }

static void* allocate(size_t size) {
  void* memory = calloc(1, size);
  if (memory == NULL) abort();
  return memory;
}

/* -- schemas */

static void release_schema(struct ArrowSchema* schema) {
  CHECK(schema->private_data == &live);
  for (int64_t i = 0; i < schema->n_children; ++i) {
    struct ArrowSchema* child = schema->children[i];
    if (child->release != NULL) child->release(child);
    free(child);
  }
  free(schema->children);
  schema->release = NULL;
  atomic_fetch_sub(&live, 1);
}

static void make_field(const char* format, const char* name, int64_t flags, int64_t n_children,
                       struct ArrowSchema* out) {
  memset(out, 0, sizeof *out);
  out->format = format;
  out->name = name;
  out->flags = flags;
  out->n_children = n_children;
  if (n_children > 0) out->children = allocate((size_t)n_children * sizeof *out->children);
  for (int64_t i = 0; i < n_children; ++i) out->children[i] = allocate(sizeof **out->children);
  out->release = release_schema;
  out->private_data = &live;
  atomic_fetch_add(&live, 1);
}

void make_schema(struct ArrowSchema* out) {
  make_field("+s", "", 0, 2, out);
  make_field("i", "id", 0, 0, out->children[0]);
  make_field("u", "name", ARROW_FLAG_NULLABLE, 0, out->children[1]);
}

/* -- arrays */

static void release_array(struct ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    struct ArrowArray* child = array->children[i];
    if (child->release != NULL) child->release(child); /* otherwise it was moved out and is still alive */
    free(child);
  }
  free(array->children);
  free(array->buffers);
  array->release = NULL;
  atomic_fetch_sub(&live, 1);
}

static void make_array(int64_t null_count, int64_t n_buffers, int64_t n_children, struct ArrowArray* out) {
  memset(out, 0, sizeof *out);
  out->length = ROWS;
  out->null_count = null_count;
  out->n_buffers = n_buffers;
  out->buffers = allocate((size_t)n_buffers * sizeof *out->buffers);
  out->n_children = n_children;
  if (n_children > 0) out->children = allocate((size_t)n_children * sizeof *out->children);
  for (int64_t i = 0; i < n_children; ++i) out->children[i] = allocate(sizeof **out->children);
  out->release = release_array;
  atomic_fetch_add(&live, 1);
}

void make_batch(int number, struct ArrowArray* out) {
  make_array(0, 1, 2, out);
  struct ArrowArray *id = out->children[0], *name = out->children[1];
  make_array(0, 2, 0, id);
  id->buffers[1] = ids[number];
  make_array(1, 3, 0, name);
  name->buffers[0] = validity;
  name->buffers[1] = offsets;
  name->buffers[2] = names;
}

int is_batch(const struct ArrowArray* array, int number, int first, int n) {
  if (array->length != n || array->offset != 0 || array->n_children != 2) return 0;
  const struct ArrowArray *id = array->children[0], *name = array->children[1];
  if (id->length != n || name->length != n || id->n_buffers != 2 || name->n_buffers != 3) return 0;
  const uint8_t* valid = name->buffers[0];
  const int32_t* ends = (const int32_t*)name->buffers[1] + name->offset;
  for (int row = 0; row < n; ++row) {
    const int from = first + row;
    if (((const int32_t*)id->buffers[1])[id->offset + row] != ids[number][from]) return 0;

    const int64_t slot = name->offset + row;
    const int is_valid = valid == NULL || (valid[slot / 8] >> (slot % 8) & 1);
    if (is_valid != (validity[0] >> from & 1)) return 0;
    if (!is_valid) continue;
    const int32_t length = offsets[from + 1] - offsets[from];
    if (ends[row + 1] - ends[row] != length) return 0;
    const char* text = name->buffers[2]; /* may be NULL if there are no bytes */
    if (length > 0 && memcmp(text + ends[row], names + offsets[from], (size_t)length) != 0) return 0;
  }
  return 1;
}

void expect_batch(struct ArrowDeviceArray* taken, int number, int first, int n) {
  struct ArrowSchema schema;
  struct ArrowArray host;
  make_schema(&schema);
  OK(arrowdevice_array_to_host(taken, &schema, NULL, &host, &error));
  CHECK(taken->array.release == NULL);
  CHECK(is_batch(&host, number, first, n));
  arrowdevice_host_array_release(&host);
  CHECK(host.release == NULL);
  arrowdevice_schema_release(&schema);
}

void put_batch(int number, struct arrowdevice_device* device, struct ArrowDeviceArray* out) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowDeviceArray host;
  make_schema(&schema);
  make_batch(number, &batch);
  OK(arrowdevice_array_from_host(&batch, &host, &error));
  OK(arrowdevice_array_copy(&host, &schema, device, NULL, out, &error));
  arrowdevice_array_release(&host);
  arrowdevice_schema_release(&schema);
}
