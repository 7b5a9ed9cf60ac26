/* SPDX-License-Identifier: Apache-2.0 */
/* The async interface: the library as producer, as consumer, and between a producer and a consumer. */
#include <errno.h>
#include <stdlib.h>

#include "program.h"

static void make_device_stream(struct arrowdevice_device* device, struct ArrowDeviceArrayStream* out) {
  struct ArrowSchema schema;
  struct ArrowDeviceArray arrays[BATCHES];
  make_schema(&schema);
  for (int number = 0; number < BATCHES; ++number) put_batch(number, device, &arrays[number]);
  OK(arrowdevice_stream_from_arrays(&schema, arrays, BATCHES, ARROW_DEVICE_EXT_DEV, out, &error));
}

static void expect_stream(struct ArrowDeviceArrayStream* taken) {
  struct ArrowSchema schema;
  struct ArrowDeviceArray array;
  OK(arrowdevice_stream_get_schema(taken, &schema, &error));
  CHECK(schema.n_children == 2);
  arrowdevice_schema_release(&schema);
  for (int number = 0; number < BATCHES; ++number) {
    OK(arrowdevice_stream_get_next(taken, &array, &error));
    CHECK(array.array.release != NULL);
    if (array.array.release != NULL) expect_batch(&array, number, 0, ROWS);
  }
  OK(arrowdevice_stream_get_next(taken, &array, &error));
  CHECK(array.array.release == NULL);
  arrowdevice_stream_release(taken);
}

/* -- a consumer of the program, and its executor, which runs single tasks in main() */

struct consumer {
  int schemas, arrays, ends, errors, releases;
};

static int on_schema(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowSchema* schema) {
  struct consumer* consumer = self->private_data;
  ++consumer->schemas;
  CHECK(schema->n_children == 2);
  schema->release(schema);
  CHECK(self->producer->device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(self->producer->additional_metadata == NULL);
  self->producer->request(self->producer, BATCHES + 1);
  return 0;
}

static int on_next_task(struct ArrowAsyncDeviceStreamHandler* self, struct ArrowAsyncTask* task, const char* metadata) {
  struct consumer* consumer = self->private_data;
  CHECK(metadata == NULL);
  if (task == NULL) {
    ++consumer->ends;
    return 0;
  }
  struct ArrowDeviceArray array;
  const int code = task->extract_data(task, &array);
  CHECK(code == 0);
  if (code == 0) expect_batch(&array, consumer->arrays++, 0, ROWS);
  return code;
}

static void on_error(struct ArrowAsyncDeviceStreamHandler* self, int code, const char* message, const char* metadata) {
  (void)code, (void)message, (void)metadata;
  ++((struct consumer*)self->private_data)->errors;
}

static void release_handler(struct ArrowAsyncDeviceStreamHandler* self) {
  ++((struct consumer*)self->private_data)->releases;
}

struct executor {
  void (*task)(void* arg);
  void* arg;
};

static int submit(void* user, void (*task)(void* arg), void* arg) {
  struct executor* executor = user;
  CHECK(executor->task == NULL);
  executor->task = task;
  executor->arg = arg;
  return 0;
}

static void check_produce(struct arrowdevice_device* device) {
  struct consumer consumer = {0, 0, 0, 0, 0};
  struct executor executor = {NULL, NULL};
  struct ArrowAsyncDeviceStreamHandler handler = {.on_schema = on_schema,
                                                  .on_next_task = on_next_task,
                                                  .on_error = on_error,
                                                  .release = release_handler,
                                                  .private_data = &consumer};
  const struct arrowdevice_async_options options = {.struct_size = sizeof options, .submit = submit, .user = &executor};
  struct ArrowDeviceArrayStream stream;
  make_device_stream(device, &stream);
  OK(arrowdevice_async_produce(&stream, &handler, &options, &error));
  CHECK(stream.release == NULL);
  while (executor.task != NULL) {
    void (*const task)(void*) = executor.task;
    executor.task = NULL;
    task(executor.arg);
  }
  CHECK(consumer.schemas == 1);
  CHECK(consumer.arrays == BATCHES);
  CHECK(consumer.ends == 1);
  CHECK(consumer.errors == 0);
  CHECK(consumer.releases == 1);
}

/* -- a producer of the program */

struct producer {
  int64_t requested;
  int cancelled;
};

static void request(struct ArrowAsyncProducer* self, int64_t n) {
  ((struct producer*)self->private_data)->requested += n;
}

static void cancel(struct ArrowAsyncProducer* self) { ++((struct producer*)self->private_data)->cancelled; }

static int extract(struct ArrowAsyncTask* self, struct ArrowDeviceArray* out) {
  struct ArrowDeviceArray* array = self->private_data;
  arrowdevice_array_move(array, out);
  free(array);
  return 0;
}

static void check_collect(struct arrowdevice_device* device) {
  struct producer producer = {0, 0};
  struct ArrowAsyncProducer published = {
      .device_type = ARROW_DEVICE_EXT_DEV, .request = request, .cancel = cancel, .private_data = &producer};
  const struct arrowdevice_async_options options = {
      .struct_size = sizeof options, .depth = BATCHES, .upstream_layout = ARROWDEVICE_ASYNC_LAYOUT_40_BYTES};
  struct ArrowAsyncDeviceStreamHandler* handler;
  struct ArrowDeviceArrayStream stream;
  OK(arrowdevice_async_collect(ARROW_DEVICE_EXT_DEV, &options, &handler, &stream, &error));
  CHECK(stream.device_type == ARROW_DEVICE_EXT_DEV);

  struct ArrowSchema schema;
  make_schema(&schema);
  handler->producer = &published;
  CHECK(handler->on_schema(handler, &schema) == 0);
  CHECK(schema.release == NULL);
  CHECK(producer.requested == BATCHES);
  for (int number = 0; number < BATCHES; ++number) {
    struct ArrowDeviceArray* array = calloc(1, sizeof *array);
    if (array == NULL) abort();
    put_batch(number, device, array);
    struct ArrowAsyncTask task = {.extract_data = extract, .private_data = array};
    CHECK(handler->on_next_task(handler, &task, NULL) == 0);
  }
  CHECK(handler->on_next_task(handler, NULL, NULL) == 0);
  handler->release(handler);
  expect_stream(&stream);
  CHECK(producer.cancelled == 0);

  /* A producer that fails. */
  struct ArrowDeviceArray array;
  OK(arrowdevice_async_collect(ARROW_DEVICE_EXT_DEV, NULL, &handler, &stream, &error));
  handler->on_error(handler, EIO, "the tape is torn", NULL);
  handler->release(handler);
  FAILS(EIO, arrowdevice_stream_get_next(&stream, &array, &error));
  CHECK(strstr(error.message, "the tape is torn") != NULL);
  arrowdevice_stream_release(&stream);
}

/* Checks a stream that is produced, moved and collected on threads of the library. */
static void check_move(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  const struct arrowdevice_async_options options = {.struct_size = sizeof options, .depth = 2};
  struct ArrowAsyncDeviceStreamHandler *downstream, *upstream;
  struct ArrowDeviceArrayStream stream, collected;
  make_device_stream(device, &stream);
  OK(arrowdevice_async_collect(ARROW_DEVICE_WEBGPU, NULL, &downstream, &collected, &error));
  OK(arrowdevice_async_to_device(downstream, linked, &options, &upstream, &error));
  OK(arrowdevice_async_produce(&stream, upstream, NULL, &error));
  expect_stream(&collected);
}

void check_async(struct arrowdevice_device* device, struct arrowdevice_device* linked) {
  check_produce(device);
  check_collect(device);
  check_move(device, linked);
}
