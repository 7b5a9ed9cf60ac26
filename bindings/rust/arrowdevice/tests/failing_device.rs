// SPDX-License-Identifier: Apache-2.0
//! Tests arrays on a device that fails. They are a program of their own, because the first device
//! reads the environment once.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use arrowdevice::{Array, CopyOptions, Device, Error, ErrorKind, deferred_run, deferred_set_manual, wait_idle};

#[test]
fn failing_device_returns_errors_and_loses_nothing() {
    // SAFETY: this is the only test of the program, and no other thread runs yet.
    unsafe {
        std::env::set_var("ARROWDEVICE_SIM_DEVICES", "addresses,handles");
        std::env::set_var("ARROWDEVICE_SIM_FAIL", "queue_copy:1,event:2");
    }
    deferred_set_manual(true).unwrap();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1; 1000]));
    let device = Device::find_by_name("ext_dev:0").unwrap();

    // The driver refuses the first copy.
    let array = Array::from_arrow(&numbers).unwrap();
    let failed = array.into_device(device, CopyOptions::new()).unwrap_err();
    let (error, array) = failed.into_parts();
    assert_eq!(error.kind(), ErrorKind::DeviceFailure);
    assert_eq!(error.backend(), "sim");
    assert_eq!(&array.into_arrow().unwrap(), &numbers);

    // Later an event fails when the device gets to it. A wait for the event fails, and so does a
    // copy of the array that it guards.
    let mut failures: Vec<Error> = Vec::new();
    for _ in 0..4 {
        let there = Array::from_arrow(&numbers)
            .unwrap()
            .into_device_async(device, CopyOptions::new());
        match there
            .map_err(Error::from)
            .and_then(|there| there.wait(None).map(|()| there))
        {
            Ok(there) => {
                if let Err(failed) = there.into_arrow() {
                    failures.push(failed.into_error());
                }
            }
            Err(error) => failures.push(error),
        }
    }
    assert!(!failures.is_empty());
    for error in &failures {
        assert_eq!(error.kind(), ErrorKind::DeviceFailure, "{error}");
    }

    // The other device has not failed. The test runs the deferred work itself, because no thread of
    // the library does.
    let other = Device::find_by_name("ext_dev:1").unwrap();
    let there = Array::from_arrow(&numbers)
        .unwrap()
        .into_device_async(other, CopyOptions::new())
        .unwrap();
    assert_eq!(&there.into_arrow().unwrap(), &numbers);
    wait_idle(None).unwrap();
    assert_eq!(deferred_run(None).unwrap(), 0);
    assert_eq!(deferred_run(Some(1)).unwrap(), 0);
}
