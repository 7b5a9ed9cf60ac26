// SPDX-License-Identifier: Apache-2.0
//! Moves the result of a DataFusion query to a device, and queries the table there.
//!
//! `cargo run` uses `ext_dev:0`, a simulated device that the CPU cannot read. An argument names
//! another device.

mod device_table;

use std::error::Error;
use std::sync::Arc;

use arrowdevice::{Array, CopyOptions, Device};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;

use device_table::{DeviceTable, external};

const ROWS: &str = "SELECT value AS n, value % 3 AS remainder, 'row ' || value AS name FROM generate_series(1, 30000)";
const TOTALS: &str = "SELECT remainder, count(*), sum(n) FROM numbers GROUP BY remainder ORDER BY remainder";
const COUNT: &str = "SELECT count(*) FROM numbers";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1);
    let device = Device::find_by_name(name.as_deref().unwrap_or("ext_dev:0"))?;
    let context = SessionContext::new_with_config(SessionConfig::new().with_batch_size(10_000));

    // The result of a query becomes a table on the device.
    let rows = context.sql(ROWS).await?.execute_stream().await?;
    let schema = rows.schema();
    let batches = to_device(rows, device).await?;
    let count: usize = batches.iter().map(Array::len).sum();
    println!("{count} rows in {} batches are on the device", batches.len());
    context.register_table("numbers", Arc::new(DeviceTable::new(schema, batches)))?;

    // Queries read the table. Only the columns that a query names come to the CPU.
    for query in [TOTALS, COUNT] {
        let before = device.counters()?.bytes_out;
        let result = context.sql(query).await?.collect().await?;
        println!("{}", pretty_format_batches(&result)?);
        println!("{} bytes came to the CPU", device.counters()?.bytes_out - before);
    }
    Ok(())
}

/// Puts the batches of a result on a device while the query runs.
async fn to_device(mut rows: SendableRecordBatchStream, device: Device) -> Result<Vec<Array>> {
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        let batch = Array::try_from(&batch?).map_err(external)?;
        // The copy runs while DataFusion makes the next batch. The library keeps the batch alive.
        batches.push(batch.into_device_async(device, CopyOptions::new()).map_err(external)?);
    }
    Ok(batches)
}
