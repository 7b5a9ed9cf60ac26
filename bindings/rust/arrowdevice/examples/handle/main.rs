// SPDX-License-Identifier: Apache-2.0
//! Gives a column of numbers to another process, without a copy. `examples/handle.c` does the same
//! in C. The two programs can exchange handles.
//!
//! - `cargo run --example handle give SOCKET` waits for one process, gives it the column, and waits
//!   until the memory is free again.
//! - `cargo run --example handle take SOCKET` takes the column and adds it up.

mod socket;

use std::error::Error;
use std::ffi::{c_char, c_int};
use std::fs::remove_file;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::sleep;
use std::time::Duration;

use arrow_array::{cast::AsArray, types::Int64Type};
use arrow_schema::{DataType, Field};
use arrowdevice::{Array, Buffer, CopyOptions, Device, IpcHandle, Pool, PoolOptions, Schema};

use socket::{receive, send};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["give", path] => give(path),
        ["take", path] => take(path),
        _ => Err("usage: handle give|take SOCKET".into()),
    }
}

const ROWS: usize = 1_000_000;

fn give(path: &str) -> Result<(), Box<dyn Error>> {
    let peer = accept(path)?;
    let cpu = Device::cpu()?;
    // [give]
    let pool = Pool::new(cpu, PoolOptions::new().shareable(true))?;
    let mut array = column(cpu, &pool)?;
    let handle = array.ipc_handle(CopyOptions::new())?;
    println!("{} bytes were copied", handle.copied_bytes());
    send(&peer, handle.bytes(), &handle.descriptors())?;
    // The memory stays in use until the other process has dropped its array, or has ended.
    drop((handle, array));
    // [end]
    while pool.stats()?.used_bytes > 0 {
        sleep(Duration::from_millis(1));
    }
    println!("the memory is free again");
    Ok(())
}

/// Makes a column of numbers in memory of the pool.
fn column(cpu: Device, pool: &Pool) -> Result<Array, Box<dyn Error>> {
    let memory = Buffer::new(cpu, ROWS * size_of::<i64>(), Some(pool), None)?;
    for row in 0..ROWS {
        // SAFETY: the memory has room for the rows, and nobody else uses it.
        unsafe { memory.as_ptr().cast::<i64>().add(row).write(row as i64) };
    }
    let schema = Schema::try_from(&Field::new("number", DataType::Int64, false))?;
    // SAFETY: the memory has the rows of the type.
    Ok(unsafe { Array::from_buffers(cpu, schema, ROWS, vec![None, Some(memory)], None) }?)
}

fn take(path: &str) -> Result<(), Box<dyn Error>> {
    let peer = connect(path)?;
    // [take]
    let (bytes, descriptors) = receive(&peer)?;
    // SAFETY: the other process sends a valid array, and does not write to it any more.
    let array = unsafe { IpcHandle::open(&bytes, &descriptors, CopyOptions::new()) }?;
    drop(descriptors); // the array has its own
    let name = array.schema().name().unwrap_or_default().to_owned();
    let sum: i64 = array.into_arrow()?.as_primitive::<Int64Type>().values().iter().sum();
    println!("the sum of {name:?} is {sum}");
    // [end]
    Ok(())
}

/// Makes a socket that sends and receives packets.
fn packets() -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is new.
    unsafe {
        match libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) {
            -1 => Err(io::Error::last_os_error()),
            socket => Ok(OwnedFd::from_raw_fd(socket)),
        }
    }
}

/// Calls `bind` or `connect` with the path of a socket.
fn with_path(
    call: unsafe extern "C" fn(RawFd, *const libc::sockaddr, libc::socklen_t) -> c_int,
    socket: &OwnedFd,
    path: &str,
) -> io::Result<()> {
    // SAFETY: zeros are a valid address.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as _;
    if path.len() >= address.sun_path.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is too long"));
    }
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = from as c_char;
    }
    // SAFETY: the address has the size that the call says.
    match unsafe {
        call(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as _,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits until a process connects.
fn accept(path: &str) -> io::Result<UnixStream> {
    let socket = packets()?;
    with_path(libc::bind, &socket, path)?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::listen(socket.as_raw_fd(), 1) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let (peer, _) = UnixListener::from(socket).accept()?;
    remove_file(path)?;
    Ok(peer)
}

fn connect(path: &str) -> io::Result<OwnedFd> {
    let socket = packets()?;
    with_path(libc::connect, &socket, path)?;
    Ok(socket)
}
