// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <errno.h>
// #include <stdlib.h>
// #include <string.h>
//
// typedef const char constant_char;
//
// extern int arrowdeviceGoGetSchema(struct ArrowArrayStream*, struct ArrowSchema*);
// extern int arrowdeviceGoGetNext(struct ArrowArrayStream*, struct ArrowArray*);
// extern constant_char* arrowdeviceGoGetLastError(struct ArrowArrayStream*);
// extern void arrowdeviceGoRelease(struct ArrowArrayStream*);
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"syscall"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// FromReader makes a stream on the CPU of a reader of arrow-go, which it retains until it is released. Nothing is copied.
// Each call of the stream's consumer is one of the reader, on whatever thread the consumer has. What the reader's Err
// says is the stream's error, with EIO or its errno value. A record batch of another type than the reader's Schema is
// EINVAL; a reader that panics is EIO, and is not asked again.
func FromReader(reader array.RecordReader) (*Stream, error) {
	const function = "stream_from_host"
	if reader == nil {
		return nil, newError(function, int(syscall.EINVAL), "a nil reader")
	}
	reader.Retain()
	state := (*C.uintptr_t)(C.malloc(C.sizeof_uintptr_t))
	*state = C.uintptr_t(cgo.NewHandle(&producer{reader: reader}))
	host := (*C.struct_ArrowArrayStream)(C.malloc(C.sizeof_struct_ArrowArrayStream))
	defer C.free(unsafe.Pointer(host))
	*host = C.struct_ArrowArrayStream{
		get_schema:     (*[0]byte)(C.arrowdeviceGoGetSchema),
		get_next:       (*[0]byte)(C.arrowdeviceGoGetNext),
		get_last_error: (*[0]byte)(C.arrowdeviceGoGetLastError),
		release:        (*[0]byte)(C.arrowdeviceGoRelease),
		private_data:   unsafe.Pointer(state),
	}
	out := newStream()
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_stream_from_host(host, out.c, &e)
	if code != 0 {
		arrowdeviceGoRelease(host)
	}
	return out.filled(function, code, &e)
}

// producer is a reader behind a C stream. cdata has one too, which exports structs with an offset wrongly and memory of
// Go's without pinning it.
type producer struct {
	reader   array.RecordReader
	schema   *arrow.Schema // what the reader said first: its record batches must be of it
	panicked error         // it is not asked again then
	message  *C.char       // of the last error, valid until the next call
}

func producerOf(stream *C.struct_ArrowArrayStream) *producer {
	return cgo.Handle(*(*C.uintptr_t)(stream.private_data)).Value().(*producer)
}

func (p *producer) fail(err error) C.int {
	p.forget()
	if err == nil {
		return 0
	}
	p.message = C.CString(err.Error())
	var code syscall.Errno
	if errors.As(err, &code) && code != 0 {
		return C.int(code)
	}
	return C.EIO
}

func (p *producer) forget() {
	C.free(unsafe.Pointer(p.message))
	p.message = nil
}

// recovered makes an error of a panic of the reader's, which must not unwind through frames of C. It is to be deferred.
func (p *producer) recovered(code *C.int, discard func()) {
	said := recover()
	if said == nil {
		return
	}
	discard()
	p.panicked = fmt.Errorf("the reader panicked: %v", said)
	*code = p.fail(p.panicked)
}

// typed is the type of the stream; some readers know it only after their first record batch.
func (p *producer) typed() (*arrow.Schema, error) {
	if p.schema == nil {
		p.schema = p.reader.Schema()
	}
	if p.schema != nil {
		return p.schema, nil
	}
	if err := p.reader.Err(); err != nil {
		return nil, err
	}
	return nil, newError("stream_get_schema", int(syscall.EINVAL), "the reader has no schema")
}

// check compares a record batch with the type of the stream, which is all that its consumer knows of its memory.
func (p *producer) check(batch arrow.RecordBatch) error {
	const function = "stream_get_next"
	if batch == nil {
		return newError(function, int(syscall.EINVAL), "the reader has no record batch")
	}
	schema, err := p.typed()
	if err != nil {
		return err
	}
	if got, wanted := batch.Columns(), schema.NumFields(); len(got) != wanted {
		return newError(function, int(syscall.EINVAL), fmt.Sprintf("the reader made a record batch of %d columns, not %d", len(got), wanted))
	}
	for i, column := range batch.Columns() {
		if got, wanted := column.DataType(), schema.Field(i).Type; !arrow.TypeEqual(got, wanted) {
			return newError(function, int(syscall.EINVAL),
				fmt.Sprintf("the reader made a record batch whose column %d is of %v, not %v", i, got, wanted))
		}
	}
	return nil
}

//export arrowdeviceGoGetSchema
func arrowdeviceGoGetSchema(stream *C.struct_ArrowArrayStream, out *C.struct_ArrowSchema) (code C.int) {
	p := producerOf(stream)
	C.memset(unsafe.Pointer(out), 0, C.sizeof_struct_ArrowSchema)
	if p.panicked != nil {
		return p.fail(p.panicked)
	}
	defer p.recovered(&code, func() { C.arrowdevice_schema_release(out) })
	schema, err := p.typed()
	if err != nil {
		return p.fail(err)
	}
	exported, err := schemaOf(schema)
	if err != nil {
		return p.fail(err)
	}
	defer exported.release()
	return p.fail(exported.copyTo(out))
}

//export arrowdeviceGoGetNext
func arrowdeviceGoGetNext(stream *C.struct_ArrowArrayStream, out *C.struct_ArrowArray) (code C.int) {
	p := producerOf(stream)
	// It may hold anything, and what is no pointer must not be seen as one when Go writes over it.
	C.memset(unsafe.Pointer(out), 0, C.sizeof_struct_ArrowArray)
	if p.panicked != nil {
		return p.fail(p.panicked)
	}
	defer p.recovered(&code, func() {
		if out.children == nil {
			out.n_children = 0 // arrow-go counts them before it makes them
		}
		C.arrowdevice_host_array_release(out)
	})
	if !p.reader.Next() {
		return p.fail(p.reader.Err())
	}
	batch := p.reader.RecordBatch()
	if err := p.check(batch); err != nil {
		return p.fail(err)
	}
	data := dataOf(batch)
	defer data.Release()
	exportData(data, out)
	return p.fail(nil)
}

//export arrowdeviceGoGetLastError
func arrowdeviceGoGetLastError(stream *C.struct_ArrowArrayStream) *C.constant_char {
	return producerOf(stream).message
}

//export arrowdeviceGoRelease
func arrowdeviceGoRelease(stream *C.struct_ArrowArrayStream) {
	p := producerOf(stream)
	p.forget()
	p.letGo()
	cgo.Handle(*(*C.uintptr_t)(stream.private_data)).Delete()
	C.free(stream.private_data)
	stream.private_data = nil
	stream.release = nil
}

// letGo gives the reader back. There is nobody to tell of a panic: the stream is over, whatever the reader has kept.
func (p *producer) letGo() {
	defer func() { _ = recover() }()
	p.reader.Release()
}
