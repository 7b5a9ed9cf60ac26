// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// counted is a resource that counts how often it is freed.
type counted struct{ freed *atomic.Int64 }

func (c counted) free() { c.freed.Add(1) }

func TestLastUserFreesAReleasedHandleOnce(t *testing.T) {
	const rounds = 20000
	for range rounds {
		var freed atomic.Int64
		h := newHandle("thing", counted{&freed})
		var users sync.WaitGroup
		for _, enter := range []func(string) (counted, func(), error){h.share, h.share, h.change, h.take} {
			users.Go(func() {
				owned, leave, err := enter("test")
				if err != nil {
					return
				}
				if owned.freed.Load() != 0 {
					t.Error("freed while in use")
				}
				leave()
			})
		}
		users.Go(h.release)
		users.Go(h.release)
		users.Wait()
		if n := freed.Load(); n != 1 {
			t.Fatalf("freed %d times", n)
		}
	}
}

func TestReleaseOfABorrowingHandleWaitsForItsUsers(t *testing.T) {
	var freed atomic.Int64
	h := newBorrowing("thing", counted{&freed})
	_, leave, err := h.share("test")
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan struct{})
	for range 2 {
		go func() {
			h.release()
			if freed.Load() != 1 {
				t.Error("the handle is still in use")
			}
			released <- struct{}{}
		}()
	}
	select {
	case <-released:
		t.Fatal("release did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	if _, _, err := h.share("test"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("another user: %v", err)
	}
	leave()
	<-released
	<-released
	h.release()
}

func TestWaitForAHandleEndsWithItsContext(t *testing.T) {
	var freed atomic.Int64
	h := newHandle("thing", counted{&freed})
	_, leave, err := h.share("test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := h.changeWithin(ctx, "test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("change: %v", err)
	}
	if _, _, err := h.take("test"); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("take: %v", err)
	}
	_, leaveToo, err := h.share("test") // no goroutine waits any more
	if err != nil {
		t.Fatal(err)
	}
	leaveToo()
	leave()
	h.release()
	if freed.Load() != 1 {
		t.Error("the handle was not freed")
	}
}

func TestConstantSharingDoesNotStarveExclusiveUse(t *testing.T) {
	var freed atomic.Int64
	h := newHandle("thing", counted{&freed})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var stop atomic.Bool
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for !stop.Load() {
				_, leave, err := h.share("test")
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(5 * time.Millisecond)
				leave()
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	_, leave, err := h.changeWithin(ctx, "test")
	stop.Store(true)
	if err != nil {
		t.Errorf("exclusive use was never granted: %v", err)
	} else {
		leave()
	}
	users.Wait()
	h.release()
}
