// SPDX-License-Identifier: Apache-2.0
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field};
use arrowdevice::{
    Array, CopyOptions, Device, DeviceType, Error, ErrorKind, MoveError, Queue, Schema, Sharing, Stream, StreamOptions,
    Validation,
};

use crate::counted::{self, Count};
use crate::devices::{SMALL, device};
use crate::types;

fn numbers() -> Array {
    Array::from_arrow(&Int32Array::from(vec![1, 2, 3])).unwrap()
}

fn is_intact(array: Array) {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    assert_eq!(&array.into_arrow().unwrap(), &numbers);
}

#[test]
fn into_device_returns_an_array_that_cannot_be_shared() {
    let required = CopyOptions::new().sharing(Sharing::Required);
    let failed = numbers().into_device(device("ext_dev:0"), required).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::Unsupported);
    assert_eq!(failed.error().errno(), libc::ENOTSUP);
    assert_eq!(failed.value().len(), 3);
    is_intact(failed.into_value());
}

#[test]
fn into_device_returns_an_array_that_does_not_fit() {
    let failed = Array::from_arrow(&Int32Array::from(vec![0; 1 << 20])).unwrap();
    let failed = failed.into_device(device(SMALL), CopyOptions::new()).unwrap_err();
    let (error, array) = failed.into_parts();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(error.backend(), "sim");
    assert!(!error.message().is_empty() && error.to_string() == error.message());
    assert_eq!(array.into_arrow().unwrap().len(), 1 << 20);
    numbers().into_device(device(SMALL), CopyOptions::new()).unwrap();
}

#[test]
fn copy_refuses_a_queue_of_another_device() {
    let mut queue = Queue::new(device("ext_dev:0")).unwrap();
    let options = || CopyOptions::new().sharing(Sharing::Refused);
    let cpu = Device::cpu().unwrap();
    let failed = numbers().into_device(cpu, options().queue(&mut queue)).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    is_intact(failed.into_value());
    let error = numbers().copy_to(cpu, options().queue(&mut queue)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn slice_and_select_refuse_missing_rows_and_columns() {
    let mut array = Array::try_from(&types::numbers(0..10)).unwrap();
    for (offset, length) in [(0, 11), (11, 0), (5, 6), (usize::MAX, 1), (1, usize::MAX)] {
        let error = array.slice(offset, length).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{offset}, {length}: {error}");
    }
    assert_eq!(array.select(&[1]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(array.select(&[usize::MAX]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(numbers().select(&[0]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(array.into_record_batch().unwrap(), types::numbers(0..10));
}

#[test]
fn calls_return_an_array_that_does_not_match_its_schema() {
    let count = Count::default();
    let wrong = Schema::try_from(&DataType::Utf8).unwrap();
    // SAFETY: only the structs are read, and they show that the array does not match.
    let array = unsafe { Array::from_host(counted::array(&count), wrong) }.unwrap();
    assert_eq!(
        array.validate(Validation::Structure).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let failed = array.into_device(device("ext_dev:0"), CopyOptions::new()).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    let failed = failed.into_value().import(Default::default()).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    assert!(failed.to_string().contains("buffers"), "{failed}");
    assert_eq!(count.get(), 0);
    drop(failed);
    assert_eq!(count.get(), 1);
}

#[test]
fn calls_refuse_a_released_array() {
    // SAFETY: the array is released, and every call checks that.
    let array = unsafe { Array::from_raw(Default::default(), counted::schema()) };
    assert_eq!(
        array.validate(Validation::Structure).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        array
            .into_device(device("cpu"), CopyOptions::new())
            .unwrap_err()
            .error()
            .kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn into_record_batch_returns_an_array_that_is_no_batch() {
    let failed = numbers().into_record_batch().unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    is_intact(failed.into_value());

    let fields = vec![Field::new("n", DataType::Int32, true)].into();
    let column: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let with_nulls = StructArray::new(fields, vec![column], Some(vec![true, false].into()));
    let there = Array::from_arrow(&with_nulls)
        .unwrap()
        .copy_to(device("ext_dev:1"), CopyOptions::new())
        .unwrap();
    let failed = there.into_record_batch().unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    assert!(failed.error().message().contains("1 null"), "{failed}");
    let array = failed.into_value();
    assert_eq!(array.device().unwrap(), device("ext_dev:1"));
    assert_eq!(&array.into_arrow().unwrap(), &(Arc::new(with_nulls) as ArrayRef));
}

#[test]
fn from_arrays_returns_all_arrays_when_it_fails() {
    let schema = counted::schema();
    let floats = Array::from_arrow(&arrow_array::Float32Array::from(vec![1.0])).unwrap();
    let failed = Stream::from_arrays(&schema, vec![numbers(), floats], DeviceType::CPU).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    assert!(failed.error().message().contains("array 1"), "{failed}");
    let mut arrays = failed.into_value();
    assert_eq!(arrays.len(), 2);
    is_intact(arrays.remove(0));

    let there = numbers().into_device(device("ext_dev:0"), CopyOptions::new()).unwrap();
    let failed = Stream::from_arrays(&schema, vec![numbers(), there], DeviceType::CPU).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    failed.into_value().into_iter().for_each(is_intact);
}

#[test]
fn zero_time_out_does_not_wait_without_limit() {
    // The call waits for nothing, so that the time-out cannot strike.
    let options = CopyOptions::new().timeout(Duration::ZERO);
    numbers().into_device_async(device("ext_dev:0"), options).unwrap();
}

#[test]
fn errors_convert_to_standard_and_arrow_errors() {
    fn as_a_batch(array: Array) -> Result<RecordBatch, ArrowError> {
        Ok(array.into_record_batch()?)
    }
    fn as_any(array: Array) -> Result<RecordBatch, Box<dyn std::error::Error + Send + Sync>> {
        Ok(array.into_record_batch()?)
    }
    fn as_ours(array: Array) -> arrowdevice::Result<RecordBatch> {
        Ok(array.into_record_batch()?)
    }
    fn moved(stream: Stream) -> Result<Stream, Box<dyn std::error::Error + Send + Sync>> {
        Ok(stream.into_device(device("ext_dev:0"), StreamOptions::new())?)
    }
    // SAFETY: the stream is released, and the call refuses that.
    let failed = moved(unsafe { Stream::from_raw(Default::default()) }).unwrap_err();
    let source = failed.source().and_then(|source| source.downcast_ref::<Error>());
    assert_eq!(source.map(Error::kind), Some(ErrorKind::InvalidInput), "{failed}");
    let mut failed = *failed.downcast::<MoveError<Stream>>().unwrap();
    assert!(failed.value_mut().next().unwrap().is_err());
    let ours = as_ours(numbers()).unwrap_err();
    assert_eq!(Error::from(as_a_batch(numbers()).unwrap_err()), ours);
    assert!(as_any(numbers()).unwrap_err().is::<MoveError<Array>>());
    assert_eq!(
        Error::from(ArrowError::NotYetImplemented("x".into())).kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(
        Error::from(ArrowError::SchemaError("x".into())).kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn own_error_never_has_code_zero() {
    assert_eq!(Error::new(0, "x").errno(), libc::EIO);
    let other = Error::new(libc::EPIPE, "");
    assert_eq!(
        (other.kind(), other.errno(), other.native_code()),
        (ErrorKind::Other, libc::EPIPE, 0)
    );
    assert_eq!(other.to_string(), format!("error {} (Other)", libc::EPIPE));
}
