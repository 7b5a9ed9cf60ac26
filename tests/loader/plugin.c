/* SPDX-License-Identifier: Apache-2.0 */
/* A backend whose device memory is host memory, with every possible defect. Macros choose its properties:
 *
 *   PLUGIN_NAME "ok"        the name in its table
 *   PLUGIN_TYPE 60          the device type that it serves
 *   PLUGIN_<DEFECT>         a defect from the list below
 *   PLUGIN_WITHOUT(table)   statements that remove functions from the table */
#include <arrowdevice/backend.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_WITHOUT
#define PLUGIN_WITHOUT(table) ((void)(table))
#endif

static int the_device, the_queue, the_event;

static int device_count(ArrowDeviceType type, int64_t* out, struct arrowdevice_error* error) {
  (void)error;
  *out = type == PLUGIN_TYPE;
  return 0;
}

static int device_open(ArrowDeviceType type, int64_t id, void** device, struct arrowdevice_error* error) {
  (void)type, (void)id, (void)error;
  *device = &the_device;
  return 0;
}

static int device_get_info(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error) {
  (void)device, (void)error;
  strcpy(out->name, "a device of tests");
  out->buffer_alignment = 64;
  out->sub_buffer_alignment = 64;
#if defined(PLUGIN_HANDLES)
  out->flags = 0;
#elif defined(PLUGIN_ODD_ALIGNMENT)
  out->buffer_alignment = 48;
  out->flags = ARROWDEVICE_DEVICE_ADDRESSES;
#else
  out->flags = ARROWDEVICE_DEVICE_ADDRESSES;
#endif
  return 0;
}

static int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                           struct arrowdevice_error* error) {
  (void)device, (void)queue, (void)error;
  *out = aligned_alloc((size_t)alignment, (size_t)((size + alignment - 1) / alignment * alignment));
  return *out == NULL ? ENOMEM : 0;
}

static void buffer_free(void* device, void* queue, void* buffer) {
  (void)device, (void)queue;
  free(buffer);
}

static int queue_create(void* device, void** queue, struct arrowdevice_error* error) {
  (void)device, (void)error;
  *queue = &the_queue;
  return 0;
}

static void queue_destroy(void* queue) { (void)queue; }

static int copy(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                struct arrowdevice_error* error) {
  int64_t i;
  (void)queue, (void)error;
  for (i = 0; i < n; ++i) {
    memcpy((char*)regions[i].dst + regions[i].dst_offset, (const char*)regions[i].src + regions[i].src_offset,
           (size_t)regions[i].size);
  }
  return 0;
}

static int event_record(void* queue, void** event, struct arrowdevice_error* error) {
  (void)queue, (void)error;
  *event = &the_event;
  return 0;
}

static int event_query(void* event, int* ready, struct arrowdevice_error* error) {
  (void)event, (void)error;
  *ready = 1;
  return 0;
}

static int event_wait(void* event, int64_t timeout_ns, struct arrowdevice_error* error) {
  (void)event, (void)timeout_ns, (void)error;
  return 0;
}

static int queue_wait_event(void* queue, void* event, struct arrowdevice_error* error) {
  (void)queue, (void)event, (void)error;
  return 0;
}

static void event_destroy(void* event) { (void)event; }

#ifdef PLUGIN_RECURSES
/* Asks the library for a device of its own type, for a device of another type, and for a list of all devices. */
static void call_the_library(void) {
  void* library = dlopen(getenv("ARROWDEVICE_TEST_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  int (*get)(ArrowDeviceType, int64_t, struct arrowdevice_device**, struct arrowdevice_error*);
  int (*list)(struct arrowdevice_device**, int64_t, int64_t*, struct arrowdevice_error*);
  struct arrowdevice_device* device = NULL;
  struct arrowdevice_error error = {0};
  int64_t n = 0;
  *(void**)&get = dlsym(library, "arrowdevice_device_find_by_id");
  *(void**)&list = dlsym(library, "arrowdevice_device_list");
  printf("within: own -> %d\n", get(PLUGIN_TYPE, 0, &device, &error));
  printf("within: another's -> %d\n", get(ARROW_DEVICE_CUDA, 0, &device, &error));
  printf("within: all -> %d\n", list(NULL, 0, &n, &error));
}
#endif

#ifdef PLUGIN_BLOCKS
/* Blocks until the named pipe has a writer. */
static void wait_for_the_test(void) {
  FILE* gate = fopen(getenv("ARROWDEVICE_TEST_GATE"), "r");
  if (gate == NULL) return;
  while (fgetc(gate) != EOF) continue;
  fclose(gate);
}
#endif

/* A stand-in for tables that have only half of a pair of functions. */
static inline int unpaired(void) { return ENOTSUP; }

static const ArrowDeviceType the_types[] = {PLUGIN_TYPE};

/* A table with room for functions that a later version may append. */
static struct {
  struct arrowdevice_backend table;
  void* more[8];
} the_table;

#ifdef PLUGIN_STATIC
const struct arrowdevice_backend* PLUGIN_STATIC(void);
const struct arrowdevice_backend* PLUGIN_STATIC(void) {
#elif defined(PLUGIN_NO_SYMBOL)
const struct arrowdevice_backend* another_entry(uint32_t host_abi, struct arrowdevice_error* error);
const struct arrowdevice_backend* another_entry(uint32_t host_abi, struct arrowdevice_error* error) {
#else
const struct arrowdevice_backend* arrowdevice_backend_entry(uint32_t host_abi, struct arrowdevice_error* error);
const struct arrowdevice_backend* arrowdevice_backend_entry(uint32_t host_abi, struct arrowdevice_error* error) {
#endif
  struct arrowdevice_backend* table = &the_table.table;
#ifndef PLUGIN_STATIC
  (void)host_abi, (void)error;
#endif
  table->struct_size = sizeof *table;
  table->abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
  table->name = PLUGIN_NAME;
  table->version = "of a test";
  table->device_types = the_types;
  table->n_device_types = 1;
  table->device_count = device_count;
  table->device_open = device_open;
  table->device_get_info = device_get_info;
  table->buffer_allocate = buffer_allocate;
  table->buffer_free = buffer_free;
  table->queue_create = queue_create;
  table->queue_destroy = queue_destroy;
  table->queue_copy = copy;
  table->event_record = event_record;
  table->event_query = event_query;
  table->event_wait = event_wait;
  table->queue_wait_event = queue_wait_event;
  table->event_destroy = event_destroy;
#if defined(PLUGIN_OLDER) || defined(PLUGIN_SHORT)
  /* A library that reads beyond the end finds invalid pointers, which fault when they are called. */
  memset((char*)table + offsetof(struct arrowdevice_backend, event_publish), 0x5C,
         sizeof *table - offsetof(struct arrowdevice_backend, event_publish));
#endif
#if defined(PLUGIN_OLDER)
  table->struct_size = offsetof(struct arrowdevice_backend, event_publish);
#elif defined(PLUGIN_SHORT)
  table->struct_size = offsetof(struct arrowdevice_backend, event_destroy);
#elif defined(PLUGIN_HALF_A_FUNCTION)
  table->struct_size = offsetof(struct arrowdevice_backend, event_publish) + 4;
#elif defined(PLUGIN_EMPTY)
table->struct_size = 0;
#elif defined(PLUGIN_NEWER)
memset(the_table.more, 0x5C, sizeof the_table.more);
table->struct_size = sizeof the_table;
#elif defined(PLUGIN_OTHER_ABI)
table->abi_version = ARROWDEVICE_BACKEND_ABI_VERSION + 1;
#elif defined(PLUGIN_NO_TYPES)
table->n_device_types = 0;
#elif defined(PLUGIN_NULL_TYPES)
table->device_types = NULL;
#elif defined(PLUGIN_NULL_NAME)
table->name = NULL;
#elif defined(PLUGIN_NULL)
return NULL;
#elif defined(PLUGIN_FAILS)
error->code = ENODEV;
error->native_code = 100;
strcpy(error->message, "the driver of the test is not installed");
return NULL;
#elif defined(PLUGIN_RECURSES)
call_the_library();
#elif defined(PLUGIN_BLOCKS)
wait_for_the_test();
#elif defined(PLUGIN_UNTERMINATED)
memset(error->message, 'x', sizeof error->message);
error->code = EIO;
return NULL;
#endif
  PLUGIN_WITHOUT(table);
  (void)unpaired;
  return table;
}
