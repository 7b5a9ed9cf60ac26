// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import "sync"

// Pool caches a device's memory for reuse and limits its use. Any goroutine may call its methods.
type Pool struct {
	h *handle[poolResource]
}

type poolResource struct{ c *C.struct_arrowdevice_pool }

func (p poolResource) free() { C.arrowdevice_pool_destroy(p.c) }

// PoolOptions configure a pool. A program that needs its own allocator uses the C API.
type PoolOptions struct {
	MaxCachedBytes int64 // cached bytes at most; 0 means a share of the device's memory, as in C; negative means none
	MaxBytes       int64 // used and cached bytes at most, beyond it calls fail with ENOMEM; 0 means no limit
	// Shareable makes the memory shareable: other processes can open it without a copy, by handles
	// of Array.IPCHandle and by streams of a Server. A process that opens an array can read whole
	// allocations of the pool.
	Shareable bool
}

// PoolStats are statistics of a pool.
type PoolStats struct {
	UsedBytes         int64 // bytes of live buffers
	CachedBytes       int64 // bytes cached for reuse
	PeakBytes         int64 // the largest UsedBytes + CachedBytes so far
	Allocations       int64 // allocated buffers
	DriverAllocations int64 // allocated buffers that came from the driver
}

// The device owns its default pool. This lock keeps the pool from being replaced while a call uses
// it.
var defaultPools sync.RWMutex

// NewPool makes a pool of the device's memory. Every device already has a default pool.
func (d Device) NewPool(options PoolOptions) (*Pool, error) {
	c := C.struct_arrowdevice_pool_options{
		struct_size:      C.sizeof_struct_arrowdevice_pool_options,
		max_cached_bytes: C.int64_t(options.MaxCachedBytes),
		max_bytes:        C.int64_t(options.MaxBytes),
	}
	if options.Shareable {
		c.flags = C.ARROWDEVICE_POOL_SHAREABLE
	}
	var made *C.struct_arrowdevice_pool
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_pool_create(d.c, &c, &made, &e); code != 0 {
		return nil, result("pool_create", code, &e)
	}
	return &Pool{newHandle("pool", poolResource{made})}, nil
}

// SetPool makes a pool the device's default. The device holds a reference until another pool
// replaces it. nil restores the library's own pool.
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

// PoolStats returns statistics of the device's default pool.
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

// Stats returns the pool's statistics.
func (p *Pool) Stats() (PoolStats, error) {
	pool, leave, err := p.handle().share("pool_get_stats")
	if err != nil {
		return PoolStats{}, err
	}
	defer leave()
	return poolStats(pool.c)
}

// Trim returns all cached memory to the driver.
func (p *Pool) Trim() error {
	pool, leave, err := p.handle().share("pool_trim")
	if err != nil {
		return err
	}
	defer leave()
	var e C.struct_arrowdevice_error
	return result("pool_trim", C.arrowdevice_pool_trim(pool.c, &e), &e)
}

// Release releases the pool. Live buffers hold a reference until the last of them is freed.
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
