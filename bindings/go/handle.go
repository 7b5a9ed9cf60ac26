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

// resource is a C object that this package owns. free never blocks on device work, because it also
// runs on the garbage collector's goroutines. Freeing a wrapped queue may wait for a call of the
// driver that uses it.
type resource interface{ free() }

// handle guards a resource. Functions of the library that only read share it. Functions that change
// it get it exclusively, in the order of arrival. After release all calls fail with EINVAL, and the
// last user frees the resource. The garbage collector frees a handle that the program forgets.
type handle[R resource] struct {
	lock    *semaphore.Weighted
	users   atomic.Int64 // number of users that hold or wait for the lock, and releasedFlag
	freed   atomic.Bool
	done    chan struct{} // closed when the resource is freed; release waits for it; nil means no wait
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

// newBorrowing makes a handle of an object that uses something of the program. release returns when
// the object no longer uses it.
func newBorrowing[R resource](name string, owned R) *handle[R] {
	h := newHandle(name, owned)
	h.done = make(chan struct{})
	return h
}

// share returns the resource for shared use, and a function that ends the use.
func (h *handle[R]) share(function string) (R, func(), error) {
	return h.shareWithin(context.Background(), function)
}

// shareWithin is share that stops when the context ends.
func (h *handle[R]) shareWithin(ctx context.Context, function string) (R, func(), error) {
	return h.enter(ctx, function, oneUser)
}

// change returns the resource for exclusive use.
func (h *handle[R]) change(function string) (R, func(), error) {
	return h.changeWithin(context.Background(), function)
}

// changeWithin is change that stops when the context ends.
func (h *handle[R]) changeWithin(ctx context.Context, function string) (R, func(), error) {
	return h.enter(ctx, function, allUsers)
}

// take is change that fails with EBUSY instead of waiting for another user.
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
		return refuse[R](function, syscall.EBUSY, "another goroutine uses the "+h.name)
	}
	return h.entered(function, allUsers)
}

const noHandle = "the value is nil or zero (expected one that this package made)"

func refuse[R resource](function string, code syscall.Errno, message string) (R, func(), error) {
	var none R
	return none, nil, newError(function, int(code), message)
}

func (h *handle[R]) enter(ctx context.Context, function string, weight int64) (R, func(), error) {
	if h == nil {
		return refuse[R](function, syscall.EINVAL, noHandle)
	}
	if h.users.Add(1)&releasedFlag != 0 { // does not wait for its turn
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
	return refuse[R](function, syscall.EINVAL, "the "+h.name+" was released or moved")
}

// leave frees the resource if it is released and has no other user. The flag and the count are one
// number, so that a later user sees the flag and does not touch the resource.
func (h *handle[R]) leave() {
	if h.users.Add(-1) != releasedFlag || !h.freed.CompareAndSwap(false, true) {
		return
	}
	h.cleanup.Stop()
	h.owned.free()
	if h.done != nil {
		close(h.done)
	}
}

// disown ends the ownership without freeing the resource. The caller has the resource exclusively.
func (h *handle[R]) disown() {
	h.freed.Store(true)
	h.cleanup.Stop()
	h.users.Or(releasedFlag)
}

// release may be called from any goroutine, any number of times. It returns at once, except if the
// resource borrows something.
func (h *handle[R]) release() {
	if h == nil {
		return
	}
	h.users.Add(1)
	h.users.Or(releasedFlag)
	h.leave()
	if h.done != nil {
		<-h.done
	}
}
