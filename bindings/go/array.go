// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"context"
	"syscall"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Array owns an array or record batch on a device, and its type. The program releases it with
// Release. The garbage collector releases an Array that the program forgets. Any goroutine may call
// its methods. After Release they fail with EINVAL.
type Array struct {
	h *handle[arrayResource]
}

// Both structs are in C memory, because an array may point to its own struct and the producer's
// release gets that pointer.
type arrayResource struct {
	c      *C.struct_ArrowDeviceArray
	schema *schema
}

func (a arrayResource) free() {
	C.arrowdevice_array_release(a.c)
	C.free(unsafe.Pointer(a.c))
	a.schema.release()
}

// newArray allocates an empty array for the library to fill. It takes one reference to the schema.
func newArray(schema *schema) arrayResource {
	c := (*C.struct_ArrowDeviceArray)(C.malloc(C.sizeof_struct_ArrowDeviceArray))
	*c = C.struct_ArrowDeviceArray{}
	return arrayResource{c, schema}
}

// filled returns the array that the library has filled, or the error.
func (a arrayResource) filled(function string, code C.int, e *C.struct_arrowdevice_error) (*Array, error) {
	if code != 0 {
		a.free()
		return nil, result(function, code, e)
	}
	return &Array{newHandle("array", a)}, nil
}

func (a *Array) handle() *handle[arrayResource] {
	if a == nil {
		return nil
	}
	return a.h
}

// Release gives the array back to its producer. It returns at once, and a second call does nothing.
// If another goroutine still uses the array, the array is released after that.
func (a *Array) Release() { a.handle().release() }

// ReleaseAfter releases the array when the queue's work so far has finished. A program uses it for
// its own work on the device. It returns at once. It fails with EBUSY if another goroutine uses the
// queue. If it fails, the array is unchanged.
func (a *Array) ReleaseAfter(queue *Queue) error {
	const function = "array_release_after"
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return err
	}
	defer leave()
	given, leaveQueue, err := queue.handle().take(function)
	if err != nil {
		return err
	}
	defer leaveQueue()
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_release_after(owned.c, given.c, &e); code != 0 {
		return result(function, code, &e)
	}
	a.Release()
	return nil
}

// Len returns the number of rows. It returns 0 after Release.
func (a *Array) Len() int64 {
	owned, leave, err := a.handle().share("array")
	if err != nil {
		return 0
	}
	defer leave()
	return int64(owned.c.array.length)
}

// Device returns the device that the array is on.
func (a *Array) Device() (Device, error) {
	owned, leave, err := a.handle().share("array_get_device")
	if err != nil {
		return Device{}, err
	}
	defer leave()
	var device Device
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_get_device(owned.c, &device.c, &e)
	return device, result("array_get_device", code, &e)
}

// Field returns the array's type, with the name and the metadata that its producer set.
func (a *Array) Field() (arrow.Field, error) {
	owned, leave, err := a.handle().share("schema_copy")
	if err != nil {
		return arrow.Field{}, err
	}
	defer leave()
	return owned.schema.asField()
}

// Schema returns the type of a record batch. It fails with EINVAL if the array is not a record
// batch.
func (a *Array) Schema() (*arrow.Schema, error) {
	owned, leave, err := a.handle().share("schema_copy")
	if err != nil {
		return nil, err
	}
	defer leave()
	return owned.schema.asSchema()
}

// IsReady returns true if the array's event has fired.
func (a *Array) IsReady() (bool, error) {
	owned, leave, err := a.handle().share("array_is_ready")
	if err != nil {
		return false, err
	}
	defer leave()
	var ready C.int
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_is_ready(owned.c, nil, &ready, &e)
	return ready != 0, result("array_is_ready", code, &e)
}

// Wait waits for the array's event.
func (a *Array) Wait(ctx context.Context) error {
	const function = "array_wait"
	return waitInSlices(ctx, function, func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		owned, leave, err := a.handle().shareWithin(ctx, function)
		if err != nil {
			return 0, err
		}
		defer leave()
		return C.arrowdevice_array_wait(owned.c, nil, timeout, e), nil
	})
}

// Share returns a second owner of the same memory.
func (a *Array) Share() (*Array, error) { return a.shareWithin(context.Background(), "array_share") }

// shareWithin is Share that stops when the context ends. Other functions use it as a step.
func (a *Array) shareWithin(ctx context.Context, function string) (*Array, error) {
	owned, leave, err := a.handle().changeWithin(ctx, function)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := newArray(owned.schema.retain())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_share(owned.c, out.c, &e)
	return out.filled(function, code, &e)
}

// Slice returns an owner of a range of rows of the same memory. It copies nothing.
func (a *Array) Slice(offset, length int64) (*Array, error) {
	owned, leave, err := a.handle().change("array_slice")
	if err != nil {
		return nil, err
	}
	defer leave()
	out := newArray(owned.schema.retain())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_slice(owned.c, owned.schema.c, C.int64_t(offset), C.int64_t(length), out.c, &e)
	return out.filled("array_slice", code, &e)
}

// Select returns an owner of some columns of a record batch or struct array, in the given order. It
// copies nothing.
func (a *Array) Select(columns ...int) (*Array, error) {
	owned, leave, err := a.handle().change("array_select")
	if err != nil {
		return nil, err
	}
	defer leave()
	// The slice has one element more than needed, because a selection of no columns needs a valid
	// address.
	indices := make([]C.int64_t, len(columns)+1)
	for i, column := range columns {
		indices[i] = C.int64_t(column)
	}
	out := newArray(newSchema())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_select(owned.c, owned.schema.c, &indices[0], C.int64_t(len(columns)), out.c, out.schema.c, &e)
	return out.filled("array_select", code, &e)
}

// Level selects how much Validate checks.
type Level int

const (
	// Structure checks the structs and reads no data.
	Structure Level = C.ARROWDEVICE_VALIDATE_STRUCTURE
	// Full also reads the data, on any device.
	Full Level = C.ARROWDEVICE_VALIDATE_FULL
	// Strict also checks rules that existing producers often break.
	Strict Level = C.ARROWDEVICE_VALIDATE_STRICT
)

// Validate checks the array against its type. It fails with EINVAL, and the message names the child
// and the slot. Levels above Structure wait for the array and read its data back.
func (a *Array) Validate(ctx context.Context, level Level) error {
	const function = "array_validate"
	if err := contextError(ctx, function); err != nil {
		return err
	}
	if err := a.validateStructure(ctx); err != nil || level == Structure {
		return err
	}
	if err := a.Wait(ctx); err != nil {
		return err
	}
	validated, err := a.shareWithin(ctx, function) // keeps the array itself free for other goroutines
	if err != nil {
		return err
	}
	defer validated.Release()
	_, err = interruptible(ctx, function, func() (struct{}, error) {
		owned, leave, err := validated.handle().share(function)
		if err != nil {
			return struct{}{}, err
		}
		defer leave()
		return struct{}{}, owned.validate(level)
	}, func(struct{}) {})
	return err
}

func (a *Array) validateStructure(ctx context.Context) error {
	owned, leave, err := a.handle().shareWithin(ctx, "array_validate")
	if err != nil {
		return err
	}
	defer leave()
	return owned.validate(Structure)
}

func (a arrayResource) validate(level Level) error {
	var e C.struct_arrowdevice_error
	return result("array_validate", C.arrowdevice_array_validate(a.c, a.schema.c, nil, C.int(level), &e), &e)
}

// Import takes ownership of an array from another library in C. The arguments point to a `struct
// ArrowDeviceArray` and a `struct ArrowSchema`. Import marks both as released if it succeeds, and
// leaves both unchanged if it fails. It checks the array's structure against its type.
func Import(array, schema unsafe.Pointer) (*Array, error) {
	from, fromSchema := (*C.struct_ArrowDeviceArray)(array), (*C.struct_ArrowSchema)(schema)
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_validate(from, fromSchema, nil, C.ARROWDEVICE_VALIDATE_STRUCTURE, &e); code != 0 {
		return nil, result("array_validate", code, &e)
	}
	taken := newSchema()
	*taken.c = *fromSchema
	fromSchema.release = nil
	out := newArray(taken)
	C.arrowdevice_array_move(from, out.c)
	return out.filled("array_move", 0, nil)
}

// Export moves the array to another library in C. It fills a `struct ArrowDeviceArray` and a
// `struct ArrowSchema`, and the receiver releases both. If it fails, the array is unchanged.
func (a *Array) Export(array, schema unsafe.Pointer) error {
	const function = "array_move"
	if array == nil || schema == nil {
		return newError(function, int(syscall.EINVAL), "a struct to fill is NULL")
	}
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return err
	}
	defer leave()
	if err := owned.schema.copyTo((*C.struct_ArrowSchema)(schema)); err != nil {
		return err
	}
	C.arrowdevice_array_move(owned.c, (*C.struct_ArrowDeviceArray)(array))
	a.Release()
	return nil
}
