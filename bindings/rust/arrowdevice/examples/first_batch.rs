// SPDX-License-Identifier: Apache-2.0
//! Moves a record batch to every device of the machine and back, and compares.
//!
//! `cargo run --example first_batch`; a device's name as argument takes that one only.

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
            return Err(format!("{device} gave back {back:?}").into());
        }
    }
    Ok(())
}
