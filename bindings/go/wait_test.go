// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"testing"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var errStopped = errors.New("stopped by the test")

// endings are contexts that end while a call waits, with the errors that the call must return.
func endings(t *testing.T, test func(t *testing.T, ctx func() context.Context, want ...error)) {
	t.Run("deadline", func(t *testing.T) {
		test(t, func() context.Context {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}, context.DeadlineExceeded)
	})
	t.Run("cancellation", func(t *testing.T) {
		test(t, func() context.Context {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(20*time.Millisecond, func() { cancel(errStopped) })
			t.Cleanup(func() { timer.Stop() })
			return ctx
		}, context.Canceled, errStopped)
	})
	t.Run("ended before", func(t *testing.T) {
		test(t, func() context.Context {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx
		}, context.Canceled)
	})
}

func mustBe(t *testing.T, what string, err error, want ...error) {
	t.Helper()
	for _, one := range want {
		if !errors.Is(err, one) {
			t.Errorf("%s: %v is not %v", what, err, one)
		}
	}
	var e *arrowdevice.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %T", what, err)
	}
}

func TestContextEndsEveryWaitAndLosesNothing(t *testing.T) {
	to := pendingDevice(t)
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		// This memory is not from checked(), because copies of it are still pending when the tests
		// end.
		values := samples["string"].make(t, memory.NewGoAllocator())
		made := fromArrow(t, values)

		_, err := made.ToDevice(ctx(), to, nil)
		mustBe(t, "ToDevice", err, want...)
		_, err = made.Copy(ctx(), to, nil)
		mustBe(t, "Copy", err, want...)
		got := toArrow(t, made)
		mustEqual(t, got, values)
		got.Release()

		queue, err := to.NewQueue()
		if err != nil {
			t.Fatal(err)
		}
		defer queue.Release()
		pending, err := fromArrow(t, values).ToDevice(context.Background(), to, &arrowdevice.CopyOptions{Async: true, Queue: queue})
		if err != nil {
			t.Fatal(err)
		}
		defer pending.Release()
		mustBe(t, "Wait", pending.Wait(ctx()), want...)
		mustBe(t, "Validate", pending.Validate(ctx(), arrowdevice.Full), want...)
		mustBe(t, "Finish", queue.Finish(ctx()), want...)
		mustBe(t, "WaitIdle", arrowdevice.WaitIdle(ctx()), want...)
		_, err = pending.ToHost(ctx(), nil)
		mustBe(t, "ToHost", err, want...)
		_, err = pending.ToArrow(ctx())
		mustBe(t, "ToArrow", err, want...)
		// Sizes of strings are on the device, so the copy waits for them before it is submitted.
		_, err = pending.Copy(ctx(), device(t, "ext_dev:0"), nil)
		mustBe(t, "Copy from there", err, want...)
		if ready, err := pending.IsReady(); ready || err != nil {
			t.Errorf("ready: %v, %v", ready, err)
		}
		if pending.Len() != int64(values.Len()) {
			t.Error("the array was released")
		}
	})
}

func TestWaitReturnsWhenTheWorkHasFinished(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		want := samples["map"].make(t, checked(t))
		defer want.Release()
		there, err := fromArrow(t, want).ToDevice(ctx, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ready, err := there.IsReady(); err != nil || !ready {
			t.Errorf("a complete copy is ready: %v, %v", ready, err)
		}
		copied, err := there.Copy(ctx, to, &arrowdevice.CopyOptions{Async: true})
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Release()
		if err := copied.Wait(ctx); err != nil {
			t.Error(err)
		}
		host, err := there.ToHost(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := host.ToArrow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Release()
		if !array.Equal(got, want) {
			t.Errorf("got %v", got)
		}
	})
}
