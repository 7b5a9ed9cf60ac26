/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first backend. It has one device, whose memory is the heap and whose work is complete at once. It has the thirteen
 * functions that every backend needs, and passes `arrowdevice check`. Put your driver's calls at the comments "driver".
 * docs/writing-a-backend.md gives the order and the other functions.
 */
#define _POSIX_C_SOURCE 200809L
#include <arrowdevice/backend.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_DEVICES = 1, ALIGNMENT = 64 };

struct device {
  int64_t id;
};
static struct device devices[N_DEVICES];

struct queue {
  struct device* device;
};

/* All work has finished when it is recorded. Driver: a fence, or a value of a timeline. */
static int finished_work;

/* Fills the error and returns its code. The message begins with the driver's call. */
static int fail(struct arrowdevice_error* error, int code, const char* call, const char* text) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s: %s", call, text);
  return code;
}

/* -- devices */

static int device_count(ArrowDeviceType type, int64_t* out, struct arrowdevice_error* error) {
  (void)type, (void)error;
  *out = N_DEVICES; /* driver: dlopen it here, at the first call; 0 if it is missing */
  return 0;
}

static int device_open(ArrowDeviceType type, int64_t id, void** out, struct arrowdevice_error* error) {
  (void)type, (void)error;
  devices[id].id = id;
  *out = &devices[id];
  return 0;
}

static int device_get_info(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error) {
  (void)error;
  snprintf(out->name, sizeof out->name, "skeleton %lld", (long long)((struct device*)device)->id);
  out->flags = ARROWDEVICE_DEVICE_ADDRESSES; /* buffers are addresses, not handles */
  out->buffer_alignment = ALIGNMENT;
  out->sub_buffer_alignment = ALIGNMENT;
  return 0;
}

/* -- memory */

static int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                           struct arrowdevice_error* error) {
  (void)device, (void)queue;
  const int code = posix_memalign(out, (size_t)(alignment > ALIGNMENT ? alignment : ALIGNMENT), (size_t)size);
  return code == 0 ? 0 : fail(error, code, "posix_memalign", strerror(code));
}

static void buffer_free(void* device, void* queue, void* buffer) {
  (void)device, (void)queue; /* driver: free it after the queue's work so far, without waiting */
  free(buffer);
}

/* -- queues and copies */

static int queue_create(void* device, void** out, struct arrowdevice_error* error) {
  struct queue* queue = malloc(sizeof *queue);
  if (queue == NULL) return fail(error, ENOMEM, "malloc", strerror(ENOMEM));
  queue->device = device;
  *out = queue;
  return 0;
}

static void queue_destroy(void* queue) { free(queue); }

static int queue_copy(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                      struct arrowdevice_error* error) {
  (void)queue, (void)error;
  /* Driver: one submission for all regions, and no wait. If `dst_device` or `src_device` is NULL, that end is host
   * memory, which stays valid until the copies have finished. `regions` ends with the call. */
  for (int64_t i = 0; i < n; ++i) {
    memcpy((char*)regions[i].dst + regions[i].dst_offset, (const char*)regions[i].src + regions[i].src_offset,
           (size_t)regions[i].size);
  }
  return 0;
}

/* -- events */

static int event_record(void* queue, void** out, struct arrowdevice_error* error) {
  (void)queue, (void)error;
  *out = &finished_work;
  return 0;
}

static int event_query(void* event, int* ready, struct arrowdevice_error* error) {
  (void)event, (void)error;
  *ready = 1;
  return 0;
}

static int event_wait(void* event, int64_t timeout_ns, struct arrowdevice_error* error) {
  (void)event, (void)timeout_ns, (void)error;
  return 0; /* driver: ETIMEDOUT after `timeout_ns`, EIO if the work failed */
}

static int queue_wait_event(void* queue, void* event, struct arrowdevice_error* error) {
  (void)queue, (void)event, (void)error;
  return 0; /* driver: on the device, not here */
}

static void event_destroy(void* event) { (void)event; }

/* -- the table */

static const ArrowDeviceType types[] = {ARROW_DEVICE_EXT_DEV}; /* the type of your device, see arrowdevice/abi.h */

static const struct arrowdevice_backend table = {
    .struct_size = sizeof(struct arrowdevice_backend),
    .abi_version = ARROWDEVICE_BACKEND_ABI_VERSION,
    .name = "skeleton", /* as in libarrowdevice-skeleton.so */
    .version = "1",
    .device_types = types,
    .n_device_types = sizeof types / sizeof types[0],
    .device_count = device_count,
    .device_open = device_open,
    .device_get_info = device_get_info,
    .buffer_allocate = buffer_allocate,
    .buffer_free = buffer_free,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_copy = queue_copy,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .queue_wait_event = queue_wait_event,
    .event_destroy = event_destroy,
};

__attribute__((visibility("default"))) const struct arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, struct arrowdevice_error* error) {
  if (host_abi == ARROWDEVICE_BACKEND_ABI_VERSION) return &table;
  fail(error, ENOTSUP, "arrowdevice_backend_entry", "made for another version of the backend table");
  return NULL;
}
