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

// Stream owns a stream of arrays of one type that arrive one after the other. The program releases
// it with Release, also before its end. One goroutine at a time gets the next array. Any goroutine
// may call Cancel and Release.
type Stream struct {
	h        *handle[streamResource]
	turn     sync.Mutex // held by the goroutine that calls the producer
	canceled atomic.Bool
}

type streamResource struct {
	c     *C.struct_ArrowDeviceArrayStream
	typed *streamType
	// Queues that this stream and the streams behind it were given. The library stops using a
	// wrapped queue when the Queue is destroyed. The stream must therefore keep the Queue
	// reachable.
	queues []*Queue
}

// streamType is the producer's type, after it was asked for it. The holder of turn sets it.
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

// StreamOptions selects how batches get to a device while they flow. nil and the zero value mean
// the same.
type StreamOptions struct {
	ReadAhead bool          // a thread of the stream calls the producer
	Depth     int           // batches that are requested from the producer before the first is returned; 0 means 2
	Always    bool          // copies even if the target could share the memory
	Never     bool          // fails with ENOTSUP if the target cannot share the memory
	NoTrim    bool          // copies whole buffers instead of the rows of the slice
	Queue     *Queue        // used by the stream alone until it is released; nil uses a queue of the library
	Pool      *Pool         // belongs to the target; nil uses the target's default pool
	Timeout   time.Duration // limits each call of Next; 0 means no limit, negative does not wait
}

// NewStream makes a stream of arrays on devices of one type, in the given order. It fails with
// EINVAL if an array differs from the stream's type, and the message names the array and the
// column. If it succeeds, it releases the arrays. If it fails, they are unchanged.
func NewStream(deviceType DeviceType, schema *arrow.Schema, arrays ...*Array) (*Stream, error) {
	const function = "stream_from_arrays"
	type_, moved, free, err := shareAll(context.Background(), function, schema, arrays)
	if err != nil {
		return nil, err
	}
	defer free()
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

// shareAll returns the type of a stream in C, second owners of its arrays, and a function that
// releases all of them. The array behind the last of them is empty, so that the first has an
// address. It fails with EINVAL if an array differs from the type.
func shareAll(ctx context.Context, function string, of *arrow.Schema, arrays []*Array) (*schema, []C.struct_ArrowDeviceArray, func(), error) {
	if of == nil {
		return nil, nil, nil, newError(function, int(syscall.EINVAL), "the schema is nil")
	}
	type_, err := schemaOf(of)
	if err != nil {
		return nil, nil, nil, err
	}
	size := C.size_t(len(arrays)+1) * C.sizeof_struct_ArrowDeviceArray
	all := unsafe.Slice((*C.struct_ArrowDeviceArray)(C.malloc(size)), len(arrays)+1)
	clear(all)
	free := func() {
		for i := range all {
			C.arrowdevice_array_release(&all[i])
		}
		C.free(unsafe.Pointer(&all[0]))
		type_.release()
	}
	for i, array := range arrays {
		if err := array.shareTo(ctx, function, fmt.Sprintf("array %d: ", i), type_, &all[i]); err != nil {
			free()
			return nil, nil, nil, err
		}
	}
	return type_, all, free, nil
}

// shareTo fills a struct with a second owner of an array of that type. `place` begins the message if
// the type differs.
func (a *Array) shareTo(ctx context.Context, function, place string, type_ *schema, out *C.struct_ArrowDeviceArray) error {
	owned, leave, err := a.handle().changeWithin(ctx, function)
	if err != nil {
		return err
	}
	defer leave()
	if different := owned.schema.differsFrom(type_); different != "" {
		return newError(function, int(syscall.EINVAL), place+different)
	}
	var e C.struct_arrowdevice_error
	return result(function, C.arrowdevice_array_share(owned.c, out, &e), &e)
}

// ImportStream takes ownership of a stream from another library in C. The argument points to a
// `struct ArrowDeviceArrayStream`, which it marks as released.
func ImportStream(stream unsafe.Pointer) (*Stream, error) {
	from := (*C.struct_ArrowDeviceArrayStream)(stream)
	if from == nil || from.release == nil {
		return nil, newError("stream_get_schema", int(syscall.EINVAL), "the stream is NULL or released")
	}
	out := newStream()
	*out.c = *from
	from.release = nil
	return out.filled("stream_get_schema", 0, nil)
}

// Export moves the stream to another library in C. It fills a `struct ArrowDeviceArrayStream`, and
// the receiver releases it. It fails with EBUSY if another goroutine uses the stream. The exported
// stream no longer keeps wrapped queues reachable. When the program releases such a queue, the
// stream continues on a queue of the library.
func (s *Stream) Export(stream unsafe.Pointer) error {
	const function = "stream_get_schema"
	to := (*C.struct_ArrowDeviceArrayStream)(stream)
	if to == nil {
		return newError(function, int(syscall.EINVAL), "a struct to fill is NULL")
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

// Release releases the stream and returns at once. The library finishes work in flight. A call of
// Next that runs continues, and Cancel ends it.
func (s *Stream) Release() {
	if s == nil {
		return
	}
	s.h.release()
}

// DeviceType returns the device type of the stream's arrays. It returns 0 after Release.
func (s *Stream) DeviceType() DeviceType {
	owned, leave, err := s.handle().share("stream")
	if err != nil {
		return 0
	}
	defer leave()
	return DeviceType(owned.c.device_type)
}

// Cancel stops the stream. Any goroutine may call it. A running Next and every later one fail with
// ECANCELED. A stream of another library stops after the array that its producer is making.
func (s *Stream) Cancel() {
	owned, leave, err := s.handle().share("stream_cancel")
	if err != nil {
		return
	}
	defer leave()
	s.canceled.Store(true)
	// The call fails with EINVAL for a foreign stream, because the library cannot wake it.
	C.arrowdevice_stream_cancel(owned.c, nil)
}

// Schema returns the type of the stream's record batches. It may wait for the producer the first
// time. If the context ends during that wait, the stream is cancelled, as by Next. If the context
// has ended before, the stream is unchanged.
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

// knownSchema returns one reference to the stream's type, or nil if the producer was not asked yet.
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

// Next returns the next array of the stream, or io.EOF at its end. If the context ends, the stream
// is cancelled, and later calls fail with ECANCELED.
func (s *Stream) Next(ctx context.Context) (*Array, error) {
	return ask(ctx, s, "stream_get_next", streamResource.next, (*Array).Release)
}

// All ranges over the arrays of the stream. The loop's body releases each of them. An error comes
// last, with a nil array. If the loop ends early, the other arrays stay in the stream.
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

// ToDevice makes a stream whose batches go to a device while they flow. A batch may be returned
// before its event has fired, and Array.Wait waits for it. If ToDevice succeeds, it releases the
// stream. If it fails, the stream is unchanged. It fails with EBUSY if another goroutine uses the
// stream or the queue.
func (s *Stream) ToDevice(to Device, options *StreamOptions) (*Stream, error) {
	const function = "stream_to_device"
	c := C.struct_arrowdevice_stream_options{struct_size: C.sizeof_struct_arrowdevice_stream_options}
	if options != nil {
		if options.ReadAhead {
			c.flags = C.ARROWDEVICE_STREAM_READ_AHEAD
		}
		var err error
		if c.depth, err = int32Of(function, "options.Depth", options.Depth); err != nil {
			return nil, err
		}
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

// ask calls the producer from one goroutine at a time. It cancels the stream if the context ends.
func ask[T any](ctx context.Context, s *Stream, function string, question func(streamResource) (T, error), discard func(T)) (T, error) {
	answer, err := interruptible(ctx, function, func() (T, error) {
		var none T
		owned, leave, err := s.handle().share(function)
		if err != nil {
			return none, err
		}
		defer leave()
		// Checks before the turn, because it may never come, and again after it.
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

// schema returns one reference to the stream's type. It asks the producer once.
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
