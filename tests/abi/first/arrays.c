/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: copies, shared owners, views, export, waiting, release. */
#include <errno.h>
#include <stdlib.h>

#include "program.h"

static struct ArrowSchema schema;

/* -- copying and moving */

/* Checks the calls of `device` for a copy to it: an allocation, a submission and an event. */
static void check_counters(struct arrowdevice_device* device) {
  struct arrowdevice_device_counters before = {.struct_size = sizeof before}, put = before, got = before;
  struct arrowdevice_pool* pool;
  OK(arrowdevice_pool_create(device, NULL, &pool, &error));
  OK(arrowdevice_device_set_pool(device, pool, &error));
  OK(arrowdevice_device_get_counters(device, &before, &error));
  CHECK(before.struct_size == sizeof before);
  struct ArrowDeviceArray array;
  put_batch(0, device, &array);
  OK(arrowdevice_device_get_counters(device, &put, &error));
  CHECK(put.driver_allocations - before.driver_allocations == 1);
  CHECK(put.submissions - before.submissions == 1);
  CHECK(put.regions > before.regions);
  CHECK(put.events - before.events == 1);
  CHECK(put.readbacks == before.readbacks);
  CHECK(put.bytes_in - before.bytes_in >= ROWS * (int64_t)sizeof(int32_t));
  CHECK(put.bytes_out == before.bytes_out);
  CHECK(put.staged_bytes - before.staged_bytes <= put.bytes_in - before.bytes_in);
  expect_batch(&array, 0, 0, ROWS);
  OK(arrowdevice_device_get_counters(device, &got, &error));
  CHECK(got.bytes_in == put.bytes_in);
  CHECK(got.bytes_out - put.bytes_out >= ROWS * (int64_t)sizeof(int32_t));
  CHECK(got.staged_bytes - put.staged_bytes <= got.bytes_out - put.bytes_out);
  OK(arrowdevice_device_set_pool(device, NULL, &error));
  arrowdevice_pool_destroy(pool);
}

static void check_copy(struct arrowdevice_device* device) {
  struct ArrowArray batch;
  struct ArrowDeviceArray host, copy;
  make_batch(0, &batch);
  OK(arrowdevice_array_from_host(&batch, &host, &error));
  CHECK(batch.release == NULL);
  CHECK(host.device_type == ARROW_DEVICE_CPU);
  CHECK(host.device_id == -1);
  CHECK(host.sync_event == NULL);
  OK(arrowdevice_array_validate(&host, &schema, NULL, ARROWDEVICE_VALIDATE_STRICT, &error));

  struct arrowdevice_queue* queue;
  struct arrowdevice_pool* pool;
  OK(arrowdevice_queue_create(device, &queue, &error));
  OK(arrowdevice_pool_create(device, NULL, &pool, &error));
  const struct arrowdevice_copy_options options = {.struct_size = sizeof options,
                                                   .flags = ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_NO_TRIM,
                                                   .queue = queue,
                                                   .pool = pool,
                                                   .timeout_ns = INT64_C(60000000000)};
  OK(arrowdevice_array_copy(&host, &schema, device, &options, &copy, &error));
  CHECK(copy.device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(copy.device_id == 0);
  CHECK(copy.sync_event == NULL); /* the device publishes no events */
  CHECK(copy.reserved[0] == 0 && copy.reserved[1] == 0 && copy.reserved[2] == 0);
  struct arrowdevice_pool_stats stats = {.struct_size = sizeof stats};
  OK(arrowdevice_pool_get_stats(pool, &stats, &error));
  CHECK(stats.used_bytes > 0);
  arrowdevice_pool_destroy(pool); /* the copy holds a reference */

  struct arrowdevice_device* found;
  int ready = 0;
  OK(arrowdevice_array_get_device(&copy, &found, &error));
  CHECK(found == device);
  OK(arrowdevice_array_is_ready(&copy, NULL, &ready, &error));
  CHECK(ready == 1);
  OK(arrowdevice_array_wait(&copy, device, ARROWDEVICE_POLL, &error));
  OK(arrowdevice_queue_wait_array(queue, &copy, NULL, &error));
  OK(arrowdevice_array_validate(&copy, &schema, NULL, ARROWDEVICE_VALIDATE_FULL, &error));
  FAILS(EINVAL, arrowdevice_array_validate(&copy, schema.children[0], NULL, ARROWDEVICE_VALIDATE_STRUCTURE, &error));
  expect_batch(&copy, 0, 0, ROWS);
  CHECK(is_batch(&host.array, 0, 0, ROWS));
  arrowdevice_array_release(&host);
  CHECK(host.array.release == NULL);
  arrowdevice_queue_destroy(queue);
}

static void check_move(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  struct ArrowDeviceArray array, moved, there;
  put_batch(1, device, &array);
  arrowdevice_array_move(&array, &moved);
  CHECK(array.array.release == NULL);

  struct arrowdevice_copy_options options = {.struct_size = sizeof options, .flags = ARROWDEVICE_COPY_NEVER};
  FAILS(ENOTSUP, arrowdevice_array_to_device(&moved, &schema, linked, &options, &there, &error));
  CHECK(moved.array.release != NULL);
  CHECK(there.array.release == NULL);
  options.flags = ARROWDEVICE_COPY_ALWAYS;
  OK(arrowdevice_array_to_device(&moved, &schema, linked, &options, &there, &error));
  CHECK(moved.array.release == NULL);
  CHECK(there.device_type == ARROW_DEVICE_WEBGPU);
  expect_batch(&there, 1, 0, ROWS);
}

/* -- shared owners */

static void check_parts(struct arrowdevice_device* device) {
  struct ArrowDeviceArray array, shared, slice, selected, none;
  struct ArrowSchema selected_schema, copied;
  const int64_t children[] = {1, 0};
  put_batch(2, device, &array);
  OK(arrowdevice_array_share(&array, &shared, &error));
  OK(arrowdevice_array_slice(&array, &schema, 1, 3, &slice, &error));
  OK(arrowdevice_array_select(&array, &schema, children, 2, &selected, &selected_schema, &error));
  FAILS(EINVAL, arrowdevice_array_slice(&array, &schema, 1, ROWS, &none, &error));
  CHECK(none.array.release == NULL);
  arrowdevice_array_release(&array);
  CHECK(slice.array.length == 3);
  expect_batch(&slice, 2, 1, 3);
  expect_batch(&shared, 2, 0, ROWS);

  CHECK(selected_schema.n_children == 2);
  CHECK(strcmp(selected_schema.children[0]->name, "name") == 0);
  CHECK(strcmp(selected_schema.children[1]->name, "id") == 0);
  OK(arrowdevice_schema_copy(&selected_schema, &copied, &error));
  arrowdevice_schema_release(&selected_schema);
  struct ArrowArray host;
  OK(arrowdevice_array_to_host(&selected, &copied, NULL, &host, &error));
  CHECK(host.n_children == 2 && ((const int32_t*)host.children[1]->buffers[1])[host.children[1]->offset] == 20);
  arrowdevice_host_array_release(&host);
  arrowdevice_schema_release(&copied);
}

/* -- views */

static void check_nodes(const struct arrowdevice_node* root, const struct ArrowDeviceArray* array) {
  CHECK(root->layout == ARROWDEVICE_LAYOUT_STRUCT);
  CHECK(strcmp(root->format, "+s") == 0);
  CHECK(root->array == &array->array);
  CHECK(root->length == ROWS && root->n_children == 2);
  CHECK(root->dictionary == NULL && root->extension_name == NULL);
  if (root->n_children != 2) return;

  const struct arrowdevice_node *id = root->children[0], *name = root->children[1];
  CHECK(strcmp(id->name, "id") == 0);
  CHECK(strcmp(id->format, "i") == 0);
  CHECK(id->layout == ARROWDEVICE_LAYOUT_FIXED);
  CHECK(id->bit_width == 32);
  CHECK(id->flags == 0);
  CHECK(id->n_buffers == 2);
  CHECK(id->buffers[0].role == ARROWDEVICE_ROLE_VALIDITY && id->buffers[0].data == NULL);
  CHECK(id->buffers[1].role == ARROWDEVICE_ROLE_DATA && id->buffers[1].data == id->array->buffers[1]);
  CHECK(id->buffers[1].flags == ARROWDEVICE_BUFFER_SIZE_KNOWN);
  CHECK(id->buffers[1].size == ROWS * (int64_t)sizeof(int32_t));

  CHECK(strcmp(name->name, "name") == 0);
  CHECK(name->layout == ARROWDEVICE_LAYOUT_BINARY);
  CHECK(name->flags == ARROW_FLAG_NULLABLE);
  CHECK(name->length == ROWS && name->offset == 0 && name->null_count == 1);
  CHECK(name->n_buffers == 3);
  CHECK(name->buffers[0].role == ARROWDEVICE_ROLE_VALIDITY && name->buffers[0].size == 1);
  CHECK(name->buffers[1].role == ARROWDEVICE_ROLE_OFFSETS);
  CHECK(name->buffers[2].role == ARROWDEVICE_ROLE_DATA);
  CHECK(name->buffers[2].flags == ARROWDEVICE_BUFFER_SIZE_KNOWN && name->buffers[2].size == 7); /* "onefour" */
}

static void check_view(struct arrowdevice_device* device) {
  struct ArrowDeviceArray array, shared;
  struct arrowdevice_queue* queue;
  struct arrowdevice_view* view;
  put_batch(0, device, &array);
  OK(arrowdevice_queue_create(device, &queue, &error));
  const struct arrowdevice_import_options options = {.struct_size = sizeof options,
                                                     .flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES,
                                                     .queue = queue,
                                                     .source_device = device,
                                                     .validate = ARROWDEVICE_VALIDATE_FULL};
  struct arrowdevice_import_options unknown = options;
  unknown.validate = 99;
  FAILS(EINVAL, arrowdevice_array_import(&array, &schema, &unknown, &view, &error));
  FAILS(EINVAL, arrowdevice_array_import(&array, schema.children[1], &options, &view, &error));
  CHECK(view == NULL && array.array.release != NULL);
  OK(arrowdevice_array_import(&array, &schema, &options, &view, &error));
  CHECK(array.array.release == NULL);
  CHECK(arrowdevice_view_get_device(view) == device);
  CHECK(arrowdevice_view_get_array(view)->device_type == ARROW_DEVICE_EXT_DEV);
  check_nodes(arrowdevice_view_get_root(view), arrowdevice_view_get_array(view));

  OK(arrowdevice_view_share(view, &shared, &error));
  arrowdevice_view_detach(view, &array);
  expect_batch(&array, 0, 0, ROWS);
  OK(arrowdevice_array_import(&shared, &schema, NULL, &view, &error));
  OK(arrowdevice_view_share(view, &array, &error));
  arrowdevice_view_release(view);
  OK(arrowdevice_array_import(&array, &schema, NULL, &view, &error));
  OK(arrowdevice_view_release_after(view, queue, &error));
  arrowdevice_queue_destroy(queue);
}

/* -- export */

static int events_released;

static void release_event(void* user, void* sync_event) {
  if (user == &events_released && sync_event == &schema) ++events_released;
}

struct on_device {
  struct arrowdevice_device* device;
  const void* buffers[2];
  int* releases;
};

static void release_on_device(struct ArrowArray* array) {
  struct on_device* held = array->private_data;
  arrowdevice_buffer_free(held->device, NULL, (void*)held->buffers[1]);
  ++*held->releases;
  free(held);
  array->release = NULL;
}

/* Makes an int32 array in memory of the device: 5, 6, 7, 8. */
static void make_on_device(struct arrowdevice_device* device, struct arrowdevice_queue* queue, int* releases,
                           struct ArrowArray* out) {
  static const int32_t values[ROWS] = {5, 6, 7, 8};
  struct on_device* held = calloc(1, sizeof *held);
  if (held == NULL) abort();
  void* buffer;
  OK(arrowdevice_buffer_allocate(device, NULL, queue, sizeof values, &buffer, &error));
  const struct arrowdevice_copy_region region = {.dst_device = device, .dst = buffer, .src = values, .size = sizeof values};
  OK(arrowdevice_queue_copy(queue, &region, 1, &error));
  held->device = device;
  held->buffers[1] = buffer;
  held->releases = releases;
  memset(out, 0, sizeof *out);
  out->length = ROWS;
  out->n_buffers = 2;
  out->buffers = held->buffers;
  out->release = release_on_device;
  out->private_data = held;
}

static void check_export(struct arrowdevice_device* device) {
  struct arrowdevice_queue* queue;
  struct ArrowArray array, host;
  struct ArrowDeviceArray exported;
  int releases = 0, ready = 1;
  OK(arrowdevice_queue_create(device, &queue, &error));
  make_on_device(device, queue, &releases, &array);
  OK(arrowdevice_array_export(device, &array, queue, &exported, &error));
  CHECK(array.release == NULL);
  CHECK(exported.device_type == ARROW_DEVICE_EXT_DEV && exported.device_id == 0);
  exported.device_id = 77; /* only the options name the device */
  FAILS(ENODEV, arrowdevice_array_to_host(&exported, schema.children[0], NULL, &host, &error));
  const struct arrowdevice_copy_options options = {.struct_size = sizeof options, .source_device = device};
  OK(arrowdevice_array_to_host(&exported, schema.children[0], &options, &host, &error));
  CHECK(((const int32_t*)host.buffers[1])[host.offset + 3] == 8);
  CHECK(releases == 1);
  arrowdevice_host_array_release(&host);

  /* An event that the backend cannot query, but passes on. */
  make_on_device(device, queue, &releases, &array);
  OK(arrowdevice_array_export_event(device, &array, &schema, release_event, &events_released, &exported, &error));
  CHECK(exported.sync_event == &schema);
  FAILS(ENOTSUP, arrowdevice_array_is_ready(&exported, NULL, &ready, &error));
  CHECK(ready == 0 && events_released == 0);
  exported.sync_event = NULL;
  OK(arrowdevice_array_release_after(&exported, queue, &error));
  CHECK(exported.array.release == NULL);
  OK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, &error));
  CHECK(releases == 2 && events_released == 1);
  arrowdevice_queue_destroy(queue);
}

void check_arrays(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  make_schema(&schema);
  check_counters(device);
  check_copy(device);
  check_move(device, linked);
  check_parts(device);
  check_view(device);
  check_export(device);
  arrowdevice_schema_release(&schema);
  CHECK(schema.release == NULL);
}
