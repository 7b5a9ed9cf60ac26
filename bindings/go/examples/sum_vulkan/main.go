// SPDX-License-Identifier: Apache-2.0

// Adds up a slice of a column with nulls by a shader of Vulkan. The result is an array on the device.
//
//	glslangValidator -V -o sum.spv sum_vulkan.comp   # the shader is in the folder examples/ of libarrowdevice
//	go run . sum.spv                                 # prints "4 on vulkan:0"
//
// The calls of Vulkan are C: sum_vulkan.h of the folder examples/, which the program in C uses too.
package main

// #cgo CFLAGS: -I${SRCDIR}/../../../../examples
// #cgo pkg-config: arrowdevice vulkan
// #include "sum_vulkan.h"
//
// // Records the shader over buffers of the library, given as numbers.
// static void record_over(const struct shader* shader, uintptr_t validity, uintptr_t data, uintptr_t out,
//                         struct rows rows) {
//   // A binding needs some buffer, also if there is no validity bitmap.
//   const VkBuffer buffers[] = {(VkBuffer)(validity != 0 ? validity : data), (VkBuffer)data, (VkBuffer)out};
//   record(shader, buffers, rows);
// }
//
// static VkResult submit(const struct shader* shader, uintptr_t queue) {
//   const VkSubmitInfo submit = {
//       .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &shader->commands};
//   return vkQueueSubmit((VkQueue)queue, 1, &submit, VK_NULL_HANDLE);
// }
//
// static void make(struct shader* shader, uintptr_t device, uint32_t family, const void* words, size_t bytes) {
//   make_shader(shader, (VkDevice)device, family, words, bytes);
// }
import "C"

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"unsafe"

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

// makeShader makes the shader on the library's VkDevice.
func makeShader(device arrowdevice.Device, queue *arrowdevice.Queue, words []byte) (*C.struct_shader, error) {
	native, err := device.Native()
	if err != nil {
		return nil, err
	}
	nativeQueue, err := queue.Native()
	if err != nil {
		return nil, err
	}
	shader := new(C.struct_shader)
	C.make(shader, C.uintptr_t(native.Device), C.uint32_t(nativeQueue.Family), unsafe.Pointer(&words[0]), C.size_t(len(words)))
	return shader, nil
}

// sum adds up the rows of a column that are not null.
func sum(ctx context.Context, device arrowdevice.Device, queue *arrowdevice.Queue, shader *C.struct_shader,
	column *arrowdevice.Array) (*arrowdevice.Array, error) {
	total, err := device.Allocate(4, queue, nil)
	if err != nil {
		return nil, err
	}
	// The shader runs after the column is ready, and its memory is not reused before the shader has finished.
	err = queue.Use(ctx, func() error { return submit(device, queue, shader, column, total) }, column)
	if err != nil {
		return nil, errors.Join(err, total.ReleaseAfter(queue))
	}
	return device.ArrayOf(arrow.PrimitiveTypes.Int32, 1, 0, queue, nil, total)
}

// submit records the shader, and submits it under the queue's lock because the library submits to the queue too.
func submit(device arrowdevice.Device, queue *arrowdevice.Queue, shader *C.struct_shader, column *arrowdevice.Array,
	total *arrowdevice.Memory) error {
	buffers, err := column.Buffers() // validity, which is 0 if there are no nulls, and data
	if err != nil {
		return err
	}
	native, err := queue.Native()
	if err != nil {
		return err
	}
	rows := C.struct_rows{offset: C.int32_t(column.Offset()), length: C.int32_t(column.Len())}
	if buffers[0].Address != 0 {
		rows.has_validity = 1
	}
	C.record_over(shader, C.uintptr_t(buffers[0].Address), C.uintptr_t(buffers[1].Address), C.uintptr_t(total.Address()), rows)
	return device.LockQueue(native, func() error {
		if code := C.submit(shader, C.uintptr_t(native.Queue)); code != C.VK_SUCCESS {
			return fmt.Errorf("vkQueueSubmit: Vulkan error %d", code)
		}
		return nil
	})
}

// run adds up a column and returns the sum.
func run(ctx context.Context, words []byte) (int32, error) {
	device, err := arrowdevice.FindByName("vulkan:0")
	if err != nil {
		return 0, err
	}
	column, err := slice(ctx, device)
	if err != nil {
		return 0, err
	}
	defer column.Release()
	queue, err := device.NewQueue()
	if err != nil {
		return 0, err
	}
	defer queue.Release()
	shader, err := makeShader(device, queue, words)
	if err != nil {
		return 0, err
	}
	total, err := sum(ctx, device, queue, shader, column) // an array on the device, which may not be ready yet
	if err != nil {
		return 0, err
	}
	onCPU, err := total.ToArrow(ctx)
	if err != nil {
		return 0, err
	}
	defer onCPU.Release()
	C.destroy_shader(shader) // the result has arrived, so the shader has finished
	return onCPU.(*array.Int32).Value(0), nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: sum_vulkan SPIR-V")
	}
	words, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	value, err := run(context.Background(), words)
	if err != nil {
		log.Fatal(err)
	}
	if value != 4 {
		log.Fatalf("the sum is %d (expected 4)", value)
	}
	fmt.Println("4 on vulkan:0")
}
