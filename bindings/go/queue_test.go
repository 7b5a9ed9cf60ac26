// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// abandonedWait leaves a goroutine in a call that waits for an array on the CPU, because the
// queue's device cannot wait for it.
func abandonedWait(t *testing.T, queue *arrowdevice.Queue) *arrowdevice.Array {
	t.Helper()
	to := pendingDevice(t)
	pending, err := fromArrow(t, numbers.make(t, memory.NewGoAllocator())).ToDevice(context.Background(), to, &arrowdevice.CopyOptions{Async: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pending.Release)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	mustBe(t, "WaitArray", queue.WaitArray(ctx, pending), context.DeadlineExceeded)
	return pending
}

// within fails the test if a call does not return in time, and then stops waiting for it.
func within(t *testing.T, what string, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

func TestCallsBehindAnAbandonedCallEndWithTheirContext(t *testing.T) {
	queue, err := device(t, "cpu").NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	pending := abandonedWait(t, queue)
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		within(t, "Finish", func() { mustBe(t, "Finish", queue.Finish(ctx()), want...) })
		within(t, "WaitArray", func() { mustBe(t, "WaitArray", queue.WaitArray(ctx(), pending), want...) })
		within(t, "Wait", func() { mustBe(t, "Wait", pending.Wait(ctx()), want...) })
		within(t, "Copy", func() {
			_, err := pending.Copy(ctx(), device(t, "cpu"), &arrowdevice.CopyOptions{Queue: queue})
			mustBe(t, "Copy", err, want...)
		})
	})
	within(t, "Share", func() {
		shared, err := pending.Share()
		if err != nil {
			t.Error(err)
		}
		shared.Release()
	})
	within(t, "ReleaseAfter", func() {
		if err := pending.ReleaseAfter(queue); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("ReleaseAfter: %v", err)
		}
	})
	within(t, "Native", func() {
		if _, err := queue.Native(); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("Native: %v", err)
		}
	})
	within(t, "ToDevice of a stream", func() {
		stream := fromReader(t, readerOf(t, batches(t, memory.NewGoAllocator(), 1)))
		if _, err := stream.ToDevice(device(t, "cpu"), &arrowdevice.StreamOptions{Queue: queue}); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("ToDevice of a stream: %v", err)
		}
	})
	within(t, "Release", queue.Release)
	within(t, "Finish after Release", func() {
		if err := queue.Finish(context.Background()); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("Finish after Release: %v", err)
		}
	})
}

func TestReleaseEndsTheUseOfAWrappedQueue(t *testing.T) {
	ctx := context.Background()
	own := ownQueue(t)
	native, err := own.Native()
	if err != nil {
		t.Fatal(err)
	}
	wrapped := wrappedFor(t, own)
	if again, err := wrapped.Native(); err != nil || again != native {
		t.Errorf("%v, not %v: %v", again, native, err)
	}
	want := numbers.make(t, checked(t))
	defer want.Release()
	there, err := fromArrow(t, want).ToDevice(ctx, device(t, "ext_dev:0"), &arrowdevice.CopyOptions{Queue: wrapped})
	if err != nil {
		t.Fatal(err)
	}
	got := toArrow(t, there)
	defer got.Release()
	mustEqual(t, got, want)
	wrapped.Release()
	wrapped.Release()
	if err := wrapped.Finish(ctx); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Finish after Release: %v", err)
	}
	if err := own.Finish(ctx); err != nil {
		t.Errorf("the program's queue: %v", err)
	}

	used := wrappedFor(t, own)
	// Sizes of strings are on the device, so the copy waits for them before it is submitted.
	texts, err := fromArrow(t, samples["string"].make(t, memory.NewGoAllocator())).ToDevice(ctx, pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
	if err != nil {
		t.Fatal(err)
	}
	defer texts.Release()
	stopped, stop := context.WithCancel(ctx)
	defer time.AfterFunc(50*time.Millisecond, stop).Stop()
	_, err = texts.Copy(stopped, device(t, "ext_dev:0"), &arrowdevice.CopyOptions{Queue: used})
	mustBe(t, "Copy", err, context.Canceled)
	released := make(chan struct{})
	go func() {
		defer close(released)
		used.Release()
	}()
	select {
	case <-released:
		t.Error("Release returned while a call used the queue")
	case <-time.After(100 * time.Millisecond):
	}
}

// growStack makes the runtime move the stack and scan every word on it that has a pointer type.
//
//go:noinline
func growStack(deep int) int {
	var room [1024]byte
	if deep == 0 {
		return len(room)
	}
	room[deep%len(room)] = 1
	return growStack(deep-1) + int(room[deep%len(room)])
}

func TestNativeQueueMayBeASmallNumber(t *testing.T) {
	to := device(t, "ext_dev:0")
	for number := range uintptr(3) {
		done := make(chan struct{})
		go func() { // runs on a small stack
			defer close(done)
			native := arrowdevice.NativeQueue{Queue: number}
			growStack(1000)
			wrapped, err := to.WrapQueue(native)
			defer wrapped.Release()
			// The simulation has only the default queue.
			if refused := errors.Is(err, syscall.EINVAL); refused != (number != 0) {
				t.Errorf("queue %d: %v", native.Queue, err)
			}
		}()
		<-done
	}
}

func TestOptionsMayChangeAfterAContextEndedTheCall(t *testing.T) {
	to := device(t, "ext_dev:0")
	queue, err := to.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Release()
	// Sizes of strings are on the device, so the copy waits for them before it is submitted.
	texts, err := fromArrow(t, samples["string"].make(t, memory.NewGoAllocator())).ToDevice(context.Background(), pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
	if err != nil {
		t.Fatal(err)
	}
	defer texts.Release()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	options := &arrowdevice.CopyOptions{Queue: queue}
	_, err = texts.Copy(ctx, to, options)
	mustBe(t, "Copy", err, context.DeadlineExceeded)
	options.Queue, options.Pool = nil, nil // races if the call still reads the options
}
