// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import "sync"

// Pool keeps a device's memory for reuse, and bounds it. Its methods may be called from any goroutine.
type Pool struct {
	h *handle[poolResource]
}

type poolResource struct{ c *C.struct_arrowdevice_pool }

func (p poolResource) free() { C.arrowdevice_pool_destroy(p.c) }

// PoolOptions say how a pool keeps and bounds its memory. An allocator of the program's own is for C.
type PoolOptions struct {
	MaxCachedBytes int64 // bytes kept when unused: 0 the default (a quarter of what is free, at most 1 GiB), negative none
	MaxBytes       int64 // bytes in use and kept together: ENOMEM beyond. 0: no cap
}

// PoolStats are a pool's figures, in bytes and counts.
type PoolStats struct {
	UsedBytes         int64 // bytes of live buffers
	CachedBytes       int64 // bytes kept for reuse
	PeakBytes         int64 // the greatest UsedBytes + CachedBytes so far
	Allocations       int64 // buffers given out
	DriverAllocations int64 // of these, asked of the driver
}

// A device's default pool is borrowed from it: it must not be replaced while it is looked at.
var defaultPools sync.RWMutex

// NewPool makes a pool of the device's memory. Every device has one already.
func (d Device) NewPool(options PoolOptions) (*Pool, error) {
	c := C.struct_arrowdevice_pool_options{
		struct_size:      C.sizeof_struct_arrowdevice_pool_options,
		max_cached_bytes: C.int64_t(options.MaxCachedBytes),
		max_bytes:        C.int64_t(options.MaxBytes),
	}
	var made *C.struct_arrowdevice_pool
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_pool_create(d.c, &c, &made, &e); code != 0 {
		return nil, result("pool_create", code, &e)
	}
	return &Pool{newHandle("pool", poolResource{made})}, nil
}

// SetPool makes a pool the default of the device, which keeps it alive until another one takes its place. nil: the
// library's own again.
func (d Device) SetPool(pool *Pool) error {
	const function = "device_set_pool"
	var chosen *C.struct_arrowdevice_pool
	if pool != nil {
		owned, leave, err := pool.h.share(function)
		if err != nil {
			return err
		}
		defer leave()
		chosen = owned.c
	}
	defaultPools.Lock()
	defer defaultPools.Unlock()
	var e C.struct_arrowdevice_error
	return result(function, C.arrowdevice_device_set_pool(d.c, chosen, &e), &e)
}

// PoolStats are the figures of the device's default pool.
func (d Device) PoolStats() (PoolStats, error) {
	defaultPools.RLock()
	defer defaultPools.RUnlock()
	var pool *C.struct_arrowdevice_pool
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_device_get_pool(d.c, &pool, &e); code != 0 {
		return PoolStats{}, result("device_get_pool", code, &e)
	}
	return poolStats(pool)
}

// Stats reads the pool's figures.
func (p *Pool) Stats() (PoolStats, error) {
	pool, leave, err := p.handle().share("pool_get_stats")
	if err != nil {
		return PoolStats{}, err
	}
	defer leave()
	return poolStats(pool.c)
}

// Trim gives back to the driver all that is kept and not in use.
func (p *Pool) Trim() error {
	pool, leave, err := p.handle().share("pool_trim")
	if err != nil {
		return err
	}
	defer leave()
	var e C.struct_arrowdevice_error
	return result("pool_trim", C.arrowdevice_pool_trim(pool.c, &e), &e)
}

// Release lets the pool go; live buffers keep it until the last of them is freed.
func (p *Pool) Release() { p.handle().release() }

func (p *Pool) handle() *handle[poolResource] {
	if p == nil {
		return nil
	}
	return p.h
}

func poolStats(pool *C.struct_arrowdevice_pool) (PoolStats, error) {
	var stats C.struct_arrowdevice_pool_stats
	stats.struct_size = C.sizeof_struct_arrowdevice_pool_stats
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_pool_get_stats(pool, &stats, &e)
	return PoolStats{
		UsedBytes:         int64(stats.used_bytes),
		CachedBytes:       int64(stats.cached_bytes),
		PeakBytes:         int64(stats.peak_bytes),
		Allocations:       int64(stats.allocations),
		DriverAllocations: int64(stats.driver_allocations),
	}, result("pool_get_stats", code, &e)
}
