// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
//
// struct go_parts {
//   struct arrowdevice_device* device;
//   int64_t n;
//   const void** buffers;  // freed with the array
// };
//
// static void go_release_parts(struct ArrowArray* array) {
//   struct go_parts* parts = array->private_data;
//   for (int64_t i = 0; i < parts->n; ++i) arrowdevice_buffer_free(parts->device, NULL, (void*)parts->buffers[i]);
//   free(parts->buffers);
//   free(parts);
//   array->release = NULL;
// }
//
// // Makes an array with room for n buffers, without memory to free yet.
// static inline int go_parts(struct arrowdevice_device* device, int64_t n, struct ArrowArray* out) {
//   struct go_parts* parts = calloc(1, sizeof *parts);
//   const void** buffers = calloc(n > 0 ? (size_t)n : 1, sizeof *buffers);
//   if (parts == NULL || buffers == NULL) {
//     free(parts);
//     free(buffers);
//     return -1;
//   }
//   parts->device = device;
//   parts->buffers = buffers;
//   *out = (struct ArrowArray){.n_buffers = n, .buffers = buffers, .release = go_release_parts, .private_data = parts};
//   return 0;
// }
//
// // Makes the array the owner of its n buffers.
// static inline void go_own_parts(void* parts, int64_t n) { ((struct go_parts*)parts)->n = n; }
//
// static inline void go_set_buffer(struct ArrowArray* array, int64_t i, uintptr_t buffer) {
//   array->buffers[i] = (const void*)buffer;
// }
//
// static inline int go_allocate(struct arrowdevice_device* device, struct arrowdevice_pool* pool,
//                               struct arrowdevice_queue* queue, int64_t size, uintptr_t* out,
//                               struct arrowdevice_error* error) {
//   void* buffer = NULL;
//   int code = arrowdevice_buffer_allocate(device, pool, queue, size, &buffer, error);
//   *out = (uintptr_t)buffer;
//   return code;
// }
//
// static inline void go_free(struct arrowdevice_device* device, struct arrowdevice_queue* queue, uintptr_t buffer) {
//   arrowdevice_buffer_free(device, queue, (void*)buffer);
// }
//
// static inline uintptr_t go_data(const struct arrowdevice_node_buffer* buffer) { return (uintptr_t)buffer->data; }
//
// static inline int go_native(struct arrowdevice_device* device, uintptr_t out[5], uint32_t* family,
//                             struct arrowdevice_error* error) {
//   struct arrowdevice_native_device c = {.struct_size = sizeof c};
//   int code = arrowdevice_device_get_native(device, &c, error);
//   out[0] = (uintptr_t)c.platform;
//   out[1] = (uintptr_t)c.physical_device;
//   out[2] = (uintptr_t)c.device;
//   out[3] = (uintptr_t)c.context;
//   out[4] = (uintptr_t)c.queue;
//   *family = c.queue_family;
//   return code;
// }
//
// // Locks a native queue, if its API requires it. Sets unlock to the function that unlocks and its argument.
// static inline int go_lock(struct arrowdevice_device* device, uintptr_t queue, uintptr_t unlock[2],
//                           struct arrowdevice_error* error) {
//   struct arrowdevice_native_device c = {.struct_size = sizeof c};
//   int code = arrowdevice_device_get_native(device, &c, error);
//   if (code == 0 && c.lock != NULL) c.lock(c.lock_user, (void*)queue);
//   unlock[0] = (uintptr_t)c.unlock;
//   unlock[1] = (uintptr_t)c.lock_user;
//   return code;
// }
//
// static inline void go_unlock(const uintptr_t unlock[2], uintptr_t queue) {
//   if (unlock[0] != 0) ((void (*)(void*, void*))unlock[0])((void*)unlock[1], (void*)queue);
// }
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// NativeDevice has the vendor's handles of a device, 0 where there is none. The backend's manual
// says which it has.
type NativeDevice struct {
	Platform, PhysicalDevice, Device, Context, Queue uintptr
	QueueFamily                                      uint32
}

// Native returns the vendor's handles, for programs that submit their own work.
func (d Device) Native() (NativeDevice, error) {
	var handles [5]C.uintptr_t
	var family C.uint32_t
	var e C.struct_arrowdevice_error
	if code := C.go_native(d.c, &handles[0], &family, &e); code != 0 {
		return NativeDevice{}, result("device_get_native", code, &e)
	}
	return NativeDevice{
		Platform: uintptr(handles[0]), PhysicalDevice: uintptr(handles[1]), Device: uintptr(handles[2]),
		Context: uintptr(handles[3]), Queue: uintptr(handles[4]), QueueFamily: uint32(family),
	}, nil
}

// LockQueue calls submit while no other thread submits to a native queue of the device. Vulkan
// requires this, because the library submits to its queues too. Without such a requirement there is
// no lock. submit calls the vendor's API only: a call of this package could wait for the lock.
// LockQueue returns the error of submit.
func (d Device) LockQueue(queue NativeQueue, submit func() error) error {
	runtime.LockOSThread() // the thread that locks also unlocks
	defer runtime.UnlockOSThread()
	var unlock [2]C.uintptr_t
	var e C.struct_arrowdevice_error
	if code := C.go_lock(d.c, C.uintptr_t(queue.Queue), &unlock[0], &e); code != 0 {
		return result("device_get_native", code, &e)
	}
	defer C.go_unlock(&unlock[0], C.uintptr_t(queue.Queue))
	return submit()
}

// Use orders work of the program with arrays. `submit` submits work to the queue. The work runs
// after the arrays are ready. Their memory is not reused before the work has finished, even if the
// program releases the arrays. This also holds if `submit` fails or panics. Use returns its error.
//
// If Use fails because another goroutine uses the queue or because the queue has failed, the memory
// is held until Finish succeeds, also if the program forgets the queue.
func (q *Queue) Use(ctx context.Context, submit func() error, arrays ...*Array) (err error) {
	held := make([]*Array, 0, len(arrays))
	for _, array := range arrays {
		err := q.WaitArray(ctx, array)
		var own *Array
		if err == nil {
			own, err = array.shareWithin(ctx, "array_share")
		}
		if err != nil {
			q.drop(held) // nothing was submitted
			return err
		}
		held = append(held, own)
	}
	defer func() {
		for _, array := range held {
			failed := array.ReleaseAfter(q)
			if failed == nil {
				continue
			}
			array.h.cleanup.Stop() // the work may still run when the program has forgotten the queue
			q.mutex.Lock()
			q.held = append(q.held, array)
			q.mutex.Unlock()
			if err == nil {
				err = failed
			}
		}
	}()
	return submit()
}

// Role is the role of a buffer in the layout of its array.
type Role uint32

// The roles of buffers.
const (
	Validity      Role = C.ARROWDEVICE_ROLE_VALIDITY
	Data          Role = C.ARROWDEVICE_ROLE_DATA
	Offsets       Role = C.ARROWDEVICE_ROLE_OFFSETS
	Sizes         Role = C.ARROWDEVICE_ROLE_SIZES
	TypeIDs       Role = C.ARROWDEVICE_ROLE_TYPE_IDS
	Views         Role = C.ARROWDEVICE_ROLE_VIEWS
	Variadic      Role = C.ARROWDEVICE_ROLE_VARIADIC
	VariadicSizes Role = C.ARROWDEVICE_ROLE_VARIADIC_SIZES
)

// Buffer is a buffer of an array. Its memory is valid as long as the array.
type Buffer struct {
	Path    string  // names of the fields that contain the buffer: "prices.item"; "" for the array itself
	Role    Role    // role in the layout
	Address uintptr // address, or handle if the device has handles; 0 if the array has no such buffer
	Size    int64   // bytes that the array uses; -1 if the size is on the device
}

// Offset returns the number of rows in the buffers before the first row. It returns 0 after
// Release.
func (a *Array) Offset() int64 {
	owned, leave, err := a.handle().share("array")
	if err != nil {
		return 0
	}
	defer leave()
	return int64(owned.c.array.offset)
}

// Buffers returns the buffers of the array, of its children and of its dictionaries. A program uses
// them in Queue.Use.
func (a *Array) Buffers() ([]Buffer, error) {
	const function = "array_import"
	own, err := a.Share()
	if err != nil {
		return nil, err
	}
	defer own.Release()
	owned, leave, err := own.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	var view *C.struct_arrowdevice_view
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_import(owned.c, owned.schema.c, nil, &view, &e); code != 0 {
		return nil, result(function, code, &e)
	}
	defer C.arrowdevice_view_release(view)
	return appendBuffers(nil, "", C.arrowdevice_view_get_root(view)), nil
}

func appendBuffers(found []Buffer, path string, node *C.struct_arrowdevice_node) []Buffer {
	buffers := unsafe.Slice(node.buffers, node.n_buffers)
	for i := range buffers {
		size := int64(-1)
		if buffers[i].flags&C.ARROWDEVICE_BUFFER_SIZE_KNOWN != 0 {
			size = int64(buffers[i].size)
		}
		found = append(found, Buffer{path, Role(buffers[i].role), uintptr(C.go_data(&buffers[i])), size})
	}
	below := path
	if path != "" {
		below += "."
	}
	for i, child := range unsafe.Slice(node.children, node.n_children) {
		name := C.GoString(child.name)
		if name == "" {
			name = strconv.Itoa(i)
		}
		found = appendBuffers(found, below+name, child)
	}
	if node.dictionary != nil {
		found = appendBuffers(found, below+"dictionary", node.dictionary)
	}
	return found
}

// Memory is memory of a device for the result of a kernel. ArrayOf makes an array of it. Any
// goroutine may call its methods.
type Memory struct {
	h *handle[memoryResource]
}

type memoryResource struct {
	device  Device
	address uintptr
	size    int64 // bytes
}

func (m memoryResource) free() { C.go_free(m.device.c, nil, C.uintptr_t(m.address)) }

func (m *Memory) handle() *handle[memoryResource] {
	if m == nil {
		return nil
	}
	return m.h
}

// Allocate allocates memory of the device. `queue` uses it first; nil means any queue. `pool` is a
// pool of the device; nil means its default pool.
func (d Device) Allocate(size int64, queue *Queue, pool *Pool) (*Memory, error) {
	const function = "buffer_allocate"
	var first *C.struct_arrowdevice_queue
	if queue != nil {
		owned, leave, err := queue.handle().take(function)
		if err != nil {
			return nil, err
		}
		defer leave()
		first = owned.c
	}
	var chosen *C.struct_arrowdevice_pool
	if pool != nil {
		owned, leave, err := pool.handle().share(function)
		if err != nil {
			return nil, err
		}
		defer leave()
		chosen = owned.c
	}
	var address C.uintptr_t
	var e C.struct_arrowdevice_error
	if code := C.go_allocate(d.c, chosen, first, C.int64_t(size), &address, &e); code != 0 {
		return nil, result(function, code, &e)
	}
	memory := &Memory{newHandle("memory", memoryResource{d, uintptr(address), size})}
	memory.h.cleanup.Stop() // a kernel may still use memory that the program has forgotten
	return memory, nil
}

// Address returns the address, or the handle if the device has handles. It returns 0 after Release.
func (m *Memory) Address() uintptr {
	owned, leave, err := m.handle().share("buffer")
	if err != nil {
		return 0
	}
	defer leave()
	return owned.address
}

// Release frees the memory. The program promises that its work on the memory has finished.
// Otherwise it calls ReleaseAfter. The garbage collector frees no Memory, because it does not know
// the program's work.
func (m *Memory) Release() { m.handle().release() }

// ReleaseAfter frees the memory when the queue's work so far has finished. It returns at once.
func (m *Memory) ReleaseAfter(queue *Queue) error {
	const function = "buffer_free"
	given, leaveQueue, err := queue.handle().take(function)
	if err != nil {
		return err
	}
	defer leaveQueue()
	owned, err := m.handOver(function)
	if err != nil {
		return err
	}
	C.go_free(owned.device.c, given.c, C.uintptr_t(owned.address))
	return nil
}

// handOver ends the ownership of the memory without freeing it.
func (m *Memory) handOver(function string) (memoryResource, error) {
	h := m.handle()
	owned, leave, err := h.take(function)
	if err != nil {
		return memoryResource{}, err
	}
	h.disown()
	leave()
	return owned, nil
}

// ArrayOf makes an array of memory that the program's kernels write. The array is ready after the
// queue's work so far; a nil queue means that the data is complete. `buffers` are those of the
// type's layout in order, and nil is a missing validity bitmap. `nulls` is the number of nulls, or
// -1 if it is unknown. If ArrayOf succeeds, the array owns the memory, and later calls of the
// memory's methods fail. If it fails, the memory is unchanged. The type has no children.
func (d Device) ArrayOf(kind arrow.DataType, length, nulls int64, queue *Queue, buffers ...*Memory) (*Array, error) {
	const function = "array_export"
	var producer *C.struct_arrowdevice_queue
	if queue != nil {
		given, leave, err := queue.handle().take(function)
		if err != nil {
			return nil, err
		}
		defer leave()
		producer = given.c
	}
	made, err := schemaOfType(kind)
	if err != nil {
		return nil, err
	}
	out := newArray(made)
	parts := (*C.struct_ArrowArray)(C.malloc(C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(parts))
	if C.go_parts(d.c, C.int64_t(len(buffers)), parts) != 0 {
		out.free()
		return nil, newError(function, int(syscall.ENOMEM), "no memory for an array")
	}
	owner := parts.private_data
	parts.length = C.int64_t(length)
	if nulls < 0 && (len(buffers) == 0 || buffers[0] == nil) {
		nulls = 0
	}
	parts.null_count = C.int64_t(nulls)
	refuse := func(err error) (*Array, error) {
		C.arrowdevice_host_array_release(parts)
		out.free()
		return nil, err
	}
	sizes := make([]int64, len(buffers))
	for i, buffer := range buffers {
		if buffer == nil {
			continue
		}
		owned, leave, err := buffer.handle().take(function)
		if err != nil {
			return refuse(err)
		}
		defer leave()
		if owned.device != d {
			return refuse(newError(function, int(syscall.EINVAL), "buffer "+strconv.Itoa(i)+" is on another device"))
		}
		C.go_set_buffer(parts, C.int64_t(i), C.uintptr_t(owned.address))
		sizes[i] = owned.size
	}
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_export(d.c, parts, producer, out.c, &e); code != 0 {
		return refuse(result(function, code, &e))
	}
	if code := C.arrowdevice_array_validate(out.c, made.c, nil, C.ARROWDEVICE_VALIDATE_STRUCTURE, &e); code != 0 {
		return refuse(result("array_validate", code, &e))
	}
	array := &Array{newHandle("array", out)}
	found, err := array.Buffers()
	if err != nil {
		array.Release()
		return nil, err
	}
	for i, buffer := range found[:len(buffers)] {
		if buffer.Size > sizes[i] {
			array.Release()
			return nil, newError(function, int(syscall.EINVAL), fmt.Sprintf("buffer %d has %d bytes (expected at least %d)", i, sizes[i], buffer.Size))
		}
	}
	for _, buffer := range buffers {
		if buffer != nil {
			buffer.h.disown()
		}
	}
	C.go_own_parts(owner, C.int64_t(len(buffers)))
	return array, nil
}
