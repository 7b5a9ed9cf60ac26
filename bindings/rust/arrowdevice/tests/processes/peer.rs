// SPDX-License-Identifier: Apache-2.0
//! Serves files to other processes, and fetches what they serve. tests/interop/test_processes.py has the manual.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use arrowdevice::{
    Array, ConnectOptions, CopyOptions, Device, Pool, PoolOptions, Schema, Server, ServerOptions, Sharing, Stream,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [command, uri, devices, paths @ ..] = &words[..] else {
        return Err("usage: peer serve|fetch URI DEVICE,... FILE...".into());
    };
    let devices = devices.split(',').map(Device::find_by_name);
    let devices = devices.collect::<arrowdevice::Result<Vec<_>>>()?;
    match command.as_str() {
        "serve" => serve(uri, &devices, paths),
        "fetch" => fetch(uri, &devices, paths),
        _ => Err(format!("there is no command {command}").into()),
    }
}

fn read(path: &str) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let reader = StreamReader::try_new(File::open(path)?, None)?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<std::result::Result<_, ArrowError>>()?))
}

fn name_of(path: &str, device: Device) -> String {
    let stem = Path::new(path).file_stem().unwrap_or_default();
    format!("{}.{device}", stem.to_string_lossy())
}

fn serve(uri: &str, devices: &[Device], paths: &[String]) -> Result<()> {
    let server = Server::new(uri, ServerOptions::new().sharing(Sharing::Required))?;
    for &device in devices {
        let pool = Pool::new(device, PoolOptions::new().shareable(true))?;
        for path in paths {
            let (schema, batches) = read(path)?;
            let mut arrays = Vec::new();
            for batch in &batches {
                arrays.push(Array::from_record_batch(batch)?.copy_to(device, CopyOptions::new().pool(&pool))?);
            }
            server.add_arrays(&name_of(path, device), &Schema::try_from(&*schema)?, &mut arrays)?;
        }
    }
    println!("serving");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let stats = server.stats()?;
    println!(
        "{} batches were sent, {} bytes were copied",
        stats.batches, stats.copied_bytes
    );
    Ok(())
}

fn fetch(uri: &str, devices: &[Device], paths: &[String]) -> Result<()> {
    for path in paths {
        let (schema, expected) = read(path)?;
        for &device in devices {
            let name = name_of(path, device);
            let before = copies(devices)?;
            let options = ConnectOptions::new().sharing(Sharing::Required);
            // SAFETY: the server makes valid arrays, and does not write to them.
            let mut stream = unsafe { Stream::connect(&format!("{uri}?name={name}"), None, options) }?;
            let received = stream.schema()?.to_arrow_schema()?;
            if received != *schema {
                return Err(format!("{name}: {received}\nis not\n{schema}").into());
            }
            let arrays = stream.collect::<arrowdevice::Result<Vec<_>>>()?;
            if copies(devices)? != before {
                return Err(format!("{name}: bytes were copied").into());
            }
            for array in &arrays {
                if array.device()? != device {
                    return Err(format!("{name}: an array is on {}", array.device()?).into());
                }
            }
            let batches = arrays.into_iter().map(Array::into_record_batch);
            let batches = batches.collect::<std::result::Result<Vec<_>, _>>()?;
            if batches.len() != expected.len() {
                return Err(format!("{name}: {} batches (expected {})", batches.len(), expected.len()).into());
            }
            for (batch, expected) in batches.iter().zip(&expected) {
                if batch != expected {
                    return Err(format!("{name}: {:?}\nis not\n{:?}", batch.columns(), expected.columns()).into());
                }
            }
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            println!("{name}: {rows} rows in {} batches", batches.len());
        }
    }
    Ok(())
}

/// Returns the number of copies since the process began. Sizes that were read back to be checked do not count.
fn copies(devices: &[Device]) -> Result<i64> {
    let mut copies = 0;
    for device in devices {
        let counters = device.counters()?;
        copies += counters.submissions - counters.readbacks;
    }
    Ok(copies)
}
