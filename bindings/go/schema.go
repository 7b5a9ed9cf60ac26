// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/cdata"
)

// schema is the C type of arrays and streams. It never changes, so all of them share it by
// reference count.
type schema struct {
	c      *C.struct_ArrowSchema
	owners atomic.Int64

	import_ sync.Once
	field   arrow.Field
	err     error
}

// newSchema allocates an empty schema with one reference, for the library to fill.
func newSchema() *schema {
	s := &schema{c: (*C.struct_ArrowSchema)(C.malloc(C.sizeof_struct_ArrowSchema))}
	*s.c = C.struct_ArrowSchema{}
	s.owners.Store(1)
	return s
}

func (s *schema) retain() *schema {
	s.owners.Add(1)
	return s
}

func (s *schema) release() {
	if s.owners.Add(-1) == 0 {
		C.arrowdevice_schema_release(s.c)
		C.free(unsafe.Pointer(s.c))
	}
}

// copyTo makes a deep copy for a receiver that takes ownership.
func (s *schema) copyTo(out *C.struct_ArrowSchema) error {
	var e C.struct_arrowdevice_error
	return result("schema_copy", C.arrowdevice_schema_copy(s.c, out, &e), &e)
}

// differsFrom describes the first place at which the layouts of the two types differ. It returns ""
// if they do not. Names, metadata and flags may differ.
func (s *schema) differsFrom(wanted *schema) string {
	return difference("the type", "column ", s.c, wanted.c)
}

// difference compares two types at a place. `below` is the prefix for the indices of their
// children.
func difference(place, below string, got, wanted *C.struct_ArrowSchema) string {
	if format, other := C.GoString(got.format), C.GoString(wanted.format); format != other {
		return fmt.Sprintf("%s has format %q (expected %q)", place, format, other)
	}
	if got.n_children != wanted.n_children {
		return fmt.Sprintf("%s has %d children (expected %d)", place, got.n_children, wanted.n_children)
	}
	if (got.dictionary == nil) != (wanted.dictionary == nil) {
		return "only one of the types has a dictionary at " + place
	}
	if got.dictionary != nil {
		values := "the dictionary of " + place
		if different := difference(values, values+", child ", got.dictionary, wanted.dictionary); different != "" {
			return different
		}
	}
	others := unsafe.Slice(wanted.children, wanted.n_children)
	for i, child := range unsafe.Slice(got.children, got.n_children) {
		name := fmt.Sprintf("%s%d", below, i)
		if different := difference(name, name+".", child, others[i]); different != "" {
			return different
		}
	}
	return ""
}

// asField returns the type as a field of arrow-go.
func (s *schema) asField() (arrow.Field, error) {
	s.import_.Do(func() {
		copied := newSchema()
		defer copied.release()
		if s.err = s.copyTo(copied.c); s.err != nil {
			return
		}
		field, err := cdata.ImportCArrowField((*cdata.CArrowSchema)(unsafe.Pointer(copied.c)))
		if err != nil {
			s.err = withCause(newError("schema_copy", int(syscall.ENOTSUP), "arrow-go refuses the type: "+err.Error()), err)
			return
		}
		s.field = field
	})
	return s.field, s.err
}

// asSchema returns the type of a record batch.
func (s *schema) asSchema() (*arrow.Schema, error) {
	field, err := s.asField()
	if err != nil {
		return nil, err
	}
	fields, ok := field.Type.(*arrow.StructType)
	if !ok {
		return nil, newError("schema_copy", int(syscall.EINVAL), fmt.Sprintf("type %v is not a record batch (expected a struct)", field.Type))
	}
	return arrow.NewSchema(fields.Fields(), &field.Metadata), nil
}

// schemaOf exports the type of a record batch.
func schemaOf(exported *arrow.Schema) (s *schema, err error) {
	s = newSchema()
	defer func() {
		if unknown := recover(); unknown != nil { // arrow-go panics if it cannot export a type
			s.release()
			s, err = nil, newError("schema_copy", int(syscall.ENOTSUP), fmt.Sprint(unknown))
		}
	}()
	cdata.ExportArrowSchema(exported, (*cdata.CArrowSchema)(unsafe.Pointer(s.c)))
	return s, nil
}

// schemaOfType exports the type of an array. cdata exports types of arrays as not nullable, even if
// they have nulls. A nullable column stays nullable here.
func schemaOfType(exported arrow.DataType) (*schema, error) {
	batch, err := schemaOf(arrow.NewSchema([]arrow.Field{{Type: exported, Nullable: true}}, nil))
	if err != nil {
		return nil, err
	}
	defer batch.release()
	s := newSchema()
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_schema_copy(*batch.c.children, s.c, &e); code != 0 {
		s.release()
		return nil, result("schema_copy", code, &e)
	}
	return s, nil
}
