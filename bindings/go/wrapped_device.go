// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdint.h>
// #include <stdlib.h>
//
// // Handles are numbers in Go. Frees `c` and its extensions unless the call succeeds.
// static inline int wrap_device(ArrowDeviceType type, int64_t id, struct arrowdevice_native_device* c,
//                               const uintptr_t handles[7], struct arrowdevice_device** out,
//                               struct arrowdevice_error* error) {
//   c->struct_size = sizeof *c;
//   c->platform = (void*)handles[0];
//   c->physical_device = (void*)handles[1];
//   c->device = (void*)handles[2];
//   c->context = (void*)handles[3];
//   c->queue = (void*)handles[4];
//   c->get_proc_addr = (void*)handles[5];
//   c->features = (const void*)handles[6];
//   return arrowdevice_device_wrap(type, id, c, out, error);
// }
import "C"

import (
	"context"
	"sync"
	"unsafe"
)

// WrapOptions has the members of a native context that only Vulkan uses.
type WrapOptions struct {
	APIVersion  uint32   // version of the instance; 0 means 1.1
	Extensions  []string // device extensions that the program enabled
	Features    uintptr  // the VkPhysicalDeviceFeatures2 of the device, in C memory; 0 means none beyond 1.0
	GetProcAddr uintptr  // the vkGetInstanceProcAddr of the program's loader; 0 means the system's
}

// WrappedDevice is a context of the program that the library uses, and does not own.
type WrappedDevice struct {
	Device
	mutex  sync.Mutex                          // guards native
	native *C.struct_arrowdevice_native_device // used by the library until Close
}

// WrapDevice makes a device of a context of the program. The manual of the backend says which
// handles it needs. The context, and the memory of Features, must stay valid until Close has
// succeeded. No thread may submit to the Queue of a Vulkan context during a call of this package.
// Other queues of the context are free. `options` may be nil.
func WrapDevice(deviceType DeviceType, id int64, native NativeDevice, options *WrapOptions) (*WrappedDevice, error) {
	if options == nil {
		options = &WrapOptions{}
	}
	c := (*C.struct_arrowdevice_native_device)(C.malloc(C.sizeof_struct_arrowdevice_native_device))
	*c = C.struct_arrowdevice_native_device{}
	c.queue_family = C.uint32_t(native.QueueFamily)
	c.api_version = C.uint32_t(options.APIVersion)
	c.n_extensions = C.uint32_t(len(options.Extensions))
	names := (**C.char)(C.malloc(C.size_t(len(options.Extensions)+1) * C.size_t(unsafe.Sizeof(uintptr(0)))))
	for i, name := range options.Extensions {
		unsafe.Slice(names, len(options.Extensions))[i] = C.CString(name)
	}
	c.extensions = names
	wrapped := &WrappedDevice{native: c}
	handles := [7]C.uintptr_t{C.uintptr_t(native.Platform), C.uintptr_t(native.PhysicalDevice), C.uintptr_t(native.Device),
		C.uintptr_t(native.Context), C.uintptr_t(native.Queue), C.uintptr_t(options.GetProcAddr), C.uintptr_t(options.Features)}
	var e C.struct_arrowdevice_error
	code := C.wrap_device(C.ArrowDeviceType(deviceType), C.int64_t(id), c, &handles[0], &wrapped.c, &e)
	if code != 0 {
		wrapped.free()
		return nil, result("device_wrap", code, &e)
	}
	return wrapped, nil
}

// Close ends the use of the context. It waits for deferred work. It fails with EBUSY while an
// array, memory, pool or queue of the device is alive, and can then be called again. After a
// success every call on the device fails, and a second Close does nothing. A device that is never
// closed stays wrapped.
func (d *WrappedDevice) Close(ctx context.Context) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.native == nil {
		return nil
	}
	err := waitInSlices(ctx, "device_unwrap", func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		return C.arrowdevice_device_unwrap(d.c, timeout, e), nil
	})
	if err == nil {
		d.free()
	}
	return err
}

func (d *WrappedDevice) free() {
	if d.native == nil {
		return
	}
	for _, name := range unsafe.Slice(d.native.extensions, int(d.native.n_extensions)) {
		C.free(unsafe.Pointer(name))
	}
	C.free(unsafe.Pointer(d.native.extensions))
	C.free(unsafe.Pointer(d.native))
	d.native = nil
}
