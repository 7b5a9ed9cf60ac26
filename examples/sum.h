/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice of a column with nulls on a device, and the array of a result, for the programs that add up a column.
 * Include it once in a program.
 */
#include <arrowdevice/arrowdevice.h>
#include <stdio.h>
#include <stdlib.h>

static struct arrowdevice_error error;

static void check(int code, const char* call) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", call, error.message);
  exit(1);
}

/* The column 10, 1, null, 3. Its memory is static and is not freed. */
static const uint8_t validity[] = {0x0B};
static const int32_t numbers[] = {10, 1, 0, 3};
static const void* column_buffers[] = {validity, numbers};
static void release_column(struct ArrowArray* array) { array->release = NULL; }
static void release_type(struct ArrowSchema* schema) { schema->release = NULL; }

static struct ArrowSchema column_type(void) {
  return (struct ArrowSchema){.format = "i", .name = "number", .flags = ARROW_FLAG_NULLABLE, .release = release_type};
}

/* Returns the rows 1, null, 3 on the device. The copy may still run. */
static struct ArrowDeviceArray slice_on(struct arrowdevice_device* device) {
  struct ArrowArray column = {
      .length = 4, .null_count = 1, .n_buffers = 2, .buffers = column_buffers, .release = release_column};
  struct ArrowSchema type = column_type();
  struct ArrowDeviceArray host, there, slice;
  check(arrowdevice_array_from_host(&column, &host, &error), "arrowdevice_array_from_host");
  check(arrowdevice_array_to_device(&host, &type, device, NULL, &there, &error), "arrowdevice_array_to_device");
  check(arrowdevice_array_slice(&there, &type, 1, 3, &slice, &error), "arrowdevice_array_slice");
  arrowdevice_array_release(&there);
  arrowdevice_schema_release(&type);
  return slice;
}

/* [result] */
struct result {
  struct arrowdevice_device* device;
  const void* buffers[2]; /* no validity, and the sum */
};

static void release_result(struct ArrowArray* array) {
  struct result* result = array->private_data;
  arrowdevice_buffer_free(result->device, NULL, (void*)result->buffers[1]);
  free(result);
  array->release = NULL;
}

/* Makes an array of memory that the work of `queue` writes. */
static struct ArrowDeviceArray export_result(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                             void* memory) {
  struct result* result = malloc(sizeof *result);
  if (result == NULL) exit(1);
  *result = (struct result){device, {NULL, memory}};
  struct ArrowArray array = {
      .length = 1, .n_buffers = 2, .buffers = result->buffers, .release = release_result, .private_data = result};
  struct ArrowDeviceArray out;
  check(arrowdevice_array_export(device, &array, queue, &out, &error), "arrowdevice_array_export");
  return out;
}
/* [end] */

/* Waits for a result, prints it, and releases it. */
static void print_result(struct ArrowDeviceArray* total, const char* device_name) {
  struct ArrowSchema type = column_type();
  struct ArrowArray host;
  check(arrowdevice_array_to_host(total, &type, NULL, &host, &error), "arrowdevice_array_to_host");
  printf("%d on %s\n", ((const int32_t*)host.buffers[1])[host.offset], device_name);
  arrowdevice_host_array_release(&host);
  arrowdevice_schema_release(&type);
}
