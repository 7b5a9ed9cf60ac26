// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// FromArrow makes an Array on the CPU from an array of arrow-go. It copies nothing: both share the
// memory. The memory is pinned until the last Array that uses it in C is released.
func FromArrow(shared arrow.Array) (*Array, error) {
	if shared == nil {
		return nil, newError("array_from_host", int(syscall.EINVAL), "the array is nil")
	}
	schema, err := schemaOfType(shared.DataType())
	if err != nil {
		return nil, err
	}
	return fromData(shared.Data(), schema)
}

// FromRecordBatch makes an Array on the CPU from a record batch of arrow-go, as FromArrow does.
func FromRecordBatch(shared arrow.RecordBatch) (*Array, error) {
	if shared == nil {
		return nil, newError("array_from_host", int(syscall.EINVAL), "the record batch is nil")
	}
	schema, err := schemaOf(shared.Schema())
	if err != nil {
		return nil, err
	}
	data := dataOf(shared)
	defer data.Release()
	return fromData(data, schema)
}

// ToArrow brings the array to the CPU by ToHost and moves it to arrow-go. If it succeeds, it
// releases the array. If it fails, the array is unchanged. The caller must call Release on the
// result, because its memory is not Go's.
func (a *Array) ToArrow(ctx context.Context) (arrow.Array, error) {
	field, err := a.Field()
	if err != nil {
		return nil, err
	}
	host, err := a.onHost(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer host.Release()
	owned, leave, err := host.handle().change("array_to_host")
	if err != nil {
		return nil, err
	}
	defer leave()
	// This call takes ownership of the array even if it fails.
	imported, err := cdata.ImportCArrayWithType((*cdata.CArrowArray)(unsafe.Pointer(&owned.c.array)), field.Type)
	if err != nil {
		return nil, withCause(newError("array_to_host", int(syscall.ENOTSUP), "arrow-go refuses the array: "+err.Error()), err)
	}
	a.Release()
	return imported, nil
}

// ToRecordBatch is ToArrow for record batches. It fails with EINVAL if the array is not a record
// batch or has null rows.
func (a *Array) ToRecordBatch(ctx context.Context) (arrow.RecordBatch, error) {
	schema, err := a.Schema()
	if err != nil {
		return nil, err
	}
	shared, err := a.Share()
	if err != nil {
		return nil, err
	}
	defer shared.Release()
	rows, err := shared.ToArrow(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	if nulls := rows.NullN(); nulls != 0 {
		return nil, newError("array_to_host", int(syscall.EINVAL), fmt.Sprintf("the array has %d null rows (a record batch has none)", nulls))
	}
	columns := make([]arrow.Array, schema.NumFields())
	for i := range columns {
		columns[i] = rows.(*array.Struct).Field(i)
	}
	batch := array.NewRecordBatch(schema, columns, int64(rows.Len()))
	a.Release()
	return batch, nil
}

// dataOf returns a record batch as a struct array.
func dataOf(batch arrow.RecordBatch) *array.Data {
	children := make([]arrow.ArrayData, batch.NumCols())
	for i, column := range batch.Columns() {
		children[i] = column.Data()
	}
	return array.NewData(arrow.StructOf(batch.Schema().Fields()...), int(batch.NumRows()), []*memory.Buffer{nil}, children, 0, 0)
}

// fromData takes one reference to the schema.
func fromData(data arrow.ArrayData, schema *schema) (*Array, error) {
	host := (*C.struct_ArrowArray)(C.malloc(C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(host))
	exportData(data, host)
	out := newArray(schema)
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_array_from_host(host, out.c, &e); code != 0 {
		C.arrowdevice_host_array_release(host)
		return out.filled("array_from_host", code, &e)
	}
	if err := out.validate(Structure); err != nil {
		out.free()
		return nil, err
	}
	return out.filled("array_from_host", 0, nil)
}

// exportData fills an array of the C data interface. It ignores the previous content.
func exportData(data arrow.ArrayData, out *C.struct_ArrowArray) {
	shared := pinned(data)
	defer shared.Release()
	exported := array.MakeFromData(shared)
	defer exported.Release()
	*out = C.struct_ArrowArray{}
	cdata.ExportArrowArray(exported, (*cdata.CArrowArray)(unsafe.Pointer(out)), nil)
	placeChildren(shared, out)
}

// placeChildren sets the offsets of exported children to those of the data. arrow-go adds the
// parent's offset to the children of structs and sparse unions, and C adds it again.
func placeChildren(data arrow.ArrayData, out *C.struct_ArrowArray) {
	for i, child := range unsafe.Slice(out.children, out.n_children) {
		placed := data.Children()[i]
		if offset, length := C.int64_t(placed.Offset()), C.int64_t(placed.Len()); child.offset != offset || child.length != length {
			child.offset, child.length = offset, length
			child.null_count = C.int64_t(placed.NullN())
		}
		placeChildren(placed, child)
	}
	if out.dictionary != nil {
		placeChildren(data.Dictionary(), out.dictionary)
	}
}
