// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Reader turns the stream into a reader of arrow-go, whose record batches are on the CPU. If the
// batches are on a device, the stream copies them ahead of the reader. If Reader succeeds, it
// releases the stream. If it fails, the stream is unchanged, unless the context ended while the
// producer was asked for the type (see Schema). The end of the context also ends the reader, and
// its Err returns the context's error.
func (s *Stream) Reader(ctx context.Context, options *StreamOptions) (array.RecordReader, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	cpu, err := FindByName("cpu")
	if err != nil {
		return nil, err
	}
	host, err := s.ToDevice(cpu, options)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, stream: host, schema: schema}
	r.owners.Store(1)
	return r, nil
}

// reader is an array.RecordReader. It owns each record batch, which is valid until the next call of
// Next.
type reader struct {
	ctx     context.Context
	stream  *Stream
	schema  *arrow.Schema
	current arrow.RecordBatch
	err     error
	owners  atomic.Int64
}

func (r *reader) Retain() { r.owners.Add(1) }

func (r *reader) Release() {
	if r.owners.Add(-1) == 0 {
		r.forget()
		r.stream.Release()
	}
}

func (r *reader) Schema() *arrow.Schema          { return r.schema }
func (r *reader) RecordBatch() arrow.RecordBatch { return r.current }
func (r *reader) Record() arrow.RecordBatch      { return r.current }
func (r *reader) Err() error                     { return r.err }

func (r *reader) Next() bool {
	r.forget()
	if r.err != nil {
		return false
	}
	next, err := r.stream.Next(r.ctx)
	if err == io.EOF {
		return false
	}
	if err == nil {
		defer next.Release()
		r.current, err = next.ToRecordBatch(r.ctx)
	}
	r.err = err
	return err == nil
}

func (r *reader) forget() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}
