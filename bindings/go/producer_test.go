// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// failing is a reader that fails after its first record batch.
type failing struct {
	array.RecordReader
	asked int
	err   error
}

func (r *failing) Next() bool {
	r.asked++
	return r.asked == 1 && r.RecordReader.Next()
}

func (r *failing) Err() error {
	if r.asked > 1 {
		return r.err
	}
	return nil
}

func TestStreamReturnsTheErrorOfItsReader(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:1")
	for code, said := range map[syscall.Errno]error{
		syscall.EIO:    errors.New("the file ends too early"),
		syscall.ENOENT: &arrowdevice.Error{Code: syscall.ENOENT, Function: "test", Message: "no such file"},
	} {
		stream := fromReader(t, &failing{RecordReader: readerOf(t, batches(t, memory.NewGoAllocator(), 3)), err: said})
		there, err := stream.ToDevice(to, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Release()
		if _, err := there.Next(ctx); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var e *arrowdevice.Error
			if _, err := there.Next(ctx); !errors.As(err, &e) || e.Code != code || e.Message != said.Error() {
				t.Errorf("%v, not %v", err, said)
			}
		}
		reader, err := there.Reader(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		if reader.Next() || !errors.Is(reader.Err(), code) || reader.Next() {
			t.Errorf("reader: %v", reader.Err())
		}
	}
}

// changing is a reader whose record batches differ in type from its schema.
type changing struct {
	array.RecordReader
	other   arrow.RecordBatch
	current arrow.RecordBatch
}

func (r *changing) Next() bool {
	if r.current != nil {
		r.current = r.other
		return true
	}
	more := r.RecordReader.Next()
	r.current = r.RecordReader.RecordBatch()
	return more
}

func (r *changing) RecordBatch() arrow.RecordBatch { return r.current }

func TestStreamFailsWhenItsReaderChangesTheType(t *testing.T) {
	ctx := context.Background()
	wanted := recordOf(t, arrow.PrimitiveTypes.Int64, `[1, 2]`)
	two := wanted.Column(0)
	wider := array.NewRecordBatch(arrow.NewSchema(append(wanted.Schema().Fields(), wanted.Schema().Field(0)), nil), []arrow.Array{two, two}, 2)
	defer wider.Release()
	for name, other := range map[string]struct {
		batch arrow.RecordBatch
		place string
	}{
		"type":    {recordOf(t, arrow.PrimitiveTypes.Int32, `[1, 2]`), "column 0 of the reader's record batch has type int32 (expected int64)"},
		"columns": {wider, "2 columns (expected 1)"},
		"none":    {nil, "a nil record batch"},
	} {
		t.Run(name, func(t *testing.T) {
			stream := fromReader(t, &changing{RecordReader: readerOf(t, []arrow.RecordBatch{wanted}), other: other.batch})
			first, err := stream.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			first.Release()
			for range 2 {
				if _, err := stream.Next(ctx); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), other.place) {
					t.Errorf("the input was accepted: %v", err)
				}
			}
		})
	}
}

// panicking is a reader that panics in one of its methods.
type panicking struct {
	array.RecordReader
	in string
}

func (r *panicking) bug(method string) {
	if r.in == method {
		panic("a bug in " + method)
	}
}

func (r *panicking) Schema() *arrow.Schema {
	r.bug("Schema")
	return r.RecordReader.Schema()
}

func (r *panicking) Next() bool {
	r.bug("Next")
	return r.RecordReader.Next()
}

func (r *panicking) RecordBatch() arrow.RecordBatch {
	r.bug("RecordBatch")
	return r.RecordReader.RecordBatch()
}

func (r *panicking) Err() error {
	r.bug("Err")
	return r.RecordReader.Err()
}

func (r *panicking) Release() {
	r.RecordReader.Release()
	r.bug("Release")
}

func TestPanicOfAReaderFailsTheStream(t *testing.T) {
	ctx := context.Background()
	for _, method := range []string{"Schema", "Next", "RecordBatch", "Err", "Release"} {
		for name, ahead := range map[string]bool{"pulled": false, "read ahead": true} {
			t.Run(method+" "+name, func(t *testing.T) {
				source := &panicking{RecordReader: readerOf(t, batches(t, checked(t), 1)), in: method}
				stream, err := arrowdevice.FromReader(source)
				source.RecordReader.Release()
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Release()
				there, err := stream.ToDevice(device(t, "ext_dev:0"), &arrowdevice.StreamOptions{ReadAhead: ahead})
				if err != nil {
					t.Fatal(err)
				}
				defer there.Release()
				n := 0
				for one, last := range there.All(ctx) {
					if err = last; err == nil {
						one.Release()
						n++
					}
				}
				if method == "Release" {
					if err != nil || n != 1 {
						t.Errorf("%d batches, %v", n, err)
					}
					return
				}
				for range 2 {
					if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "the reader panicked: a bug in "+method) {
						t.Errorf("%v", err)
					}
					_, err = there.Next(ctx)
				}
			})
		}
	}
}
