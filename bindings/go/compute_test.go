// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func mustFail(t *testing.T, err error, want syscall.Errno) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v is not %v", err, want)
	}
}

func TestArrayOfOwnsItsMemory(t *testing.T) {
	cpu := device(t, "cpu")
	memory := must[*arrowdevice.Memory](t)(cpu.Allocate(24, nil, nil))
	address := memory.Address()
	copy(unsafe.Slice(*(**int64)(unsafe.Pointer(&address)), 3), []int64{7, 8, 9}) // vet refuses a conversion of the number
	_, err := cpu.ArrayOf(arrow.PrimitiveTypes.Int64, 3, 0, nil, memory)
	mustFail(t, err, syscall.EINVAL) // a buffer is missing
	_, err = cpu.ArrayOf(arrow.PrimitiveTypes.Int64, 3, 0, nil, memory, memory)
	mustFail(t, err, syscall.EBUSY)
	_, err = device(t, "ext_dev:0").ArrayOf(arrow.PrimitiveTypes.Int64, 3, 0, nil, nil, memory)
	mustFail(t, err, syscall.EINVAL)

	_, err = cpu.ArrayOf(arrow.PrimitiveTypes.Int64, 100, 0, nil, nil, memory)
	mustFail(t, err, syscall.EINVAL) // the memory is too small

	made := must[*arrowdevice.Array](t)(cpu.ArrayOf(arrow.PrimitiveTypes.Int64, 3, 0, nil, nil, memory))
	if memory.Address() != 0 {
		t.Error("the memory still belongs to the program")
	}
	memory.Release()
	got := toArrow(t, made)
	defer got.Release()
	if values := got.(*array.Int64).Int64Values(); values[0] != 7 || values[2] != 9 {
		t.Errorf("values %v", values)
	}
}

func TestMemoryIsFreedAfterTheWorkOfItsQueue(t *testing.T) {
	to := pendingDevice(t)
	queue := must[*arrowdevice.Queue](t)(to.NewQueue())
	defer queue.Release()
	result := must[*arrowdevice.Memory](t)(to.Allocate(1<<20, queue, nil))
	busy := must[*arrowdevice.Array](t)(fromArrow(t, numbers.make(t, memory.NewGoAllocator())).ToDevice(
		context.Background(), to, &arrowdevice.CopyOptions{Async: true, Queue: queue}))
	defer busy.Release()
	before := must[arrowdevice.PoolStats](t)(to.PoolStats()).UsedBytes
	if err := result.ReleaseAfter(queue); err != nil {
		t.Fatal(err)
	}
	if err := result.ReleaseAfter(queue); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a second release: %v", err)
	}
	if used := must[arrowdevice.PoolStats](t)(to.PoolStats()).UsedBytes; used != before {
		t.Errorf("%d bytes in use (expected %d)", used, before)
	}
}

func TestUseHoldsTheMemoryOfItsArrays(t *testing.T) {
	to := pendingDevice(t)
	queue := must[*arrowdevice.Queue](t)(to.NewQueue())
	defer queue.Release()
	ctx := context.Background()
	// An array without pending work of its own, whose memory is freed as soon as nothing holds it.
	ready := func() *arrowdevice.Array {
		memory := must[*arrowdevice.Memory](t)(to.Allocate(24, nil, nil))
		return must[*arrowdevice.Array](t)(to.ArrayOf(arrow.PrimitiveTypes.Int64, 3, 0, nil, nil, memory))
	}
	submit := func() *arrowdevice.Array {
		return must[*arrowdevice.Array](t)(fromArrow(t, numbers.make(t, memory.NewGoAllocator())).ToDevice(
			ctx, to, &arrowdevice.CopyOptions{Async: true, Queue: queue}))
	}
	usedBytes := func() int64 { return must[arrowdevice.PoolStats](t)(to.PoolStats()).UsedBytes }
	free := usedBytes()
	ready().Release()
	if after := usedBytes(); after != free {
		t.Fatalf("%d bytes in use although nothing holds the array (expected %d)", after, free)
	}

	used := ready()
	var busy *arrowdevice.Array
	if err := queue.Use(ctx, func() error { busy = submit(); return nil }, used); err != nil {
		t.Fatal(err)
	}
	defer busy.Release()
	before := usedBytes()
	used.Release()
	if after := usedBytes(); after != before {
		t.Errorf("%d bytes in use (expected %d)", after, before)
	}

	// Without the queue, Use cannot release the array behind the work, so it holds the memory, also if
	// the program forgets the queue.
	again := ready()
	released := must[*arrowdevice.Queue](t)(to.NewQueue())
	before = usedBytes()
	mustFail(t, released.Use(ctx, func() error { released.Release(); return nil }, again), syscall.EINVAL)
	again.Release()
	released = nil
	for range 2 { // in the second round, all that the first has found is freed
		_ = ready()
		eventually(t, func() error {
			runtime.GC()
			if after := usedBytes(); after != before {
				return fmt.Errorf("%d bytes in use (expected %d)", after, before)
			}
			return nil
		})
	}

	failure := errors.New("the kernel failed")
	if err := queue.Use(ctx, func() error { return failure }, busy); !errors.Is(err, failure) {
		t.Errorf("the error of submit is lost: %v", err)
	}
}

func TestBuffersHaveRolesAndPaths(t *testing.T) {
	builder := array.NewRecordBuilder(checked(t), arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "t", Type: arrow.BinaryTypes.String},
	}, nil))
	defer builder.Release()
	builder.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2, 3}, []bool{true, false, true})
	builder.Field(1).(*array.StringBuilder).AppendValues([]string{"a", "b", "cd"}, nil)
	batch := builder.NewRecordBatch()
	defer batch.Release()
	onCPU := must[*arrowdevice.Array](t)(arrowdevice.FromRecordBatch(batch))
	defer onCPU.Release()
	found := map[string]int64{}
	names := map[arrowdevice.Role]string{arrowdevice.Validity: "validity", arrowdevice.Data: "data", arrowdevice.Offsets: "offsets"}
	for _, buffer := range must[[]arrowdevice.Buffer](t)(onCPU.Buffers()) {
		if buffer.Address != 0 {
			found[buffer.Path+" "+names[buffer.Role]] = buffer.Size
		}
	}
	for place, size := range map[string]int64{"n validity": 1, "n data": 12, "t offsets": 16, "t data": 4} {
		if found[place] != size {
			t.Errorf("%s has %d bytes (expected %d)", place, found[place], size)
		}
	}
	slice := must[*arrowdevice.Array](t)(fromArrow(t, numbers.make(t, memory.NewGoAllocator())).Slice(1, 1))
	defer slice.Release()
	if slice.Offset() != 1 {
		t.Errorf("offset %d (expected 1)", slice.Offset())
	}
}

func TestNativeHandlesOfADevice(t *testing.T) {
	native, err := device(t, "opencl:0").Native()
	if err != nil {
		t.Fatal(err)
	}
	if native.Platform == 0 || native.Context == 0 || native.Device == 0 {
		t.Errorf("%+v", native)
	}
	mustFail(t, func() error { _, err := (arrowdevice.Device{}).Native(); return err }(), syscall.EINVAL)
}

func TestLockQueueAdmitsOneSubmitterAtATime(t *testing.T) {
	to := device(t, "vulkan:0")
	queue := must[*arrowdevice.Queue](t)(to.NewQueue())
	defer queue.Release()
	native := must[arrowdevice.NativeQueue](t)(queue.Native())
	var inside atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 1000 {
				err := to.LockQueue(native, func() error {
					defer inside.Add(-1)
					if others := inside.Add(1); others != 1 {
						return fmt.Errorf("%d submitters at once", others)
					}
					runtime.Gosched()
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestLockQueueUnlocksAfterAPanic(t *testing.T) {
	to := device(t, "vulkan:0")
	queue := must[*arrowdevice.Queue](t)(to.NewQueue())
	defer queue.Release()
	native := must[arrowdevice.NativeQueue](t)(queue.Native())
	func() {
		defer func() { _ = recover() }()
		_ = to.LockQueue(native, func() error { panic("the submitter's own") })
	}()
	array := must[*arrowdevice.Array](t)(fromArrow(t, numbers.make(t, memory.NewGoAllocator())).ToDevice(
		context.Background(), to, &arrowdevice.CopyOptions{Queue: queue})) // hangs if the queue is still locked
	array.Release()
}

func TestLockQueueReturnsTheErrorOfSubmit(t *testing.T) {
	failure := errors.New("the submission failed")
	for _, name := range []string{"opencl:0", "vulkan:0"} {
		to := device(t, name)
		queue := must[*arrowdevice.Queue](t)(to.NewQueue())
		defer queue.Release()
		native := must[arrowdevice.NativeQueue](t)(queue.Native())
		if err := to.LockQueue(native, func() error { return failure }); !errors.Is(err, failure) {
			t.Errorf("%s: %v is not the error of submit", name, err)
		}
	}
	err := (arrowdevice.Device{}).LockQueue(arrowdevice.NativeQueue{}, func() error { t.Error("submitted"); return nil })
	mustFail(t, err, syscall.EINVAL)
}
