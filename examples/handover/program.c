/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a producer and a consumer, and passes an array from one to the other: program PRODUCER CONSUMER [DEVICE] */
#include <arrowdevice/abi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load(const char* path, const char* name, void* out) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == NULL ? NULL : dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  memcpy(out, &symbol, sizeof symbol);
}

int main(int argc, char** argv) {
  int (*make)(struct ArrowDeviceArray * out, struct ArrowSchema * out_schema);
  int (*take)(struct ArrowDeviceArray * array, const struct ArrowSchema* schema, const char* device_name);
  struct ArrowDeviceArray array;
  struct ArrowSchema schema;
  if (argc < 3) {
    fprintf(stderr, "usage: program PRODUCER CONSUMER [DEVICE]\n");
    return 2;
  }

  load(argv[1], "producer_make", &make);
  if (dlopen("libarrowdevice.so.0", RTLD_NOW | RTLD_NOLOAD) != NULL) {
    fprintf(stderr, "the producer has loaded libarrowdevice\n");
    return 1;
  }
  if (make(&array, &schema) != 0) return 1;
  load(argv[2], "consumer_take", &take);
  const int code = take(&array, &schema, argc > 3 ? argv[3] : "cpu");
  schema.release(&schema);
  return code;
}
