// SPDX-License-Identifier: Apache-2.0

// Adds up a slice of a column with nulls by a kernel of OpenCL. The result is an array on the device.
//
//	go run .   # prints "4 on opencl:0"
package main

// #cgo CFLAGS: -DCL_TARGET_OPENCL_VERSION=120
// #cgo LDFLAGS: -l:libOpenCL.so.1
// #include <CL/cl.h>
// #include <stdint.h>
//
// static const char* const kSum =
//     "kernel void sum(global const uchar* validity, global const int* data, long offset, long length,"
//     "                global int* out) {"
//     "  *out = 0;"
//     "  for (long i = offset; i < offset + length; ++i)"
//     "    if (validity == 0 || (validity[i / 8] >> (i % 8) & 1)) *out += data[i];"
//     "}";
//
// static cl_int build(uintptr_t context, uintptr_t device, cl_kernel* kernel) {
//   const cl_device_id id = (cl_device_id)device;
//   cl_int code;
//   cl_program program = clCreateProgramWithSource((cl_context)context, 1, (const char**)&kSum, NULL, &code);
//   if (code != CL_SUCCESS) return code;
//   code = clBuildProgram(program, 1, &id, NULL, NULL, NULL);
//   if (code == CL_SUCCESS) *kernel = clCreateKernel(program, "sum", &code);
//   clReleaseProgram(program);
//   return code;
// }
//
// // The buffers are handles of OpenCL: cl_mem.
// static cl_int submit(cl_kernel kernel, uintptr_t queue, uintptr_t validity, uintptr_t data, cl_long offset,
//                      cl_long length, uintptr_t out) {
//   const void* values[] = {&validity, &data, &offset, &length, &out};
//   const size_t sizes[] = {sizeof(cl_mem), sizeof(cl_mem), sizeof offset, sizeof length, sizeof(cl_mem)};
//   for (cl_uint i = 0; i < 5; ++i) {
//     cl_int code = clSetKernelArg(kernel, i, sizes[i], values[i]);
//     if (code != CL_SUCCESS) return code;
//   }
//   const size_t one = 1;
//   return clEnqueueNDRangeKernel((cl_command_queue)queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
// }
import "C"

import (
	"context"
	"errors"
	"fmt"
	"log"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// slice returns the rows 1, null, 3 of a column on the device.
func slice(ctx context.Context, device arrowdevice.Device) (*arrowdevice.Array, error) {
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues([]int32{10, 1, 0, 3}, []bool{true, true, false, true})
	column, err := arrowdevice.FromArrow(builder.NewArray())
	if err != nil {
		return nil, err
	}
	defer column.Release()
	onDevice, err := column.ToDevice(ctx, device, nil)
	if err != nil {
		return nil, err
	}
	defer onDevice.Release()
	return onDevice.Slice(1, 3)
}

// [sum]

// sum adds up the rows of a column that are not null.
func sum(ctx context.Context, device arrowdevice.Device, column *arrowdevice.Array) (*arrowdevice.Array, error) {
	queue, err := device.NewQueue()
	if err != nil {
		return nil, err
	}
	defer queue.Release()
	total, err := device.Allocate(4, queue, nil)
	if err != nil {
		return nil, err
	}
	// The kernel runs after the column is ready, and its memory is not reused before the kernel has finished.
	err = queue.Use(ctx, func() error { return submit(device, queue, column, total) }, column)
	if err != nil {
		return nil, errors.Join(err, total.ReleaseAfter(queue))
	}
	return device.ArrayOf(arrow.PrimitiveTypes.Int32, 1, 0, queue, nil, total)
}

// submit builds the kernel in the library's context and submits it.
func submit(device arrowdevice.Device, queue *arrowdevice.Queue, column *arrowdevice.Array, total *arrowdevice.Memory) error {
	native, err := device.Native()
	if err != nil {
		return err
	}
	nativeQueue, err := queue.Native()
	if err != nil {
		return err
	}
	buffers, err := column.Buffers() // validity, which is 0 if there are no nulls, and data
	if err != nil {
		return err
	}
	var kernel C.cl_kernel
	if code := C.build(C.uintptr_t(native.Context), C.uintptr_t(native.Device), &kernel); code != C.CL_SUCCESS {
		return fmt.Errorf("OpenCL error %d", code)
	}
	defer C.clReleaseKernel(kernel)
	code := C.submit(kernel, C.uintptr_t(nativeQueue.Queue), C.uintptr_t(buffers[0].Address),
		C.uintptr_t(buffers[1].Address), C.cl_long(column.Offset()), C.cl_long(column.Len()), C.uintptr_t(total.Address()))
	if code != C.CL_SUCCESS {
		return fmt.Errorf("OpenCL error %d", code)
	}
	return nil
}

// [end]

func main() {
	ctx := context.Background()
	device, err := arrowdevice.FindByName("opencl:0")
	if err != nil {
		log.Fatal(err)
	}
	column, err := slice(ctx, device)
	if err != nil {
		log.Fatal(err)
	}
	defer column.Release()
	total, err := sum(ctx, device, column) // an array on the device, which may not be ready yet
	if err != nil {
		log.Fatal(err)
	}
	onCPU, err := total.ToArrow(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer onCPU.Release()
	if value := onCPU.(*array.Int32).Value(0); value != 4 {
		log.Fatalf("the sum is %d (expected 4)", value)
	}
	fmt.Println("4 on opencl:0")
}
