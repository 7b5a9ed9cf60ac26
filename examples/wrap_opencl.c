/* SPDX-License-Identifier: Apache-2.0 */
/* Puts an array into the program's own OpenCL context, and uses its cl_mem on the program's own queue. */
#include <arrowdevice/arrowdevice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define ROWS 1000

static int64_t values[ROWS];

static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static void check(int code, const char* what, const struct arrowdevice_error* error) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

static void check_cl(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(1);
}

int main(void) {
  /* Such a program already has these objects. */
  cl_platform_id platform;
  cl_device_id cl_device;
  cl_int code;
  check_cl(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl_device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
  check_cl(code, "clCreateContext");
  cl_command_queue cl_queue = clCreateCommandQueue(context, cl_device, 0, &code);
  check_cl(code, "clCreateCommandQueue");

  /* Wraps the context as a device and its queue as a queue. Both still belong to the program. */
  struct arrowdevice_error error;
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue;
  const struct arrowdevice_native_device native_device = {
      .struct_size = sizeof native_device, .context = context, .device = cl_device};
  const struct arrowdevice_native_queue native_queue = {.struct_size = sizeof native_queue, .queue = cl_queue};
  check(arrowdevice_device_wrap(ARROW_DEVICE_OPENCL, 0, &native_device, &device, &error), "arrowdevice_device_wrap",
        &error);
  check(arrowdevice_queue_wrap(device, &native_queue, &queue, &error), "arrowdevice_queue_wrap", &error);

  /* Puts an array from the CPU on the device, with the program's own queue. */
  static const void* buffers[] = {NULL, values};
  const struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct ArrowArray array = {.length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_array};
  struct ArrowDeviceArray host, there;
  const struct arrowdevice_copy_options options = {
      .struct_size = sizeof options, .flags = ARROWDEVICE_COPY_ASYNC, .queue = queue};
  for (int64_t i = 0; i < ROWS; ++i) values[i] = i;
  check(arrowdevice_array_from_host(&array, &host, &error), "arrowdevice_array_from_host", &error);
  check(arrowdevice_array_to_device(&host, &schema, device, &options, &there, &error), "arrowdevice_array_to_device",
        &error);

  /* The queue runs in order: later work runs after the copy, which may still be pending. */
  cl_mem column = (cl_mem)there.array.buffers[1];
  cl_context its_context;
  check_cl(clGetMemObjectInfo(column, CL_MEM_CONTEXT, sizeof(cl_context), &its_context, NULL), "clGetMemObjectInfo");
  int64_t result[ROWS];
  memset(result, 0xff, sizeof result);
  check_cl(clEnqueueReadBuffer(cl_queue, column, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
           "clEnqueueReadBuffer");
  const int whole = its_context == context && memcmp(result, values, sizeof result) == 0;
  printf("the array in the program's own context is %s\n", whole ? "whole" : "NOT whole");

  /* Afterwards the library holds nothing in the context, and the program may destroy it. */
  arrowdevice_array_release(&there);
  arrowdevice_queue_destroy(queue);
  check(arrowdevice_device_unwrap(device, ARROWDEVICE_NO_TIMEOUT, &error), "arrowdevice_device_unwrap", &error);
  check_cl(clReleaseCommandQueue(cl_queue), "clReleaseCommandQueue");
  check_cl(clReleaseContext(context), "clReleaseContext");
  return whole ? 0 : 1;
}
