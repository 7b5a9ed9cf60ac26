// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// batches returns record batches that are different rows of one record batch.
func batches(t testing.TB, allocator memory.Allocator, n int) []arrow.RecordBatch {
	t.Helper()
	whole := records(t, allocator)
	defer whole.Release()
	made := make([]arrow.RecordBatch, n)
	for i := range made {
		made[i] = whole.NewSlice(int64(i%3), 4)
		t.Cleanup(made[i].Release)
	}
	return made
}

func readerOf(t testing.TB, batches []arrow.RecordBatch) array.RecordReader {
	t.Helper()
	reader, err := array.NewRecordReader(batches[0].Schema(), batches)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// fromReader makes a stream that owns the reader.
func fromReader(t testing.TB, reader array.RecordReader) *arrowdevice.Stream {
	t.Helper()
	defer reader.Release()
	stream, err := arrowdevice.FromReader(reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Release)
	return stream
}

func TestStreamsSurviveARoundTrip(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, options := range map[string]*arrowdevice.StreamOptions{
		"pulled": nil, "read ahead": {ReadAhead: true, Depth: 3, Always: true, Timeout: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
				want := batches(t, checked(t), 10)
				stream := fromReader(t, readerOf(t, want))
				there, err := stream.ToDevice(to, options)
				if err != nil {
					t.Fatal(err)
				}
				defer there.Release()
				if _, err := stream.Next(ctx); !errors.Is(err, syscall.EINVAL) {
					t.Errorf("a moved stream: %v", err)
				}
				info, err := to.Info()
				if err != nil || there.DeviceType() != info.Type {
					t.Errorf("a stream on %v, %v", there.DeviceType(), err)
				}
				first, err := there.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if on, err := first.Device(); err != nil || on != to {
					t.Errorf("the array is on %v, %v", on, err)
				}
				got, err := first.ToRecordBatch(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer got.Release()
				if !array.RecordEqual(got, want[0]) {
					t.Errorf("got %v", got)
				}
				reader, err := there.Reader(ctx, options)
				if err != nil {
					t.Fatal(err)
				}
				defer reader.Release()
				if !reader.Schema().Equal(want[0].Schema()) {
					t.Errorf("schema: %v", reader.Schema())
				}
				for _, batch := range want[1:] {
					if !reader.Next() || !array.RecordEqual(reader.RecordBatch(), batch) {
						t.Fatalf("got %v, %v", reader.RecordBatch(), reader.Err())
					}
				}
				if reader.Next() || reader.Next() || reader.Err() != nil {
					t.Errorf("after the end: %v", reader.Err())
				}
			})
		})
	}
}

func TestAllRangesOverAStream(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 5)
	var arrays []*arrowdevice.Array
	for _, batch := range want {
		one, err := arrowdevice.FromRecordBatch(batch)
		if err != nil {
			t.Fatal(err)
		}
		arrays = append(arrays, one)
	}
	stream, err := arrowdevice.NewStream(arrowdevice.CPU, want[0].Schema(), arrays...)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	schema, err := stream.Schema(ctx)
	if err != nil || !schema.Equal(want[0].Schema()) {
		t.Errorf("%v, %v", schema, err)
	}
	n := 0
	for one, err := range stream.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.ToRecordBatch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordEqual(got, want[n]) {
			t.Errorf("batch %d: %v", n, got)
		}
		got.Release()
		if n++; n == 3 {
			break // leaves the rest in the stream
		}
	}
	for _, err := range stream.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n++ // leaves the arrays to the garbage collector
	}
	if n != len(want) {
		t.Errorf("%d batches", n)
	}
	if _, err := stream.Next(ctx); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	empty, err := arrowdevice.NewStream(arrowdevice.CPU, want[0].Schema())
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Release()
	if _, err := empty.Next(ctx); err != io.EOF {
		t.Errorf("an empty stream: %v", err)
	}
}

// waiting is a reader whose calls block until the test lets them continue.
type waiting struct {
	array.RecordReader
	called, resume chan struct{}
	once           sync.Once
}

func (r *waiting) Next() bool {
	r.once.Do(func() { close(r.called) })
	<-r.resume
	return r.RecordReader.Next()
}

func TestContextEndsAWaitingStream(t *testing.T) {
	for name, ahead := range map[string]bool{"in the producer": false, "for its thread": true} {
		t.Run(name, func(t *testing.T) {
			endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
				source := &waiting{RecordReader: readerOf(t, batches(t, checked(t), 3)), called: make(chan struct{}), resume: make(chan struct{})}
				stream := fromReader(t, source)
				there, err := stream.ToDevice(device(t, "ext_dev:0"), &arrowdevice.StreamOptions{ReadAhead: ahead})
				if err != nil {
					t.Fatal(err)
				}
				defer close(source.resume)
				_, err = there.Next(ctx())
				mustBe(t, "Next", err, want...)
				_, err = there.Next(context.Background())
				mustBe(t, "Next after it", err, syscall.ECANCELED)
				there.Release() // runs while the producer may still be called
			})
		})
	}
}

func TestCancelledStreamStaysCancelled(t *testing.T) {
	ctx := context.Background()
	source := &waiting{RecordReader: readerOf(t, batches(t, checked(t), 3)), called: make(chan struct{}), resume: make(chan struct{})}
	there, err := fromReader(t, source).ToDevice(device(t, "ext_dev:0"), &arrowdevice.StreamOptions{ReadAhead: true})
	if err != nil {
		t.Fatal(err)
	}
	defer there.Release()
	answer := make(chan error)
	go func() {
		_, err := there.Next(ctx)
		answer <- err
	}()
	<-source.called
	if _, err := there.ToDevice(device(t, "cpu"), nil); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a stream in use: %v", err)
	}
	there.Cancel()
	mustBe(t, "Next that waits", <-answer, syscall.ECANCELED, context.Canceled)
	_, err = there.Next(ctx)
	mustBe(t, "Next after Cancel", err, syscall.ECANCELED)
	close(source.resume)
}

func TestGarbageCollectorReleasesForgottenStreams(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:0")
	pool := poolOf(t, to)
	allocator := checked(t)
	for range 20 {
		source := readerOf(t, batches(t, allocator, 4))
		stream, err := arrowdevice.FromReader(source)
		if err != nil {
			t.Fatal(err)
		}
		source.Release()
		there, err := stream.ToDevice(to, &arrowdevice.StreamOptions{ReadAhead: true, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := there.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStreamsRefuseMisuse(t *testing.T) {
	ctx := context.Background()
	released := fromReader(t, readerOf(t, batches(t, checked(t), 1)))
	released.Release()
	released.Release()
	for state, s := range map[string]*arrowdevice.Stream{"released": released, "nil": nil, "zero": {}} {
		_, next := s.Next(ctx)
		_, schema := s.Schema(ctx)
		_, moved := s.ToDevice(device(t, "cpu"), nil)
		_, reader := s.Reader(ctx, nil)
		for function, err := range map[string]error{"Next": next, "Schema": schema, "ToDevice": moved, "Reader": reader} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s of a %s stream: %v", function, state, err)
			}
		}
		s.Cancel()
		if s.DeviceType() != 0 {
			t.Errorf("a %s stream is on %v", state, s.DeviceType())
		}
	}
	want := batches(t, checked(t), 1)
	stream := fromReader(t, readerOf(t, want))
	if _, err := stream.ToDevice(arrowdevice.Device{}, nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no device: %v", err)
	}
	if _, err := stream.ToDevice(device(t, "cpu"), &arrowdevice.StreamOptions{Depth: -1}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no depth: %v", err)
	}
	got, err := stream.Next(ctx)
	if err != nil || got.Len() != want[0].NumRows() {
		t.Errorf("the stream was released: %v", err)
	}
}

// C structs, as another library has them.
type (
	cArray  [16]uint64
	cSchema [9]uint64
	cStream [6]uint64
)

func TestExportAndImportExchangeStructs(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:1")
	want := batches(t, checked(t), 3)
	made, err := arrowdevice.FromRecordBatch(want[0])
	if err != nil {
		t.Fatal(err)
	}
	there, err := made.ToDevice(ctx, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	var c cArray
	var schema cSchema
	if err := there.Export(unsafe.Pointer(&c), unsafe.Pointer(&schema)); err != nil {
		t.Fatal(err)
	}
	if there.Len() != 0 || c[0] != 4 {
		t.Error("the exported array can still be used")
	}
	back, err := arrowdevice.Import(unsafe.Pointer(&c), unsafe.Pointer(&schema))
	if err != nil {
		t.Fatal(err)
	}
	defer back.Release()
	if _, err := arrowdevice.Import(unsafe.Pointer(&c), unsafe.Pointer(&schema)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("an imported struct: %v", err)
	}
	got, err := back.ToRecordBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if !array.RecordEqual(got, want[0]) {
		t.Errorf("got %v", got)
	}

	var s cStream
	if err := fromReader(t, readerOf(t, want)).Export(unsafe.Pointer(&s)); err != nil {
		t.Fatal(err)
	}
	stream, err := arrowdevice.ImportStream(unsafe.Pointer(&s))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	if _, err := arrowdevice.ImportStream(unsafe.Pointer(&s)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("an imported stream: %v", err)
	}
	n := 0
	for one, err := range stream.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		one.Release()
		n++
	}
	if n != len(want) {
		t.Errorf("%d batches", n)
	}
}

func recordOf(t testing.TB, type_ arrow.DataType, values string) arrow.RecordBatch {
	t.Helper()
	column := sample{type_, values}.make(t, memory.NewGoAllocator())
	defer column.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: type_, Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column}, int64(column.Len()))
	t.Cleanup(batch.Release)
	return batch
}

func TestNewStreamRefusesArraysOfAnotherType(t *testing.T) {
	inner := func(type_ arrow.DataType) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: "x", Type: arrow.ListOf(type_), Nullable: true})
	}
	dictionary := func(values arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: values}
	}
	for name, types := range map[string]struct {
		wanted, got   arrow.DataType
		values, place string
	}{
		"narrower":   {arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, `[1, 2]`, `column 0 has format "i" (expected "l")`},
		"deeper":     {inner(arrow.PrimitiveTypes.Int64), inner(arrow.PrimitiveTypes.Int8), `[{"x": [1]}]`, `column 0.0.0 has format "c" (expected "l")`},
		"children":   {arrow.StructOf(), inner(arrow.PrimitiveTypes.Int8), `[{"x": [1]}]`, `column 0 has 1 children (expected 0)`},
		"dictionary": {arrow.PrimitiveTypes.Int8, dictionary(arrow.BinaryTypes.String), `["a"]`, `only one of the types has a dictionary at column 0`},
		"values": {dictionary(arrow.BinaryTypes.LargeString), dictionary(arrow.BinaryTypes.String), `["a"]`,
			`the dictionary of column 0 has format "u" (expected "U")`},
	} {
		t.Run(name, func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: types.wanted, Nullable: true}}, nil)
			made, err := arrowdevice.FromRecordBatch(recordOf(t, types.got, types.values))
			if err != nil {
				t.Fatal(err)
			}
			defer made.Release()
			stream, err := arrowdevice.NewStream(arrowdevice.CPU, schema, made)
			if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "array 0: "+types.place) {
				stream.Release()
				t.Fatalf("the input was accepted: %v", err)
			}
			if made.Len() == 0 {
				t.Error("the array was released")
			}
		})
	}
}

// unknowing is a reader whose Schema blocks until the test lets it continue.
type unknowing struct {
	array.RecordReader
	called, resume chan struct{}
	once           sync.Once
}

func (r *unknowing) Schema() *arrow.Schema {
	r.once.Do(func() { close(r.called) })
	<-r.resume
	return r.RecordReader.Schema()
}

func TestSchemaEndsWithItsContext(t *testing.T) {
	ctx := context.Background()
	ended, end := context.WithCancel(ctx)
	end()
	want := batches(t, checked(t), 2)
	source := &unknowing{RecordReader: readerOf(t, want), called: make(chan struct{}), resume: make(chan struct{})}
	stream := fromReader(t, source)
	_, err := stream.Schema(ended)
	mustBe(t, "Schema that asked nothing", err, context.Canceled)
	_, err = stream.Reader(ended, nil)
	mustBe(t, "Reader that asked nothing", err, context.Canceled)
	close(source.resume)
	next, err := stream.Next(ctx)
	if err != nil {
		t.Fatalf("the stream was released: %v", err)
	}
	next.Release()
	for name, asked := range map[string]context.Context{"one that goes on": ctx, "one that has ended": ended} {
		if schema, err := stream.Schema(asked); err != nil || !schema.Equal(want[0].Schema()) {
			t.Errorf("a known type, with a context, %s: %v, %v", name, schema, err)
		}
	}
	if next, err = stream.Next(ctx); err != nil {
		t.Fatalf("the stream was released: %v", err)
	}
	next.Release()
	stream.Cancel()
	if _, err := stream.Schema(ctx); err != nil {
		t.Errorf("a known type of a cancelled stream: %v", err)
	}

	source = &unknowing{RecordReader: readerOf(t, batches(t, checked(t), 1)), called: make(chan struct{}), resume: make(chan struct{})}
	defer close(source.resume)
	stream = fromReader(t, source)
	ending, end := context.WithCancel(ctx)
	go func() {
		<-source.called
		end()
	}()
	_, err = stream.Schema(ending)
	mustBe(t, "Schema that asked", err, context.Canceled)
	_, err = stream.Schema(ctx)
	mustBe(t, "Schema after it", err, syscall.ECANCELED)
}
