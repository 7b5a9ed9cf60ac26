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

// FromReader makes a stream on the CPU from a reader of arrow-go. The stream retains the reader
// until it is released. It copies nothing. Each call of the stream's consumer calls the reader
// once, on the consumer's thread. An error of the reader becomes the stream's error, with its errno
// value or EIO. A record batch whose type differs from the reader's Schema fails with EINVAL. A
// reader that panics fails with EIO, and the stream does not call it again.
func FromReader(reader array.RecordReader) (*Stream, error) {
	const function = "stream_from_host"
	if reader == nil {
		return nil, newError(function, int(syscall.EINVAL), "the reader is nil")
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

// producer is a reader behind a C stream. The producer of cdata exports structs with offsets
// incorrectly and does not pin Go memory.
type producer struct {
	reader   array.RecordReader
	schema   *arrow.Schema // the reader's first schema, which all its record batches must have
	panicked error         // the panic, after which the reader is not called again
	message  *C.char       // message of the last error, valid until the next call
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
	return codeOf(err)
}

// codeOf returns the errno value of an error of the program, or EIO.
func codeOf(err error) C.int {
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

// recovered turns a panic of the reader into an error, because a panic must not unwind through C
// frames. The caller defers it.
func (p *producer) recovered(code *C.int, discard func()) {
	said := recover()
	if said == nil {
		return
	}
	discard()
	p.panicked = fmt.Errorf("the reader panicked: %v", said)
	*code = p.fail(p.panicked)
}

// typed returns the type of the stream. Some readers know their type only after the first record
// batch.
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

// check compares a record batch with the type of the stream, because the consumer relies on that
// type alone.
func (p *producer) check(batch arrow.RecordBatch) error {
	const function = "stream_get_next"
	if batch == nil {
		return newError(function, int(syscall.EINVAL), "the reader returned a nil record batch")
	}
	schema, err := p.typed()
	if err != nil {
		return err
	}
	if got, wanted := batch.Columns(), schema.NumFields(); len(got) != wanted {
		return newError(function, int(syscall.EINVAL), fmt.Sprintf("the reader returned a record batch with %d columns (expected %d)", len(got), wanted))
	}
	for i, column := range batch.Columns() {
		if got, wanted := column.DataType(), schema.Field(i).Type; !arrow.TypeEqual(got, wanted) {
			return newError(function, int(syscall.EINVAL),
				fmt.Sprintf("column %d of the reader's record batch has type %v (expected %v)", i, got, wanted))
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
	// The struct may hold any bytes. Go must not take stale bytes for pointers when it writes over
	// them.
	C.memset(unsafe.Pointer(out), 0, C.sizeof_struct_ArrowArray)
	if p.panicked != nil {
		return p.fail(p.panicked)
	}
	defer p.recovered(&code, func() {
		if out.children == nil {
			out.n_children = 0 // arrow-go counts the children before it allocates them
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
	p.releaseReader()
	cgo.Handle(*(*C.uintptr_t)(stream.private_data)).Delete()
	C.free(stream.private_data)
	stream.private_data = nil
	stream.release = nil
}

// releaseReader releases the reader. It ignores a panic, because the stream has ended and no caller could
// get the error.
func (p *producer) releaseReader() {
	defer func() { _ = recover() }()
	p.reader.Release()
}
