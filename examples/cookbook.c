/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the recipes of docs/cookbook.md on a device, each a function: cookbook [DEVICE]. Prints and skips a recipe that
 * the device does not support. The CPU has no queues, for example. */
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* [devices] */
int print_devices(struct arrowdevice_error* error) {
  struct arrowdevice_device* devices[64];
  int64_t count;
  int code = arrowdevice_device_list(devices, 64, &count, error);
  if (code != 0) return code;

  for (int64_t i = 0; i < count && i < 64; ++i) {
    struct arrowdevice_device_info info = {.struct_size = sizeof info};
    code = arrowdevice_device_get_info(devices[i], &info, error);
    if (code != 0) return code;
    printf("%s:%" PRId64 "  %s, buffers are %s\n", arrowdevice_device_type_get_name(info.device_type), info.device_id,
           info.name, (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0 ? "addresses" : "handles");
  }
  return 0;
}
/* [end] */

/* [errors] */
int open_or_say_why(const char* name, struct arrowdevice_device** device) {
  struct arrowdevice_error error;
  const int code = arrowdevice_device_find_by_name(name, device, &error);
  if (code == 0) return 0;

  /* People read the message; programs use the code. */
  fprintf(stderr, "%s: %s\n", name, error.message);
  if (error.backend[0] != '\0') fprintf(stderr, "  reported by the backend %s\n", error.backend);
  if (error.native_code != 0) fprintf(stderr, "  the driver's own code: %d\n", (int)error.native_code);
  return code; /* ENODEV: no driver or no such device; EINVAL: not a name of a device */
}
/* [end] */

/* [log] */
static void to_my_logger(void* user, int level, const char* message) {
  static const char* const kLevels[] = {"error", "warning", "info", "debug"};
  fprintf((FILE*)user, "arrowdevice %s: %s\n", kLevels[level], message); /* any thread; must not call the library */
}

void log_to(FILE* file) { arrowdevice_log_set_handler(to_my_logger, file); }
/* [end] */

/* [export] */
/* Private data of an exported array. It lives until the last owner is released. */
struct my_column {
  struct arrowdevice_device* device;
  const void* buffers[2];
};

static void release_my_column(struct ArrowArray* array) {
  struct my_column* column = array->private_data;
  arrowdevice_buffer_free(column->device, NULL, (void*)column->buffers[1]); /* your allocator's function */
  free(column);
  array->release = NULL;
}

/* Exports `rows` 64-bit integers in `buffer` without a copy. `queue` may still be writing them. */
int export_my_column(struct arrowdevice_device* device, void* buffer, int64_t rows, struct arrowdevice_queue* queue,
                     struct ArrowDeviceArray* out, struct arrowdevice_error* error) {
  struct my_column* column = malloc(sizeof *column);
  if (column == NULL) {
    *error = (struct arrowdevice_error){.code = ENOMEM, .message = "no memory for a column"};
    return ENOMEM;
  }
  *column = (struct my_column){.device = device, .buffers = {NULL, buffer}}; /* no validity bitmap: no nulls */

  struct ArrowArray array = {
      .length = rows, .n_buffers = 2, .buffers = column->buffers, .release = release_my_column, .private_data = column};
  const int code = arrowdevice_array_export(device, &array, queue, out, error);
  if (code != 0) free(column); /* the buffer still belongs to the caller */
  return code;
}
/* [end] */

/* Stands for a kernel: submits a copy of the last buffer to the program's own queue. */
static int read_values(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                       const struct arrowdevice_node* node, void* host, struct arrowdevice_error* error) {
  const struct arrowdevice_node_buffer* values = &node->buffers[node->n_buffers - 1];
  const struct arrowdevice_copy_region region = {
      .dst = host, .src_device = device, .src = values->data, .size = node->length * node->bit_width / 8};
  return arrowdevice_queue_copy(queue, &region, 1, error);
}

/* [wait] */
/* Takes an array and works on it in `mine`, a stream of this program: a CUstream, a cl_command_queue, … */
int use_on_my_queue(struct arrowdevice_device* device, const struct arrowdevice_native_queue* mine,
                    struct ArrowDeviceArray* array, const struct ArrowSchema* schema, void* result,
                    struct arrowdevice_error* error) {
  struct arrowdevice_queue* queue;
  int code = arrowdevice_queue_wrap(device, mine, &queue, error);
  if (code != 0) return code;

  struct arrowdevice_view* view;
  const struct arrowdevice_import_options options = {.struct_size = sizeof options, .queue = queue};
  code = arrowdevice_array_import(array, schema, &options, &view, error); /* `mine` waits for the producer */
  if (code == 0) {
    code = read_values(device, queue, arrowdevice_view_get_root(view), result, error); /* launch your kernels here */
    if (code == 0) code = arrowdevice_view_release_after(view, queue, error);          /* when they have run */
    if (code != 0) arrowdevice_view_release(view);
  }
  arrowdevice_queue_destroy(queue); /* `mine` stays yours; the library no longer uses it */
  return code;
}
/* [end] */

/* [share] */
int give_to_two(struct ArrowDeviceArray* array, struct ArrowDeviceArray* first, struct ArrowDeviceArray* second,
                struct arrowdevice_error* error) {
  int code = arrowdevice_array_share(array, first, error); /* `array` stays ours, as a shared owner */
  if (code != 0) return code;
  code = arrowdevice_array_share(array, second, error);
  if (code != 0) arrowdevice_array_release(first);
  return code; /* the producer's release runs with the last of the three */
}
/* [end] */

/* [slice] */
/* Copies rows `first` to `first + rows` of a batch to a device, and only their bytes. */
int send_rows(struct ArrowDeviceArray* batch, const struct ArrowSchema* schema, int64_t first, int64_t rows,
              struct arrowdevice_device* to, struct ArrowDeviceArray* out, struct arrowdevice_error* error) {
  struct ArrowDeviceArray slice;
  int code = arrowdevice_array_slice(batch, schema, first, rows, &slice, error);
  if (code != 0) return code;
  code = arrowdevice_array_to_device(&slice, schema, to, NULL, out, error);
  if (code != 0) arrowdevice_array_release(&slice); /* a failed call leaves its input to the caller */
  return code;
}
/* [end] */

/* [select] */
int keep_two_columns(struct ArrowDeviceArray* batch, const struct ArrowSchema* schema, struct ArrowDeviceArray* out,
                     struct ArrowSchema* out_schema, struct arrowdevice_error* error) {
  const int64_t columns[] = {2, 0}; /* in this order */
  return arrowdevice_array_select(batch, schema, columns, 2, out, out_schema, error);
}
/* [end] */

/* [background] */
/* The result of a copy, which another thread of the library fills in. */
struct arrival {
  sem_t filled;
  struct ArrowArray array;
  struct arrowdevice_error error;
};

static void fill(void* user, struct ArrowArray* array, struct ArrowDeviceArray* source,
                 const struct arrowdevice_error* error) {
  struct arrival* arrival = user;
  (void)source; /* after a failure the library releases it */
  if (error != NULL) arrival->error = *error;
  if (array != NULL) arrival->array = *array;
  if (array != NULL) array->release = NULL; /* moved out */
  sem_post(&arrival->filled);
}

int copy_in_background(struct ArrowDeviceArray* array, const struct ArrowSchema* schema, void (*other_work)(void),
                       struct ArrowArray* out, struct arrowdevice_error* error) {
  struct arrival arrival = {.error = {0}};
  sem_init(&arrival.filled, 0, 0);
  int code = arrowdevice_array_to_host_async(array, schema, NULL, fill, &arrival, error);
  if (code == 0) {
    other_work();                                    /* while the device works and the copy runs */
    while (sem_wait(&arrival.filled) != 0) continue; /* a signal ended the wait */
    *out = arrival.array;
    *error = arrival.error;
    code = error->code;
  }
  sem_destroy(&arrival.filled);
  return code;
}
/* [end] */

/* [stream] */
/* Takes a stream and counts the rows that arrive on `to`. */
int drain_to(struct ArrowDeviceArrayStream* stream, struct arrowdevice_device* to, int64_t* rows,
             struct arrowdevice_error* error) {
  const struct arrowdevice_stream_options options = {
      .struct_size = sizeof options,
      .flags = ARROWDEVICE_STREAM_READ_AHEAD, /* a thread of the stream calls the producer */
      .depth = 4,                             /* batches in progress at once */
  };
  struct ArrowDeviceArrayStream moved;
  int code = arrowdevice_stream_to_device(stream, to, &options, &moved, error);
  if (code != 0) return code;

  for (*rows = 0;;) {
    struct ArrowDeviceArray batch;
    code = arrowdevice_stream_get_next(&moved, &batch, error);
    if (code != 0 || batch.array.release == NULL) break; /* an error, or the end */
    *rows += batch.array.length;
    arrowdevice_array_release(&batch);
  }
  arrowdevice_stream_release(&moved); /* also before the end: batches in progress are dropped */
  return code;
}
/* [end] */

/* [pool] */
/* Copies with a pool of its own: at most `cap` bytes at a time, and no cached memory. */
int copy_within(int64_t cap, const struct ArrowDeviceArray* batch, const struct ArrowSchema* schema,
                struct arrowdevice_device* to, struct ArrowDeviceArray* out, struct arrowdevice_error* error) {
  const struct arrowdevice_pool_options bounds = {
      .struct_size = sizeof bounds, .max_bytes = cap, .max_cached_bytes = -1};
  struct arrowdevice_pool* pool;
  int code = arrowdevice_pool_create(to, &bounds, &pool, error);
  if (code != 0) return code;
  const struct arrowdevice_copy_options options = {.struct_size = sizeof options, .pool = pool};
  code = arrowdevice_array_copy(batch, schema, to, &options, out, error); /* ENOMEM beyond the limit */
  arrowdevice_pool_destroy(pool);                                         /* live buffers hold it */
  return code;
}
/* [end] */

/* [allocator] */
struct my_arena {
  _Atomic int64_t bytes, most; /* any thread allocates and frees */
};

static int arena_allocate(void* user, int64_t size, int64_t alignment, void* native_queue, void** out) {
  (void)native_queue; /* the queue that uses the memory first, if the allocator orders memory by queue */
  struct my_arena* arena = user;
  const int64_t whole = (size + alignment - 1) / alignment * alignment;
  *out = aligned_alloc((size_t)alignment, (size_t)whole);
  if (*out == NULL) return ENOMEM;
  const int64_t bytes = atomic_fetch_add(&arena->bytes, size) + size;
  int64_t most = arena->most;
  while (bytes > most && !atomic_compare_exchange_weak(&arena->most, &most, bytes)) {
  }
  return 0;
}

static void arena_deallocate(void* user, void* buffer, int64_t size, void* native_queue) {
  (void)native_queue;
  ((struct my_arena*)user)->bytes -= size;
  free(buffer);
}

/* Makes the library allocate from the arena on `device`, here the CPU. */
int allocate_from(struct my_arena* arena, struct arrowdevice_device* device, struct arrowdevice_error* error) {
  const struct arrowdevice_pool_options options = {.struct_size = sizeof options,
                                                   .max_cached_bytes = -1, /* the arena does the caching */
                                                   .allocate = arena_allocate,
                                                   .deallocate = arena_deallocate,
                                                   .user = arena};
  struct arrowdevice_pool* pool;
  int code = arrowdevice_pool_create(device, &options, &pool, error);
  if (code != 0) return code;
  code = arrowdevice_device_set_pool(device, pool, error); /* NULL restores the default */
  arrowdevice_pool_destroy(pool);                          /* the device holds it */
  return code;
}
/* [end] */

/* [wrap] */
/* Makes a device from a context of this program. Buffers on it are handles of that context. */
int wrap_mine(ArrowDeviceType type, int64_t ordinal, const struct arrowdevice_native_device* mine,
              struct arrowdevice_device** device, struct arrowdevice_error* error) {
  return arrowdevice_device_wrap(type, ordinal, mine, device, error);
}

/* Call this before you destroy the context. EBUSY: arrays, pools or queues of it are alive. */
int unwrap_mine(struct arrowdevice_device* device, struct arrowdevice_error* error) {
  const int64_t second = INT64_C(1000000000);
  return arrowdevice_device_unwrap(device, second, error);
}
/* [end] */

/* [shutdown] */
/* Finishes deferred work and frees cached memory. Live objects stay valid. */
int shut_down(struct arrowdevice_device* device, struct arrowdevice_error* error) {
  const int64_t seconds = INT64_C(1000000000);
  int code = arrowdevice_wait_idle(5 * seconds, error); /* ETIMEDOUT: some work has not finished */
  struct arrowdevice_pool* pool;
  if (code == 0) code = arrowdevice_device_get_pool(device, &pool, error);
  if (code == 0) code = arrowdevice_pool_trim(pool, error);
  return code;
}
/* [end] */

/* [fork] */
/* A child has the parent's arrays, but must not use its driver. */
int in_a_child(struct ArrowDeviceArray* array, const struct ArrowSchema* schema) {
  const pid_t child = fork();
  if (child == 0) {
    struct arrowdevice_error error;
    struct ArrowArray host;
    const int code = arrowdevice_array_to_host(array, schema, NULL, &host, &error);
    if (code != 0) fprintf(stderr, "in the child: %s\n", error.message); /* ENODEV on a device; on the CPU it works */
    if (code == 0) arrowdevice_host_array_release(&host);
    if (code != 0) arrowdevice_array_release(array); /* calls no driver here */
    _exit(code == 0 || code == ENODEV ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0
                                                                         : EIO; /* the parent's array is unchanged */
}
/* [end] */

/* [counters] */
/* Counts the calls of one copy: one submission and one event for any number of columns. */
int count_a_copy(const struct ArrowDeviceArray* batch, const struct ArrowSchema* schema, struct arrowdevice_device* to,
                 struct arrowdevice_error* error) {
  struct arrowdevice_device_counters before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  struct ArrowDeviceArray copy;
  int code = arrowdevice_device_get_counters(to, &before, error);
  if (code == 0) code = arrowdevice_array_copy(batch, schema, to, NULL, &copy, error);
  if (code != 0) return code;
  arrowdevice_array_release(&copy);

  code = arrowdevice_device_get_counters(to, &after, error);
  if (code == 0) {
    printf("allocations +%" PRId64 ", submissions +%" PRId64 ", regions +%" PRId64 ", events +%" PRId64
           ", bytes in +%" PRId64 "\n",
           after.driver_allocations - before.driver_allocations, after.submissions - before.submissions,
           after.regions - before.regions, after.events - before.events, after.bytes_in - before.bytes_in);
  }
  return code;
}
/* [end] */

/* [validate] */
/* Checks untrusted data once, when it arrives. */
int accept(const struct ArrowDeviceArray* array, const struct ArrowSchema* schema, struct arrowdevice_error* error) {
  return arrowdevice_array_validate(array, schema, NULL, ARROWDEVICE_VALIDATE_FULL, error);
}
/* [end] */

/* -- the program that runs the recipes --------------------------------------------------------------------------------
 */

#define ROWS 4

static const int32_t ids[ROWS] = {1, 2, 3, 4};
static const int32_t offsets[ROWS + 1] = {0, 3, 6, 11, 15};
static const char names[] = "onetwothreefour";
static const double prices[ROWS] = {1.5, 2.5, 3.5, 4.5};

static void release_array(struct ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
  }
  free(array->private_data);
  array->release = NULL;
}

static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

/* {id: int32, name: utf8, price: float64}, over memory that lives as long as the program. */
static struct ArrowDeviceArray make_batch(struct ArrowSchema* schema) {
  static const void *id_buffers[] = {NULL, ids}, *name_buffers[] = {NULL, offsets, names},
                    *price_buffers[] = {NULL, prices}, *batch_buffers[] = {NULL};
  static struct ArrowSchema fields[3], *pointers[] = {&fields[0], &fields[1], &fields[2]};
  fields[0] = (struct ArrowSchema){.format = "i", .name = "id", .release = release_schema};
  fields[1] = (struct ArrowSchema){.format = "u", .name = "name", .release = release_schema};
  fields[2] = (struct ArrowSchema){.format = "g", .name = "price", .release = release_schema};
  *schema = (struct ArrowSchema){
      .format = "+s", .name = "", .n_children = 3, .children = pointers, .release = release_schema};

  struct columns {
    struct ArrowArray arrays[3], *pointers[3];
  }* columns = malloc(sizeof *columns);
  if (columns == NULL) abort();
  columns->arrays[0] =
      (struct ArrowArray){.length = ROWS, .n_buffers = 2, .buffers = id_buffers, .release = release_array};
  columns->arrays[1] =
      (struct ArrowArray){.length = ROWS, .n_buffers = 3, .buffers = name_buffers, .release = release_array};
  columns->arrays[2] =
      (struct ArrowArray){.length = ROWS, .n_buffers = 2, .buffers = price_buffers, .release = release_array};
  for (int i = 0; i < 3; ++i) columns->pointers[i] = &columns->arrays[i];
  struct ArrowArray batch = {.length = ROWS,
                             .n_buffers = 1,
                             .buffers = batch_buffers,
                             .n_children = 3,
                             .children = columns->pointers,
                             .release = release_array,
                             .private_data = columns};
  struct ArrowDeviceArray out;
  struct arrowdevice_error error;
  if (arrowdevice_array_from_host(&batch, &out, &error) != 0) abort();
  return out;
}

static void must(const char* what, int as_it_should) {
  if (as_it_should) return;
  fprintf(stderr, "%s: not as it should be\n", what);
  exit(1);
}

/* Returns 1 if a recipe succeeded, 0 if the device does not support it. */
static int went(const char* recipe, int code, const struct arrowdevice_error* error) {
  if (code == ENOTSUP) {
    printf("%-10s not on this device: %s\n", recipe, error->message);
    return 0;
  }
  if (code != 0) fprintf(stderr, "%s: %s\n", recipe, error->message);
  must(recipe, code == 0);
  printf("%-10s done\n", recipe);
  return 1;
}

static void exports_and_waits(struct arrowdevice_device* device) {
  struct arrowdevice_error error = {0};
  const int64_t values[ROWS] = {10, 20, 30, 40};
  struct arrowdevice_queue* queue;
  void* buffer;
  must("queue", arrowdevice_queue_create(device, &queue, &error) == 0);
  must("buffer", arrowdevice_buffer_allocate(device, NULL, queue, sizeof values, &buffer, &error) == 0);
  const struct arrowdevice_copy_region region = {
      .dst_device = device, .dst = buffer, .src = values, .size = sizeof values};
  must("write", arrowdevice_queue_copy(queue, &region, 1, &error) == 0);

  struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct ArrowDeviceArray array;
  went("export", export_my_column(device, buffer, ROWS, queue, &array, &error), &error);

  int64_t read[ROWS] = {0};
  struct arrowdevice_native_queue mine = {.struct_size = sizeof mine};
  int code = arrowdevice_queue_get_native(queue, &mine, &error);
  if (code == 0) code = use_on_my_queue(device, &mine, &array, &schema, read, &error);
  if (went("wait", code, &error)) {
    /* The work behind the queue has finished, because deferred work waits for it. */
    must("wait",
         arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, &error) == 0 && memcmp(read, values, sizeof values) == 0);
  }
  arrowdevice_array_release(&array); /* does nothing if the import took it */
  arrowdevice_queue_destroy(queue);
}

static int meanwhile;

static void count_meanwhile(void) { ++meanwhile; }

static void shares_and_sends(struct arrowdevice_device* device) {
  struct arrowdevice_error error = {0};
  struct ArrowSchema schema, two;
  struct ArrowDeviceArray batch = make_batch(&schema), first, second, sent, chosen;
  struct ArrowArray host;

  went("validate", accept(&batch, &schema, &error), &error);
  went("share", give_to_two(&batch, &first, &second, &error), &error);
  went("slice", send_rows(&first, &schema, 1, 2, device, &sent, &error), &error);
  arrowdevice_array_release(&first);
  went("background", copy_in_background(&sent, &schema, count_meanwhile, &host, &error), &error);
  must("slice", host.length == 2 && meanwhile == 1);
  const int32_t* id = host.children[0]->buffers[1];
  must("slice", id[host.children[0]->offset] == 2);
  arrowdevice_host_array_release(&host);

  went("select", keep_two_columns(&second, &schema, &chosen, &two, &error), &error);
  must("select", chosen.array.n_children == 2 && strcmp(two.children[0]->name, "price") == 0);
  arrowdevice_schema_release(&two);
  arrowdevice_array_release(&chosen);
  arrowdevice_array_release(&second);

  went("counters", count_a_copy(&batch, &schema, device, &error), &error);
  went("pool", copy_within(1 << 20, &batch, &schema, device, &sent, &error), &error);
  went("fork", in_a_child(&sent, &schema), &error);
  arrowdevice_array_release(&sent);
  must("pool", copy_within(1, &batch, &schema, device, &sent, &error) == ENOMEM);
  arrowdevice_array_release(&batch);
}

static void streams(struct arrowdevice_device* device) {
  struct arrowdevice_error error = {0};
  struct ArrowSchema schema;
  struct ArrowDeviceArray batches[3];
  for (int i = 0; i < 3; ++i) batches[i] = make_batch(&schema);
  struct ArrowDeviceArrayStream stream;
  must("stream", arrowdevice_stream_from_arrays(&schema, batches, 3, ARROW_DEVICE_CPU, &stream, &error) == 0);
  int64_t rows = 0;
  went("stream", drain_to(&stream, device, &rows, &error), &error);
  must("stream", rows == 3 * ROWS);
}

static void wraps(struct arrowdevice_device* device) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device_info info = {.struct_size = sizeof info};
  struct arrowdevice_native_device mine = {.struct_size = sizeof mine};
  struct arrowdevice_device* wrapped;
  must("wrap", arrowdevice_device_get_info(device, &info, &error) == 0);
  int code = arrowdevice_device_get_native(device, &mine, &error);
  if (code == 0) code = wrap_mine(info.device_type, info.device_id, &mine, &wrapped, &error);
  if (went("wrap", code, &error)) went("unwrap", unwrap_mine(wrapped, &error), &error);
}

static void allocates(void) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device* cpu;
  static struct my_arena arena;
  struct ArrowSchema schema;
  struct ArrowDeviceArray batch = make_batch(&schema), copy;
  must("allocator", arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &cpu, &error) == 0);
  went("allocator", allocate_from(&arena, cpu, &error), &error);
  must("allocator", arrowdevice_array_copy(&batch, &schema, cpu, NULL, &copy, &error) == 0 && arena.most > 0);
  arrowdevice_array_release(&copy);
  arrowdevice_array_release(&batch);
  must("allocator", arena.bytes == 0 && arrowdevice_device_set_pool(cpu, NULL, &error) == 0);
}

int main(int argc, char** argv) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device *device, *nobody;
  log_to(stderr);
  if (open_or_say_why(argc > 1 ? argv[1] : "cpu", &device) != 0) return 1;
  must("errors", open_or_say_why("toaster:0", &nobody) == EINVAL);
  went("devices", print_devices(&error), &error);
  exports_and_waits(device);
  shares_and_sends(device);
  streams(device);
  wraps(device);
  allocates();
  went("shutdown", shut_down(device, &error), &error);
  arrowdevice_log_set_handler(NULL, NULL);
  return 0;
}
