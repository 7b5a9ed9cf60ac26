// SPDX-License-Identifier: Apache-2.0
//! Puts a record batch on every device of the machine, brings it back and compares it.
//!
//! `cargo run --example first_batch` uses all devices. An argument names the only device to use.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrowdevice::{Array, CopyOptions, Device};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let batch = RecordBatch::try_from_iter([
        (
            "city",
            Arc::new(StringArray::from(vec![Some("Oslo"), None, Some("Quito")])) as ArrayRef,
        ),
        ("height", Arc::new(Float64Array::from(vec![23.0, 0.5, 2850.0]))),
    ])?;

    let devices = match std::env::args().nth(1) {
        Some(name) => vec![Device::find_by_name(&name)?],
        None => Device::list()?,
    };
    for device in devices {
        let there = Array::try_from(&batch)?.into_device(device, CopyOptions::new())?;
        println!("{device:<12} {}: {there:?}", device.info()?.name);
        let back = there.into_record_batch()?;
        if back != batch {
            return Err(format!("{device} returned {back:?}").into());
        }
    }
    Ok(())
}
