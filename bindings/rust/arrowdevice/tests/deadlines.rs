// SPDX-License-Identifier: Apache-2.0
//! Tests that calls with a time-out end in time on a device that hangs. They are a program of their own, because the device
//! would keep other tests from waiting until the library is idle.

use std::time::{Duration, Instant};

use arrow_array::StringArray;
use arrowdevice::{
    Array, CopyOptions, Device, Error, ErrorKind, ImportOptions, MoveError, Queue, Stream, StreamOptions, wait_idle,
};

const LIMIT: Duration = Duration::from_millis(200);
const IN_TIME: Duration = Duration::from_millis(2000);

fn texts() -> Array {
    Array::from_arrow(&StringArray::from(vec!["a", "bc", "def"])).unwrap()
}

fn error_of<T, V>(result: Result<T, MoveError<V>>) -> Result<(), Error> {
    result.map(drop).map_err(MoveError::into_error)
}

/// Calls one function of the list with a time-out. `pending` is on its way to the device and never
/// arrives.
fn call(name: &str, hanging: Device, mut queue: Queue, pending: Array) -> Result<(), Error> {
    let mut pending = pending;
    let limited = || CopyOptions::new().timeout(LIMIT);
    match name {
        "to_device" => error_of(texts().into_device(hanging, limited())),
        "copy" => texts().copy_to(hanging, limited()).map(drop),
        "to_host" => error_of(pending.into_host(limited())),
        "get_ipc_handle" => pending.ipc_handle(limited()).map(drop),
        "import" => error_of(pending.import(ImportOptions::new().resolve_sizes(true).timeout(LIMIT))),
        "stream" => {
            let schema = pending.schema().clone();
            let device_type = hanging.info()?.device_type;
            let stream = Stream::from_arrays(&schema, vec![pending], device_type).map_err(MoveError::into_error)?;
            let cpu = Device::find_by_name("cpu")?;
            let mut stream = stream
                .into_device(cpu, StreamOptions::new().timeout(LIMIT))
                .map_err(MoveError::into_error)?;
            stream.next().expect("the stream has an array").map(drop)
        }
        "wait" => pending.wait(Some(LIMIT)),
        "finish" => queue.finish(Some(LIMIT)),
        "wait_idle" => {
            drop(pending);
            wait_idle(Some(LIMIT))
        }
        _ => panic!("the list has a call that this test does not know: {name}"),
    }
}

#[test]
fn every_listed_call_ends_in_time_on_a_device_that_hangs() {
    // SAFETY: this is the only test of the program, and no other thread runs yet.
    unsafe { std::env::set_var("ARROWDEVICE_SIM_DEVICES", "addresses:latency_us=600000000") };
    let hanging = Device::find_by_name("ext_dev:0").unwrap();
    // The list is the same for all languages.
    let path = std::env::var("ARROWDEVICE_TEST_LIMITED_CALLS").expect("test.sh sets ARROWDEVICE_TEST_LIMITED_CALLS");
    let listed = std::fs::read_to_string(path).unwrap();
    let names: Vec<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!names.is_empty());
    for name in names {
        let mut queue = Queue::new(hanging).unwrap();
        let pending = texts()
            .into_device_async(hanging, CopyOptions::new().queue(&mut queue))
            .unwrap();
        let begin = Instant::now();
        let error = call(name, hanging, queue, pending).expect_err(name);
        let elapsed = begin.elapsed();
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}: {error}");
        assert!(elapsed >= LIMIT && elapsed < IN_TIME, "{name}: {elapsed:?}");
    }
}
