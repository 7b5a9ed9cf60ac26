/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a stream of numbers to another process, without a copy. Start both programs:
 *
 *   link serve unix:@numbers
 *   link fetch unix:@numbers
 *
 * The server ends when its first client has read the stream.
 */
#define _POSIX_C_SOURCE 200809L
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROWS = 1000000, BATCHES = 3 };

static void release_type(struct ArrowSchema* type) { type->release = NULL; }

static void release_column(struct ArrowArray* column) {
  arrowdevice_buffer_free(column->private_data, NULL, (void*)column->buffers[1]);
  column->release = NULL;
}

/* Makes a column of numbers in memory that other processes can open. */
static int make_numbers(int64_t first, const void* buffers[2], struct ArrowDeviceArray* out,
                        struct arrowdevice_error* error) {
  struct arrowdevice_pool_options options = {.struct_size = sizeof options, .flags = ARROWDEVICE_POOL_SHAREABLE};
  struct arrowdevice_device* cpu = NULL;
  struct arrowdevice_pool* pool = NULL;
  void* memory = NULL;
  int code = arrowdevice_device_find_by_name("cpu", &cpu, error);
  if (code == 0) code = arrowdevice_pool_create(cpu, &options, &pool, error);
  if (code == 0) code = arrowdevice_buffer_allocate(cpu, pool, NULL, ROWS * sizeof(int64_t), &memory, error);
  arrowdevice_pool_destroy(pool); /* the memory keeps the pool alive */
  if (code != 0) return code;
  int64_t* numbers = memory;
  for (int64_t i = 0; i < ROWS; ++i) numbers[i] = first + i;
  buffers[0] = NULL; /* no validity bitmap: no nulls */
  buffers[1] = numbers;
  struct ArrowArray column = {
      .length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_column, .private_data = cpu};
  return arrowdevice_array_from_host(&column, out, error);
}

static int serve(const char* uri, struct arrowdevice_error* error) {
  static const void* buffers[BATCHES][2];
  struct ArrowSchema type = {.format = "l", .name = "number", .release = release_type};
  struct ArrowDeviceArray batches[BATCHES];
  for (int i = 0; i < BATCHES; ++i) {
    const int code = make_numbers((int64_t)i * ROWS, buffers[i], &batches[i], error);
    if (code != 0) return code;
  }
  /* [serve] */
  struct arrowdevice_server* server = NULL;
  int code = arrowdevice_server_create(uri, NULL, &server, error);
  if (code == 0) code = arrowdevice_server_add_arrays(server, "numbers", &type, batches, BATCHES, error);
  if (code != 0) return code;

  struct arrowdevice_server_stats stats = {.struct_size = sizeof stats};
  const struct timespec pause = {.tv_nsec = 1000000};
  do { /* until the first client has come and gone */
    nanosleep(&pause, NULL);
    code = arrowdevice_server_get_stats(server, &stats, error);
  } while (code == 0 && (stats.batches < BATCHES || stats.clients > 0));
  printf("%lld batches were sent, %lld bytes were copied\n", (long long)stats.batches, (long long)stats.copied_bytes);
  arrowdevice_server_destroy(server);
  /* [end] */
  for (int i = 0; i < BATCHES; ++i) arrowdevice_array_release(&batches[i]);
  return code;
}

static int fetch(const char* uri, struct arrowdevice_error* error) {
  /* [fetch] */
  struct ArrowDeviceArrayStream stream;
  int code = arrowdevice_stream_connect(uri, NULL, NULL, &stream, error);
  if (code != 0) return code;
  int64_t sum = 0;
  struct ArrowDeviceArray batch;
  while ((code = arrowdevice_stream_get_next(&stream, &batch, error)) == 0 && batch.array.release != NULL) {
    const int64_t* numbers = batch.array.buffers[1];
    for (int64_t i = 0; i < batch.array.length; ++i) sum += numbers[batch.array.offset + i];
    arrowdevice_array_release(&batch);
  }
  arrowdevice_stream_release(&stream);
  if (code == 0) printf("the sum is %lld\n", (long long)sum);
  /* [end] */
  return code;
}

int main(int argc, char** argv) {
  if (argc != 3 || (strcmp(argv[1], "serve") != 0 && strcmp(argv[1], "fetch") != 0)) {
    fprintf(stderr, "usage: link serve|fetch URI\n");
    return 2;
  }
  struct arrowdevice_error error = {0};
  const int code = strcmp(argv[1], "serve") == 0 ? serve(argv[2], &error) : fetch(argv[2], &error);
  if (code != 0) fprintf(stderr, "link: %s\n", error.message);
  return code != 0;
}
