// SPDX-License-Identifier: Apache-2.0
use std::time::Duration;

use arrow_array::{Int32Array, cast::AsArray, types::Int32Type};
use arrowdevice::{Array, CopyOptions, Device, ErrorKind, Pool, PoolOptions, Queue, Sharing, wait_idle};

use crate::counted::{self, Count};
use crate::devices::{closed, device, tested};
use crate::types;

#[test]
fn dropped_array_is_released_once() {
    let count = Count::default();
    let array = counted::device_array(&count);
    assert_eq!(count.get(), 0);
    drop(array);
    assert_eq!(count.get(), 1);
}

#[test]
fn moved_array_is_released_by_its_new_owner() {
    let count = Count::default();
    let array = counted::device_array(&count)
        .into_device(Device::cpu().unwrap(), CopyOptions::new())
        .unwrap();
    assert_eq!(count.get(), 0);
    let back = array.into_arrow().unwrap();
    assert_eq!(count.get(), 0);
    assert_eq!(back.as_primitive::<Int32Type>().values(), &[1, 2, 3]);
    drop(back);
    assert_eq!(count.get(), 1);
}

#[test]
fn copied_array_is_released_after_the_copy() {
    for device in tested() {
        let count = Count::default();
        let there = counted::device_array(&count)
            .into_device_async(device, CopyOptions::new())
            .unwrap();
        drop(there);
        wait_idle(None).unwrap();
        assert_eq!(count.get(), 1, "{device}");
    }
}

#[test]
fn last_owner_releases_the_array() {
    let count = Count::default();
    let mut first = counted::device_array(&count);
    let second = first.share().unwrap();
    let third = first.slice(1, 1).unwrap();
    drop(first);
    drop(third);
    assert_eq!(count.get(), 0);
    drop(second);
    assert_eq!(count.get(), 1);
}

#[test]
fn into_raw_leaves_the_release_to_the_caller() {
    let count = Count::default();
    let (raw, schema) = counted::device_array(&count).into_raw();
    assert_eq!(count.get(), 0);
    // SAFETY: the structs came from an array just now.
    drop(unsafe { Array::from_raw(raw, schema) });
    assert_eq!(count.get(), 1);
}

#[test]
fn failed_call_returns_its_struct_or_releases_it() {
    let closed = closed();

    let count = Count::default();
    // SAFETY: a closed device reads no buffer.
    let exported = || unsafe { Array::export(closed, counted::array(&count), counted::schema(), None) };
    let forgotten = || -> arrowdevice::Result<Array> { Ok(exported()?) };
    assert_eq!(forgotten().unwrap_err().kind(), ErrorKind::NoDevice);
    assert_eq!(count.get(), 1);

    let failed = exported().unwrap_err();
    assert_eq!(failed.value().length, 3);
    let raw = failed.into_value().into_raw();
    assert_eq!(count.get(), 1);
    // SAFETY: the array is unchanged, and no other owner has it.
    drop(unsafe { Array::from_host(raw, counted::schema()) }.unwrap());
    assert_eq!(count.get(), 2);
}

#[test]
fn release_after_waits_for_the_queues_work() {
    for device in tested() {
        let mut queue = Queue::new(device).unwrap();
        let count = Count::default();
        counted::device_array(&count).release_after(&mut queue).unwrap();
        queue.finish(None).unwrap();
        wait_idle(None).unwrap();
        assert_eq!(count.get(), 1);
    }
}

#[test]
fn array_outlives_its_queue_pool_and_schema() {
    for device in tested() {
        let mut queue = Queue::new(device).unwrap();
        let pool = Pool::new(device, PoolOptions::new()).unwrap();
        let array = Array::try_from(&types::batch()).unwrap();
        let options = CopyOptions::new()
            .queue(&mut queue)
            .pool(&pool)
            .sharing(Sharing::Refused)
            .timeout(Duration::from_secs(600));
        let there = array.into_device_async(device, options).unwrap();
        assert!(pool.stats().unwrap().used_bytes > 0);
        drop(queue);
        drop(pool);
        assert_eq!(there.into_record_batch().unwrap(), types::batch(), "{device}");
    }
}

#[test]
fn arrow_array_holds_its_source_until_it_is_dropped() {
    let values = Int32Array::from(vec![5; 1000]);
    let there = Array::from_arrow(&values)
        .unwrap()
        .copy_to(device("ext_dev:0"), CopyOptions::new())
        .unwrap();
    drop(values);
    let back = there.into_arrow().unwrap();
    let kept = back.slice(10, 3);
    drop(back);
    assert_eq!(kept.as_primitive::<Int32Type>().values(), &[5; 3]);
}
