/* SPDX-License-Identifier: Apache-2.0 */
/* Imports an array while its producer is writing it. The program's own queue waits for the producer, and the CPU does
 * not: wait_on_own_stream [DEVICE]. arrowdevice_queue_wrap() makes such a queue from an engine's stream, as in
 * wrap_cuda.c and wrap_opencl.c. */
#include <arrowdevice/arrowdevice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1000

static int64_t earlier[ROWS], values[ROWS];
static const void *earlier_buffers[] = {NULL, earlier}, *buffers[] = {NULL, values};

static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static void check(int code, const char* what, const struct arrowdevice_error* error) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

/* Copies an array to a device without waiting. The array's event fires when the copy has finished. */
static void send(struct arrowdevice_queue* queue, struct arrowdevice_device* device, const void** columns,
                 const struct ArrowSchema* schema, struct ArrowDeviceArray* out) {
  struct arrowdevice_error error;
  struct ArrowArray array = {.length = ROWS, .n_buffers = 2, .buffers = columns, .release = release_array};
  struct ArrowDeviceArray host;
  const struct arrowdevice_copy_options options = {
      .struct_size = sizeof options, .flags = ARROWDEVICE_COPY_ASYNC, .queue = queue};
  check(arrowdevice_array_from_host(&array, &host, &error), "arrowdevice_array_from_host", &error);
  check(arrowdevice_array_to_device(&host, schema, device, &options, out, &error), "arrowdevice_array_to_device",
        &error);
}

/* Produces an array on a queue that is busy with an earlier batch. */
static void produce(struct arrowdevice_device* device, const struct ArrowSchema* schema, struct ArrowDeviceArray* out) {
  struct arrowdevice_error error;
  struct arrowdevice_queue* queue;
  struct ArrowDeviceArray first;
  for (int64_t i = 0; i < ROWS; ++i) values[i] = i;
  check(arrowdevice_queue_create(device, &queue, &error), "arrowdevice_queue_create", &error);
  send(queue, device, earlier_buffers, schema, &first);
  check(arrowdevice_array_release_after(&first, queue, &error), "arrowdevice_array_release_after", &error);
  send(queue, device, buffers, schema, out);
  arrowdevice_queue_destroy(queue); /* its work continues */
}

static int64_t host_waits(const struct arrowdevice_device* device) {
  struct arrowdevice_error error;
  struct arrowdevice_device_counters counters = {.struct_size = sizeof counters};
  check(arrowdevice_device_get_counters(device, &counters, &error), "arrowdevice_device_get_counters", &error);
  return counters.host_waits;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "cpu";
  const struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct arrowdevice_error error;
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue;
  struct ArrowDeviceArray array;

  check(arrowdevice_device_find_by_name(name, &device, &error), name, &error);
  check(arrowdevice_queue_create(device, &queue, &error), "arrowdevice_queue_create", &error);
  produce(device, &schema, &array);
  const int64_t waits = host_waits(device);

  /* The queue waits for the array's event. Its later work runs after the producer's. */
  struct arrowdevice_import_options options = {.struct_size = sizeof options, .queue = queue};
  struct arrowdevice_view* view;
  check(arrowdevice_array_import(&array, &schema, &options, &view, &error), "arrowdevice_array_import", &error);

  /* A real engine would launch a kernel here. This one copies the array's second buffer. */
  const struct arrowdevice_node* column = arrowdevice_view_get_root(view);
  int64_t result[ROWS];
  memset(result, 0xff, sizeof result);
  const struct arrowdevice_copy_region region = {.dst = result,
                                                 .src_device = device,
                                                 .src = column->buffers[1].data,
                                                 .src_offset = column->offset * (int64_t)sizeof(int64_t),
                                                 .size = sizeof result};
  check(arrowdevice_queue_copy(queue, &region, 1, &error), "arrowdevice_queue_copy", &error);

  /* Releases the array when that work has finished, without waiting. */
  check(arrowdevice_view_release_after(view, queue, &error), "arrowdevice_view_release_after", &error);
  const int64_t waited = host_waits(device) - waits;
  printf("until its own work was queued the CPU has waited %lld times\n", (long long)waited);

  check(arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, &error), "arrowdevice_queue_finish", &error);
  arrowdevice_queue_destroy(queue);
  if (memcmp(result, values, sizeof result) != 0) {
    fprintf(stderr, "the queue has run ahead of the producer\n");
    return 1;
  }
  printf("and what it read on %s is whole\n", name);
  struct arrowdevice_device_info info = {.struct_size = sizeof info};
  check(arrowdevice_device_get_info(device, &info, &error), "arrowdevice_device_get_info", &error);
  return waited == 0 || (info.flags & ARROWDEVICE_DEVICE_WAIT_BLOCKS) != 0 ? 0 : 1;
}
