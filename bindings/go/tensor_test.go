// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// pairs returns three lists of two floats.
func pairs(allocator memory.Allocator) arrow.Array {
	builder := array.NewFixedSizeListBuilder(allocator, 2, arrow.PrimitiveTypes.Float32)
	defer builder.Release()
	for range 3 {
		builder.Append(true)
	}
	builder.ValueBuilder().(*array.Float32Builder).AppendValues([]float32{1, 2, 3, 4, 5, 6}, nil)
	return builder.NewArray()
}

func TestTensorsHaveTheRowsOnEachDeviceAndShareTheMemory(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, on arrowdevice.Device) {
		want := pairs(checked(t))
		defer want.Release()
		there, err := fromArrow(t, want).ToDevice(ctx, on, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Release()
		queue, err := on.NewQueue()
		if err != nil {
			t.Fatal(err)
		}
		defer queue.Release()
		tensor, err := there.ToTensor(ctx, queue)
		if err != nil {
			t.Fatal(err)
		}
		info, err := tensor.Info()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(info.Shape, []int64{3, 2}) || !slices.Equal(info.Strides, []int64{2, 1}) {
			t.Errorf("shape %v, strides %v", info.Shape, info.Strides)
		}
		if info.Code != 2 || info.Bits != 32 || info.Lanes != 1 || info.Data == 0 || info.ByteOffset != 0 {
			t.Errorf("another type or place: %+v", info)
		}
		back, err := arrowdevice.FromTensor(tensor, queue)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tensor.Info(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a tensor that was moved: %v", err)
		}
		got := toArrow(t, back)
		defer got.Release()
		mustEqual(t, got, want)
	})
}

func TestTensorsGoToOtherLibrariesByPointer(t *testing.T) {
	want := pairs(checked(t))
	defer want.Release()
	made := fromArrow(t, want)
	defer made.Release()
	tensor, err := made.ToTensor(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pointer, err := tensor.Detach()
	if err != nil {
		t.Fatal(err)
	}
	tensor.Release() // does nothing
	again, err := arrowdevice.TensorFromPointer(pointer)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := again.Info(); err != nil || !slices.Equal(info.Shape, []int64{3, 2}) {
		t.Errorf("%+v, %v", info, err)
	}
	again.Release()
	again.Release()
}

func TestNullsAndOtherVersionsAreNoTensors(t *testing.T) {
	builder := array.NewInt32Builder(checked(t))
	defer builder.Release()
	builder.AppendValues([]int32{1, 2}, []bool{true, false})
	nulls := builder.NewArray()
	defer nulls.Release()
	made := fromArrow(t, nulls)
	defer made.Release()
	if _, err := made.ToTensor(context.Background(), nil); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("an array with nulls: %v", err)
	}
	newer := [16]uint64{2} // the first four bytes are the major version
	if _, err := arrowdevice.TensorFromPointer(unsafe.Pointer(&newer)); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("another major version: %v", err)
	}
	if _, err := arrowdevice.TensorFromPointer(nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("nil: %v", err)
	}
}

func TestAContextEndsTheWaitForATensor(t *testing.T) {
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		// Not from checked(), because the copy is still pending when the test ends.
		made := fromArrow(t, pairs(memory.NewGoAllocator()))
		pending, err := made.ToDevice(context.Background(), pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
		if err != nil {
			t.Fatal(err)
		}
		defer pending.Release()
		_, err = pending.ToTensor(ctx(), nil)
		mustBe(t, "ToTensor", err, want...)
	})
}
