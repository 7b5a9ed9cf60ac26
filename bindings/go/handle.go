// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/semaphore"
)

// resource is a C object that this package owns. free never blocks on device work: it also runs on the garbage
// collector's goroutines. That of a wrapped queue may wait for a call of the driver's that is in progress with it.
type resource interface{ free() }

// handle guards a resource. Functions of the library that leave it as it is share it, those that change it have it to
// themselves, in the order in which they came; after release all answer EINVAL, and whoever leaves last frees it. One
// that was forgotten is freed by the garbage collector.
type handle[R resource] struct {
	lock    *semaphore.Weighted
	users   atomic.Int64 // who has the lock or waits for it, and releasedFlag
	freed   atomic.Bool
	gone    chan struct{} // closed when it has been freed, and waited for by release; nil: it is not waited for
	name    string
	owned   R
	cleanup runtime.Cleanup
}

const (
	oneUser      = 1
	allUsers     = math.MaxInt32
	releasedFlag = int64(1) << 62
)

func newHandle[R resource](name string, owned R) *handle[R] {
	h := &handle[R]{lock: semaphore.NewWeighted(allUsers), name: name, owned: owned}
	h.cleanup = runtime.AddCleanup(h, func(forgotten R) { forgotten.free() }, owned)
	return h
}

// newBorrowing makes a handle of what uses something of the program's, which is the program's again when release returns.
func newBorrowing[R resource](name string, owned R) *handle[R] {
	h := newHandle(name, owned)
	h.gone = make(chan struct{})
	return h
}

// share gives the resource until the function that comes with it is called.
func (h *handle[R]) share(function string) (R, func(), error) {
	return h.shareWithin(context.Background(), function)
}

// shareWithin is share for as long as the context lasts.
func (h *handle[R]) shareWithin(ctx context.Context, function string) (R, func(), error) {
	return h.enter(ctx, function, oneUser)
}

// change gives the resource to one user alone.
func (h *handle[R]) change(function string) (R, func(), error) {
	return h.changeWithin(context.Background(), function)
}

// changeWithin is change for as long as the context lasts.
func (h *handle[R]) changeWithin(ctx context.Context, function string) (R, func(), error) {
	return h.enter(ctx, function, allUsers)
}

// take is change for what may be in use for long: EBUSY then.
func (h *handle[R]) take(function string) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	if h.users.Add(1)&releasedFlag != 0 {
		h.leave()
		return h.refuseReleased(function)
	}
	if !h.lock.TryAcquire(allUsers) {
		h.leave()
		return refuse[R](function, syscall.EBUSY, "the "+h.name+" is in use on another goroutine")
	}
	return h.entered(function, allUsers)
}

const noHandle = "a nil or zero value: it was not made by this package"

func refuse[R resource](function string, code syscall.Errno, message string) (R, func(), error) {
	var none R
	return none, nil, newError(function, int(code), message)
}

func (h *handle[R]) enter(ctx context.Context, function string, weight int64) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	if h.users.Add(1)&releasedFlag != 0 { // without waiting for its turn
		h.leave()
		return h.refuseReleased(function)
	}
	if h.lock.Acquire(ctx, weight) != nil {
		h.leave()
		var none R
		return none, nil, contextError(ctx, function)
	}
	return h.entered(function, weight)
}

func (h *handle[R]) entered(function string, weight int64) (R, func(), error) {
	leave := func() {
		h.lock.Release(weight)
		h.leave()
	}
	if h.users.Load()&releasedFlag != 0 {
		leave()
		return h.refuseReleased(function)
	}
	return h.owned, leave, nil
}

func (h *handle[R]) refuseReleased(function string) (R, func(), error) {
	return refuse[R](function, syscall.EINVAL, "the "+h.name+" was released or handed over")
}

// leave frees what was released and has no user any more. Both are one number: who comes after its last user has left
// sees that it was released, and does not touch it.
func (h *handle[R]) leave() {
	if h.users.Add(-1) != releasedFlag || !h.freed.CompareAndSwap(false, true) {
		return
	}
	h.cleanup.Stop()
	h.owned.free()
	if h.gone != nil {
		close(h.gone)
	}
}

// release may come from any goroutine, and any number of times. It returns at once, but where something is borrowed.
func (h *handle[R]) release() {
	if h == nil {
		return
	}
	h.users.Add(1)
	h.users.Or(releasedFlag)
	h.leave()
	if h.gone != nil {
		<-h.gone
	}
}
