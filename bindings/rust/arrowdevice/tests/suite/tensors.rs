// SPDX-License-Identifier: Apache-2.0
//! Tests tensors of DLPack.

use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, Int32Array, Int64Array, PrimitiveArray};
use arrow_schema::{DataType as ArrowType, Field};
use arrowdevice::{
    Array, CopyOptions, DataType, Device, DeviceType, ErrorKind, Pool, PoolOptions, Queue, Tensor, sys, wait_idle,
};

use crate::devices::{SLOW, device, tested};

fn pairs() -> ArrayRef {
    let field = Arc::new(Field::new("item", ArrowType::Float32, true));
    let values: Float32Array = PrimitiveArray::<Float32Type>::from_iter_values([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    Arc::new(FixedSizeListArray::new(field, 2, Arc::new(values), None))
}

fn on(device: Device, array: &ArrayRef) -> Array {
    let array = Array::from_arrow(array).unwrap();
    array.into_device(device, CopyOptions::new()).unwrap()
}

#[test]
fn tensors_have_the_rows_on_each_device_and_share_the_memory() {
    for device in tested() {
        let mut there = on(device, &pairs());
        let tensor = there.slice(1, 2).unwrap().to_tensor(None).unwrap();
        drop(there);
        assert_eq!(tensor.shape(), [2, 2]);
        assert_eq!(tensor.strides(), [2, 1]);
        let expected = DataType {
            code: 2,
            bits: 32,
            lanes: 1,
        };
        assert_eq!((tensor.data_type(), tensor.byte_offset()), (expected, 8));
        assert_eq!(tensor.device_type(), device.info().unwrap().device_type);
        assert!(!tensor.data().is_null());
        if device.info().unwrap().device_type == DeviceType::CPU {
            assert_eq!(tensor.device_id(), 0);
            // SAFETY: the tensor has four floats from the offset on.
            let first = unsafe { *tensor.data().cast::<u8>().add(8).cast::<f32>() };
            assert_eq!(first, 3.0);
        }
        let back = Array::from_tensor(tensor, None).unwrap();
        assert_eq!(
            back.into_arrow().unwrap().as_ref(),
            pairs().slice(1, 2).as_ref(),
            "{device}"
        );
    }
}

#[test]
fn queues_order_tensors_with_work() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let slow = device(SLOW);
    let mut queue = Queue::new(slow).unwrap();
    let mut pending = Array::from_arrow(&numbers)
        .unwrap()
        .into_device_async(slow, CopyOptions::new())
        .unwrap();
    let tensor = pending.to_tensor(Some(&mut queue)).unwrap();
    assert!(!pending.is_ready().unwrap()); // the queue waits, and the call has not
    let back = Array::from_tensor(tensor, Some(&mut queue)).unwrap();
    assert!(!back.is_ready().unwrap());
    let back = back.into_arrow().unwrap();
    assert_eq!(
        back.as_any()
            .downcast_ref::<PrimitiveArray<Int64Type>>()
            .unwrap()
            .value(999),
        999
    );
}

#[test]
fn tensors_keep_the_memory_until_they_are_dropped() {
    let device = device("ext_dev:0");
    let pool = Pool::new(device, PoolOptions::new()).unwrap();
    let used = || pool.stats().unwrap().used_bytes;
    let array = Array::from_arrow(&pairs()).unwrap();
    let mut there = array.into_device(device, CopyOptions::new().pool(&pool)).unwrap();
    let tensor = there.to_tensor(None).unwrap();
    drop(there);
    wait_idle(None).unwrap();
    assert!(used() > 0);
    drop(tensor);
    wait_idle(None).unwrap();
    assert_eq!(used(), 0);
}

#[test]
fn arrays_with_nulls_and_tensors_of_other_versions_are_refused() {
    let nulls: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let failed = Array::from_arrow(&nulls).unwrap().to_tensor(None).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Unsupported);

    let mut newer = [2u64; 16]; // the first four bytes are the major version
    let newer = NonNull::from(&mut newer).cast::<sys::DLManagedTensorVersioned>();
    // SAFETY: the version is valid, and nothing else is read.
    let failed = unsafe { Tensor::from_ptr(newer) }.unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Unsupported);

    let tensor = Array::from_arrow(&pairs()).unwrap().to_tensor(None).unwrap();
    let rows = tensor.shape().as_ptr().cast_mut();
    // SAFETY: the tensor owns its shape, and nobody else reads it.
    unsafe { *rows = -1 };
    let failed = Array::from_tensor(tensor, None).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(failed.into_value().shape(), [-1, 2]); // the tensor is unchanged
}

#[test]
fn tensors_go_to_other_libraries_by_pointer() {
    let tensor = Array::from_arrow(&pairs()).unwrap().to_tensor(None).unwrap();
    let pointer = tensor.into_ptr();
    // SAFETY: the pointer is the tensor's, and has no other owner.
    let again = unsafe { Tensor::from_ptr(pointer) }.unwrap();
    assert!(format!("{again:?}").contains("shape: [3, 2]"));
}
