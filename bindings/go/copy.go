// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
)

// CopyOptions selects how an array gets to a device. nil and the zero value mean the same.
type CopyOptions struct {
	// Async makes the call return while the copy runs. Array.Wait waits for the copy.
	Async bool
	// Always copies even if the target could share the memory.
	Always bool
	// Never makes the call fail with ENOTSUP if the target cannot share the memory.
	Never bool
	// NoTrim copies whole buffers instead of the rows of the slice.
	NoTrim bool
	// Queue belongs to the target, or to the source if the target is the CPU. The copy runs after
	// the queue's work so far. nil uses a queue of the library.
	Queue *Queue
	// Pool belongs to the target. nil uses the target's default pool.
	Pool *Pool
}

func (o *CopyOptions) flags() C.uint32_t {
	if o == nil {
		return 0
	}
	var flags C.uint32_t
	for _, option := range []struct {
		set  bool
		flag C.uint32_t
	}{
		{o.Async, C.ARROWDEVICE_COPY_ASYNC}, {o.Always, C.ARROWDEVICE_COPY_ALWAYS},
		{o.Never, C.ARROWDEVICE_COPY_NEVER}, {o.NoTrim, C.ARROWDEVICE_COPY_NO_TRIM},
	} {
		if option.set {
			flags |= option.flag
		}
	}
	return flags
}

// Copy puts a copy of the array on a device and leaves the array unchanged. If the context ends,
// the call returns. The library then finishes submitted work and drops the result.
func (a *Array) Copy(ctx context.Context, to Device, options *CopyOptions) (*Array, error) {
	flags := options.flags() | C.ARROWDEVICE_COPY_ALWAYS
	return a.arrive(ctx, to, options, flags)
}

// ToDevice puts the array on a device. It shares the memory if the device can use it, and copies if
// not. If it succeeds, it releases the array. If it fails, or if the context ends, the array is
// unchanged.
func (a *Array) ToDevice(ctx context.Context, to Device, options *CopyOptions) (*Array, error) {
	moved, err := a.arrive(ctx, to, options, options.flags())
	if err != nil {
		return nil, err
	}
	a.Release()
	return moved, nil
}

// ToHost puts the array on the CPU, as ToDevice does. The data is complete when it returns. To go on
// meanwhile, call it in a goroutine.
func (a *Array) ToHost(ctx context.Context, options *CopyOptions) (*Array, error) {
	host, err := a.onHost(ctx, options)
	if err != nil {
		return nil, err
	}
	a.Release()
	return host, nil
}

func (a *Array) onHost(ctx context.Context, options *CopyOptions) (*Array, error) {
	cpu, err := FindByName("cpu")
	if err != nil {
		return nil, err
	}
	return a.arrive(ctx, cpu, options, options.flags()&^C.ARROWDEVICE_COPY_ASYNC)
}

// arrive puts the array on a device and leaves this owner unchanged. It moves a second owner, so
// that the array survives if the context ends while the library works.
func (a *Array) arrive(ctx context.Context, to Device, options *CopyOptions, flags C.uint32_t) (*Array, error) {
	const function = "array_to_device"
	stoppable := ctx.Done() != nil
	complete := flags&C.ARROWDEVICE_COPY_ASYNC == 0
	if stoppable && complete {
		// If nothing can stop this wait, the library waits instead.
		if to.isCPU() {
			if err := a.Wait(ctx); err != nil {
				return nil, err
			}
		}
		flags |= C.ARROWDEVICE_COPY_ASYNC
	}
	if err := contextError(ctx, function); err != nil {
		return nil, err
	}
	moved, err := a.shareWithin(ctx, function)
	if err != nil {
		return nil, err
	}
	defer moved.Release()
	var own CopyOptions // the caller may change its options after the context has ended the call
	if options != nil {
		own = *options
	}
	arrived, err := interruptible(ctx, function, func() (*Array, error) {
		return moved.toDevice(ctx, to, &own, flags)
	}, (*Array).Release)
	if err != nil {
		return nil, err
	}
	if stoppable && complete {
		if err := arrived.Wait(ctx); err != nil {
			arrived.Release()
			return nil, err
		}
	}
	return arrived, nil
}

func (a *Array) toDevice(ctx context.Context, to Device, options *CopyOptions, flags C.uint32_t) (*Array, error) {
	const function = "array_to_device"
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	c, leaveOptions, err := options.enter(ctx, function, flags)
	if err != nil {
		return nil, err
	}
	defer leaveOptions()
	out := newArray(owned.schema.retain())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_to_device(owned.c, owned.schema.c, to.c, &c, out.c, &e)
	return out.filled(function, code, &e)
}

// enter returns the options in C for one call, and a function that ends the use of the queue and
// the pool.
func (o *CopyOptions) enter(ctx context.Context, function string,
	flags C.uint32_t) (C.struct_arrowdevice_copy_options, func(), error) {
	c := C.struct_arrowdevice_copy_options{struct_size: C.sizeof_struct_arrowdevice_copy_options, flags: flags}
	leave := func() {}
	if o.Queue != nil {
		queue, leaveQueue, err := o.Queue.handle().changeWithin(ctx, function)
		if err != nil {
			return c, nil, err
		}
		leave = leaveQueue
		c.queue = queue.c
	}
	if o.Pool != nil {
		pool, leavePool, err := o.Pool.handle().shareWithin(ctx, function)
		if err != nil {
			leave()
			return c, nil, err
		}
		leaveQueue := leave
		leave = func() {
			leavePool()
			leaveQueue()
		}
		c.pool = pool.c
	}
	c.timeout_ns = timeoutOf(ctx)
	return c, leave, nil
}

func (d Device) isCPU() bool {
	info, err := d.Info()
	return err == nil && info.Type == CPU
}
