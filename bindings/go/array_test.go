// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var numbers = sample{arrow.PrimitiveTypes.Int64, `[1, 2, 3, null]`}

func TestSecondReleaseDoesNothing(t *testing.T) {
	want := numbers.make(t, checked(t))
	defer want.Release()
	made := fromArrow(t, want)
	made.Release()
	made.Release()
	var none *arrowdevice.Array
	none.Release()
}

func TestUseAfterReleaseFails(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:0")
	queue, err := to.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Release()
	released := fromArrow(t, numbers.make(t, memory.NewGoAllocator()))
	released.Release()
	for state, a := range map[string]*arrowdevice.Array{"released": released, "nil": nil, "zero": {}} {
		_, device := a.Device()
		_, field := a.Field()
		_, ready := a.IsReady()
		_, share := a.Share()
		_, slice := a.Slice(0, 1)
		_, selected := a.Select(0)
		_, copied := a.Copy(ctx, to, nil)
		_, moved := a.ToDevice(ctx, to, nil)
		_, host := a.ToHost(ctx, nil)
		_, arrow := a.ToArrow(ctx)
		_, batch := a.ToRecordBatch(ctx)
		_, handle := a.IPCHandle(ctx, nil)
		_, stream := arrowdevice.NewStream(arrowdevice.CPU, numbers.schema(), a)
		for function, err := range map[string]error{
			"Device": device, "Field": field, "Ready": ready, "Share": share, "Slice": slice, "Select": selected, "Copy": copied,
			"ToDevice": moved, "ToHost": host, "ToArrow": arrow, "ToRecordBatch": batch, "NewStream": stream, "IPCHandle": handle,
			"Wait": a.Wait(ctx), "Validate": a.Validate(ctx, arrowdevice.Full), "ReleaseAfter": a.ReleaseAfter(queue),
			"WaitArray": queue.WaitArray(ctx, a),
		} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s of a %s array: %v", function, state, err)
			}
		}
		if a.Len() != 0 {
			t.Errorf("a %s array has %d rows", state, a.Len())
		}
	}
}

func (s sample) schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "value", Type: s.type_, Nullable: true}}, nil)
}

func TestFailedCallsLeaveTheArrayUnchanged(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:0")
	tight, err := to.NewPool(arrowdevice.PoolOptions{MaxBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tight.Release()
	elsewhere, err := device(t, "ext_dev:1").NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Release()
	want := numbers.make(t, checked(t))
	defer want.Release()
	made := fromArrow(t, want)
	stoppable, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, ctx := range []context.Context{ctx, stoppable} {
		for name, failure := range map[string]struct {
			options *arrowdevice.CopyOptions
			to      arrowdevice.Device
			code    syscall.Errno
		}{
			"no room":        {&arrowdevice.CopyOptions{Pool: tight}, to, syscall.ENOMEM},
			"no device":      {nil, arrowdevice.Device{}, syscall.EINVAL},
			"no copy":        {&arrowdevice.CopyOptions{Never: true}, to, syscall.ENOTSUP},
			"contradictions": {&arrowdevice.CopyOptions{Never: true, Always: true}, to, syscall.EINVAL},
			"a foreign pool": {&arrowdevice.CopyOptions{Pool: tight}, device(t, "ext_dev:1"), syscall.EINVAL},
		} {
			_, err := made.ToDevice(ctx, failure.to, failure.options)
			var e *arrowdevice.Error
			if !errors.As(err, &e) || e.Code != failure.code || e.Message == "" || e.Function != "array_to_device" {
				t.Errorf("%s: %#v", name, err)
			}
		}
	}
	if _, err := made.Slice(2, 3); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "rows") {
		t.Errorf("slice: %v", err)
	}
	if _, err := made.Select(0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("select: %v", err)
	}
	if _, err := arrowdevice.NewStream(arrowdevice.ExtDev, numbers.schema(), made); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("stream: %v", err)
	}
	if err := made.Export(nil, nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("export: %v", err)
	}
	got := toArrow(t, made)
	defer got.Release()
	mustEqual(t, got, want)
}

func TestErrorsHaveTheDriversMessage(t *testing.T) {
	made := fromArrow(t, numbers.make(t, memory.NewGoAllocator()))
	to := device(t, "ext_dev:0")
	tight, err := to.NewPool(arrowdevice.PoolOptions{MaxBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tight.Release()
	_, err = made.Copy(context.Background(), to, &arrowdevice.CopyOptions{Pool: tight})
	var e *arrowdevice.Error
	if !errors.As(err, &e) || e.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Fatalf("%#v", err)
	}
	if text := err.Error(); !strings.HasPrefix(text, "arrowdevice_array_to_device: ") || !strings.Contains(text, e.Message) {
		t.Errorf("%q", text)
	}
}

func TestFromArrowRefusesNil(t *testing.T) {
	if _, err := arrowdevice.FromArrow(nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("array: %v", err)
	}
	if _, err := arrowdevice.FromRecordBatch(nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("record batch: %v", err)
	}
	if _, err := arrowdevice.FromReader(nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("reader: %v", err)
	}
	if _, err := arrowdevice.Import(nil, nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("import: %v", err)
	}
	if _, err := arrowdevice.ImportStream(nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("import of a stream: %v", err)
	}
}

func TestValidateNamesTheInvalidChild(t *testing.T) {
	ctx := context.Background()
	// The last offset is beyond the end of the data.
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1, 9}))
	data := array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("ab"))}, nil, 0, 0)
	defer data.Release()
	text := array.NewStringData(array.NewData(arrow.BinaryTypes.String, 1, []*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("\xffb"))}, nil, 0, 0))
	defer text.Release()
	made := fromArrow(t, text)
	if err := made.Validate(ctx, arrowdevice.Structure); err != nil {
		t.Error(err)
	}
	if err := made.Validate(ctx, arrowdevice.Full); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("full: %v", err)
	}
}

func TestCopiesAndSharesOutliveTheirSource(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		pool := poolOf(t, to)
		want := samples["list"].make(t, checked(t))
		defer want.Release()
		made := fromArrow(t, want)
		copied, err := made.Copy(ctx, to, &arrowdevice.CopyOptions{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := pool.Stats()
		if err != nil || stats.UsedBytes <= 0 {
			t.Errorf("%d bytes of the pool are used: %v", stats.UsedBytes, err)
		}
		shared, err := copied.Share()
		if err != nil {
			t.Fatal(err)
		}
		copied.Release()
		made.Release()
		got := toArrow(t, shared)
		defer got.Release()
		mustEqual(t, got, want)
	})
}

func TestAsyncCopiesFollowTheOrderOfTheirQueue(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		pool := poolOf(t, to)
		queue, err := to.NewQueue()
		if err != nil {
			t.Fatal(err)
		}
		want := samples["string"].make(t, checked(t))
		defer want.Release()
		options := &arrowdevice.CopyOptions{Async: true, Queue: queue, Pool: pool}
		there, err := fromArrow(t, want).ToDevice(ctx, to, options)
		if err != nil {
			t.Fatal(err)
		}
		again, err := there.Copy(ctx, to, options)
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.WaitArray(ctx, again); err != nil {
			t.Error(err)
		}
		if err := there.ReleaseAfter(queue); err != nil {
			t.Error(err)
		}
		if _, err := there.IsReady(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("after ReleaseAfter: %v", err)
		}
		if err := queue.Finish(ctx); err != nil {
			t.Error(err)
		}
		if ready, err := again.IsReady(); err != nil || !ready {
			t.Errorf("ready: %v, %v", ready, err)
		}
		queue.Release()
		if err := queue.Finish(ctx); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a released queue: %v", err)
		}
		got := toArrow(t, again)
		defer got.Release()
		mustEqual(t, got, want)
	})
}

func TestManyGoroutinesUseOneArray(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		pool := poolOf(t, to)
		want := samples["list"].make(t, checked(t))
		defer want.Release()
		there, err := fromArrow(t, want).ToDevice(ctx, to, &arrowdevice.CopyOptions{Always: true, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		var users sync.WaitGroup
		for n := range 8 {
			users.Go(func() {
				for i := range 20 {
					offset := int64((n + i) % 5)
					some, err := there.Slice(offset, 1)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := some.ToArrow(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					one := array.NewSlice(want, offset, offset+1)
					if !array.Equal(got, one) {
						t.Errorf("row %d is %v", offset, got)
					}
					one.Release()
					got.Release()
				}
			})
		}
		users.Wait()
		there.Release()
	})
}

func TestReleaseDuringUseWaitsForTheUsers(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:1")
	pool := poolOf(t, to)
	allocator := checked(t)
	for range 20 {
		want := numbers.make(t, allocator)
		there, err := fromArrow(t, want).ToDevice(ctx, to, &arrowdevice.CopyOptions{Pool: pool})
		want.Release()
		if err != nil {
			t.Fatal(err)
		}
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for {
					copied, err := there.Copy(ctx, to, &arrowdevice.CopyOptions{Pool: pool})
					if errors.Is(err, syscall.EINVAL) && there.Len() == 0 {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					copied.Release()
				}
			})
			users.Go(there.Release)
		}
		users.Wait()
	}
}

func TestGarbageCollectorReleasesForgottenArrays(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		pool := poolOf(t, to) // fails the test if the pool is not empty at the end
		want := samples["struct"].make(t, checked(t))
		before, err := to.Counters()
		if err != nil {
			t.Fatal(err)
		}
		const rounds = 200
		for range rounds {
			made, err := arrowdevice.FromArrow(want)
			if err != nil {
				t.Fatal(err)
			}
			there, err := made.ToDevice(ctx, to, &arrowdevice.CopyOptions{Always: true, Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := there.Slice(1, 2); err != nil {
				t.Fatal(err)
			}
			if _, err := to.NewQueue(); err != nil {
				t.Fatal(err)
			}
		}
		want.Release()
		eventually(t, func() error {
			stats, err := pool.Stats()
			if err == nil && stats.UsedBytes != 0 {
				err = fmt.Errorf("%d bytes are still used", stats.UsedBytes)
			}
			return err
		})
		// The pool reuses the collected memory, so another round needs no allocation by the driver.
		middle, err := to.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if middle.DriverAllocations == before.DriverAllocations && to.String() != "cpu:0" {
			t.Error("the driver allocated nothing, so the test checks nothing")
		}
		again := samples["struct"].make(t, checked(t))
		defer again.Release()
		copied, err := fromArrow(t, again).Copy(ctx, to, &arrowdevice.CopyOptions{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		copied.Release()
		after, err := to.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if after.DriverAllocations != middle.DriverAllocations {
			t.Errorf("the driver allocated %d more buffers", after.DriverAllocations-middle.DriverAllocations)
		}
	})
}
