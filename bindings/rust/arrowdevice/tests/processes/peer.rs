// SPDX-License-Identifier: Apache-2.0
//! Serves files to other processes, and fetches what they serve. tests/interop/test_processes.py has the manual.

#[path = "../../examples/handle/socket.rs"]
mod socket;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::stdin;
use std::path::Path;
use std::process::ExitCode;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use arrowdevice::{
    Array, ConnectOptions, CopyOptions, Device, IpcHandle, Pool, PoolOptions, Schema, Server, ServerOptions, Sharing,
    Stream,
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
    let mut streams = HashMap::new();
    for &device in devices {
        let pool = Pool::new(device, PoolOptions::new().shareable(true))?;
        for path in paths {
            let (schema, batches) = read(path)?;
            let mut arrays = Vec::new();
            for batch in &batches {
                arrays.push(Array::from_record_batch(batch)?.copy_to(device, CopyOptions::new().pool(&pool))?);
            }
            let name = name_of(path, device);
            server.add_arrays(&name, &Schema::try_from(&*schema)?, &mut arrays)?;
            streams.insert(name, arrays);
        }
    }
    println!("serving");
    let copied_bytes = give(&mut streams)?;
    println!("{} bytes were copied", server.stats()?.copied_bytes + copied_bytes);
    Ok(())
}

/// Answers requests for handles of the arrays until the socket ends. Returns the number of copied bytes.
fn give(streams: &mut HashMap<String, Vec<Array>>) -> Result<i64> {
    let mut copied_bytes = 0;
    loop {
        let (request, _) = socket::receive(stdin())?;
        if request.is_empty() {
            return Ok(copied_bytes);
        }
        let request = String::from_utf8(request)?;
        let (name, batch) = request.split_once(' ').ok_or("no request")?;
        let arrays = streams.get_mut(name).ok_or("there is no such stream")?;
        let array = arrays
            .get_mut(batch.parse::<usize>()?)
            .ok_or("there is no such batch")?;
        let handle = array.ipc_handle(CopyOptions::new().sharing(Sharing::Required))?;
        copied_bytes += handle.copied_bytes();
        socket::send(stdin(), handle.bytes(), &handle.descriptors())?;
    }
}

fn fetch(uri: &str, devices: &[Device], paths: &[String]) -> Result<()> {
    for path in paths {
        let (schema, expected) = read(path)?;
        for &device in devices {
            let name = name_of(path, device);
            let before = copies(devices)?;
            let arrays = match uri {
                "-" => take(&name, expected.len())?,
                _ => receive(&format!("{uri}?name={name}"), &schema)?,
            };
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

/// Gets the arrays of a stream as handles.
fn take(name: &str, count: usize) -> Result<Vec<Array>> {
    let mut arrays = Vec::new();
    for batch in 0..count {
        socket::send(stdin(), format!("{name} {batch}").as_bytes(), &[])?;
        let (bytes, descriptors) = socket::receive(stdin())?;
        // SAFETY: the server makes valid arrays, and does not write to them.
        arrays.push(unsafe { IpcHandle::open(&bytes, &descriptors, CopyOptions::new()) }?);
    }
    Ok(arrays)
}

/// Gets the arrays of a stream from the server. It must have the schema.
fn receive(uri: &str, expected: &SchemaRef) -> Result<Vec<Array>> {
    let options = ConnectOptions::new().sharing(Sharing::Required);
    // SAFETY: the server makes valid arrays, and does not write to them.
    let mut stream = unsafe { Stream::connect(uri, None, options) }?;
    let schema = stream.schema()?.to_arrow_schema()?;
    if schema != **expected {
        return Err(format!("{uri}: {schema}\nis not\n{expected}").into());
    }
    Ok(stream.collect::<arrowdevice::Result<_>>()?)
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
