/* SPDX-License-Identifier: Apache-2.0 */
/* A backend of the first release. It has a device in ordinary memory, and programs can wrap a second device. It
 * has the thirteen functions that every backend needs, and all optional functions except those for events of
 * the format.
 *
 * FIRST_NAME and FIRST_TYPE set another name and device type. With FIRST_REQUIRED_ONLY the table ends with
 * the last required function. A call behind that end ends the process. */
#define _POSIX_C_SOURCE 200809L
#include <arrowdevice/backend.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FIRST_NAME
#define FIRST_NAME "skeleton"
#endif
#ifndef FIRST_TYPE
#define FIRST_TYPE ARROW_DEVICE_EXT_DEV
#endif

enum { N_DEVICES = 1, ALIGNMENT = 64, MARK = 1729 };

struct device {
  int mark;
  int64_t id;
  int wraps;
};
static struct device devices[N_DEVICES];

struct queue {
  int mark;
  struct device* device;
  uint32_t family;
  void* native;
};

/* All work has finished when it is recorded. */
static int finished_work = MARK;

static int fail(struct arrowdevice_error* error, int code, const char* text) {
  error->code = code;
  error->native_code = -code;
  snprintf(error->message, sizeof error->message, "%s", text);
  return code;
}

/* The library must pass the handles that it was given. The marks detect a handle in the wrong argument. */
static int is_device(const void* device) { return device != NULL && ((const struct device*)device)->mark == MARK; }
static int is_queue(const void* queue) { return queue != NULL && ((const struct queue*)queue)->mark == MARK; }

/* -- devices */

static int device_count(ArrowDeviceType type, int64_t* out, struct arrowdevice_error* error) {
  if (type != FIRST_TYPE) return fail(error, EINVAL, "device_count: another device type");
  *out = N_DEVICES;
  return 0;
}

static int device_open(ArrowDeviceType type, int64_t id, void** out, struct arrowdevice_error* error) {
  if (type != FIRST_TYPE || id < 0 || id >= N_DEVICES) return fail(error, EINVAL, "device_open: no such device");
  devices[id].mark = MARK;
  devices[id].id = id;
  *out = &devices[id];
  return 0;
}

static int device_get_info(void* device, struct arrowdevice_device_info* out, struct arrowdevice_error* error) {
  if (!is_device(device)) return fail(error, EINVAL, "device_get_info: not a device");
  if (out->struct_size < sizeof *out) return fail(error, EINVAL, "device_get_info: the info has shrunk");
  if (out->total_memory != -1 || out->numa_node != -1 || out->buffer_alignment != 1 || out->sub_buffer_alignment != 1) {
    return fail(error, EINVAL, "device_get_info: the info is not as it is promised to come");
  }
  snprintf(out->name, sizeof out->name, "first %lld", (long long)((struct device*)device)->id);
  snprintf(out->vendor, sizeof out->vendor, "the first release");
  out->flags = ARROWDEVICE_DEVICE_ADDRESSES;
  out->total_memory = 1 << 30;
  out->buffer_alignment = ALIGNMENT;
  out->sub_buffer_alignment = ALIGNMENT;
  return 0;
}

/* -- memory */

static int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                           struct arrowdevice_error* error) {
  if (!is_device(device) || (queue != NULL && !is_queue(queue)) || size <= 0) {
    return fail(error, EINVAL, "buffer_allocate: not a device, a queue and a size");
  }
  const int code = posix_memalign(out, (size_t)(alignment > ALIGNMENT ? alignment : ALIGNMENT), (size_t)size);
  return code == 0 ? 0 : fail(error, code, "posix_memalign");
}

static void buffer_free(void* device, void* queue, void* buffer) {
  if (!is_device(device) || (queue != NULL && !is_queue(queue))) abort();
  free(buffer);
}

/* -- queues and copies */

static int queue_create(void* device, void** out, struct arrowdevice_error* error) {
  if (!is_device(device)) return fail(error, EINVAL, "queue_create: not a device");
  struct queue* queue = malloc(sizeof *queue);
  if (queue == NULL) return fail(error, ENOMEM, "malloc");
  queue->mark = MARK;
  queue->device = device;
  queue->family = 0;
  queue->native = NULL;
  *out = queue;
  return 0;
}

static void queue_destroy(void* queue) {
  if (!is_queue(queue)) abort();
  free(queue);
}

static int queue_copy(void* queue, const struct arrowdevice_backend_region* regions, int64_t n,
                struct arrowdevice_error* error) {
  if (!is_queue(queue)) return fail(error, EINVAL, "copy: not a queue");
  for (int64_t i = 0; i < n; ++i) {
    if ((regions[i].dst_device != NULL && !is_device(regions[i].dst_device)) ||
        (regions[i].src_device != NULL && !is_device(regions[i].src_device)) || regions[i].size <= 0) {
      return fail(error, EINVAL, "copy: not a region");
    }
    memcpy((char*)regions[i].dst + regions[i].dst_offset, (const char*)regions[i].src + regions[i].src_offset,
           (size_t)regions[i].size);
  }
  return 0;
}

/* -- events */

static int event_record(void* queue, void** out, struct arrowdevice_error* error) {
  if (!is_queue(queue)) return fail(error, EINVAL, "event_record: not a queue");
  *out = &finished_work;
  return 0;
}

static int event_query(void* event, int* ready, struct arrowdevice_error* error) {
  if (event != &finished_work) return fail(error, EINVAL, "event_query: not an event");
  *ready = 1;
  return 0;
}

static int event_wait(void* event, int64_t timeout_ns, struct arrowdevice_error* error) {
  (void)timeout_ns;
  return event == &finished_work ? 0 : fail(error, EINVAL, "event_wait: not an event");
}

static int queue_wait_event(void* queue, void* event, struct arrowdevice_error* error) {
  if (is_queue(queue) && event == &finished_work) return 0;
  return fail(error, EINVAL, "queue_wait_event: not a queue and an event");
}

static void event_destroy(void* event) {
  if (event != &finished_work) abort();
}

/* -- optional functions */

#ifdef FIRST_REQUIRED_ONLY
#define TABLE_SIZE offsetof(struct arrowdevice_backend, event_publish)

static int beyond_publish(void* event, void** sync_event, struct arrowdevice_error* error) {
  (void)event, (void)sync_event, (void)error;
  abort();
}

static int beyond_reach(void* from, void* to, uint32_t* out, struct arrowdevice_error* error) {
  (void)from, (void)to, (void)out, (void)error;
  abort();
}

static int beyond_locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event, void** device,
                         struct arrowdevice_error* error) {
  (void)type, (void)id, (void)buffer, (void)sync_event, (void)device, (void)error;
  abort();
}

static int beyond_memory(void* device, int64_t* free_bytes, int64_t* total_bytes, struct arrowdevice_error* error) {
  (void)device, (void)free_bytes, (void)total_bytes, (void)error;
  abort();
}
#else
#define TABLE_SIZE sizeof(struct arrowdevice_backend)

static int sub_buffer_create(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                      struct arrowdevice_error* error) {
  if (!is_device(device) || size <= 0) return fail(error, EINVAL, "sub_buffer_create: not a device and a size");
  *out = (char*)buffer + offset;
  return 0;
}

static void sub_buffer_destroy(void* device, void* sub) {
  if (!is_device(device) || sub == NULL) abort();
}

static int queue_wrap(void* device, const struct arrowdevice_native_queue* native, void** out,
                      struct arrowdevice_error* error) {
  if (native->struct_size < sizeof *native) return fail(error, EINVAL, "queue_wrap: the handles have shrunk");
  const int code = queue_create(device, out, error);
  if (code != 0) return code;
  ((struct queue*)*out)->family = native->family;
  ((struct queue*)*out)->native = native->queue;
  return 0;
}

static int queue_get_native(void* queue, struct arrowdevice_native_queue* out, struct arrowdevice_error* error) {
  if (!is_queue(queue)) return fail(error, EINVAL, "queue_get_native: not a queue");
  if (out->struct_size < sizeof *out) return fail(error, EINVAL, "queue_get_native: the handles have shrunk");
  out->family = ((struct queue*)queue)->family;
  out->queue = ((struct queue*)queue)->native;
  return 0;
}

/* The handles of a program are consecutive numbers. */
static struct device wrapped;
static struct arrowdevice_native_device handles;

static int device_wrap(ArrowDeviceType type, int64_t id, const struct arrowdevice_native_device* native, void** out,
                        struct arrowdevice_error* error) {
  const int* first = native->platform;
  if (type != FIRST_TYPE || native->struct_size < sizeof *native) {
    return fail(error, EINVAL, "device_wrap: another device type, or the handles have shrunk");
  }
  if (native->queue_family != 3 || native->api_version != 5 || native->n_extensions != 2 ||
      strcmp(native->extensions[0], "one") != 0 || strcmp(native->extensions[1], "two") != 0 ||
      native->physical_device != first + 1 || native->device != first + 2 || native->context != first + 3 ||
      native->queue != first + 4 || native->get_proc_addr != first + 5 || native->features != first + 6 ||
      native->lock_user != first + 7) {
    return fail(error, EINVAL, "device_wrap: these are not the handles that the program has");
  }
  native->lock(native->lock_user, native->queue);
  native->unlock(native->lock_user, native->queue);
  wrapped.mark = MARK;
  wrapped.id = id;
  ++wrapped.wraps;
  memcpy(&handles, native, sizeof handles);
  *out = &wrapped;
  return 0;
}

static int device_unwrap(void* device, struct arrowdevice_error* error) {
  if (device != &wrapped || wrapped.wraps == 0) return fail(error, EINVAL, "device_unwrap: not wrapped");
  --wrapped.wraps;
  return 0;
}

static int device_get_native(void* device, struct arrowdevice_native_device* out, struct arrowdevice_error* error) {
  const uint32_t size = out->struct_size;
  if (!is_device(device)) return fail(error, EINVAL, "device_get_native: not a device");
  if (size < sizeof *out) return fail(error, EINVAL, "device_get_native: the handles have shrunk");
  if (device == &wrapped) memcpy(out, &handles, sizeof *out);
  out->struct_size = size;
  return 0;
}

static int device_get_peer_flags(void* from, void* to, uint32_t* out, struct arrowdevice_error* error) {
  if ((from != NULL && !is_device(from)) || (to != NULL && !is_device(to))) {
    return fail(error, EINVAL, "device_get_peer_flags: not a device");
  }
  *out = ARROWDEVICE_PEER_COPY;
  return 0;
}

static int device_locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event, void** device,
                  struct arrowdevice_error* error) {
  (void)id, (void)buffer, (void)sync_event;
  if (type != FIRST_TYPE || device == NULL) abort();
  return fail(error, ENOTSUP, "device_locate: ordinary memory is nobody's");
}

static int pointer_get_info(void* device, const void* buffer, struct arrowdevice_pointer_info* out,
                            struct arrowdevice_error* error) {
  if (!is_device(device) || buffer == NULL) return fail(error, EINVAL, "pointer_get_info: not a device and a buffer");
  if (out->struct_size < sizeof *out) return fail(error, EINVAL, "pointer_get_info: the info has shrunk");
  out->flags = ARROWDEVICE_POINTER_KNOWN;
  out->device_type = FIRST_TYPE;
  out->device_id = ((struct device*)device)->id;
  out->base = NULL;
  out->size = -1;
  return 0;
}

static int device_get_memory_info(void* device, int64_t* free_bytes, int64_t* total_bytes, struct arrowdevice_error* error) {
  if (!is_device(device)) return fail(error, EINVAL, "device_get_memory_info: not a device");
  *free_bytes = 1 << 29;
  *total_bytes = 1 << 30;
  return 0;
}
#endif

/* -- the table */

static const ArrowDeviceType types[] = {FIRST_TYPE};

static const struct arrowdevice_backend table = {
    .struct_size = TABLE_SIZE,
    .abi_version = ARROWDEVICE_BACKEND_ABI_VERSION,
    .name = FIRST_NAME,
    .version = "of the first release",
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
#ifdef FIRST_REQUIRED_ONLY
    .event_publish = beyond_publish,
    .device_get_peer_flags = beyond_reach,
    .device_locate = beyond_locate,
    .device_get_memory_info = beyond_memory,
#else
    .sub_buffer_create = sub_buffer_create,
    .sub_buffer_destroy = sub_buffer_destroy,
    .queue_wrap = queue_wrap,
    .queue_get_native = queue_get_native,
    .device_wrap = device_wrap,
    .device_unwrap = device_unwrap,
    .device_get_native = device_get_native,
    .device_get_peer_flags = device_get_peer_flags,
    .device_locate = device_locate,
    .pointer_get_info = pointer_get_info,
    .device_get_memory_info = device_get_memory_info,
#endif
};

__attribute__((visibility("default"))) const struct arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, struct arrowdevice_error* error) {
  if (host_abi == ARROWDEVICE_BACKEND_ABI_VERSION) return &table;
  fail(error, ENOTSUP, "arrowdevice_backend_entry: made for another version of the backend table");
  return NULL;
}
