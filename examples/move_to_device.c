/* SPDX-License-Identifier: Apache-2.0 */
/* Moves a small record batch to a device and back: move_to_device [DEVICE], "cpu" or "ext_dev:0" for example. */
#include <arrowdevice/arrowdevice.h>

/* Puts a batch on a device: shares the memory if the device can use it, copies it if not. */
int send_to(const char* name, struct ArrowArray* batch, const struct ArrowSchema* schema,
            struct ArrowDeviceArray* device_array, struct arrowdevice_error* error) {
  struct arrowdevice_device* device;
  struct ArrowDeviceArray host;
  int code = arrowdevice_device_find_by_name(name, &device, error);
  if (code == 0) code = arrowdevice_array_from_host(batch, &host, error);
  if (code != 0) return code; /* `batch` still belongs to the caller */
  code = arrowdevice_array_to_device(&host, schema, device, NULL, device_array, error);
  if (code != 0) arrowdevice_array_release(&host); /* `host` owns the batch now */
  return code;
}

#include <stdio.h>
#include <string.h>

#define ROWS 3

/* The batch {id: int32, name: utf8}, made by hand out of static memory: nothing to free. */
static const int32_t ids[ROWS] = {1, 2, 3};
static const int32_t offsets[ROWS + 1] = {0, 3, 3, 7};
static const char names[] = "onefour";
static const uint8_t validity[1] = {0x5}; /* the second name is null */

static void release_array(struct ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
  }
  array->release = NULL;
}

static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static void make_batch(struct ArrowArray* batch, struct ArrowSchema* schema) {
  static const void *id_buffers[] = {NULL, ids}, *name_buffers[] = {validity, offsets, names},
                    *batch_buffers[] = {NULL};
  static struct ArrowArray id, name, *columns[] = {&id, &name};
  static struct ArrowSchema id_field, name_field, *fields[] = {&id_field, &name_field};

  id = (struct ArrowArray){.length = ROWS, .n_buffers = 2, .buffers = id_buffers, .release = release_array};
  name = (struct ArrowArray){
      .length = ROWS, .null_count = 1, .n_buffers = 3, .buffers = name_buffers, .release = release_array};
  *batch = (struct ArrowArray){.length = ROWS,
                               .n_buffers = 1,
                               .buffers = batch_buffers,
                               .n_children = 2,
                               .children = columns,
                               .release = release_array};

  id_field = (struct ArrowSchema){.format = "i", .name = "id", .release = release_schema};
  name_field =
      (struct ArrowSchema){.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
  *schema =
      (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = fields, .release = release_schema};
}

static int is_whole(const struct ArrowArray* batch) {
  if (batch->length != ROWS || batch->n_children != 2) return 0;
  const struct ArrowArray *id = batch->children[0], *name = batch->children[1];
  return memcmp(id->buffers[1], ids, sizeof ids) == 0 && (*(const uint8_t*)name->buffers[0] & 0x7) == validity[0] &&
         memcmp(name->buffers[1], offsets, sizeof offsets) == 0 && memcmp(name->buffers[2], names, 7) == 0;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "cpu";
  struct ArrowArray batch;
  struct ArrowSchema schema;
  struct ArrowDeviceArray there;
  struct arrowdevice_error error;

  make_batch(&batch, &schema);
  if (send_to(name, &batch, &schema, &there, &error) != 0) {
    fprintf(stderr, "%s: %s\n", name, error.message);
    arrowdevice_host_array_release(&batch); /* does nothing if send_to took the batch */
    return 1;
  }
  printf("%d rows are on device type %d, id %lld\n", ROWS, there.device_type, (long long)there.device_id);

  struct ArrowArray back;
  if (arrowdevice_array_to_host(&there, &schema, NULL, &back, &error) != 0) {
    fprintf(stderr, "%s\n", error.message);
    arrowdevice_array_release(&there);
    return 1;
  }
  const int whole = is_whole(&back);
  arrowdevice_host_array_release(&back);
  printf("and back: %s\n", whole ? "the same" : "NOT the same");
  return whole ? 0 : 1;
}
