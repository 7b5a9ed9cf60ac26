/* SPDX-License-Identifier: Apache-2.0 */
/* A library that takes device arrays of every producer, and works on a device that it chooses. */
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Takes the array in every case, puts it on the device, and reads a column there. Returns 0, or prints and returns 1.
 */
ARROWDEVICE_API int consumer_take(struct ArrowDeviceArray* array, const struct ArrowSchema* schema,
                                  const char* device_name) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device* device;
  struct ArrowDeviceArray there, names;
  struct ArrowSchema names_schema;
  struct ArrowArray host;
  const int64_t wanted[] = {1};

  int code = arrowdevice_device_find_by_name(device_name, &device, &error);
  /* Checks foreign data first. */
  if (code == 0) code = arrowdevice_array_validate(array, schema, NULL, ARROWDEVICE_VALIDATE_FULL, &error);
  if (code == 0 && (schema->n_children < 2 || strcmp(schema->children[1]->format, "u") != 0)) {
    code = EINVAL;
    snprintf(error.message, sizeof error.message, "the second column is no utf8");
  }
  if (code == 0) code = arrowdevice_array_to_device(array, schema, device, NULL, &there, &error);
  if (code != 0) {
    fprintf(stderr, "%s: %s\n", device_name, error.message);
    arrowdevice_array_release(array);
    return 1;
  }

  code = arrowdevice_array_select(&there, schema, wanted, 1, &names, &names_schema, &error);
  arrowdevice_array_release(&there); /* the column stays valid */
  if (code == 0) {
    code = arrowdevice_array_to_host(&names, &names_schema, NULL, &host, &error);
    if (code != 0) {
      arrowdevice_array_release(&names);
      arrowdevice_schema_release(&names_schema);
    }
  }
  if (code != 0) {
    fprintf(stderr, "%s: %s\n", device_name, error.message);
    return 1;
  }

  const struct ArrowArray* column = host.children[0];
  const uint8_t* validity = column->buffers[0];
  const int32_t* offsets = column->buffers[1];
  const char* text = column->buffers[2];
  printf("names on %s:", device_name);
  for (int64_t i = column->offset; i < column->offset + column->length; ++i) {
    const int valid = validity == NULL || (validity[i / 8] >> (i % 8) & 1) != 0;
    printf(" %.*s", valid ? (int)(offsets[i + 1] - offsets[i]) : 4, valid ? text + offsets[i] : "null");
  }
  printf("\n");
  arrowdevice_host_array_release(&host);
  arrowdevice_schema_release(&names_schema);
  return 0;
}
