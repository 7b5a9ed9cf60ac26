// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
)

// CopyOptions say how an array gets to a device. nil and the zero value mean the same.
type CopyOptions struct {
	// Async: return while the copy runs. Array.Wait waits for it.
	Async bool
	// Always: copy even where sharing would do.
	Always bool
	// Never: ENOTSUP where sharing will not do.
	Never bool
	// NoTrim: do not trim to the slice.
	NoTrim bool
	// Queue, of the target or, where that is the CPU, of the source: the copy comes after its work so far. nil: the
	// library's own.
	Queue *Queue
	// Pool of the target. nil: the target's default.
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

// Copy puts a copy of the array on a device; the array stays as it is. When the context ends, so does the call: what was
// submitted by then is ended by the library, and its result thrown away.
func (a *Array) Copy(ctx context.Context, to Device, options *CopyOptions) (*Array, error) {
	flags := options.flags() | C.ARROWDEVICE_COPY_ALWAYS
	return a.arrive(ctx, to, options, flags)
}

// ToDevice hands the array over to a device: by sharing where that device can use the memory, by a copy where not. The
// array is released by this on success; on failure, a context that ended included, it is as it was.
func (a *Array) ToDevice(ctx context.Context, to Device, options *CopyOptions) (*Array, error) {
	moved, err := a.arrive(ctx, to, options, options.flags())
	if err != nil {
		return nil, err
	}
	a.Release()
	return moved, nil
}

// ToHost hands the array over to the CPU, as ToDevice does, complete on return.
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

// arrive makes the array arrive on a device, and leaves this owner as it is: what moves is a co-owner, so that nothing is
// lost where the context ends while the library works.
func (a *Array) arrive(ctx context.Context, to Device, options *CopyOptions, flags C.uint32_t) (*Array, error) {
	const function = "array_to_device"
	stoppable := ctx.Done() != nil
	complete := flags&C.ARROWDEVICE_COPY_ASYNC == 0
	if stoppable && complete {
		// What is waited for here need not be waited for where nothing can stop it.
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
	var lanes CopyOptions // the caller may change its own when the context has ended the call
	if options != nil {
		lanes = *options
	}
	arrived, err := interruptible(ctx, function, func() (*Array, error) {
		return moved.toDevice(ctx, to, lanes.Queue, lanes.Pool, flags)
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

func (a *Array) toDevice(ctx context.Context, to Device, queue *Queue, pool *Pool, flags C.uint32_t) (*Array, error) {
	const function = "array_to_device"
	c := C.struct_arrowdevice_copy_options{struct_size: C.sizeof_struct_arrowdevice_copy_options, flags: flags}
	owned, leave, err := a.handle().change(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	if queue != nil {
		lane, leaveQueue, err := queue.handle().changeWithin(ctx, function)
		if err != nil {
			return nil, err
		}
		defer leaveQueue()
		c.queue = lane.c
	}
	if pool != nil {
		source, leavePool, err := pool.handle().shareWithin(ctx, function)
		if err != nil {
			return nil, err
		}
		defer leavePool()
		c.pool = source.c
	}
	c.timeout_ns = timeoutOf(ctx)
	out := newArray(owned.schema.retain())
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_array_to_device(owned.c, owned.schema.c, to.c, &c, out.c, &e)
	return out.filled(function, code, &e)
}

func (d Device) isCPU() bool {
	info, err := d.Info()
	return err == nil && info.Type == CPU
}
