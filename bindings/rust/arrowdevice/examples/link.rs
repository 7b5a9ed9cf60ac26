// SPDX-License-Identifier: Apache-2.0
//! Sends a stream of numbers to another process, without a copy. `examples/link.c` does the same in
//! C. Each program can read from the other.
//!
//! - `cargo run --example link serve unix:@numbers` ends when its first client has read the stream.
//! - `cargo run --example link fetch unix:@numbers` adds the numbers up.

use std::error::Error;
use std::thread::sleep;
use std::time::Duration;

use arrow_array::{Int64Array, cast::AsArray, types::Int64Type};
use arrowdevice::{Array, ConnectOptions, CopyOptions, Device, Pool, PoolOptions, Server, ServerOptions, Stream};

const ROWS: i64 = 1_000_000;
const BATCHES: i64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", uri] => serve(uri),
        ["fetch", uri] => fetch(uri),
        _ => Err("usage: link serve|fetch URI".into()),
    }
}

fn serve(uri: &str) -> Result<(), Box<dyn Error>> {
    let cpu = Device::cpu()?;
    let pool = Pool::new(cpu, PoolOptions::new().shareable(true))?;
    let mut batches = Vec::new();
    for first in (0..BATCHES).map(|batch| batch * ROWS) {
        let mut numbers = Array::from_arrow(&Int64Array::from_iter_values(first..first + ROWS))?;
        batches.push(numbers.copy_to(cpu, CopyOptions::new().pool(&pool))?);
    }
    let server = Server::new(uri, ServerOptions::new())?;
    let schema = batches[0].schema().clone();
    server.add_arrays("numbers", &schema, &mut batches)?;
    loop {
        let stats = server.stats()?;
        if stats.batches >= BATCHES && stats.clients == 0 {
            println!(
                "{} batches were sent, {} bytes were copied",
                stats.batches, stats.copied_bytes
            );
            return Ok(());
        }
        sleep(Duration::from_millis(1));
    }
}

fn fetch(uri: &str) -> Result<(), Box<dyn Error>> {
    // SAFETY: the server makes valid arrays, and does not write to them.
    let stream = unsafe { Stream::connect(uri, None, ConnectOptions::new()) }?;
    let mut sum = 0;
    for batch in stream {
        let numbers = batch?.into_arrow()?;
        sum += numbers.as_primitive::<Int64Type>().values().iter().sum::<i64>();
    }
    println!("the sum is {sum}");
    Ok(())
}
