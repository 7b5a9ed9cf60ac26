// SPDX-License-Identifier: Apache-2.0
use arrow_array::{Array as _, ArrayRef, Int32Array, RecordBatch, RecordBatchOptions, cast::AsArray, types::Int32Type};
use arrow_schema::Schema as ArrowSchema;
use arrowdevice::{Array, CopyOptions, Device, DeviceType, Schema, Sharing, Validation};

use crate::devices::tested;
use crate::types;

fn host(array: &dyn arrow_array::Array) -> Array {
    Array::from_arrow(array).unwrap()
}

/// The library and the struct must name the same device.
fn assert_on(array: &Array, device: Device) {
    assert_eq!(array.device().unwrap(), device);
    assert_eq!(array.device_type(), device.info().unwrap().device_type);
}

#[test]
fn every_type_survives_a_round_trip() {
    for device in tested() {
        for (name, array) in types::all() {
            let there = host(&array)
                .copy_to(device, CopyOptions::new())
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_on(&there, device);
            assert_eq!(there.len(), array.len());
            there
                .validate(Validation::Full)
                .unwrap_or_else(|error| panic!("{name} on {device}: {error}"));
            let back = there.into_arrow().unwrap();
            assert_eq!(back.data_type(), array.data_type(), "{name} on {device}");
            assert_eq!(&back, &array, "{name} on {device}");
            back.to_data().validate_full().unwrap();
        }
    }
}

/// Compares arrays if the `arrow` crates can. Some versions misread sparse unions that begin at an
/// offset. Before version 58, their `==` supports neither empty runs nor runs at an offset.
fn assert_same_rows(left: &ArrayRef, right: &ArrayRef, name: &str, device: Device) {
    let type_and_length = |array: &ArrayRef| (array.data_type().clone(), array.len());
    assert_eq!(type_and_length(left), type_and_length(right), "{name} on {device}");
    let is_comparable = match name {
        "sparse union" => types::arrow_reads_sparse_unions_at_an_offset(),
        "runs" => types::arrow_major() >= 58,
        _ => true,
    };
    if is_comparable {
        assert_eq!(left, right, "{name} on {device}");
    }
}

#[test]
fn slices_before_and_on_a_device_have_the_same_rows() {
    for device in tested() {
        for (name, array) in types::all() {
            let mut there = host(&array.slice(3, 60)).copy_to(device, CopyOptions::new()).unwrap();
            let part = there.slice(6, 41).unwrap();
            drop(there);
            assert_on(&part, device);
            assert_same_rows(&part.into_arrow().unwrap(), &array.slice(9, 41), name, device);
        }
    }
}

#[test]
fn copy_of_a_slice_trims_unless_no_trim_is_set() {
    for device in tested() {
        for no_trim in [false, true] {
            let (_, array) = &types::all()[0];
            let there = host(&array.slice(5, 20))
                .copy_to(device, CopyOptions::new().no_trim(no_trim))
                .unwrap();
            assert_eq!(&there.into_arrow().unwrap(), &array.slice(5, 20));
        }
    }
}

#[test]
fn batches_keep_names_metadata_and_nullability() {
    let batch = types::batch();
    for device in tested() {
        let there = Array::try_from(&batch)
            .unwrap()
            .into_device(device, CopyOptions::new())
            .unwrap();
        there.validate(Validation::Strict).unwrap();
        let back = RecordBatch::try_from(there).unwrap();
        assert_eq!(back, batch);
        assert_eq!(back.schema().metadata()["origin"], "a test");
        assert!(!back.schema().field(0).is_nullable());
    }
}

#[test]
fn batch_goes_from_each_device_to_each() {
    let batch = types::batch();
    for from in tested() {
        for to in tested() {
            let there = Array::try_from(&batch)
                .unwrap()
                .into_device(from, CopyOptions::new())
                .unwrap();
            let farther = there
                .into_device(to, CopyOptions::new())
                .unwrap_or_else(|e| panic!("{from} to {to}: {e}"));
            assert_on(&farther, to);
            assert_eq!(farther.into_record_batch().unwrap(), batch, "{from} to {to}");
        }
    }
}

#[test]
fn select_keeps_the_given_order_and_repetitions() {
    let batch = types::batch();
    for device in tested() {
        let mut there = Array::try_from(&batch)
            .unwrap()
            .into_device(device, CopyOptions::new())
            .unwrap();
        let mut some = there.select(&[3, 0, 3]).unwrap();
        let none = there.select(&[]).unwrap();
        drop(there);
        assert_eq!(
            some.schema().to_arrow_schema().unwrap().field(0).name(),
            batch.schema().field(3).name()
        );
        assert_eq!(some.slice(2, 9).unwrap().into_record_batch().unwrap().num_rows(), 9);
        let back = some.into_record_batch().unwrap();
        assert_eq!(back.column(0), batch.column(3));
        assert_eq!(back.column(1), batch.column(0));
        assert_eq!(back.column(2), batch.column(3));
        let none = none.into_record_batch().unwrap();
        assert_eq!((none.num_columns(), none.num_rows()), (0, batch.num_rows()));
    }
}

#[test]
fn second_owner_outlives_the_first() {
    for device in tested() {
        let mut first = Array::try_from(&types::batch())
            .unwrap()
            .into_device(device, CopyOptions::new())
            .unwrap();
        let second = first.share().unwrap();
        drop(first);
        assert_eq!(second.into_record_batch().unwrap(), types::batch());
    }
}

#[test]
fn cpu_memory_is_shared_unless_sharing_is_refused() {
    let array = Int32Array::from(vec![1, 2, 3]);
    let at = array.values().as_ptr();
    let cpu = Device::cpu().unwrap();
    let there = host(&array)
        .into_device(cpu, CopyOptions::new().sharing(Sharing::Required))
        .unwrap();
    assert_eq!(
        there
            .into_arrow()
            .unwrap()
            .as_primitive::<Int32Type>()
            .values()
            .as_ptr(),
        at
    );
    let copied = host(&array)
        .into_device(cpu, CopyOptions::new().sharing(Sharing::Refused))
        .unwrap();
    let copied = copied.into_arrow().unwrap();
    assert_ne!(copied.as_primitive::<Int32Type>().values().as_ptr(), at);
    assert_eq!(copied.as_primitive::<Int32Type>(), &array);
}

#[test]
fn async_copies_outlive_their_source() {
    let batch = types::batch();
    for device in tested() {
        let mut array = Array::try_from(&batch).unwrap();
        let copy = array.copy_to_async(device, CopyOptions::new()).unwrap();
        let moved = array.into_device_async(device, CopyOptions::new()).unwrap();
        for there in [copy, moved] {
            there.wait(None).unwrap();
            assert!(there.is_ready().unwrap());
            assert_eq!(there.into_record_batch().unwrap(), batch, "{device}");
        }
    }
}

#[test]
fn empty_arrays_and_batches_without_columns_round_trip() {
    let rows = RecordBatchOptions::new().with_row_count(Some(5));
    let no_columns = RecordBatch::try_new_with_options(ArrowSchema::empty().into(), vec![], &rows).unwrap();
    for device in tested() {
        for (name, array) in types::all() {
            let there = host(&array.slice(0, 0))
                .into_device(device, CopyOptions::new())
                .unwrap();
            assert!(there.is_empty());
            assert_same_rows(&there.into_arrow().unwrap(), &array.slice(0, 0), name, device);
        }
        let there = Array::try_from(&no_columns)
            .unwrap()
            .into_device(device, CopyOptions::new())
            .unwrap();
        assert_eq!(there.into_record_batch().unwrap(), no_columns);
    }
}

#[test]
fn from_arrow_copies_nothing() {
    let array = Int32Array::from(vec![1, 2, 3, 4]);
    let device_array = host(&array.slice(1, 3));
    assert_eq!(device_array.device_type(), DeviceType::CPU);
    assert_eq!((device_array.len(), device_array.null_count()), (3, Some(0)));
    let back = device_array.into_arrow().unwrap();
    assert_eq!(
        back.as_primitive::<Int32Type>().values().as_ptr(),
        array.values()[1..].as_ptr()
    );
}

#[test]
fn schemas_round_trip() {
    for (name, array) in types::all() {
        let schema = Schema::try_from(array.data_type()).unwrap();
        assert_eq!(
            schema.to_arrow_field().unwrap().data_type(),
            array.data_type(),
            "{name}"
        );
        // SAFETY: the schema is alive.
        let copy = unsafe { Schema::copy_of(schema.as_raw()) }.unwrap();
        assert!(copy.same_layout(&schema), "{name}");
        assert_eq!(copy.format(), schema.format());
    }
    let schema = Schema::try_from(types::batch().schema_ref().as_ref()).unwrap();
    assert_eq!(schema.to_arrow_schema().unwrap(), *types::batch().schema());
    assert!(format!("{schema:?}").starts_with("Schema +s(id: l, "), "{schema:?}");
}

#[test]
fn same_layout_compares_types_and_ignores_names() {
    use arrow_schema::{DataType, Field};
    let schema = |field: Field| Schema::try_from(&field).unwrap();
    let number = schema(Field::new("a", DataType::Int32, true));
    assert!(number.same_layout(&schema(Field::new("b", DataType::Int32, false))));
    assert!(!number.same_layout(&schema(Field::new("a", DataType::Float32, true))));
    let arrays = types::all();
    for (index, (name, array)) in arrays.iter().enumerate() {
        for (other_index, (other, other_array)) in arrays.iter().enumerate() {
            let schemas = [array, other_array].map(|array| Schema::try_from(array.data_type()).unwrap());
            assert_eq!(
                schemas[0].same_layout(&schemas[1]),
                index == other_index,
                "{name}, {other}"
            );
        }
    }
}
