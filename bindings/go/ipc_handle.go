// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
	"unsafe"
)

// IPCHandle gives an array to another process of the machine. It has bytes and file descriptors,
// which the program sends through a Unix socket. The other process calls OpenIPCHandle, and has an
// array over the same memory.
//
// The memory is in use until the handle, its copies in other processes, and the arrays that were
// opened are released. If a process ends, its copies are closed. The program releases a handle with
// Release. The garbage collector releases an IPCHandle that the program forgets.
type IPCHandle struct {
	h *handle[ipcResource]
}

type ipcResource struct {
	c *C.struct_arrowdevice_ipc_handle
}

func (i ipcResource) free() {
	C.arrowdevice_ipc_handle_release(i.c)
	C.free(unsafe.Pointer(i.c))
}

func (i *IPCHandle) handle() *handle[ipcResource] {
	if i == nil {
		return nil
	}
	return i.h
}

// Release closes the descriptors of the handle. Descriptors that were sent stay open in other
// processes. It returns at once, and a second call does nothing.
func (i *IPCHandle) Release() { i.handle().release() }

// Use calls send with the bytes and the descriptors of the handle. They are valid until send
// returns, even if another goroutine calls Release. The order of the descriptors matters. Use
// returns the error of send.
func (i *IPCHandle) Use(send func(data []byte, descriptors []int) error) error {
	owned, leave, err := i.handle().share("Use")
	if err != nil {
		return err
	}
	defer leave()
	descriptors := make([]int, owned.c.n_descriptors)
	for index, number := range unsafe.Slice(owned.c.descriptors, len(descriptors)) {
		descriptors[index] = int(number)
	}
	return send(C.GoBytes(unsafe.Pointer(owned.c.bytes), C.int(owned.c.size)), descriptors)
}

// CopiedBytes returns the bytes that were copied because of the handle. It returns 0 if the handle
// shares the array's memory, and after Release.
func (i *IPCHandle) CopiedBytes() int64 {
	owned, leave, err := i.handle().share("CopiedBytes")
	if err != nil {
		return 0
	}
	defer leave()
	return int64(owned.c.copied_bytes)
}

// IPCHandle makes a handle, which gives the array to another process. The array stays. Memory of a
// pool with PoolOptions.Shareable is shared. Other memory is copied into such a pool for each
// handle: that of the options, or one of the library. With CopyOptions.Never the call fails with ENOTSUP instead. It
// also fails with ENOTSUP if the device has no memory that other processes can open.
func (a *Array) IPCHandle(ctx context.Context, options *CopyOptions) (*IPCHandle, error) {
	const function = "array_get_ipc_handle"
	if err := a.Wait(ctx); err != nil {
		return nil, err
	}
	shared, err := a.shareWithin(ctx, function) // keeps the array itself free for other goroutines
	if err != nil {
		return nil, err
	}
	var own CopyOptions // the caller may change its options after the context has ended the call
	if options != nil {
		own = *options
	}
	return interruptible(ctx, function, func() (*IPCHandle, error) {
		defer shared.Release()
		return shared.ipcHandle(ctx, function, &own)
	}, (*IPCHandle).Release)
}

func (a *Array) ipcHandle(ctx context.Context, function string, options *CopyOptions) (*IPCHandle, error) {
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	c, leaveOptions, err := options.enter(ctx, function, options.flags())
	if err != nil {
		return nil, err
	}
	defer leaveOptions()
	made := ipcResource{(*C.struct_arrowdevice_ipc_handle)(C.calloc(1, C.sizeof_struct_arrowdevice_ipc_handle))}
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_get_ipc_handle(owned.c, owned.schema.c, &c, made.c, &e); code != 0 {
		made.free()
		return nil, result(function, code, &e)
	}
	return &IPCHandle{newHandle("handle", made)}, nil
}

// OpenIPCHandle opens a handle of another process, or of this one. A handle may be opened several
// times. The caller closes the descriptors, whether the call succeeds or not. If the context ends,
// the call returns.
//
// The library checks each number of the handle against the sizes that the kernel reports, and the
// last offsets of texts and binaries. The owner process keeps its access to the memory, and may write
// to it at any time. A program that does not trust the owner process sets CopyOptions.Always, and
// calls Validate with Full before any other use. The library then copies the memory before the checks.
// CopyOptions.Pool is a pool for this copy. The other options have no effect, but Queue must be nil.
func OpenIPCHandle(ctx context.Context, data []byte, descriptors []int, options *CopyOptions) (*Array, error) {
	const function = "array_open_ipc_handle"
	if err := contextError(ctx, function); err != nil {
		return nil, err
	}
	var own CopyOptions // the caller may change its arguments after the context has ended the call
	if options != nil {
		own = *options
	}
	data = bytes.Clone(data)
	duplicates, err := duplicateAll(function, descriptors)
	if err != nil {
		return nil, err
	}
	return started(ctx, function, func() (*Array, error) {
		defer closeAll(duplicates)
		return openIPCHandle(ctx, function, data, duplicates, &own)
	}, (*Array).Release)
}

// duplicateAll duplicates descriptors. It keeps -1, which a child has instead of a descriptor of its
// parent.
func duplicateAll(function string, descriptors []int) ([]int, error) {
	duplicates := make([]int, 0, len(descriptors))
	for _, descriptor := range descriptors {
		if descriptor >= 0 {
			number, _, code := syscall.Syscall(syscall.SYS_FCNTL, uintptr(descriptor), syscall.F_DUPFD_CLOEXEC, 0)
			if code != 0 {
				closeAll(duplicates)
				message := fmt.Sprintf("descriptor %d of the handle: %v", len(duplicates), code)
				return nil, &Error{Code: code, Function: function, Message: message}
			}
			descriptor = int(number)
		}
		duplicates = append(duplicates, descriptor)
	}
	return duplicates, nil
}

func closeAll(descriptors []int) {
	for _, descriptor := range descriptors {
		if descriptor >= 0 {
			_ = syscall.Close(descriptor)
		}
	}
}

func openIPCHandle(ctx context.Context, function string, data []byte, descriptors []int, options *CopyOptions) (*Array, error) {
	c, leave, err := options.enter(ctx, function, options.flags())
	if err != nil {
		return nil, err
	}
	defer leave()
	numbers := make([]C.int, len(descriptors))
	for i, descriptor := range descriptors {
		numbers[i] = C.int(descriptor)
	}
	out := newArray(newSchema())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_open_ipc_handle((*C.uint8_t)(unsafe.SliceData(data)), C.int64_t(len(data)),
		unsafe.SliceData(numbers), C.int64_t(len(numbers)), &c, out.c, out.schema.c, &e)
	return out.filled(function, code, &e)
}
