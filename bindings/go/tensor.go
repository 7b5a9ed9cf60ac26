// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdint.h>
//
// // Version 1 of DLPack's struct. Later 1.x have the same members.
// struct tensor {
//   uint32_t major, minor;
//   void* manager;
//   void (*deleter)(struct tensor* self);
//   uint64_t flags;
//   void* data;
//   int32_t device_type, device_id, ndim;
//   uint8_t code, bits;
//   uint16_t lanes;
//   const int64_t* shape;
//   const int64_t* strides;
//   uint64_t byte_offset;
// };
//
// static inline void delete_tensor(struct tensor* tensor) {
//   if (tensor->deleter != NULL) tensor->deleter(tensor);
// }
import "C"

import (
	"context"
	"fmt"
	"syscall"
	"unsafe"
)

// Tensor is a tensor of DLPack 1, which tensor libraries exchange without a copy. The program
// releases it with Release, or gives it to another library with Detach. The garbage collector
// releases a Tensor that the program forgets.
type Tensor struct {
	h *handle[tensorResource]
}

type tensorResource struct{ c *C.struct_tensor }

func (t tensorResource) free() { C.delete_tensor(t.c) }

// TensorInfo describes the memory of a Tensor.
type TensorInfo struct {
	Shape      []int64
	Strides    []int64 // elements from one index to the next; nil if the tensor is compact and row-major
	Data       uintptr // address or handle of the memory
	ByteOffset uint64  // bytes before the first element
	Code       uint8   // of the elements: 0 for signed integers, 1 for unsigned integers, 2 for floats
	Bits       uint8   // of an element
	Lanes      uint16  // elements of a vector, 1 for plain numbers
	DeviceType DeviceType
	DeviceID   int32 // 0 for the CPU
}

// TensorFromPointer takes a DLManagedTensorVersioned of another library. It fails with ENOTSUP for
// another major version than 1, and then leaves the tensor to the caller.
func TensorFromPointer(pointer unsafe.Pointer) (*Tensor, error) {
	c := (*C.struct_tensor)(pointer)
	if c == nil {
		return nil, newError("TensorFromPointer", int(syscall.EINVAL), "the tensor is nil")
	}
	if c.major != 1 {
		text := fmt.Sprintf("the tensor has DLPack's major version %d (expected 1)", c.major)
		return nil, newError("TensorFromPointer", int(syscall.ENOTSUP), text)
	}
	return &Tensor{newHandle("tensor", tensorResource{c})}, nil
}

func (t *Tensor) handle() *handle[tensorResource] {
	if t == nil {
		return nil
	}
	return t.h
}

// Detach returns the DLManagedTensorVersioned. The caller, or the library that gets it, calls its
// deleter. Later calls of the Tensor fail.
func (t *Tensor) Detach() (unsafe.Pointer, error) {
	owned, leave, err := t.handle().change("Detach")
	if err != nil {
		return nil, err
	}
	defer leave()
	t.h.disown()
	return unsafe.Pointer(owned.c), nil
}

// Release calls the tensor's deleter. A second call does nothing. Call it when device work on the
// tensor has finished.
func (t *Tensor) Release() { t.handle().release() }

// Info describes the tensor.
func (t *Tensor) Info() (TensorInfo, error) {
	owned, leave, err := t.handle().share("Info")
	if err != nil {
		return TensorInfo{}, err
	}
	defer leave()
	c := owned.c
	return TensorInfo{
		Shape:      numbers(c.shape, c.ndim),
		Strides:    numbers(c.strides, c.ndim),
		Data:       uintptr(c.data),
		ByteOffset: uint64(c.byte_offset),
		Code:       uint8(c.code),
		Bits:       uint8(c.bits),
		Lanes:      uint16(c.lanes),
		DeviceType: DeviceType(c.device_type),
		DeviceID:   int32(c.device_id),
	}, nil
}

func numbers(first *C.int64_t, n C.int32_t) []int64 {
	if first == nil || n < 0 {
		return nil
	}
	copied := make([]int64, n)
	for i, number := range unsafe.Slice(first, n) {
		copied[i] = int64(number)
	}
	return copied
}

// ToTensor returns a read-only tensor of the array's numbers, which shares the memory. Fixed-size
// lists give further dimensions. Work that is queued later on the consumer's queue waits for the
// array. With nil the call waits. It fails with ENOTSUP if there are nulls, or if the type is
// neither a number nor a fixed-size list of numbers.
func (a *Array) ToTensor(ctx context.Context, consumer *Queue) (*Tensor, error) {
	const function = "dlpack_export"
	if consumer == nil {
		if err := a.Wait(ctx); err != nil {
			return nil, err
		}
	}
	exported, err := a.shareWithin(ctx, function) // keeps the array itself free for other goroutines
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, function, func() (*Tensor, error) {
		defer exported.Release()
		return exported.tensor(function, consumer)
	}, func(made *Tensor) { made.Release() })
}

func (a *Array) tensor(function string, consumer *Queue) (*Tensor, error) {
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	queue, leaveQueue, err := optional(consumer, function)
	if err != nil {
		return nil, err
	}
	defer leaveQueue()
	var out *C.struct_DLManagedTensorVersioned
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_dlpack_export(owned.c, owned.schema.c, queue, &out, &e); code != 0 {
		return nil, result(function, code, &e)
	}
	return TensorFromPointer(unsafe.Pointer(out))
}

// FromTensor makes an array of a tensor, and shares the memory. If it succeeds, the tensor belongs
// to the array. Nobody may write to the memory while the array lives. The array is ready after the
// work that the producer's queue has now. With nil the data is ready.
func FromTensor(tensor *Tensor, producer *Queue) (*Array, error) {
	const function = "dlpack_import"
	owned, leave, err := tensor.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	queue, leaveQueue, err := optional(producer, function)
	if err != nil {
		return nil, err
	}
	defer leaveQueue()
	out := newArray(newSchema())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_dlpack_import((*C.struct_DLManagedTensorVersioned)(unsafe.Pointer(owned.c)), queue, out.c,
		out.schema.c, &e)
	if code == 0 {
		tensor.h.disown()
	}
	return out.filled(function, code, &e)
}

// optional returns the queue for one call, or nil if there is none.
func optional(queue *Queue, function string) (*C.struct_arrowdevice_queue, func(), error) {
	if queue == nil {
		return nil, func() {}, nil
	}
	owned, leave, err := queue.handle().change(function)
	return owned.c, leave, err
}
