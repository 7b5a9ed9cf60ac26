// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdint.h>
//
// // Some vendors' handles are small numbers, which must not be in a Go variable of a pointer type.
// static inline int wrap_queue(struct arrowdevice_device* device, uintptr_t native, uint32_t family,
//                              struct arrowdevice_queue** out, struct arrowdevice_error* error) {
//   struct arrowdevice_native_queue c = {sizeof c, family, (void*)native};
//   return arrowdevice_queue_wrap(device, &c, out, error);
// }
//
// static inline int native_queue(struct arrowdevice_queue* queue, uintptr_t* native, uint32_t* family,
//                                struct arrowdevice_error* error) {
//   struct arrowdevice_native_queue c = {sizeof c, 0, 0};
//   int code = arrowdevice_queue_get_native(queue, &c, error);
//   *native = (uintptr_t)c.queue;
//   *family = c.family;
//   return code;
// }
import "C"

import (
	"context"
	"slices"
	"sync"
)

// Queue is an in-order queue of work on a device. Any goroutine may call its methods. They call the
// library one at a time.
type Queue struct {
	h *handle[queueResource]

	mutex sync.Mutex
	held  []*Array // used by work of the program, and not released behind that work, because a call failed
}

type queueResource struct{ c *C.struct_arrowdevice_queue }

func (q queueResource) free() { C.arrowdevice_queue_destroy(q.c) }

// NativeQueue is a vendor's queue: a `CUstream`, `hipStream_t`, `cl_command_queue`, Vulkan queue,
// or immediate Level Zero command list.
type NativeQueue struct {
	Queue  uintptr // the handle or a special CUDA stream as a number; 0 is the vendor's default stream
	Family uint32  // Vulkan: the queue's family index
}

// NewQueue makes a queue on the device.
func (d Device) NewQueue() (*Queue, error) {
	var made *C.struct_arrowdevice_queue
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_queue_create(d.c, &made, &e); code != 0 {
		return nil, result("queue_create", code, &e)
	}
	return &Queue{h: newHandle("queue", queueResource{made})}, nil
}

// WrapQueue wraps a queue that the program owns. The program must not destroy its queue before
// Release has returned. Release waits for calls that still use the queue. The garbage collector
// releases a forgotten Queue after the streams that use it.
func (d Device) WrapQueue(native NativeQueue) (*Queue, error) {
	var wrapped *C.struct_arrowdevice_queue
	var e C.struct_arrowdevice_error
	if code := C.wrap_queue(d.c, C.uintptr_t(native.Queue), C.uint32_t(native.Family), &wrapped, &e); code != 0 {
		return nil, result("queue_wrap", code, &e)
	}
	return &Queue{h: newBorrowing("queue", queueResource{wrapped})}, nil
}

// Native returns the vendor's handle of the queue, valid until Release. It fails with EBUSY if
// another goroutine uses the queue.
func (q *Queue) Native() (NativeQueue, error) {
	queue, leave, err := q.handle().take("queue_get_native")
	if err != nil {
		return NativeQueue{}, err
	}
	defer leave()
	var native C.uintptr_t
	var family C.uint32_t
	var e C.struct_arrowdevice_error
	if code := C.native_queue(queue.c, &native, &family, &e); code != 0 {
		return NativeQueue{}, result("queue_get_native", code, &e)
	}
	return NativeQueue{uintptr(native), uint32(family)}, nil
}

// Finish waits until all work that was queued so far has finished.
func (q *Queue) Finish(ctx context.Context) error {
	const function = "queue_finish"
	held := q.heldSoFar()
	err := waitInSlices(ctx, function, func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		queue, leave, err := q.handle().changeWithin(ctx, function)
		if err != nil {
			return 0, err
		}
		defer leave()
		return C.arrowdevice_queue_finish(queue.c, timeout, e), nil
	})
	if err == nil {
		q.drop(held)
	}
	return err
}

func (q *Queue) heldSoFar() []*Array {
	if q == nil {
		return nil
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return slices.Clone(q.held)
}

func (q *Queue) drop(held []*Array) {
	if q == nil {
		return
	}
	q.mutex.Lock()
	q.held = slices.DeleteFunc(q.held, func(array *Array) bool { return slices.Contains(held, array) })
	q.mutex.Unlock()
	for _, array := range held {
		array.Release()
	}
}

// WaitArray makes the queue wait for an array's event. Work that is queued later runs after the
// event. If the queue's device cannot wait for such an event, the CPU waits. If the context ends
// during that wait, the call returns, but it uses the queue until the wait ends.
func (q *Queue) WaitArray(ctx context.Context, array *Array) error {
	const function = "queue_wait_array"
	if err := contextError(ctx, function); err != nil {
		return err
	}
	waited, err := array.shareWithin(ctx, function) // keeps the array itself free for other goroutines
	if err != nil {
		return err
	}
	defer waited.Release()
	_, err = interruptible(ctx, function, func() (struct{}, error) {
		a, leaveArray, err := waited.handle().share(function)
		if err != nil {
			return struct{}{}, err
		}
		defer leaveArray()
		queue, leave, err := q.handle().changeWithin(ctx, function)
		if err != nil {
			return struct{}{}, err
		}
		defer leave()
		var e C.struct_arrowdevice_error
		return struct{}{}, result(function, C.arrowdevice_queue_wait_array(queue.c, a.c, nil, &e), &e)
	}, func(struct{}) {})
	return err
}

// Release releases the queue. It returns at once, and work in flight continues. For a wrapped queue
// it returns when the library no longer uses the program's queue. It then also waits for calls on
// other goroutines, including calls whose context has ended.
func (q *Queue) Release() { q.handle().release() }

func (q *Queue) handle() *handle[queueResource] {
	if q == nil {
		return nil
	}
	return q.h
}
