// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// resource is a C object that this package owns. free never blocks on device work: it also runs on the garbage
// collector's goroutines.
type resource interface{ free() }

// handle guards a resource. Functions of the library that leave it as it is share it, those that change it have it to
// themselves; after release both answer EINVAL, and whoever is still using it frees it on leaving. One that was
// forgotten is freed by the garbage collector.
type handle[R resource] struct {
	lock     sync.RWMutex
	released atomic.Bool
	freed    bool // guarded by lock
	name     string
	owned    R
	cleanup  runtime.Cleanup
}

func newHandle[R resource](name string, owned R) *handle[R] {
	h := &handle[R]{name: name, owned: owned}
	h.cleanup = runtime.AddCleanup(h, func(forgotten R) { forgotten.free() }, owned)
	return h
}

// share gives the resource until the function that comes with it is called.
func (h *handle[R]) share(function string) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	h.lock.RLock()
	return h.entered(function, h.leaveShared)
}

// change gives the resource to one user alone.
func (h *handle[R]) change(function string) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	h.lock.Lock()
	return h.entered(function, h.leaveChanged)
}

// take is change for what may be in use for long: EBUSY then.
func (h *handle[R]) take(function string) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	if !h.lock.TryLock() {
		return refuse[R](function, syscall.EBUSY, "the "+h.name+" is in use on another goroutine")
	}
	return h.entered(function, h.leaveChanged)
}

const noHandle = "a nil or zero value: it was not made by this package"

func refuse[R resource](function string, code syscall.Errno, message string) (R, func(), error) {
	var none R
	return none, nil, newError(function, int(code), message)
}

func (h *handle[R]) entered(function string, leave func()) (R, func(), error) {
	if h.released.Load() {
		leave()
		return refuse[R](function, syscall.EINVAL, "the "+h.name+" was released or handed over")
	}
	return h.owned, leave, nil
}

func (h *handle[R]) leaveShared() {
	h.lock.RUnlock()
	h.freeReleased()
}

func (h *handle[R]) leaveChanged() {
	h.lock.Unlock()
	h.freeReleased()
}

// release may come from any goroutine, any number of times, and returns at once.
func (h *handle[R]) release() {
	if h == nil {
		return
	}
	h.released.Store(true)
	h.freeReleased()
}

// freeReleased frees what was released and is not in use. Who holds the lock while this fails to get it calls it after
// letting go, and finds `released` set.
func (h *handle[R]) freeReleased() {
	if !h.released.Load() || !h.lock.TryLock() {
		return
	}
	defer h.lock.Unlock()
	if h.freed {
		return
	}
	h.freed = true
	h.cleanup.Stop()
	h.owned.free()
}
