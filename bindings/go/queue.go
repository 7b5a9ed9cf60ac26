// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
	"unsafe"
)

// Queue is an in-order lane of work on a device. Its methods may be called from any goroutine; one at a time gets to
// the library.
type Queue struct {
	h *handle[queueResource]
}

type queueResource struct{ c *C.struct_arrowdevice_queue }

func (q queueResource) free() { C.arrowdevice_queue_destroy(q.c) }

// NativeQueue is a vendor's queue: `CUstream`, `hipStream_t`, `cl_command_queue`, a Vulkan queue, an immediate Level
// Zero list.
type NativeQueue struct {
	Queue  unsafe.Pointer // nil: the vendor's default stream
	Family uint32         // Vulkan: the queue's family
}

// NewQueue makes a queue on the device.
func (d Device) NewQueue() (*Queue, error) {
	var made *C.struct_arrowdevice_queue
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_queue_create(d.c, &made, &e); code != 0 {
		return nil, result("queue_create", code, &e)
	}
	return &Queue{newHandle("queue", queueResource{made})}, nil
}

// WrapQueue uses a program's own queue. It is borrowed: the program keeps it alive until Release, and releases it
// itself; one that is forgotten is let go of whenever the garbage collector finds it.
func (d Device) WrapQueue(native NativeQueue) (*Queue, error) {
	c := C.struct_arrowdevice_native_queue{
		struct_size: C.sizeof_struct_arrowdevice_native_queue,
		family:      C.uint32_t(native.Family),
		queue:       native.Queue,
	}
	var wrapped *C.struct_arrowdevice_queue
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_queue_wrap(d.c, &c, &wrapped, &e); code != 0 {
		return nil, result("queue_wrap", code, &e)
	}
	return &Queue{newHandle("queue", queueResource{wrapped})}, nil
}

// Native is the vendor's handle behind the queue, valid until Release.
func (q *Queue) Native() (NativeQueue, error) {
	queue, leave, err := q.handle().change("queue_native")
	if err != nil {
		return NativeQueue{}, err
	}
	defer leave()
	var native C.struct_arrowdevice_native_queue
	native.struct_size = C.sizeof_struct_arrowdevice_native_queue
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_queue_native(queue.c, &native, &e)
	return NativeQueue{native.queue, uint32(native.family)}, result("queue_native", code, &e)
}

// Finish waits until all work that was queued so far is done.
func (q *Queue) Finish(ctx context.Context) error {
	const function = "queue_finish"
	return waitInSlices(ctx, function, func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		queue, leave, err := q.handle().change(function)
		if err != nil {
			return 0, err
		}
		defer leave()
		return C.arrowdevice_queue_finish(queue.c, timeout, e), nil
	})
}

// WaitFor makes the queue wait for an array's event: work queued later runs after it. Where the queue's device cannot
// wait for such an event, the CPU waits.
func (q *Queue) WaitFor(ctx context.Context, array *Array) error {
	const function = "array_wait_on"
	_, err := interruptible(ctx, function, func() (struct{}, error) {
		a, leaveArray, err := array.handle().share(function)
		if err != nil {
			return struct{}{}, err
		}
		defer leaveArray()
		queue, leave, err := q.handle().change(function)
		if err != nil {
			return struct{}{}, err
		}
		defer leave()
		var e C.struct_arrowdevice_error
		return struct{}{}, result(function, C.arrowdevice_array_wait_on(a.c, nil, queue.c, &e), &e)
	}, func(struct{}) {})
	return err
}

// Release lets the queue go. It returns at once; work in flight goes on.
func (q *Queue) Release() { q.handle().release() }

func (q *Queue) handle() *handle[queueResource] {
	if q == nil {
		return nil
	}
	return q.h
}
