// SPDX-License-Identifier: Apache-2.0
//! Tests handles, which give arrays to other processes. The other process is this test program too.

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::panic::catch_unwind;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, cast::AsArray, types::Int64Type};
use arrowdevice::{Array, CopyOptions, Device, ErrorKind, IpcHandle, Pool, PoolOptions, Queue, Sharing, Validation};

use crate::devices::shareable;
use crate::types;

#[path = "../../examples/handle/socket.rs"]
mod socket;

/// If it is set, this process is the peer of another test. Its standard input is the socket.
const IS_PEER: &str = "ARROWDEVICE_TEST_IS_PEER";

fn cpu() -> Device {
    Device::cpu().unwrap()
}

fn shareable_pool() -> Pool {
    shareable_pool_of(cpu())
}

fn shareable_pool_of(device: Device) -> Pool {
    Pool::new(device, PoolOptions::new().shareable(true)).unwrap()
}

fn in_pool(array: &dyn arrow_array::Array, pool: &Pool) -> Array {
    in_pool_of(cpu(), array, pool)
}

fn in_pool_of(device: Device, array: &dyn arrow_array::Array, pool: &Pool) -> Array {
    let mut array = Array::from_arrow(array).unwrap();
    array.copy_to(device, CopyOptions::new().pool(pool)).unwrap()
}

fn numbers() -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..1000))
}

fn open(bytes: &[u8], descriptors: &[impl AsFd]) -> arrowdevice::Result<Array> {
    // SAFETY: these tests make valid arrays, and do not write to them.
    unsafe { IpcHandle::open(bytes, descriptors, CopyOptions::new()) }
}

fn used(pool: &Pool) -> i64 {
    pool.stats().unwrap().used_bytes
}

/// The memory comes back on a thread of the library.
fn assert_comes_back(pool: &Pool) {
    let end = Instant::now() + Duration::from_secs(10);
    while used(pool) > 0 {
        assert!(Instant::now() < end, "{} bytes are in use", used(pool));
        thread::sleep(Duration::from_millis(1));
    }
}

fn socket_pair() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: there is room for two descriptors.
    let code = unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) };
    assert_eq!(code, 0, "{}", io::Error::last_os_error());
    // SAFETY: both descriptors are new.
    ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) }).into()
}

/// Opens each handle that comes, and answers with the sum of the numbers. It keeps the last array
/// until the next handle comes.
fn serve(socket: &OwnedFd) {
    let mut held = None;
    loop {
        let (bytes, descriptors) = socket::receive(socket).unwrap();
        if bytes.is_empty() {
            return;
        }
        let array = held.insert(open(&bytes, &descriptors).unwrap());
        drop(descriptors);
        array.validate(Validation::Full).unwrap();
        let rows = array.share().unwrap().into_arrow().unwrap();
        let sum: i64 = rows.as_primitive::<Int64Type>().values().iter().sum();
        socket::send(socket, &sum.to_ne_bytes(), &[]).unwrap();
    }
}

fn send(to: &OwnedFd, handle: &IpcHandle) {
    socket::send(to, handle.bytes(), &handle.descriptors()).unwrap();
}

/// Gives the numbers to a peer, which answers with their sum.
fn converse(peer: &OwnedFd, pool: &Pool) {
    let mut array = in_pool(&numbers(), pool);
    let handle = array.ipc_handle(CopyOptions::new().sharing(Sharing::Required)).unwrap();
    send(peer, &handle);
    let (answer, _) = socket::receive(peer).unwrap();
    assert_eq!(i64::from_ne_bytes(answer.try_into().unwrap()), 499_500);
}

/// This is also the program of another process.
#[test]
fn a_peer_opens_the_handles_of_its_socket() {
    if std::env::var_os(IS_PEER).is_some() {
        return serve(&io::stdin().as_fd().try_clone_to_owned().unwrap());
    }
    let pool = shareable_pool();
    let (ours, theirs) = socket_pair();
    thread::scope(|scope| {
        scope.spawn(move || serve(&theirs)); // closes its end if it panics
        converse(&ours, &pool);
        converse(&ours, &pool);
        drop(ours);
    });
    assert_comes_back(&pool);
}

struct Peer {
    process: Child,
    socket: OwnedFd,
}

impl Peer {
    fn start() -> Peer {
        let (socket, theirs) = socket_pair();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "handles::a_peer_opens_the_handles_of_its_socket"])
            .env(IS_PEER, "1")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Peer { process, socket }
    }

    /// Stops the process, so that it reads no message.
    fn stop(&self) {
        // SAFETY: the process is a child that nobody has waited for.
        assert_eq!(unsafe { libc::kill(self.process.id() as i32, libc::SIGSTOP) }, 0);
    }

    /// Ends the process by SIGKILL.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kill(); // does nothing if the process has ended
    }
}

#[test]
fn another_process_opens_a_handle_without_a_copy() {
    let pool = shareable_pool();
    let peer = Peer::start();
    converse(&peer.socket, &pool);
    assert!(used(&pool) > 0); // the other process has the array
    converse(&peer.socket, &pool);
    drop(peer);
    assert_comes_back(&pool);
}

#[test]
fn memory_comes_back_from_processes_that_are_killed() {
    let pool = shareable_pool();
    let (mut holder, mut idle) = (Peer::start(), Peer::start());
    converse(&holder.socket, &pool);
    idle.stop();
    let mut array = in_pool(&numbers(), &pool);
    send(&idle.socket, &array.ipc_handle(CopyOptions::new()).unwrap());
    drop(array);
    assert!(used(&pool) > 0);
    holder.kill();
    idle.kill(); // with its message unread
    assert_comes_back(&pool);
}

#[test]
fn every_type_survives_a_handle() {
    for device in shareable() {
        let pool = shareable_pool_of(device);
        for (name, array) in types::all() {
            let mut there = in_pool_of(device, &array, &pool);
            let handle = there.ipc_handle(CopyOptions::new().sharing(Sharing::Required)).unwrap();
            assert_eq!(handle.copied_bytes(), 0, "{name}");
            drop(there);
            let opened = open(handle.bytes(), &handle.descriptors());
            let opened = opened.unwrap_or_else(|error| panic!("{name} on {device}: {error}"));
            drop(handle);
            assert_eq!(opened.device().unwrap(), device);
            opened.validate(Validation::Full).unwrap();
            assert_eq!(&opened.into_arrow().unwrap(), &array, "{name} on {device}");
        }
        assert_comes_back(&pool);
    }
}

#[test]
fn a_handle_keeps_the_type_of_a_record_batch() {
    let batch = RecordBatch::try_from_iter([
        ("id", numbers().slice(0, 2)),
        ("name", Arc::new(StringArray::from(vec!["one", "two"]))),
    ]);
    let batch = batch.unwrap();
    let handle = Array::try_from(&batch).unwrap().ipc_handle(CopyOptions::new()).unwrap();
    assert!(handle.copied_bytes() > 0); // memory of arrow is not shareable
    let opened = open(handle.bytes(), &handle.descriptors()).unwrap();
    assert_eq!(opened.into_record_batch().unwrap(), batch);
}

#[test]
fn an_array_that_is_copied_when_it_is_opened_does_not_depend_on_its_owner() {
    let (pool, own) = (shareable_pool(), Pool::new(cpu(), PoolOptions::new()).unwrap());
    let mut array = in_pool(&numbers(), &pool);
    let handle = array.ipc_handle(CopyOptions::new().sharing(Sharing::Required)).unwrap();
    let copied = CopyOptions::new().sharing(Sharing::Refused).pool(&own);
    // SAFETY: the array is a copy, which no other process writes to, and it is valid.
    let opened = unsafe { IpcHandle::open(handle.bytes(), &handle.descriptors(), copied) }.unwrap();
    let mut queue = Queue::new(cpu()).unwrap();
    let with_queue = CopyOptions::new().queue(&mut queue);
    // SAFETY: the call is refused.
    let refused = unsafe { IpcHandle::open(handle.bytes(), &handle.descriptors(), with_queue) }.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    assert!(used(&own) >= 8000);
    drop((array, handle));
    assert_comes_back(&pool);
    opened.validate(Validation::Full).unwrap();
    assert_eq!(&opened.into_arrow().unwrap(), &numbers());
}

#[test]
fn memory_that_is_not_shareable_is_copied_or_refused() {
    let mut array = Array::from_arrow(&numbers()).unwrap();
    let required = CopyOptions::new().sharing(Sharing::Required);
    let refused = array.ipc_handle(required).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    let plain = Pool::new(cpu(), PoolOptions::new()).unwrap();
    let refused = array.ipc_handle(CopyOptions::new().pool(&plain)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    let pool = shareable_pool();
    let handle = array.ipc_handle(CopyOptions::new().pool(&pool)).unwrap();
    assert!(handle.copied_bytes() >= 8000 && used(&pool) > 0);
    assert_eq!(array.len(), 1000); // the array stays
}

#[test]
fn bytes_that_are_no_handle_are_refused() {
    let handle = in_pool(&numbers(), &shareable_pool())
        .ipc_handle(CopyOptions::new())
        .unwrap();
    let descriptors = handle.descriptors();
    let none: [OwnedFd; 0] = [];
    for refused in [
        open(&handle.bytes()[..handle.bytes().len() / 2], &descriptors),
        open(&[], &descriptors),
        open(handle.bytes(), &none),
        open(handle.bytes(), &[descriptors[0]]),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn a_forked_child_does_not_have_the_first_descriptor() {
    let handle = in_pool(&numbers(), &shareable_pool())
        .ipc_handle(CopyOptions::new())
        .unwrap();
    let expected = handle.descriptors().len() - 1;
    // SAFETY: the child allocates memory, which glibc allows, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_right = catch_unwind(|| handle.descriptors().len() == expected).unwrap_or(false);
        // SAFETY: the process has nothing to clean up.
        unsafe { libc::_exit(i32::from(!is_right)) }
    }
    let mut status = -1;
    // SAFETY: the status may be written.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}
