// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Stream owns a stream of arrays of one type, which arrive one after the other. Release it when done, also early. One
// goroutine at a time gets the next array; Cancel and Release may come from any.
type Stream struct {
	h        *handle[streamResource]
	turn     sync.Mutex // whose it is to ask the producer
	canceled atomic.Bool
}

type streamResource struct {
	c     *C.struct_ArrowDeviceArrayStream
	typed *streamType
	// What it and the streams behind it were given. The library lets go of a wrapped queue when that is destroyed, and
	// would go on without it: it must not be forgotten before the stream.
	queues []*Queue
}

// streamType is what the producer said of its type, as soon as it was asked. Set by whose turn it is.
type streamType struct{ schema atomic.Pointer[schema] }

func (s streamResource) free() {
	C.arrowdevice_stream_release(s.c)
	C.free(unsafe.Pointer(s.c))
	if known := s.typed.schema.Load(); known != nil {
		known.release()
	}
	runtime.KeepAlive(s.queues)
}

func newStream() streamResource {
	c := (*C.struct_ArrowDeviceArrayStream)(C.malloc(C.sizeof_struct_ArrowDeviceArrayStream))
	*c = C.struct_ArrowDeviceArrayStream{}
	return streamResource{c: c, typed: &streamType{}}
}

func (s streamResource) filled(function string, code C.int, e *C.struct_arrowdevice_error) (*Stream, error) {
	if code != 0 {
		s.free()
		return nil, result(function, code, e)
	}
	return &Stream{h: newHandle("stream", s)}, nil
}

func (s *Stream) handle() *handle[streamResource] {
	if s == nil {
		return nil
	}
	return s.h
}

// StreamOptions say how batches get to a device while they flow. nil and the zero value mean the same.
type StreamOptions struct {
	ReadAhead bool          // a thread of the stream calls the producer
	Depth     int           // batches asked of the producer before the oldest of them is handed out; 0: 2
	Always    bool          // copy even where sharing would do
	Never     bool          // ENOTSUP where sharing will not do
	NoTrim    bool          // do not trim to the slice
	Queue     *Queue        // the stream's own, and kept by it, until it is released; nil: the library's own
	Pool      *Pool         // of the target; nil: the target's default
	Timeout   time.Duration // of every wait before a submission; 0: for ever
}

// NewStream makes a stream of arrays on devices of one type, in their order. Each must be of the stream's type: EINVAL,
// and the message names the array and the column. The arrays are released by this on success; on failure they are as
// they were.
func NewStream(deviceType DeviceType, schema *arrow.Schema, arrays ...*Array) (*Stream, error) {
	const function = "stream_from_arrays"
	if schema == nil {
		return nil, newError(function, int(syscall.EINVAL), "a nil schema")
	}
	type_, err := schemaOf(schema)
	if err != nil {
		return nil, err
	}
	defer type_.release()
	// Co-owners, so that nothing is lost where one of them does not fit.
	size := C.size_t(len(arrays)+1) * C.sizeof_struct_ArrowDeviceArray
	moved := unsafe.Slice((*C.struct_ArrowDeviceArray)(C.malloc(size)), len(arrays)+1)
	clear(moved)
	defer C.free(unsafe.Pointer(&moved[0]))
	defer func() {
		for i := range moved {
			C.arrowdevice_array_release(&moved[i])
		}
	}()
	for i, array := range arrays {
		shared, err := array.Share()
		if err != nil {
			return nil, err
		}
		owned, leave, err := shared.handle().change(function)
		if err != nil {
			return nil, err
		}
		different := owned.schema.differsFrom(type_)
		if different == "" {
			C.arrowdevice_array_move(owned.c, &moved[i])
		}
		leave()
		shared.Release()
		if different != "" {
			return nil, newError(function, int(syscall.EINVAL), fmt.Sprintf("array %d: %s", i, different))
		}
	}
	out := newStream()
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_stream_from_arrays(type_.c, &moved[0], C.int64_t(len(arrays)), C.ArrowDeviceType(deviceType), out.c, &e)
	stream, err := out.filled(function, code, &e)
	if err != nil {
		return nil, err
	}
	for _, array := range arrays {
		array.Release()
	}
	return stream, nil
}

// ImportStream takes over a stream that another library hands out in C: a pointer to a `struct ArrowDeviceArrayStream`,
// which is marked released.
func ImportStream(stream unsafe.Pointer) (*Stream, error) {
	from := (*C.struct_ArrowDeviceArrayStream)(stream)
	if from == nil || from.release == nil {
		return nil, newError("stream_get_schema", int(syscall.EINVAL), "a stream that is NULL or released")
	}
	out := newStream()
	*out.c = *from
	from.release = nil
	return out.filled("stream_get_schema", 0, nil)
}

// Export hands the stream to another library in C: it fills a `struct ArrowDeviceArrayStream`, which is the receiver's to
// release. EBUSY while another goroutine uses the stream. Queues of WrapQueue that it was given are no longer kept for it:
// it uses them as long as the program does not let go of them, and goes on on a queue of the library then.
func (s *Stream) Export(stream unsafe.Pointer) error {
	const function = "stream_get_schema"
	to := (*C.struct_ArrowDeviceArrayStream)(stream)
	if to == nil {
		return newError(function, int(syscall.EINVAL), "a NULL struct to fill")
	}
	owned, leave, err := s.handle().take(function)
	if err != nil {
		return err
	}
	defer leave()
	*to = *owned.c
	owned.c.release = nil
	s.Release()
	return nil
}

// Release lets the stream go and returns at once; what is on its way is ended by the library. A Next that is under way
// is left to end, and is ended by Cancel.
func (s *Stream) Release() {
	if s == nil {
		return
	}
	s.h.release()
}

// DeviceType is the type of the devices that the arrays of the stream are on; 0 after Release.
func (s *Stream) DeviceType() DeviceType {
	owned, leave, err := s.handle().share("stream")
	if err != nil {
		return 0
	}
	defer leave()
	return DeviceType(owned.c.device_type)
}

// Cancel stops the stream from any goroutine: Next answers ECANCELED from then on, also one that is waiting. Of a stream
// of another library it stops what comes after the array that its producer is making.
func (s *Stream) Cancel() {
	owned, leave, err := s.handle().share("stream_cancel")
	if err != nil {
		return
	}
	defer leave()
	s.canceled.Store(true)
	// EINVAL from a stream of someone else, which cannot be woken.
	C.arrowdevice_stream_cancel(owned.c, nil)
}

// Schema is the type of the stream's record batches. It may wait for the producer, unless that was asked before, also by
// Next. When the context ends while it waits, the stream is cancelled as by Next; one that had ended before leaves the
// stream as it was.
func (s *Stream) Schema(ctx context.Context) (*arrow.Schema, error) {
	const function = "stream_get_schema"
	type_, err := s.knownSchema(function)
	if err != nil {
		return nil, err
	}
	if type_ == nil {
		if err := contextError(ctx, function); err != nil {
			return nil, err
		}
		type_, err = ask(ctx, s, function, streamResource.schema, (*schema).release)
		if err != nil {
			return nil, err
		}
	}
	defer type_.release()
	return type_.asSchema()
}

// knownSchema gives one ownership of the stream's type, nil where the producer was not asked yet.
func (s *Stream) knownSchema(function string) (*schema, error) {
	owned, leave, err := s.handle().share(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	if known := owned.typed.schema.Load(); known != nil {
		return known.retain(), nil
	}
	return nil, nil
}

// Next is the next array of the stream, io.EOF at its end. When the context ends, the stream is cancelled, and answers
// ECANCELED from then on.
func (s *Stream) Next(ctx context.Context) (*Array, error) {
	return ask(ctx, s, "stream_get_next", streamResource.next, (*Array).Release)
}

// All ranges over the arrays of the stream, each to be released by the loop's body. An error is the last of the
// sequence, with a nil array. Leaving the loop early leaves the rest in the stream.
func (s *Stream) All(ctx context.Context) iter.Seq2[*Array, error] {
	return func(yield func(*Array, error) bool) {
		for {
			array, err := s.Next(ctx)
			if err == io.EOF || !yield(array, err) || err != nil {
				return
			}
		}
	}
}

// ToDevice makes a stream whose batches move to a device while they flow. Batches are handed out with their event pending:
// Array.Wait waits for it. The stream is released by this on success; on failure it is as it was. EBUSY while another
// goroutine uses the stream or the queue.
func (s *Stream) ToDevice(to Device, options *StreamOptions) (*Stream, error) {
	const function = "stream_to_device"
	c := C.struct_arrowdevice_stream_options{struct_size: C.sizeof_struct_arrowdevice_stream_options}
	if options != nil {
		if options.ReadAhead {
			c.flags = C.ARROWDEVICE_STREAM_READ_AHEAD
		}
		if options.Depth != int(int32(options.Depth)) {
			return nil, newError(function, int(syscall.EINVAL), "a depth that is no 32-bit number")
		}
		c.depth = C.int32_t(options.Depth)
		c.copy_flags = (&CopyOptions{Always: options.Always, Never: options.Never, NoTrim: options.NoTrim}).flags()
		c.timeout_ns = C.int64_t(options.Timeout)
		if options.Queue != nil {
			queue, leave, err := options.Queue.handle().take(function)
			if err != nil {
				return nil, err
			}
			defer leave()
			c.queue = queue.c
		}
		if options.Pool != nil {
			pool, leave, err := options.Pool.handle().share(function)
			if err != nil {
				return nil, err
			}
			defer leave()
			c.pool = pool.c
		}
	}
	owned, leave, err := s.handle().take(function)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := newStream()
	out.queues = slices.Clone(owned.queues)
	if options != nil && options.Queue != nil {
		out.queues = append(out.queues, options.Queue)
	}
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_stream_to_device(owned.c, to.c, &c, out.c, &e)
	moving, err := out.filled(function, code, &e)
	if err != nil {
		return nil, err
	}
	s.Release()
	return moving, nil
}

// ask calls the producer, one goroutine at a time, and cancels the stream when the context ends.
func ask[T any](ctx context.Context, s *Stream, function string, question func(streamResource) (T, error), discard func(T)) (T, error) {
	answer, err := interruptible(ctx, function, func() (T, error) {
		var none T
		owned, leave, err := s.handle().share(function)
		if err != nil {
			return none, err
		}
		defer leave()
		// Before its turn, which may never come, and when it has come.
		if s.canceled.Load() {
			return none, newError(function, int(syscall.ECANCELED), "the stream was cancelled")
		}
		s.turn.Lock()
		defer s.turn.Unlock()
		if s.canceled.Load() {
			return none, newError(function, int(syscall.ECANCELED), "the stream was cancelled")
		}
		return question(owned)
	}, discard)
	if err != nil && ctx.Err() != nil {
		s.Cancel()
	}
	return answer, err
}

func (s streamResource) next() (*Array, error) {
	const function = "stream_get_next"
	type_, err := s.schema()
	if err != nil {
		return nil, err
	}
	out := newArray(type_)
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_stream_get_next(s.c, out.c, &e)
	if code == 0 && out.c.array.release == nil {
		out.free()
		return nil, io.EOF
	}
	return out.filled(function, code, &e)
}

// schema gives one ownership of the stream's type, which is asked for once.
func (s streamResource) schema() (*schema, error) {
	known := s.typed.schema.Load()
	if known == nil {
		asked := newSchema()
		var e C.struct_arrowdevice_error
		if code := C.arrowdevice_stream_get_schema(s.c, asked.c, &e); code != 0 {
			asked.release()
			return nil, result("stream_get_schema", code, &e)
		}
		known = asked
		s.typed.schema.Store(known)
	}
	return known.retain(), nil
}
