// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// wrappedFor wraps a program's queue. Only the user of the result keeps it reachable.
func wrappedFor(t *testing.T, own *arrowdevice.Queue) *arrowdevice.Queue {
	t.Helper()
	native, err := own.Native()
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := device(t, "ext_dev:0").WrapQueue(native)
	if err != nil {
		t.Fatal(err)
	}
	return wrapped
}

func ownQueue(t *testing.T) *arrowdevice.Queue {
	t.Helper()
	own, err := device(t, "ext_dev:0").NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Release)
	return own
}

// collected returns a channel that is closed when the garbage collector has found a queue.
func collected(queue *arrowdevice.Queue) <-chan struct{} {
	found := make(chan struct{})
	runtime.AddCleanup(queue, func(found chan struct{}) { close(found) }, found)
	return found
}

var (
	errStillReachable = errors.New("the queue is still reachable")
	errStillBehind    = errors.New("the stream uses a queue that was released")
)

func mustBeForgotten(t *testing.T, found <-chan struct{}) {
	t.Helper()
	eventually(t, func() error {
		select {
		case <-found:
			return nil
		default:
			return errStillReachable
		}
	})
}

// onQueue makes a stream of numbers to ext_dev:0. The test leaves it to the garbage collector.
func onQueue(t *testing.T, queue *arrowdevice.Queue) *arrowdevice.Stream {
	t.Helper()
	one, err := arrowdevice.FromRecordBatch(recordOf(t, arrow.PrimitiveTypes.Int64, `[1, 2, 3]`))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := one.Schema()
	if err != nil {
		t.Fatal(err)
	}
	stream, err := arrowdevice.NewStream(arrowdevice.CPU, schema, one)
	if err != nil {
		t.Fatal(err)
	}
	there, err := stream.ToDevice(device(t, "ext_dev:0"), &arrowdevice.StreamOptions{Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

// nextBesidePending returns the next array of the stream, after the program's queue has got work that stays pending.
func nextBesidePending(t *testing.T, own *arrowdevice.Queue, stream *arrowdevice.Stream) *arrowdevice.Array {
	t.Helper()
	ctx := context.Background()
	// This memory is not from checked(), because copies of it are still pending when the tests end.
	some := func() *arrowdevice.Array { return fromArrow(t, numbers.make(t, memory.NewGoAllocator())) }
	pending, err := some().ToDevice(ctx, pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pending.Release)
	if err := own.WaitArray(ctx, pending); err != nil {
		t.Fatal(err)
	}
	next, err := stream.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(next.Release)
	return next
}

// isBehind returns true if the next array of the stream waits for the work on the program's queue.
func isBehind(t *testing.T, own *arrowdevice.Queue, stream *arrowdevice.Stream) bool {
	t.Helper()
	next := nextBesidePending(t, own, stream)
	// Work that was submitted later to another queue has finished. Without the queue, this work
	// would have finished too.
	later, err := fromArrow(t, numbers.make(t, memory.NewGoAllocator())).ToDevice(context.Background(), device(t, "ext_dev:0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	later.Release()
	ready, err := next.IsReady()
	if err != nil {
		t.Fatal(err)
	}
	return !ready
}

func TestStreamKeepsAForgottenWrappedQueue(t *testing.T) {
	own := ownQueue(t)
	stream := onQueue(t, wrappedFor(t, own))
	mustBeForgotten(t, collected(wrappedFor(t, own))) // a garbage collection that would also find the stream's queue
	if !isBehind(t, own, stream) {
		t.Error("the stream does not use the program's queue")
	}

	own = ownQueue(t)
	wrapped := wrappedFor(t, own)
	stream = onQueue(t, wrapped)
	wrapped.Release()
	next := nextBesidePending(t, own, stream)
	eventually(t, func() error {
		ready, err := next.IsReady()
		if err == nil && !ready {
			return errStillBehind
		}
		return err
	})
}

func TestStreamsBehindAStreamKeepItsWrappedQueue(t *testing.T) {
	for name, behind := range map[string]func(t *testing.T, stream *arrowdevice.Stream) any{
		"a stream behind others": func(t *testing.T, stream *arrowdevice.Stream) any {
			for _, to := range []string{"cpu", "ext_dev:1"} {
				next, err := stream.ToDevice(device(t, to), &arrowdevice.StreamOptions{})
				if err != nil {
					t.Fatal(err)
				}
				stream = next
			}
			return stream
		},
		"a reader": func(t *testing.T, stream *arrowdevice.Stream) any {
			reader, err := stream.Reader(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return reader
		},
		"a stream that was refused": func(t *testing.T, stream *arrowdevice.Stream) any {
			foreign, err := device(t, "opencl:0").NewQueue()
			if err != nil {
				t.Fatal(err)
			}
			defer foreign.Release()
			if _, err := stream.ToDevice(device(t, "ext_dev:1"), &arrowdevice.StreamOptions{Queue: foreign}); !errors.Is(err, syscall.EINVAL) {
				t.Fatalf("a queue of another backend: %v", err)
			}
			return stream
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := ownQueue(t)
			wrapped := wrappedFor(t, own)
			given := collected(wrapped)
			last := behind(t, onQueue(t, wrapped))
			mustBeForgotten(t, collected(wrappedFor(t, own)))
			select {
			case <-given:
				t.Error("the garbage collector freed the queue")
			default:
			}
			runtime.KeepAlive(last)
			last = nil
			mustBeForgotten(t, given)
		})
	}
}

func TestExportedStreamKeepsNoQueue(t *testing.T) {
	wrapped := wrappedFor(t, ownQueue(t))
	given := collected(wrapped)
	var c cStream
	if err := onQueue(t, wrapped).Export(unsafe.Pointer(&c)); err != nil {
		t.Fatal(err)
	}
	mustBeForgotten(t, given)
	stream, err := arrowdevice.ImportStream(unsafe.Pointer(&c))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	if _, err := stream.Next(context.Background()); err != nil {
		t.Errorf("the stream does not continue: %v", err)
	}
}
