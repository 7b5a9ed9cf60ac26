/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a column of numbers to a device and back: getting_started [DEVICE]. docs/getting-started.md shows it. */
/* [program] */
#include <arrowdevice/arrowdevice.h>
#include <stdio.h>

/* A column of 64-bit integers, as an Arrow library would export it. Its memory is static and is not freed. */
static const int64_t numbers[] = {1, 2, 3, 4, 5};
static const void* buffers[] = {NULL, numbers}; /* no validity bitmap: no nulls */

static void release_column(struct ArrowArray* array) { array->release = NULL; }
static void release_type(struct ArrowSchema* schema) { schema->release = NULL; }

int main(int argc, char** argv) {
  struct ArrowArray column = {.length = 5, .n_buffers = 2, .buffers = buffers, .release = release_column};
  struct ArrowSchema type = {.format = "l", .name = "number", .release = release_type};

  struct arrowdevice_error error;
  struct arrowdevice_device* device;
  struct ArrowDeviceArray host, there;
  int code = arrowdevice_device_find_by_name(argc > 1 ? argv[1] : "cpu", &device, &error);
  if (code == 0) code = arrowdevice_array_from_host(&column, &host, &error);
  if (code == 0) code = arrowdevice_array_to_device(&host, &type, device, NULL, &there, &error);
  if (code == 0) {
    printf("%lld rows on device type %d\n", (long long)there.array.length, there.device_type);
    code = arrowdevice_array_to_host(&there, &type, NULL, &column, &error); /* `column` was moved, so it is free */
  }
  if (code != 0) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }

  int64_t sum = 0;
  const int64_t* values = column.buffers[1];
  for (int64_t i = 0; i < column.length; ++i) sum += values[column.offset + i];
  printf("their sum is %lld\n", (long long)sum);
  arrowdevice_host_array_release(&column);
  arrowdevice_schema_release(&type);
  return 0;
}
/* [end] */
