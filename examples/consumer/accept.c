/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an array on any device and adds its values: accept [DEVICE], for example "cpu" or "ext_dev:0". */
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Adds the values of an int64 array on any device, without nulls. Takes the array in every case. */
static int add_up(struct ArrowDeviceArray* array, const struct ArrowSchema* schema, int64_t* sum,
                  struct arrowdevice_error* error) {
  struct arrowdevice_import_options options = {.struct_size = sizeof options, .validate = ARROWDEVICE_VALIDATE_FULL};
  struct arrowdevice_view* view;
  int code = arrowdevice_array_import(array, schema, &options, &view, error);
  if (code != 0) {
    arrowdevice_array_release(array);
    return code;
  }
  const struct arrowdevice_node* column = arrowdevice_view_get_root(view);
  if (strcmp(column->format, "l") != 0) {
    error->code = EINVAL;
    snprintf(error->message, sizeof error->message, "int64 was expected, and the format is %s", column->format);
    arrowdevice_view_release(view);
    return EINVAL;
  }

  /* A real engine would run a kernel on the device. This one adds on the CPU: in place if the CPU can read the buffers,
   * else in a copy. */
  struct ArrowDeviceArray taken;
  struct ArrowArray host;
  arrowdevice_view_detach(view, &taken);
  code = arrowdevice_array_to_host(&taken, schema, NULL, &host, error);
  if (code != 0) {
    arrowdevice_array_release(&taken);
    return code;
  }
  const uint8_t* validity = host.buffers[0];
  const int64_t* values = host.buffers[1];
  *sum = 0;
  for (int64_t i = host.offset; i < host.offset + host.length; ++i) {
    if (validity == NULL || (validity[i / 8] >> (i % 8) & 1) != 0) *sum += values[i];
  }
  arrowdevice_host_array_release(&host);
  return 0;
}

/* A producer with static memory, which is not freed. The third of five values is null. */
static const int64_t values[] = {1, 20, -1, 300, 4000};
static const uint8_t validity[] = {0x1b};

static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static int produce(const char* device_name, struct ArrowDeviceArray* out, struct ArrowSchema* schema,
                   struct arrowdevice_error* error) {
  static const void* buffers[] = {validity, values};
  struct ArrowArray array = {
      .length = 5, .null_count = 1, .n_buffers = 2, .buffers = buffers, .release = release_array};
  *schema = (struct ArrowSchema){.format = "l", .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};

  struct arrowdevice_device* device;
  struct ArrowDeviceArray host;
  int code = arrowdevice_device_find_by_name(device_name, &device, error);
  if (code == 0) code = arrowdevice_array_from_host(&array, &host, error);
  if (code == 0) {
    code = arrowdevice_array_to_device(&host, schema, device, NULL, out, error);
    if (code != 0) arrowdevice_array_release(&host);
  }
  return code;
}

int main(int argc, char** argv) {
  const char* device = argc > 1 ? argv[1] : "cpu";
  struct ArrowDeviceArray array;
  struct ArrowSchema schema;
  struct arrowdevice_error error = {0};
  int64_t sum;

  if (produce(device, &array, &schema, &error) != 0 || add_up(&array, &schema, &sum, &error) != 0) {
    fprintf(stderr, "%s: %s\n", device, error.message);
    return 1;
  }
  printf("the sum on %s is %lld\n", device, (long long)sum);
  return sum == 4321 ? 0 : 1;
}
