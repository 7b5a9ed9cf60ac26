/* SPDX-License-Identifier: Apache-2.0 */
/* A library that makes device arrays with the structs of the format only. It links no library. */
#include <arrowdevice/abi.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4

#define EXPORTED __attribute__((visibility("default")))

/* All memory of the batch {id: int64, name: utf8}. The last release frees it, because a consumer may move columns out
 * and release the rest first. */
struct batch {
  int owners; /* with threads, this must be atomic */
  int64_t ids[ROWS];
  int32_t offsets[ROWS + 1];
  char text[16];
  uint8_t validity[1];
  const void *root_buffers[1], *id_buffers[2], *name_buffers[3];
  struct ArrowArray columns[2], *children[2];
};

static void release_part(struct ArrowArray* array) {
  struct batch* batch = array->private_data;
  for (int64_t i = 0; i < array->n_children; ++i) {
    struct ArrowArray* child = array->children[i];
    if (child->release != NULL) child->release(child);
  }
  array->release = NULL;
  if (--batch->owners == 0) free(batch);
}

struct fields {
  struct ArrowSchema schemas[2], *children[2];
};

static void release_field(struct ArrowSchema* schema) { schema->release = NULL; }
static void release_schema(struct ArrowSchema* schema) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    struct ArrowSchema* child = schema->children[i];
    if (child->release != NULL) child->release(child);
  }
  free(schema->private_data);
  schema->release = NULL;
}

/* Fills both structs, which belong to the caller. Returns 0 or an errno value. */
EXPORTED int producer_make(struct ArrowDeviceArray* out, struct ArrowSchema* out_schema) {
  struct batch* batch = calloc(1, sizeof *batch);
  struct fields* fields = calloc(1, sizeof *fields);
  if (batch == NULL || fields == NULL) {
    free(batch);
    free(fields);
    return ENOMEM;
  }
  const int64_t ids[ROWS] = {1, 2, 3, 4};
  const int32_t offsets[ROWS + 1] = {0, 3, 3, 8, 12};
  memcpy(batch->ids, ids, sizeof ids);
  memcpy(batch->offsets, offsets, sizeof offsets);
  memcpy(batch->text, "onethreefour", 12);
  batch->validity[0] = 0xd; /* the second name is null */
  batch->id_buffers[1] = batch->ids;
  batch->name_buffers[0] = batch->validity;
  batch->name_buffers[1] = batch->offsets;
  batch->name_buffers[2] = batch->text;
  batch->columns[0] = (struct ArrowArray){
      .length = ROWS, .n_buffers = 2, .buffers = batch->id_buffers, .release = release_part, .private_data = batch};
  batch->columns[1] = (struct ArrowArray){.length = ROWS,
                                          .null_count = 1,
                                          .n_buffers = 3,
                                          .buffers = batch->name_buffers,
                                          .release = release_part,
                                          .private_data = batch};
  for (int i = 0; i < 2; ++i) batch->children[i] = &batch->columns[i];
  batch->owners = 3;
  /* Host memory has the type CPU and the id -1, and no event. */
  *out = (struct ArrowDeviceArray){.array = {.length = ROWS,
                                             .n_buffers = 1,
                                             .n_children = 2,
                                             .buffers = batch->root_buffers,
                                             .children = batch->children,
                                             .release = release_part,
                                             .private_data = batch},
                                   .device_id = -1,
                                   .device_type = ARROW_DEVICE_CPU};

  fields->schemas[0] = (struct ArrowSchema){.format = "l", .name = "id", .release = release_field};
  fields->schemas[1] =
      (struct ArrowSchema){.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE, .release = release_field};
  for (int i = 0; i < 2; ++i) fields->children[i] = &fields->schemas[i];
  *out_schema = (struct ArrowSchema){.format = "+s",
                                     .name = "",
                                     .n_children = 2,
                                     .children = fields->children,
                                     .release = release_schema,
                                     .private_data = fields};
  return 0;
}
