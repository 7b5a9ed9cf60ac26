/* SPDX-License-Identifier: Apache-2.0 */
/* Serves files to other processes, and fetches what they serve. test_processes.py has the manual. */
#define _POSIX_C_SOURCE 200809L
#include <arrowdevice/arrowdevice.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "handles.h"

enum { MOST_DEVICES = 8, MOST_STREAMS = 512 };

struct place {
  const char* name;
  struct arrowdevice_device* device;
};

struct stream {
  char name[LONGEST_NAME];
  struct ArrowSchema type;
  int n;
  struct ArrowDeviceArray arrays[MOST_BATCHES];
};

static struct place places[MOST_DEVICES + 1]; /* the last one has no name */
static struct stream streams[MOST_STREAMS];
static int n_streams;
static struct arrowdevice_error error;

static void require(int holds, const char* name, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", name, what);
  exit(1);
}

static void must(int code) { require(code == 0, "peer", error.message); }

static void find_devices(char* names) {
  int n = 0;
  char* rest = NULL; /* drivers use strtok() too */
  for (char* name = strtok_r(names, ",", &rest); name != NULL && n < MOST_DEVICES; name = strtok_r(NULL, ",", &rest)) {
    places[n].name = name;
    must(arrowdevice_device_find_by_name(name, &places[n++].device, &error));
  }
}

/* Writes the name of a stream: that of the file without its suffix, and the device. */
static void write_name(char name[LONGEST_NAME], const char* path, const struct place* place) {
  const char* const slash = strrchr(path, '/');
  const char* const file = slash != NULL ? slash + 1 : path;
  const char* const dot = strrchr(file, '.');
  const int length = dot != NULL ? (int)(dot - file) : (int)strlen(file);
  snprintf(name, LONGEST_NAME, "%.*s.%s", length, file, place->name);
}

static void add(struct arrowdevice_server* server, const struct place* place, struct arrowdevice_pool* pool,
                const char* path) {
  struct arrowdevice_copy_options options = {.struct_size = sizeof options, .pool = pool};
  struct stream* const stream = &streams[n_streams++];
  struct file file;
  read_file(path, &file);
  require(n_streams < MOST_STREAMS, path, "there are too many streams");
  write_name(stream->name, path, place);
  stream->n = file.n;
  stream->type = file.type;
  for (int i = 0; i < file.n; ++i) {
    struct ArrowDeviceArray host;
    must(arrowdevice_array_from_host(&file.batches[i], &host, &error));
    must(arrowdevice_array_copy(&host, &file.type, place->device, &options, &stream->arrays[i], &error));
    arrowdevice_array_release(&host);
  }
  must(arrowdevice_server_add_arrays(server, stream->name, &stream->type, stream->arrays, stream->n, &error));
}

/* Answers requests for handles of the arrays until the socket ends. Returns the number of copied bytes. */
static int64_t give(void) {
  struct arrowdevice_copy_options options = {.struct_size = sizeof options, .flags = ARROWDEVICE_COPY_NEVER};
  struct arrowdevice_ipc_handle handle;
  char name[LONGEST_NAME];
  int batch = 0;
  int64_t copied_bytes = 0;
  while (receive_request(name, &batch)) {
    struct stream* stream = streams;
    while (strcmp(stream->name, name) != 0) require(++stream < streams + n_streams, name, "there is no such stream");
    require(batch < stream->n, name, "there is no such batch");
    must(arrowdevice_array_get_ipc_handle(&stream->arrays[batch], &stream->type, &options, &handle, &error));
    copied_bytes += handle.copied_bytes;
    send_handle(&handle);
    arrowdevice_ipc_handle_release(&handle);
  }
  return copied_bytes;
}

static void serve(const char* uri, char** paths) {
  struct arrowdevice_server_options options = {.struct_size = sizeof options, .copy_flags = ARROWDEVICE_COPY_NEVER};
  struct arrowdevice_server* server = NULL;
  must(arrowdevice_server_create(uri, &options, &server, &error));
  for (const struct place* place = places; place->name != NULL; ++place) {
    struct arrowdevice_pool_options pool_options = {.struct_size = sizeof pool_options,
                                                    .flags = ARROWDEVICE_POOL_SHAREABLE};
    struct arrowdevice_pool* pool = NULL;
    must(arrowdevice_pool_create(place->device, &pool_options, &pool, &error));
    for (char** path = paths; *path != NULL; ++path) add(server, place, pool, *path);
    arrowdevice_pool_destroy(pool); /* the memory keeps the pool alive */
  }
  printf("serving\n");
  fflush(stdout);
  const int64_t copied_bytes = give();
  struct arrowdevice_server_stats stats = {.struct_size = sizeof stats};
  must(arrowdevice_server_get_stats(server, &stats, &error));
  printf("%lld bytes were copied\n", (long long)(stats.copied_bytes + copied_bytes));
  arrowdevice_server_destroy(server);
  for (struct stream* stream = streams; stream < streams + n_streams; ++stream) {
    for (int i = 0; i < stream->n; ++i) arrowdevice_array_release(&stream->arrays[i]);
    arrowdevice_schema_release(&stream->type);
  }
}

/* Returns the number of copies since the process began. Sizes that were read back to be checked do not count. */
static int64_t copies(void) {
  int64_t copies = 0;
  for (const struct place* place = places; place->name != NULL; ++place) {
    struct arrowdevice_device_counters counters = {.struct_size = sizeof counters};
    must(arrowdevice_device_get_counters(place->device, &counters, &error));
    copies += counters.submissions - counters.readbacks;
  }
  return copies;
}

static void compare(const char* name, const struct place* place, struct ArrowDeviceArray* arrays,
                    const struct file* file) {
  int64_t rows = 0;
  for (int i = 0; i < file->n; ++i) {
    struct arrowdevice_device* device = NULL;
    must(arrowdevice_array_get_device(&arrays[i], &device, &error));
    require(device == place->device, name, "an array is on another device");
    struct ArrowArray batch;
    must(arrowdevice_array_to_host(&arrays[i], &file->type, NULL, &batch, &error));
    require_same_values(name, &file->type, &batch, &file->batches[i]);
    rows += batch.length;
    arrowdevice_host_array_release(&batch);
  }
  printf("%s: %lld rows in %d batches\n", name, (long long)rows, file->n);
}

/* Gets the arrays of a stream from the server. Returns their number. */
static int get_stream(const char* uri, const char* name, const struct ArrowSchema* expected,
                      struct ArrowDeviceArray arrays[MOST_BATCHES]) {
  struct arrowdevice_connect_options options = {.struct_size = sizeof options, .copy_flags = ARROWDEVICE_COPY_NEVER};
  struct ArrowDeviceArrayStream stream;
  struct ArrowSchema type;
  char address[2 * LONGEST_NAME];
  snprintf(address, sizeof address, "%s?name=%s", uri, name);
  must(arrowdevice_stream_connect(address, NULL, &options, &stream, &error));
  must(arrowdevice_stream_get_schema(&stream, &type, &error));
  require_same_type(name, &type, expected);
  int n = -1;
  do {
    require(++n < MOST_BATCHES, name, "there are too many batches");
    must(arrowdevice_stream_get_next(&stream, &arrays[n], &error));
  } while (arrays[n].array.release != NULL);
  arrowdevice_schema_release(&type);
  arrowdevice_stream_release(&stream);
  return n;
}

/* Gets the arrays of a stream as handles. */
static int get_handles(const char* name, const struct file* file, struct ArrowDeviceArray arrays[MOST_BATCHES]) {
  for (int i = 0; i < file->n; ++i) {
    struct ArrowSchema type;
    request_array(name, i, &arrays[i], &type);
    require_same_type(name, &type, &file->type);
    arrowdevice_schema_release(&type);
  }
  return file->n;
}

static void fetch_from(const char* uri, const struct place* place, const char* path, const struct file* file) {
  struct ArrowDeviceArray arrays[MOST_BATCHES];
  char name[LONGEST_NAME];
  write_name(name, path, place);
  const int64_t before = copies();
  const int n = strcmp(uri, "-") == 0 ? get_handles(name, file, arrays) : get_stream(uri, name, &file->type, arrays);
  require(n == file->n, name, "the stream has another number of batches");
  require(copies() == before, name, "bytes were copied");
  compare(name, place, arrays, file);
}

static void fetch(const char* uri, char** paths) {
  for (char** path = paths; *path != NULL; ++path) {
    struct file file;
    read_file(*path, &file);
    for (const struct place* place = places; place->name != NULL; ++place) fetch_from(uri, place, *path, &file);
    for (int i = 0; i < file.n; ++i) arrowdevice_host_array_release(&file.batches[i]);
    arrowdevice_schema_release(&file.type);
  }
}

int main(int argc, char** argv) {
  const int serves = argc > 3 && strcmp(argv[1], "serve") == 0;
  require(serves || (argc > 3 && strcmp(argv[1], "fetch") == 0), "usage", "peer serve|fetch URI DEVICE,... FILE...");
  find_devices(argv[3]);
  if (serves) {
    serve(argv[2], argv + 4);
  } else {
    fetch(argv[2], argv + 4);
  }
  return 0;
}
