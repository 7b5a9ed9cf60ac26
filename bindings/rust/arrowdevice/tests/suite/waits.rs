// SPDX-License-Identifier: Apache-2.0
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int32Array, StringArray};
use arrowdevice::{Array, CopyOptions, ErrorKind, Pool, PoolOptions, Queue, wait_idle};

use crate::bounded::block_on;
use crate::devices::{SLOW, device, tested};

const NO_TIME: Option<Duration> = Some(Duration::ZERO);

fn numbers() -> Array {
    Array::from_arrow(&Int32Array::from(vec![4; 5000])).unwrap()
}

#[test]
fn wait_times_out_and_can_be_repeated() {
    let mut array = numbers();
    let copied = array.copy_to_async(device(SLOW), CopyOptions::new()).unwrap();
    let moved = array.into_device_async(device(SLOW), CopyOptions::new()).unwrap();
    for there in [&copied, &moved] {
        assert!(!there.is_ready().unwrap());
        for timeout in [NO_TIME, Some(Duration::from_millis(1))] {
            let error = there.wait(timeout).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert_eq!(error.errno(), libc::ETIMEDOUT);
        }
    }
    for there in [copied, moved] {
        there.wait(None).unwrap();
        assert!(there.is_ready().unwrap());
        there.wait(NO_TIME).unwrap();
    }
}

#[test]
fn finish_times_out_when_work_is_pending() {
    let device = device(SLOW);
    let mut queue = Queue::new(device).unwrap();
    let there = numbers()
        .copy_to_async(device, CopyOptions::new().queue(&mut queue))
        .unwrap();
    assert_eq!(queue.finish(NO_TIME).unwrap_err().kind(), ErrorKind::TimedOut);
    queue.finish(None).unwrap();
    assert!(there.is_ready().unwrap());
}

#[test]
fn copy_times_out_before_sizes_are_ready_and_returns_its_source() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "bc", "def"]));
    let mut array = Array::from_arrow(&texts).unwrap();
    let pending = array.copy_to_async(device(SLOW), CopyOptions::new()).unwrap();
    let options = CopyOptions::new().timeout(Duration::ZERO); // polls, instead of waiting without limit
    let failed = pending.into_host(options).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::TimedOut);
    assert_eq!(&failed.into_value().into_arrow().unwrap(), &texts);
}

#[test]
fn timeout_limits_the_whole_call_and_the_source_may_be_dropped() {
    let limited = || CopyOptions::new().timeout(Duration::from_millis(200));
    let begin = Instant::now();
    let mut source = numbers();
    let copy = source.copy_to(device(SLOW), limited()).unwrap_err();
    let moved = numbers().into_device(device(SLOW), limited()).unwrap_err();
    drop(source);
    assert!(begin.elapsed() < Duration::from_millis(1500)); // a copy takes two seconds
    assert_eq!(copy.kind(), ErrorKind::TimedOut);
    assert_eq!(moved.error().kind(), ErrorKind::TimedOut);
    drop(moved);
    wait_idle(None).unwrap();
}

#[test]
fn array_comes_to_the_cpu_while_the_program_goes_on() {
    let pending = numbers().into_device_async(device(SLOW), CopyOptions::new()).unwrap();
    let copy = pending.into_host_async(CopyOptions::new()).unwrap();
    assert!(!copy.is_ready()); // a copy to the device takes two seconds
    let host = block_on(copy).unwrap();
    assert_eq!(host.into_arrow().unwrap().len(), 5000);

    let copy = numbers().into_host_async(CopyOptions::new()).unwrap();
    assert_eq!(copy.wait().unwrap().len(), 5000);
    drop(numbers().into_host_async(CopyOptions::new()).unwrap());
    wait_idle(None).unwrap();
}

#[test]
fn failed_copy_to_the_cpu_returns_its_source() {
    let pending = numbers().into_device_async(device(SLOW), CopyOptions::new()).unwrap();
    let copy = pending
        .into_host_async(CopyOptions::new().timeout(Duration::ZERO))
        .unwrap();
    let failed = block_on(copy).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::TimedOut);
    assert_eq!(failed.into_value().into_arrow().unwrap().len(), 5000);

    let pool = Pool::new(device(SLOW), PoolOptions::new()).unwrap();
    let refused = numbers().into_host_async(CopyOptions::new().pool(&pool)).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(refused.into_value().into_arrow().unwrap().len(), 5000);
}

#[test]
fn queue_waits_for_an_array_of_each_device() {
    for from in tested() {
        let there = numbers().copy_to_async(from, CopyOptions::new()).unwrap();
        for on in tested() {
            let mut queue = Queue::new(on).unwrap();
            queue.wait_array(&there).unwrap();
            queue.finish(None).unwrap();
            assert!(there.is_ready().unwrap(), "{from}, waited for on {on}");
        }
    }
}
