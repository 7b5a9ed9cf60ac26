// SPDX-License-Identifier: Apache-2.0
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryViewBuilder, FixedSizeBinaryBuilder, FixedSizeListBuilder, Int32Builder, LargeListBuilder, ListBuilder,
    MapBuilder, StringBuilder, StringDictionaryBuilder, StringRunBuilder, StringViewBuilder,
};
use arrow_array::types::{Float16Type, Int8Type, Int16Type, Int32Type, IntervalMonthDayNano};
use arrow_array::*;
use arrow_schema::{DataType, Field, Fields, Schema, UnionFields};

const ROWS: usize = 70; // needs validity bits beyond one word

fn text(row: usize) -> Option<String> {
    match row % 5 {
        0 => None,
        1 => Some(String::new()),
        2 => Some("short".to_string()),
        _ => Some(format!("a text of row {row} that is too long to be inline")),
    }
}

fn number(row: usize) -> Option<i64> {
    (row % 3 != 1).then_some(row as i64 * 7 - 100)
}

macro_rules! numbers {
    ($($array:ident: $native:ty),*) => {
        vec![$((stringify!($array), Arc::new($array::from((0..ROWS).map(|row| number(row).map(|value| value as $native))
            .collect::<Vec<_>>())) as ArrayRef)),*]
    };
}

fn texts() -> impl Iterator<Item = Option<String>> {
    (0..ROWS).map(text)
}

fn list_view<O: OffsetSizeTrait>(sizes: impl Fn(usize) -> usize) -> GenericListViewArray<O> {
    let values = Arc::new(Int32Array::from((0..40).collect::<Vec<i32>>()));
    let field = Arc::new(Field::new_list_field(DataType::Int32, true));
    let offset = |value: usize| O::from_usize(value).unwrap();
    // List views may be out of order and may overlap.
    GenericListViewArray::new(
        field,
        (0..ROWS).map(|row| offset(30 - row % 30)).collect(),
        (0..ROWS).map(|row| offset(sizes(row))).collect(),
        values,
        None,
    )
}

fn struct_array() -> StructArray {
    let fields = Fields::from(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("number", DataType::Int64, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(texts().collect::<StringArray>()),
        Arc::new((0..ROWS).map(number).collect::<Int64Array>()),
    ];
    StructArray::new(
        fields,
        columns,
        Some((0..ROWS).map(|row| row % 7 != 3).collect::<Vec<_>>().into()),
    )
}

fn union_fields() -> UnionFields {
    [
        (1, Arc::new(Field::new("i", DataType::Int32, true))),
        (5, Arc::new(Field::new("s", DataType::Utf8, true))),
    ]
    .into_iter()
    .collect()
}

fn sparse_union() -> UnionArray {
    let ids: Vec<i8> = (0..ROWS).map(|row| if row % 2 == 0 { 1 } else { 5 }).collect();
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..ROWS as i32)),
        Arc::new(texts().collect::<StringArray>()),
    ];
    UnionArray::try_new(union_fields(), ids.into(), None, children).unwrap()
}

fn dense_union() -> UnionArray {
    let ids: Vec<i8> = (0..ROWS).map(|row| if row % 3 == 0 { 5 } else { 1 }).collect();
    let mut next = HashMap::new();
    let offsets: Vec<i32> = ids
        .iter()
        .map(|id| {
            let next = next.entry(*id).or_insert(0);
            *next += 1;
            *next - 1
        })
        .collect();
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..next[&1])),
        Arc::new((0..next[&5] as usize).map(text).collect::<StringArray>()),
    ];
    UnionArray::try_new(union_fields(), ids.into(), Some(offsets.into()), children).unwrap()
}

fn map() -> MapArray {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..ROWS {
        for entry in 0..row % 4 {
            builder.keys().append_value(format!("key {entry}"));
            builder.values().append_option(number(row).map(|value| value as i32));
        }
        builder.append(row % 6 != 5).unwrap();
    }
    builder.finish()
}

/// Returns one array of each type, with nulls. Several of them are nested.
pub(crate) fn all() -> Vec<(&'static str, ArrayRef)> {
    let mut arrays = numbers!(Int8Array: i8, Int16Array: i16, Int32Array: i32, Int64Array: i64, UInt8Array: u8,
        UInt16Array: u16, UInt32Array: u32, UInt64Array: u64, Float32Array: f32, Float64Array: f64, Date32Array: i32,
        Date64Array: i64, Time32SecondArray: i32, Time64NanosecondArray: i64, TimestampMicrosecondArray: i64,
        DurationMillisecondArray: i64, IntervalYearMonthArray: i32);
    let mut add = |name, array: ArrayRef| arrays.push((name, array));

    add("null", Arc::new(NullArray::new(ROWS)));
    add(
        "bool",
        Arc::new(
            (0..ROWS)
                .map(|row| number(row).map(|value| value % 2 == 0))
                .collect::<BooleanArray>(),
        ),
    );
    let halves = (0..ROWS)
        .map(|row| number(row).map(|value| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value as f32)));
    add("half", Arc::new(halves.collect::<Float16Array>()));
    let zoned = (0..ROWS).map(number).collect::<TimestampNanosecondArray>();
    add("timestamp with a zone", Arc::new(zoned.with_timezone("Europe/Oslo")));
    let interval = |row| number(row).map(|value| IntervalMonthDayNano::new(value as i32, row as i32, value));
    add(
        "interval",
        Arc::new((0..ROWS).map(interval).collect::<IntervalMonthDayNanoArray>()),
    );
    let decimal = (0..ROWS)
        .map(|row| number(row).map(i128::from))
        .collect::<Decimal128Array>();
    add("decimal128", Arc::new(decimal.with_precision_and_scale(20, 3).unwrap()));

    add("text", Arc::new(texts().collect::<StringArray>()));
    add("large text", Arc::new(texts().collect::<LargeStringArray>()));
    let mut views = StringViewBuilder::new().with_fixed_block_size(256); // makes several data buffers
    texts().for_each(|text| views.append_option(text));
    add("text view", Arc::new(views.finish()));
    add(
        "binary",
        Arc::new(
            texts()
                .map(|text| text.map(String::into_bytes))
                .collect::<BinaryArray>(),
        ),
    );
    add(
        "large binary",
        Arc::new(
            texts()
                .map(|text| text.map(String::into_bytes))
                .collect::<LargeBinaryArray>(),
        ),
    );
    let mut views = BinaryViewBuilder::new();
    texts().for_each(|text| views.append_option(text));
    add("binary view", Arc::new(views.finish()));
    let mut fixed = FixedSizeBinaryBuilder::new(3);
    (0..ROWS).for_each(|row| match number(row) {
        Some(_) => fixed.append_value([row as u8; 3]).unwrap(),
        None => fixed.append_null(),
    });
    add("fixed-size binary", Arc::new(fixed.finish()));

    let mut lists = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
    let mut large_lists = LargeListBuilder::new(Int32Builder::new());
    let mut fixed_lists = FixedSizeListBuilder::new(Int32Builder::new(), 2);
    for row in 0..ROWS {
        for inner in 0..row % 3 {
            lists.values().values().append_option(text(row + inner));
            lists.values().append(inner % 2 == 0);
            large_lists
                .values()
                .append_option(number(inner).map(|value| value as i32));
        }
        lists.append(row % 4 != 0);
        large_lists.append(row % 5 != 0);
        fixed_lists.values().append_slice(&[row as i32, -(row as i32)]);
        fixed_lists.append(row % 9 != 0);
    }
    add("list of lists of text", Arc::new(lists.finish()));
    add("large list", Arc::new(large_lists.finish()));
    add("fixed-size list", Arc::new(fixed_lists.finish()));
    add("list view", Arc::new(list_view::<i32>(|row| row % 9)));
    add("large list view", Arc::new(list_view::<i64>(|row| row % 3)));

    add("struct", Arc::new(struct_array()));
    add("map", Arc::new(map()));
    add("sparse union", Arc::new(sparse_union()));
    add("dense union", Arc::new(dense_union()));
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    texts().for_each(|text| dictionary.append_option(text.map(|text| text[..text.len().min(5)].to_string())));
    add("dictionary", Arc::new(dictionary.finish()));
    let mut runs = StringRunBuilder::<Int16Type>::new();
    (0..ROWS).for_each(|row| runs.append_option(text(row / 6)));
    add("runs", Arc::new(runs.finish()));
    let of_dictionary = DictionaryArray::<Int32Type>::new(
        Int32Array::from_iter_values((0..ROWS as i32).map(|row| row % 4)),
        Arc::new(struct_array()),
    );
    add("dictionary of structs", Arc::new(of_dictionary));
    arrays.retain(|(_, array)| !is_list_view(array) || arrowdevice::Schema::try_from(array.data_type()).is_ok());
    arrays
}

fn is_list_view(array: &ArrayRef) -> bool {
    matches!(array.data_type(), DataType::ListView(_) | DataType::LargeListView(_))
}

/// Returns the major version of the `arrow` crates.
pub(crate) fn arrow_major() -> u32 {
    let lock = include_str!("../../../Cargo.lock");
    let (_, locked) = lock.split_once("name = \"arrow-array\"\nversion = \"").unwrap();
    locked.split('.').next().unwrap().parse().unwrap()
}

/// Returns false for versions of the `arrow` crates that read wrong rows.
pub(crate) fn arrow_reads_sparse_unions_at_an_offset() -> bool {
    let union = sparse_union();
    let part: ArrayRef = Arc::new(union.slice(9, 41));
    make_array(union.to_data().slice(9, 41)) == part
}

#[test]
fn sparse_unions_at_an_offset_are_tested_with_arrow_60() {
    assert!(arrow_reads_sparse_unions_at_an_offset() || arrow_major() < 60);
}

/// Older `arrow` crates have list views, but cannot convert their type to the C data interface.
#[test]
fn list_views_are_tested_from_arrow_58() {
    let list_views = all().iter().filter(|(_, array)| is_list_view(array)).count();
    assert!(list_views == 2 || arrow_major() < 58, "{list_views}");
}

/// Returns a record batch of several types, with metadata and a field that is not nullable.
pub(crate) fn batch() -> RecordBatch {
    let mut fields = vec![Field::new("id", DataType::Int64, false)];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(0..ROWS as i64))];
    for (name, array) in all() {
        if matches!(
            name,
            "bool" | "text" | "text view" | "struct" | "dictionary" | "list of lists of text" | "map"
        ) {
            fields.push(Field::new(name, array.data_type().clone(), true));
            columns.push(array);
        }
    }
    let metadata = HashMap::from([("origin".to_string(), "a test".to_string())]);
    RecordBatch::try_new(Arc::new(Schema::new_with_metadata(fields, metadata)), columns).unwrap()
}

/// Returns a record batch of one column.
pub(crate) fn numbers(values: impl IntoIterator<Item = i32>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int32Array::from_iter_values(values));
    RecordBatch::try_from_iter([("n", column)]).unwrap()
}
