// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// sample is one type with values in the JSON form of arrow-go. It has six rows, so that a slice has
// rows on both sides.
type sample struct {
	type_  arrow.DataType
	values string
}

var item = arrow.Field{Name: "item", Type: arrow.BinaryTypes.String, Nullable: true}

var samples = map[string]sample{
	"null":              {arrow.Null, `[null, null, null, null, null, null]`},
	"bool":              {arrow.FixedWidthTypes.Boolean, `[true, false, null, true, true, false]`},
	"int8":              {arrow.PrimitiveTypes.Int8, `[1, -2, null, 127, -128, 0]`},
	"uint64":            {arrow.PrimitiveTypes.Uint64, `[1, 2, null, 4, 5, 18446744073709551615]`},
	"float16":           {arrow.FixedWidthTypes.Float16, `["1.5", "2", null, "4", "5", "6"]`},
	"float64":           {arrow.PrimitiveTypes.Float64, `[1.5, -2, 0.25, 4, 5, 6]`},
	"decimal32":         {&arrow.Decimal32Type{Precision: 9, Scale: 2}, `["1.50", "-2.25", null, "4.00", "5.00", "6.00"]`},
	"decimal128":        {&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["1.50", "-2.25", null, "4.00", "5.00", "6.00"]`},
	"decimal256":        {&arrow.Decimal256Type{Precision: 76, Scale: 2}, `["1.50", "-2.25", null, "4.00", "5.00", "6.00"]`},
	"date32":            {arrow.FixedWidthTypes.Date32, `["2024-02-29", "1969-12-31", null, "1970-01-01", "2000-01-01", "2038-01-19"]`},
	"timestamp":         {&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `["2024-02-29T12:00:00Z", null, "1970-01-01T00:00:00Z", "2000-01-01T00:00:00.000001Z", null, "2002-01-01T00:00:00Z"]`},
	"duration":          {arrow.FixedWidthTypes.Duration_ns, `["1ns", "2ns", null, "4ns", "5ns", "6ns"]`},
	"interval":          {arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 1, "days": 2, "nanoseconds": 3}, null, {"months": -1, "days": 0, "nanoseconds": 9}, {"months": 1, "days": 1, "nanoseconds": 1}, null, {"months": 6, "days": 6, "nanoseconds": 6}]`},
	"fixed size binary": {&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["YWJj", "ZGVm", null, "Z2hp", "amts", "bW5v"]`},
	"binary":            {arrow.BinaryTypes.Binary, `["YQ==", "", null, "YWJjZGVm", "Yg==", "Yw=="]`},
	"string":            {arrow.BinaryTypes.String, `["one", "", null, "a longer text than the others are", "fünf", "six"]`},
	"large string":      {arrow.BinaryTypes.LargeString, `["one", "", null, "a longer text than the others are", "five", "six"]`},
	"string view":       {arrow.BinaryTypes.StringView, `["one", "", null, "a longer text than fits into a view", "another one of these longer texts", "six"]`},
	"list":              {arrow.ListOfField(item), `[["a", "b"], [], null, ["c"], [null, "d"], ["e", "f", "g"]]`},
	"large list":        {arrow.LargeListOfField(item), `[["a", "b"], [], null, ["c"], [null, "d"], ["e", "f", "g"]]`},
	"list view":         {arrow.ListViewOfField(item), `[["a", "b"], [], null, ["c"], [null, "d"], ["e", "f", "g"]]`},
	"fixed size list":   {arrow.FixedSizeListOfField(2, item), `[["a", "b"], ["x", null], null, ["c", "d"], ["e", "f"], ["g", "h"]]`},
	"map":               {arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "a", "value": 1}], [], null, [{"key": "b", "value": null}], [{"key": "c", "value": 3}], [{"key": "d", "value": 4}]]`},
	"struct": {arrow.StructOf(item, arrow.Field{Name: "inner", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int16, Nullable: true}), Nullable: true}),
		`[{"item": "a", "inner": {"x": 1}}, {"item": null, "inner": null}, null, {"item": "d", "inner": {"x": null}}, {"item": "e", "inner": {"x": 5}}, {"item": "f", "inner": {"x": 6}}]`},
	"dictionary":      {&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["red", "green", null, "red", "blue", "green"]`},
	"run-end encoded": {arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", "a", "b", "b", "b", null]`},
	"sparse union":    {arrow.SparseUnionOf([]arrow.Field{item, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, []arrow.UnionTypeCode{3, 7}), `[[3, "a"], [7, 2], [3, null], [7, 4], [3, "e"], [7, 6]]`},
	"dense union":     {arrow.DenseUnionOf([]arrow.Field{item, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, []arrow.UnionTypeCode{3, 7}), `[[3, "a"], [7, 2], [3, null], [7, 4], [3, "e"], [7, 6]]`},
}

func (s sample) make(t testing.TB, allocator memory.Allocator) arrow.Array {
	t.Helper()
	made, _, err := array.FromJSON(allocator, s.type_, strings.NewReader(s.values))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func fromArrow(t testing.TB, shared arrow.Array) *arrowdevice.Array {
	t.Helper()
	made, err := arrowdevice.FromArrow(shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Release)
	return made
}

func toArrow(t testing.TB, from *arrowdevice.Array) arrow.Array {
	t.Helper()
	made, err := from.ToArrow(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func mustEqual(t testing.TB, got, want arrow.Array) {
	t.Helper()
	if !array.Equal(got, want) {
		t.Errorf("got  %v of %v\nwant %v of %v", got, got.DataType(), want, want.DataType())
	}
}

func TestEveryTypeSurvivesARoundTrip(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		for name, sample := range samples {
			t.Run(name, func(t *testing.T) {
				want := sample.make(t, checked(t))
				defer want.Release()
				whole := fromArrow(t, want)
				if err := whole.Validate(ctx, arrowdevice.Full); err != nil {
					t.Fatal(err)
				}
				there, err := whole.ToDevice(ctx, to, &arrowdevice.CopyOptions{Always: true})
				if err != nil {
					t.Fatal(err)
				}
				defer there.Release()
				if whole.Len() != 0 {
					t.Error("the moved array can still be used")
				}
				if on, err := there.Device(); err != nil || on != to {
					t.Errorf("the array is on %v, %v", on, err)
				}
				if there.Len() != int64(want.Len()) {
					t.Errorf("%d rows", there.Len())
				}
				if err := there.Validate(ctx, arrowdevice.Strict); err != nil {
					t.Error(err)
				}
				// Slices rows on the device.
				some, err := there.Slice(1, 4)
				if err != nil {
					t.Fatal(err)
				}
				defer some.Release()
				got := toArrow(t, some)
				defer got.Release()
				wantSome := array.NewSlice(want, 1, 5)
				defer wantSome.Release()
				mustEqual(t, got, wantSome)
				all := toArrow(t, there)
				defer all.Release()
				mustEqual(t, all, want)
				if there.Len() != 0 {
					t.Error("the array can still be used after ToArrow")
				}
			})
		}
	})
}

func TestSlicesOfArrowGoKeepTheirRows(t *testing.T) {
	ctx := context.Background()
	to := device(t, "ext_dev:0")
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			whole := sample.make(t, checked(t))
			defer whole.Release()
			slice := array.NewSlice(whole, 1, 5)
			defer slice.Release()
			want := array.NewSlice(slice, 1, 4)
			defer want.Release()
			there, err := fromArrow(t, want).ToDevice(ctx, to, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer there.Release()
			got := toArrow(t, there)
			defer got.Release()
			mustEqual(t, got, want)
		})
	}
}

func TestFromArrowSharesMemory(t *testing.T) {
	want := sample{arrow.PrimitiveTypes.Int64, `[1, 2, 3]`}.make(t, checked(t))
	defer want.Release()
	got := toArrow(t, fromArrow(t, want))
	defer got.Release()
	if &got.(*array.Int64).Int64Values()[0] != &want.(*array.Int64).Int64Values()[0] {
		t.Error("the values were copied")
	}
}

func TestArraysOutliveTheirSource(t *testing.T) {
	want := sample{arrow.BinaryTypes.String, `["kept", "alive"]`}
	source := want.make(t, checked(t))
	held := fromArrow(t, source)
	source.Release()
	got := toArrow(t, held)
	defer got.Release()
	again := want.make(t, memory.NewGoAllocator())
	defer again.Release()
	mustEqual(t, got, again)
}

func records(t testing.TB, allocator memory.Allocator) arrow.RecordBatch {
	t.Helper()
	metadata := arrow.NewMetadata([]string{"from"}, []string{"the tests"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: arrow.NewMetadata([]string{"unit"}, []string{"none"})},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "point", Type: samples["struct"].type_, Nullable: true},
	}, &metadata)
	batch, _, err := array.RecordFromJSON(allocator, schema, strings.NewReader(
		`[{"id": 1, "name": "one", "point": null}, {"id": 2, "name": null, "point": {"item": "b", "inner": {"x": 2}}},
		  {"id": 3, "name": "three", "point": {"item": "c", "inner": null}}, {"id": 4, "name": "four", "point": null}]`))
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func TestRecordBatchesKeepNamesAndMetadata(t *testing.T) {
	ctx := context.Background()
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		whole := records(t, checked(t))
		defer whole.Release()
		want := whole.NewSlice(1, 3)
		defer want.Release()
		made, err := arrowdevice.FromRecordBatch(want)
		if err != nil {
			t.Fatal(err)
		}
		defer made.Release()
		there, err := made.ToDevice(ctx, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Release()
		selected, err := there.Select(2, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer selected.Release()
		got, err := there.ToRecordBatch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Release()
		if !got.Schema().Equal(want.Schema()) || !array.RecordEqual(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
		if metadata := got.Schema().Metadata(); !metadata.Equal(want.Schema().Metadata()) {
			t.Errorf("metadata: %v", metadata)
		}
		some, err := selected.ToRecordBatch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer some.Release()
		if some.NumCols() != 2 || some.ColumnName(0) != "point" || some.ColumnName(1) != "id" {
			t.Fatalf("selected %v", some.Schema())
		}
		mustEqual(t, some.Column(0), want.Column(2))
		mustEqual(t, some.Column(1), want.Column(0))
	})
}

func TestToRecordBatchRefusesOtherArrays(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"int8", "struct"} { // the struct array has a null row
		want := samples[name].make(t, checked(t))
		defer want.Release()
		made := fromArrow(t, want)
		if _, err := made.ToRecordBatch(ctx); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", name, err)
		}
		got := toArrow(t, made)
		defer got.Release()
		mustEqual(t, got, want)
	}
}

// pairType is stored as a struct. arrow-go's own export omits the children of such arrays.
type pairType struct{ arrow.ExtensionBase }

func newPairType() *pairType {
	return &pairType{arrow.ExtensionBase{Storage: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8})}}
}

func (*pairType) ExtensionName() string                      { return "arrowdevice.pair" }
func (*pairType) Serialize() string                          { return "serialized" }
func (*pairType) ExtensionEquals(o arrow.ExtensionType) bool { _, ok := o.(*pairType); return ok }
func (*pairType) ArrayType() reflect.Type                    { return reflect.TypeFor[pairArray]() }
func (*pairType) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return newPairType(), nil
}

type pairArray struct{ array.ExtensionArrayBase }

func TestExtensionTypesKeepTheirStorage(t *testing.T) {
	storage := sample{newPairType().Storage, `[{"x": 1}, {"x": 2}]`}.make(t, checked(t))
	defer storage.Release()
	extended := array.NewExtensionArrayWithStorage(newPairType(), storage)
	defer extended.Release()
	made := fromArrow(t, extended)
	field, err := made.Field()
	if err != nil {
		t.Fatal(err)
	}
	name, _ := field.Metadata.GetValue("ARROW:extension:name")
	metadata, _ := field.Metadata.GetValue("ARROW:extension:metadata")
	if name != "arrowdevice.pair" || metadata != "serialized" {
		t.Errorf("metadata: %v", field.Metadata)
	}
	got := toArrow(t, made)
	defer got.Release()
	mustEqual(t, got, storage)
}

func TestDictionariesOfSlicedStructsKeepTheirOffsets(t *testing.T) {
	ctx := context.Background()
	type_ := arrow.StructOf(item, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int16, Nullable: true})
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		allocator := checked(t)
		whole := sample{type_, `[{"item": "zero", "n": 0}, {"item": "a", "n": null}, {"item": "b", "n": 2}, {"item": null, "n": 3}, {"item": "d", "n": 4}]`}.make(t, allocator)
		defer whole.Release()
		values := array.NewSlice(whole, 2, 5)
		defer values.Release()
		indices := sample{arrow.PrimitiveTypes.Int8, `[2, null, 0, 1, 2]`}.make(t, allocator)
		defer indices.Release()
		want := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: type_}, indices, values)
		defer want.Release()
		made := fromArrow(t, want)
		if err := made.Validate(ctx, arrowdevice.Full); err != nil {
			t.Fatal(err)
		}
		there, err := made.ToDevice(ctx, to, &arrowdevice.CopyOptions{Always: true})
		if err != nil {
			t.Fatal(err)
		}
		got := toArrow(t, there)
		defer got.Release()
		mustEqual(t, got, want)
	})
}
