/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up a slice of a column with nulls by a kernel of OpenCL. The result is an array on the device.
 *
 *   cc sum_opencl.c -o sum_opencl $(pkg-config --cflags --libs arrowdevice) -l:libOpenCL.so.1
 *   sum_opencl              prints "4 on opencl:0"
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "sum.h"

static void check_cl(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", call, code);
  exit(1);
}

/* [kernel] */
static const char* const kSum =
    "kernel void sum(global const uchar* validity, global const int* data, long offset, long length,"
    "                global int* out) {"
    "  *out = 0;"
    "  for (long i = offset; i < offset + length; ++i)"
    "    if (validity == 0 || (validity[i / 8] >> (i % 8) & 1)) *out += data[i];"
    "}";
/* [end] */

static cl_kernel build(struct arrowdevice_device* device) {
  /* [context] */
  struct arrowdevice_native_device native = {.struct_size = sizeof native};
  check(arrowdevice_device_get_native(device, &native, &error), "arrowdevice_device_get_native");
  cl_context context = native.context;
  cl_device_id id = native.device;
  /* [end] */
  cl_int code;
  const char* source = kSum;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check_cl(code, "clCreateProgramWithSource");
  check_cl(clBuildProgram(program, 1, &id, NULL, NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "sum", &code);
  check_cl(code, "clCreateKernel");
  check_cl(clReleaseProgram(program), "clReleaseProgram");
  return kernel;
}

static void set(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  check_cl(clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

/* Adds up an array by work on the queue. Takes the array over. */
static struct ArrowDeviceArray sum(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                   struct ArrowDeviceArray* array) {
  cl_kernel kernel = build(device);
  /* [run] */
  struct arrowdevice_native_queue native = {.struct_size = sizeof native};
  check(arrowdevice_queue_get_native(queue, &native, &error), "arrowdevice_queue_get_native");
  check(arrowdevice_queue_wait_array(queue, array, NULL, &error), "arrowdevice_queue_wait_array");
  void* memory;
  check(arrowdevice_buffer_allocate(device, NULL, queue, sizeof(cl_int), &memory, &error),
        "arrowdevice_buffer_allocate");
  cl_long offset = array->array.offset;
  cl_long length = array->array.length;
  set(kernel, 0, sizeof(cl_mem), &array->array.buffers[0]); /* NULL if there are no nulls */
  set(kernel, 1, sizeof(cl_mem), &array->array.buffers[1]);
  set(kernel, 2, sizeof offset, &offset);
  set(kernel, 3, sizeof length, &length);
  set(kernel, 4, sizeof(cl_mem), &memory);
  const size_t one = 1;
  check_cl(clEnqueueNDRangeKernel(native.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(arrowdevice_array_release_after(array, queue, &error), "arrowdevice_array_release_after");
  struct ArrowDeviceArray total = export_result(device, queue, memory);
  /* [end] */
  check_cl(clReleaseKernel(kernel), "clReleaseKernel");
  return total;
}

int main(void) {
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue;
  check(arrowdevice_device_find_by_name("opencl:0", &device, &error), "arrowdevice_device_find_by_name");
  check(arrowdevice_queue_create(device, &queue, &error), "arrowdevice_queue_create");
  struct ArrowDeviceArray slice = slice_on(device);
  struct ArrowDeviceArray total = sum(device, queue, &slice);
  arrowdevice_queue_destroy(queue);
  print_result(&total, "opencl:0");
  return 0;
}
