/* SPDX-License-Identifier: Apache-2.0 */
/* Pulled streams of the library and of the program. */
#include <errno.h>

#include "program.h"

/* -- a C stream of the program: BATCHES batches, then the end or an error */

struct producer {
  int next, fails, released;
};

static int get_schema(struct ArrowArrayStream* self, struct ArrowSchema* out) {
  (void)self;
  make_schema(out);
  return 0;
}

static int get_next(struct ArrowArrayStream* self, struct ArrowArray* out) {
  struct producer* producer = self->private_data;
  memset(out, 0, sizeof *out);
  if (producer->next == BATCHES) return producer->fails ? EIO : 0;
  make_batch(producer->next++, out);
  return 0;
}

static const char* get_last_error(struct ArrowArrayStream* self) {
  (void)self;
  return "the tape is torn";
}

static void release(struct ArrowArrayStream* self) {
  struct producer* producer = self->private_data;
  ++producer->released;
  self->release = NULL;
}

static void make_stream(struct producer* producer, struct ArrowArrayStream* out) {
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release;
  out->private_data = producer;
}

/* -- a device stream of the program, which passes on a stream of the library */

static int pass_schema(struct ArrowDeviceArrayStream* self, struct ArrowSchema* out) {
  struct ArrowDeviceArrayStream* held = self->private_data;
  return held->get_schema(held, out);
}

static int pass_next(struct ArrowDeviceArrayStream* self, struct ArrowDeviceArray* out) {
  struct ArrowDeviceArrayStream* held = self->private_data;
  return held->get_next(held, out);
}

static const char* pass_last_error(struct ArrowDeviceArrayStream* self) {
  struct ArrowDeviceArrayStream* held = self->private_data;
  return held->get_last_error(held);
}

static void pass_release(struct ArrowDeviceArrayStream* self) {
  struct ArrowDeviceArrayStream* held = self->private_data;
  held->release(held);
  self->release = NULL;
}

static void pass_on(struct ArrowDeviceArrayStream* held, struct ArrowDeviceArrayStream* out) {
  out->device_type = held->device_type;
  out->get_schema = pass_schema;
  out->get_next = pass_next;
  out->get_last_error = pass_last_error;
  out->release = pass_release;
  out->private_data = held;
}

/* -- */

static void expect_schema(struct ArrowSchema* taken) {
  CHECK(strcmp(taken->format, "+s") == 0);
  CHECK(taken->n_children == 2);
  CHECK(strcmp(taken->children[1]->name, "name") == 0);
  CHECK(taken->children[1]->flags == ARROW_FLAG_NULLABLE);
  arrowdevice_schema_release(taken);
}

/* Checks a C stream that becomes a device stream, moves to the device and to the other device, and becomes a
 * C stream again. */
static void check_journey(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  struct producer producer = {0, 0, 0};
  struct ArrowArrayStream host, back;
  struct ArrowDeviceArrayStream stream, passed, on_device, on_linked;
  make_stream(&producer, &host);
  OK(arrowdevice_stream_from_host(&host, &stream, &error));
  CHECK(host.release == NULL);
  CHECK(stream.device_type == ARROW_DEVICE_CPU);
  pass_on(&stream, &passed);

  struct arrowdevice_stream_options options = {.struct_size = sizeof options, .depth = 3};
  options.flags = ARROWDEVICE_STREAM_READ_AHEAD;
  OK(arrowdevice_stream_to_device(&passed, device, &options, &on_device, &error));
  CHECK(passed.release == NULL);
  CHECK(on_device.device_type == ARROW_DEVICE_EXT_DEV);
  OK(arrowdevice_stream_to_device(&on_device, linked, NULL, &on_linked, &error));
  options.flags = 0;
  options.timeout_ns = INT64_C(60000000000);
  OK(arrowdevice_stream_to_host(&on_linked, &options, &back, &error));

  struct ArrowSchema schema;
  CHECK(back.get_schema(&back, &schema) == 0);
  expect_schema(&schema);
  struct ArrowArray batch;
  for (int number = 0; number < BATCHES; ++number) {
    CHECK(back.get_next(&back, &batch) == 0 && batch.release != NULL);
    CHECK(is_batch(&batch, number, 0, ROWS));
    arrowdevice_host_array_release(&batch);
  }
  CHECK(back.get_next(&back, &batch) == 0 && batch.release == NULL);
  back.release(&back);
  OK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, &error));
}

static void check_from_arrays(struct arrowdevice_device* device) {
  struct ArrowSchema schema;
  struct ArrowDeviceArray arrays[BATCHES], array;
  struct ArrowDeviceArrayStream stream;
  make_schema(&schema);
  for (int number = 0; number < BATCHES; ++number) put_batch(number, device, &arrays[number]);
  FAILS(EINVAL, arrowdevice_stream_from_arrays(&schema, arrays, BATCHES, ARROW_DEVICE_CPU, &stream, &error));
  CHECK(schema.release != NULL && arrays[0].array.release != NULL);
  OK(arrowdevice_stream_from_arrays(&schema, arrays, BATCHES, ARROW_DEVICE_EXT_DEV, &stream, &error));
  CHECK(schema.release == NULL && arrays[BATCHES - 1].array.release == NULL);

  OK(arrowdevice_stream_get_schema(&stream, &schema, &error));
  expect_schema(&schema);
  OK(arrowdevice_stream_get_next(&stream, &array, &error));
  CHECK(array.device_type == ARROW_DEVICE_EXT_DEV);
  expect_batch(&array, 0, 0, ROWS);
  OK(arrowdevice_stream_cancel(&stream, &error));
  FAILS(ECANCELED, arrowdevice_stream_get_next(&stream, &array, &error));
  CHECK(array.array.release == NULL);
  arrowdevice_stream_release(&stream);
  CHECK(stream.release == NULL);
}

static void check_failure(void) {
  struct producer producer = {BATCHES, 1, 0};
  struct ArrowArrayStream host;
  struct ArrowDeviceArrayStream stream;
  struct ArrowDeviceArray array;
  make_stream(&producer, &host);
  OK(arrowdevice_stream_from_host(&host, &stream, &error));
  FAILS(EIO, arrowdevice_stream_get_next(&stream, &array, &error));
  CHECK(strstr(error.message, "the tape is torn") != NULL);
  CHECK(stream.get_next(&stream, &array) == EIO);
  CHECK(strstr(stream.get_last_error(&stream), "the tape is torn") != NULL);
  stream.release(&stream);
  CHECK(producer.released == 1);
}

/* Checks that the options of a stream apply to its batches. */
static void check_options(struct arrowdevice_device* device) {
  struct producer producer = {0, 0, 0};
  struct ArrowArrayStream host;
  struct ArrowDeviceArrayStream stream, moved;
  struct ArrowDeviceArray array;
  struct arrowdevice_queue* queue;
  struct arrowdevice_pool* pool;
  OK(arrowdevice_queue_create(device, &queue, &error));
  OK(arrowdevice_pool_create(device, NULL, &pool, &error));
  struct arrowdevice_stream_options options = {.struct_size = sizeof options, .queue = queue, .pool = pool};
  make_stream(&producer, &host);
  OK(arrowdevice_stream_from_host(&host, &stream, &error));
  OK(arrowdevice_stream_to_device(&stream, device, &options, &moved, &error));
  OK(arrowdevice_stream_get_next(&moved, &array, &error));
  struct arrowdevice_pool_stats stats = {.struct_size = sizeof stats};
  OK(arrowdevice_pool_get_stats(pool, &stats, &error));
  CHECK(stats.used_bytes > 0);
  expect_batch(&array, 0, 0, ROWS);
  arrowdevice_stream_release(&moved);
  OK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, &error));
  arrowdevice_pool_destroy(pool);
  arrowdevice_queue_destroy(queue);

  producer.next = 0;
  options.queue = NULL;
  options.pool = NULL;
  options.copy_flags = ARROWDEVICE_COPY_NEVER;
  make_stream(&producer, &host);
  OK(arrowdevice_stream_from_host(&host, &stream, &error));
  OK(arrowdevice_stream_to_device(&stream, device, &options, &moved, &error));
  FAILS(ENOTSUP, arrowdevice_stream_get_next(&moved, &array, &error));
  arrowdevice_stream_release(&moved);
}

void check_streams(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  check_journey(device, linked);
  check_from_arrays(device);
  check_failure();
  check_options(device);
}
