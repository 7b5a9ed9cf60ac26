// SPDX-License-Identifier: Apache-2.0
//! Tests arrays of memory that work on a queue writes.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use arrow_schema::DataType;
use arrowdevice::{Array, Buffer, Device, ErrorKind, Pool, PoolOptions, Queue, Schema, sys};

use crate::devices::{SLOW, device, tested};

const VALIDITY: [u8; 1] = [0b1011];
const NUMBERS: [i32; 4] = [10, 1, 99, 3];

fn numbers() -> Schema {
    Schema::try_from(&DataType::Int32).unwrap()
}

fn pool_of(device: Device) -> Pool {
    Pool::new(device, PoolOptions::new()).unwrap()
}

fn used_bytes(pool: &Pool) -> i64 {
    pool.stats().unwrap().used_bytes
}

/// Returns memory into which work on the queue copies the values.
fn written<T>(queue: &mut Queue, pool: &Pool, device: Device, values: &'static [T]) -> Buffer {
    let buffer = Buffer::new(device, size_of_val(values), Some(pool), Some(queue)).unwrap();
    let region = sys::arrowdevice_copy_region {
        dst_device: device.as_ptr(),
        dst: buffer.as_ptr(),
        src: values.as_ptr().cast(),
        size: i64::try_from(size_of_val(values)).unwrap(),
        ..Default::default()
    };
    // SAFETY: the values are static, and the array or `finish` keeps the buffer.
    unsafe { queue.copy(&[region]) }.unwrap();
    buffer
}

#[test]
fn from_buffers_makes_an_array_that_owns_its_memory() {
    for device in tested() {
        let (mut queue, pool) = (Queue::new(device).unwrap(), pool_of(device));
        let validity = written(&mut queue, &pool, device, &VALIDITY);
        let data = written(&mut queue, &pool, device, &NUMBERS);
        let buffers = vec![Some(validity), Some(data)];
        // SAFETY: the queue writes four numbers and their validity.
        let array = unsafe { Array::from_buffers(device, numbers(), 4, buffers, Some(&mut queue)) }.unwrap();
        drop(queue);
        assert_eq!((array.device().unwrap(), array.null_count()), (device, None));
        let expected: ArrayRef = Arc::new(Int32Array::from(vec![Some(10), Some(1), None, Some(3)]));
        let back = array.into_arrow().unwrap();
        assert_eq!(&back, &expected, "{device}");
        drop(back);
        arrowdevice::wait_idle(None).unwrap();
        assert_eq!(used_bytes(&pool), 0, "{device}");
    }
}

#[test]
fn from_buffers_without_a_bitmap_has_no_nulls() {
    for device in tested() {
        let (mut queue, pool) = (Queue::new(device).unwrap(), pool_of(device));
        let data = written(&mut queue, &pool, device, &NUMBERS);
        queue.finish(None).unwrap();
        // SAFETY: the buffer holds four numbers.
        let array = unsafe { Array::from_buffers(device, numbers(), 4, vec![None, Some(data)], None) }.unwrap();
        assert!(array.is_ready().unwrap());
        assert_eq!(array.null_count(), Some(0));
        let expected: ArrayRef = Arc::new(Int32Array::from(NUMBERS.to_vec()));
        assert_eq!(&array.into_arrow().unwrap(), &expected, "{device}");
    }
}

#[test]
fn from_buffers_is_ready_and_frees_its_memory_after_the_queues_work() {
    let device = device(SLOW);
    let (mut queue, pool) = (Queue::new(device).unwrap(), pool_of(device));
    let data = written(&mut queue, &pool, device, &NUMBERS);
    // SAFETY: the queue writes four numbers.
    let array = unsafe { Array::from_buffers(device, numbers(), 4, vec![None, Some(data)], Some(&mut queue)) }.unwrap();
    assert!(!array.is_ready().unwrap());
    drop(array);
    assert!(used_bytes(&pool) > 0);
    queue.finish(None).unwrap();
    arrowdevice::wait_idle(None).unwrap();
    assert_eq!(used_bytes(&pool), 0);
}

#[test]
fn failed_from_buffers_returns_the_buffers() {
    let (here, other) = (device("ext_dev:0"), device("ext_dev:1"));
    let pool = pool_of(here);
    let buffer = || Some(Buffer::new(here, 16, Some(&pool), None).unwrap());
    for (on, buffers) in [
        (here, vec![buffer()]),
        (here, vec![None, None]),
        (other, vec![None, buffer()]),
    ] {
        let before = used_bytes(&pool);
        let count = buffers.iter().flatten().count();
        // SAFETY: the call fails.
        let refused = unsafe { Array::from_buffers(on, numbers(), 4, buffers, None) }.unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::InvalidInput, "{refused}");
        assert_eq!(used_bytes(&pool), before);
        assert_eq!(refused.into_value().iter().flatten().count(), count);
    }
    assert_eq!(used_bytes(&pool), 0);
}
