// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
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

// waitingCalls returns calls that end with their context on a device that hangs. Made is on the CPU, and pending is on its
// way to the device with the work of queue.
func waitingCalls(t *testing.T, to arrowdevice.Device, schema *arrow.Schema, made, pending *arrowdevice.Array, queue *arrowdevice.Queue) map[string]func(context.Context) error {
	moves := func(move func(ctx context.Context) (*arrowdevice.Array, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := move(ctx)
			return err
		}
	}
	return map[string]func(context.Context) error{
		"to_device": moves(func(ctx context.Context) (*arrowdevice.Array, error) { return made.ToDevice(ctx, to, nil) }),
		"copy":      moves(func(ctx context.Context) (*arrowdevice.Array, error) { return made.Copy(ctx, to, nil) }),
		"to_host":   moves(func(ctx context.Context) (*arrowdevice.Array, error) { return pending.ToHost(ctx, nil) }),
		// Sizes of strings are on the device, so the copy waits for them before it is submitted.
		"copy from there": moves(func(ctx context.Context) (*arrowdevice.Array, error) {
			return pending.Copy(ctx, device(t, "ext_dev:0"), nil)
		}),
		"stream": func(ctx context.Context) error {
			shared, err := pending.Share()
			if err != nil {
				return err
			}
			stream, err := arrowdevice.NewStream(arrowdevice.ExtDev, schema, shared)
			if err != nil {
				return err
			}
			home, err := stream.ToDevice(device(t, "cpu"), nil)
			if err != nil {
				return err
			}
			defer home.Release()
			_, err = home.Next(ctx)
			return err
		},
		"get_ipc_handle": func(ctx context.Context) error {
			_, err := pending.IPCHandle(ctx, nil)
			return err
		},
		"ToArrow": func(ctx context.Context) error {
			_, err := pending.ToArrow(ctx)
			return err
		},
		"wait":     pending.Wait,
		"validate": func(ctx context.Context) error { return pending.Validate(ctx, arrowdevice.Full) },
		"finish":   queue.Finish,
		"wait_idle": func(ctx context.Context) error {
			// A released copy that still runs is deferred work.
			there, err := made.Copy(context.Background(), to, &arrowdevice.CopyOptions{Async: true})
			if err != nil {
				return err
			}
			there.Release()
			return arrowdevice.WaitIdle(ctx)
		},
	}
}

func TestContextEndsEveryWaitAndLosesNothing(t *testing.T) {
	to := pendingDevice(t)
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		// This memory is not from checked(), because copies of it are still pending when the tests
		// end.
		texts := samples["string"].make(t, memory.NewGoAllocator())
		values, err := array.NewStructArray([]arrow.Array{texts}, []string{"text"})
		if err != nil {
			t.Fatal(err)
		}
		schema := arrow.NewSchema(values.DataType().(*arrow.StructType).Fields(), nil)
		made := fromArrow(t, values)
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

		calls := waitingCalls(t, to, schema, made, pending, queue)
		for name, call := range calls {
			begin := time.Now()
			mustBe(t, name, call(ctx()), want...)
			if elapsed := time.Since(begin); elapsed > 2*time.Second {
				t.Errorf("%s ended after %v", name, elapsed)
			}
		}
		for _, name := range listedCalls(t) {
			if calls[name] == nil {
				t.Errorf("the list has a call that this test does not know: %s", name)
			}
		}
		got := toArrow(t, made)
		mustEqual(t, got, values)
		got.Release()
		if ready, err := pending.IsReady(); ready || err != nil {
			t.Errorf("ready: %v, %v", ready, err)
		}
		if pending.Len() != int64(values.Len()) {
			t.Error("the array was released")
		}
	})
}

// listedCalls returns the calls with a time-out that each language tests. Go has no imports.
func listedCalls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../tests/support/limited_calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "#") || line == "import"
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
