// SPDX-License-Identifier: Apache-2.0
//! Tests servers and their clients, which are in this process. tests/interop/test_processes.py tests
//! clients in other processes, with arrays of every type.

use std::process::id;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::{Array as _, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::DataType;
use arrowdevice::{
    Array, ConnectOptions, CopyOptions, Device, DeviceType, Error, ErrorKind, MoveError, Pool, PoolOptions, Result,
    Schema, Server, ServerOptions, Sharing, Stream, StreamOptions, Validation,
};

use crate::bounded::{LIMIT, returns};
use crate::counted::{self, Count, Dropped};
use crate::devices::{device, shareable, wrapped};
use crate::streams::{batches, failing, host, produced, schema, waiting};
use crate::types;

/// A server at an address of its own.
struct Served {
    server: Server,
    uri: String,
}

impl Served {
    fn new(options: ServerOptions) -> Served {
        let uri = new_address();
        let server = Server::new(&uri, options).unwrap();
        Served { server, uri }
    }

    fn connect(&self, options: ConnectOptions) -> Result<Stream> {
        connect(&self.uri, None, options)
    }

    fn add_numbers(&self, name: &str) {
        self.server.add_stream(name, numbers()).unwrap();
    }
}

fn new_address() -> String {
    static NUMBER: AtomicI32 = AtomicI32::new(0);
    format!(
        "unix:@arrowdevice-rust-{}-{}",
        id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

fn served() -> Served {
    Served::new(ServerOptions::new())
}

fn connect(uri: &str, to: Option<Device>, options: ConnectOptions) -> Result<Stream> {
    // SAFETY: these tests make valid arrays, and do not write to them.
    unsafe { Stream::connect(uri, to, options) }
}

fn without_copies() -> ConnectOptions {
    ConnectOptions::new().sharing(Sharing::Required)
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.map(drop).unwrap_err().kind()
}

/// Returns a stream of the batches in memory of arrow.
fn numbers() -> Stream {
    produced(batches().into_iter().map(|batch| Ok(host(&batch))))
}

fn read(stream: Stream) -> Vec<RecordBatch> {
    stream
        .map(|array| array.unwrap().into_record_batch().unwrap())
        .collect()
}

fn shareable_pool(device: Device) -> Pool {
    Pool::new(device, PoolOptions::new().shareable(true)).unwrap()
}

fn in_pool(device: Device, pool: &Pool, mut array: Array) -> Array {
    array.copy_to(device, CopyOptions::new().pool(pool)).unwrap()
}

/// Returns the batches in memory of a shareable pool.
fn shareable_numbers(device: Device, pool: &Pool) -> Vec<Array> {
    let arrays = batches().into_iter().map(|batch| in_pool(device, pool, host(&batch)));
    arrays.collect()
}

/// Threads of the library end connections and release memory.
fn assert_becomes_true(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn assert_comes_back(pool: &Pool) {
    assert_becomes_true("memory is in use", || pool.stats().unwrap().used_bytes == 0);
}

#[test]
fn first_client_gets_a_stream_and_later_ones_get_busy() {
    for device in shareable() {
        let served = served();
        let there = numbers().into_device(device, StreamOptions::new()).unwrap();
        let canceller = there.canceller();
        served.server.add_stream("numbers", there).unwrap();
        assert_eq!(canceller.cancel().unwrap_err().kind(), ErrorKind::InvalidInput); // the stream was moved
        let mut stream = served.connect(ConnectOptions::new()).unwrap();
        assert!(stream.schema().unwrap().same_layout(&schema()));
        for batch in batches() {
            let array = stream.next().unwrap().unwrap();
            assert_eq!(array.device().unwrap(), device);
            assert_eq!(array.into_record_batch().unwrap(), batch);
        }
        assert!(stream.next().is_none());
        assert_eq!(kind(served.connect(ConnectOptions::new())), ErrorKind::Busy);
        drop(stream);
        assert_becomes_true("there is a client", || served.server.stats().unwrap().clients == 0);
    }
}

/// Reads the numbers on their device. No batch is copied.
fn read_shared(uri: &str) {
    let stream = connect(uri, None, without_copies().timeout(LIMIT)).unwrap();
    let arrays: Vec<Array> = stream.map(Result::unwrap).collect();
    assert_eq!(arrays.len(), batches().len());
    for (array, batch) in arrays.into_iter().zip(batches()) {
        array.validate(Validation::Full).unwrap();
        assert_eq!(array.into_record_batch().unwrap(), batch);
    }
}

#[test]
fn every_client_gets_arrays_without_a_copy() {
    for device in shareable() {
        let (served, pool) = (served(), shareable_pool(device));
        let mut arrays = shareable_numbers(device, &pool);
        served.server.add_arrays("numbers", &schema(), &mut arrays).unwrap();
        let back = arrays.into_iter().map(|array| array.into_record_batch().unwrap());
        assert_eq!(back.collect::<Vec<_>>(), batches()); // the arrays stay with the caller
        read_shared(&served.uri);
        read_shared(&served.uri);
        let stats = served.server.stats().unwrap();
        assert_eq!((stats.batches, stats.copied_bytes), (10, 0));
        assert!(stats.bytes > 0);
        drop(served);
        assert_comes_back(&pool);
    }
}

#[test]
fn arrays_in_other_memory_are_copied_once_or_refused() {
    let mut arrays: Vec<Array> = batches().iter().map(host).collect();
    let strict = Served::new(ServerOptions::new().sharing(Sharing::Required));
    let refused = strict.server.add_arrays("numbers", &schema(), &mut arrays);
    assert_eq!(kind(refused), ErrorKind::Unsupported);
    let served = served();
    served.server.add_arrays("numbers", &schema(), &mut arrays).unwrap();
    served.server.add_arrays("none", &schema(), &mut []).unwrap();
    for _ in 0..2 {
        read_shared(&format!("{}?name=numbers", served.uri));
    }
    let stats = served.server.stats().unwrap();
    assert_eq!(stats.copied_bytes, stats.bytes / 2); // `add_arrays` has copied them once
    let none = connect(&format!("{}?name=none", served.uri), None, without_copies()).unwrap();
    assert_eq!(none.count(), 0);
    let back = arrays.into_iter().map(|array| array.into_record_batch().unwrap());
    assert_eq!(back.collect::<Vec<_>>(), batches());
}

#[test]
fn server_refuses_arrays_of_another_type_or_on_different_devices() {
    let served = served();
    let same_structs = Schema::try_from(&DataType::Float32).unwrap();
    for expected in [schema(), same_structs] {
        let mut wrong_type = [counted::device_array(&Count::default())];
        let refused = served.server.add_arrays("numbers", &expected, &mut wrong_type);
        assert_eq!(kind(refused), ErrorKind::InvalidInput);
    }
    let (here, there) = (device("cpu"), device("ext_dev:0"));
    let array = |device| in_pool(device, &shareable_pool(device), host(&types::numbers(0..3)));
    let mut two_devices = [array(here), array(there)];
    let refused = served.server.add_arrays("numbers", &schema(), &mut two_devices);
    assert_eq!(kind(refused), ErrorKind::InvalidInput);
    for array in two_devices {
        assert_eq!(array.into_record_batch().unwrap(), types::numbers(0..3)); // the arrays are intact
    }
}

#[test]
fn server_refuses_data_in_a_context_that_the_application_owns() {
    let (wrapped, _context) = wrapped();
    let array = move || {
        host(&types::numbers(0..3))
            .into_device(wrapped, CopyOptions::new())
            .unwrap()
    };
    let stream =
        move || Stream::from_arrays(&schema(), vec![array()], DeviceType::EXT_DEV).map_err(MoveError::into_error);
    let served = served();
    let refused = served.server.add_arrays("arrays", &schema(), &mut [array()]);
    assert_eq!(kind(refused), ErrorKind::InvalidInput);
    let refused = served.server.add_stream("stream", stream().unwrap()).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(refused.into_value().count(), 1);
    served.server.add_source("source", stream).unwrap();
    let error = served.connect(ConnectOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("context of ext_dev:0"), "{error}");
    drop(served);
    wrapped.close(None).unwrap();
}

#[test]
fn source_is_called_for_each_client_and_dropped_once() {
    let (calls, dropped) = (Count::default(), Count::default());
    let (counted, held) = (calls.clone(), Dropped(dropped.clone()));
    let source = move || {
        let _ = &held;
        counted.add();
        let call = i32::try_from(counted.get()).unwrap();
        let array = Array::from_arrow(&Int32Array::from(vec![call; 3]))?;
        Ok(Stream::from_iterator(
            &counted::schema(),
            DeviceType::CPU,
            [Ok(array)].into_iter(),
        ))
    };
    let served = served();
    served.server.add_source("calls", source).unwrap();
    for call in 1..=3 {
        let mut stream = served.connect(ConnectOptions::new()).unwrap();
        let expected: ArrayRef = Arc::new(Int32Array::from(vec![call; 3]));
        assert_eq!(&stream.next().unwrap().unwrap().into_arrow().unwrap(), &expected);
        assert!(stream.next().is_none());
    }
    assert_eq!((calls.get(), dropped.get()), (3, 0));
    served.server.remove("calls").unwrap();
    dropped.wait_until(1);
    drop(served);
    assert_eq!(dropped.get(), 1);
}

#[test]
fn client_gets_the_errors_and_panics_of_a_source() {
    let served = served();
    let long = "\u{e9}".repeat(1000);
    let sent = long.clone();
    served
        .server
        .add_source("fails", || Err(Error::new(libc::EPIPE, "the pipe broke")))
        .unwrap();
    served.server.add_source("panics", || panic!("index 7")).unwrap();
    served
        .server
        .add_source("long", move || Err(Error::new(libc::EIO, sent.as_str())))
        .unwrap();
    let error_of = |name| connect(&format!("{}?name={name}", served.uri), None, ConnectOptions::new()).unwrap_err();
    let error = error_of("fails");
    assert_eq!((error.errno(), error.message()), (libc::EPIPE, "the pipe broke"));
    let error = error_of("panics");
    assert_eq!(error.kind(), ErrorKind::DeviceFailure);
    assert!(error.message().contains("a source panicked: index 7"), "{error}");
    let error = error_of("long");
    assert!(
        !error.message().is_empty() && long.starts_with(error.message()),
        "{error}"
    );
}

#[test]
fn client_gets_the_batches_before_an_error_of_the_stream() {
    let served = served();
    served.server.add_stream("numbers", produced(failing())).unwrap();
    let items: Vec<_> = served.connect(ConnectOptions::new()).unwrap().collect();
    assert_eq!(items.len(), 3);
    assert!(items[..2].iter().all(Result::is_ok));
    let error = items[2].as_ref().unwrap_err();
    assert_eq!(error.errno(), libc::EPIPE);
    assert!(error.message().contains("the pipe broke"), "{error}");
}

#[test]
fn batches_go_to_the_device_of_the_client() {
    for from in shareable() {
        for to in shareable() {
            let served = served();
            let there = numbers().into_device(from, StreamOptions::new()).unwrap();
            served.server.add_stream("numbers", there).unwrap();
            let arrays = connect(&served.uri, Some(to), ConnectOptions::new()).unwrap();
            let arrays: Vec<Array> = arrays.map(Result::unwrap).collect();
            assert!(
                arrays.iter().all(|array| array.device().unwrap() == to),
                "{from} to {to}"
            );
            let back = arrays.into_iter().map(|array| array.into_record_batch().unwrap());
            assert_eq!(back.collect::<Vec<_>>(), batches(), "{from} to {to}");
        }
    }
}

#[test]
fn batches_go_to_a_context_that_the_client_owns() {
    let (wrapped, _context) = wrapped();
    let served = served();
    served.add_numbers("numbers");
    let arrays = connect(&served.uri, Some(wrapped), ConnectOptions::new()).unwrap();
    let arrays: Vec<Array> = arrays.map(Result::unwrap).collect();
    assert!(arrays.iter().all(|array| array.device().unwrap() == wrapped));
    let back = arrays.into_iter().map(|array| array.into_record_batch().unwrap());
    assert_eq!(back.collect::<Vec<_>>(), batches());
    drop(served);
    wrapped.close(None).unwrap();
}

#[test]
fn unknown_names_and_addresses_are_refused() {
    let nowhere = connect(&new_address(), None, ConnectOptions::new()).unwrap_err();
    assert_eq!(nowhere.errno(), libc::ECONNREFUSED, "{nowhere}");
    assert_eq!(
        kind(Server::new("numbers", ServerOptions::new())),
        ErrorKind::Unsupported
    );
    assert_eq!(
        kind(Server::new("unix:@a\0b", ServerOptions::new())),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(connect("unix:@a\0b", None, ConnectOptions::new())),
        ErrorKind::InvalidInput
    );

    let served = served();
    let taken = Server::new(&served.uri, ServerOptions::new()).unwrap_err();
    assert_eq!(taken.errno(), libc::EADDRINUSE, "{taken}");
    served.add_numbers("numbers");
    let uri = format!("{}?name=letters", served.uri);
    let unknown = connect(&uri, None, ConnectOptions::new()).unwrap_err();
    assert_eq!((unknown.kind(), unknown.errno()), (ErrorKind::NotFound, libc::ENOENT));
    assert!(unknown.message().contains("numbers"), "{unknown}");
    assert_eq!(kind(served.server.remove("letters")), ErrorKind::NotFound);
    assert_eq!(kind(served.server.remove("a\0b")), ErrorKind::InvalidInput);
    served.server.remove("numbers").unwrap();
    assert_eq!(kind(served.connect(ConnectOptions::new())), ErrorKind::NotFound);
}

#[test]
fn failed_add_returns_the_stream_or_the_source() {
    let served = served();
    served.add_numbers("numbers");
    let dropped = Count::default();
    for (name, expected) in [
        ("numbers", ErrorKind::AlreadyExists),
        ("", ErrorKind::InvalidInput),
        ("a\0b", ErrorKind::InvalidInput),
    ] {
        let failed = served.server.add_stream(name, numbers()).unwrap_err();
        assert_eq!(failed.error().kind(), expected);
        assert_eq!(read(failed.into_value()), batches());

        let before = dropped.get();
        let held = Dropped(dropped.clone());
        let failed = served.server.add_source(name, move || {
            let _ = &held;
            Ok(numbers())
        });
        let failed = failed.unwrap_err();
        assert_eq!((failed.error().kind(), dropped.get()), (expected, before));
        assert_eq!(read(failed.value()().unwrap()), batches());
        drop(failed);
        assert_eq!(dropped.get(), before + 1);

        let mut arrays = [host(&types::numbers(0..3))];
        let failed = served.server.add_arrays(name, &schema(), &mut arrays);
        assert_eq!(kind(failed), expected);
        assert_eq!(
            arrays[0].share().unwrap().into_record_batch().unwrap(),
            types::numbers(0..3)
        );
    }
}

#[test]
fn options_select_copies() {
    let strict = || ServerOptions::new().sharing(Sharing::Required);
    // The batches are in memory of arrow, which cannot be shared.
    for (server, client) in [
        (ServerOptions::new(), without_copies()),
        (strict(), ConnectOptions::new()),
    ] {
        let served = Served::new(server);
        served.add_numbers("numbers");
        let items: Vec<_> = served.connect(client).unwrap().collect();
        assert_eq!(items.len(), 2); // the first batch has no rows, and needs no copy
        assert_eq!(items[1].as_ref().unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let (cpu, pool) = (device("cpu"), shareable_pool(device("cpu")));
    for (server, is_copied) in [
        (strict(), false),
        (ServerOptions::new().any_user(true), false),
        (ServerOptions::new().isolated(true), true),
    ] {
        let served = Served::new(server);
        let mut arrays = shareable_numbers(cpu, &pool).into_iter().map(Ok);
        let stream = Stream::from_iterator(&schema(), DeviceType::CPU, std::iter::from_fn(move || arrays.next()));
        served.server.add_stream("numbers", stream).unwrap();
        let private = ConnectOptions::new().any_user(true).sharing(Sharing::Refused);
        assert_eq!(read(served.connect(private).unwrap()), batches());
        let stats = served.server.stats().unwrap();
        assert_eq!(stats.copied_bytes, if is_copied { stats.bytes } else { 0 });
    }
    assert_comes_back(&pool);
}

#[test]
fn options_limit_clients_and_batches() {
    let served = Served::new(ServerOptions::new().max_clients(1));
    served.server.add_source("numbers", || Ok(numbers())).unwrap();
    let one_by_one = ConnectOptions::new().max_batches(1).max_bytes(1);
    let mut stream = served.connect(one_by_one).unwrap();
    assert!(stream.next().unwrap().is_ok());
    assert!(served.server.stats().unwrap().batches <= 2);
    assert_eq!(kind(served.connect(ConnectOptions::new())), ErrorKind::Busy);
    assert_eq!(stream.map(Result::unwrap).count(), 4);

    let served = Served::new(ServerOptions::new().isolated(true).max_client_bytes(1));
    served.server.add_source("numbers", || Ok(numbers())).unwrap();
    let mut failing = served.connect(ConnectOptions::new()).unwrap().filter_map(Result::err);
    assert_eq!(failing.next().unwrap().kind(), ErrorKind::OutOfMemory);

    let served = Served::new(ServerOptions::new());
    let endless = std::iter::repeat_with(|| Ok(host(&types::numbers(0..3))));
    served.server.add_stream("numbers", produced(endless)).unwrap();
    let stream = served.connect(ConnectOptions::new().max_batches(100)).unwrap();
    assert_becomes_true("not all are sent", || served.server.stats().unwrap().batches == 100);
    drop(stream);
    let too_many = ServerOptions::new().max_clients(u32::MAX);
    Server::new(&new_address(), too_many).unwrap();
}

#[test]
fn client_waits_for_a_limited_time_and_can_be_cancelled() {
    let served = served();
    let (stream, is_asked, give) = waiting();
    served.server.add_stream("waiting", stream).unwrap();
    let limited = ConnectOptions::new().timeout(Duration::from_secs(1));
    let mut stream = served.connect(limited).unwrap();
    is_asked.recv().unwrap(); // waits until the server's thread is in the producer
    assert_eq!(kind(stream.next().unwrap()), ErrorKind::TimedOut);
    drop((stream, give));

    let (stream, is_asked, give) = waiting();
    served.server.add_stream("cancelled", stream).unwrap();
    let mut stream = connect(&format!("{}?name=cancelled", served.uri), None, ConnectOptions::new()).unwrap();
    let canceller = stream.canceller();
    let consumer = thread::spawn(move || stream.next());
    is_asked.recv().unwrap();
    canceller.cancel().unwrap();
    assert_eq!(kind(consumer.join().unwrap().unwrap()), ErrorKind::Canceled);
    drop(give);
}

#[test]
fn dropping_a_server_ends_its_streams_and_keeps_their_arrays() {
    let served = served();
    let endless = std::iter::repeat_with(|| Ok(host(&types::numbers(0..3))));
    served.server.add_stream("numbers", produced(endless)).unwrap();
    let mut stream = served.connect(ConnectOptions::new().max_batches(1)).unwrap();
    let array = stream.next().unwrap().unwrap();
    returns(move || drop(served));
    let failure = stream.find_map(Result::err).unwrap();
    assert_eq!(failure.kind(), ErrorKind::Canceled, "{failure}");
    assert_eq!(array.into_record_batch().unwrap(), types::numbers(0..3));
}

#[test]
fn many_threads_use_one_server() {
    let served = Arc::new(served());
    thread::scope(|scope| {
        for number in 0..8 {
            let served = Arc::clone(&served);
            scope.spawn(move || {
                let schema = Schema::try_from(&DataType::Int32).unwrap();
                let name = format!("number {number}");
                let array: ArrayRef = Arc::new(Int32Array::from(vec![number; 100]));
                let mut arrays = [Array::from_arrow(&array).unwrap()];
                served.server.add_arrays(&name, &schema, &mut arrays).unwrap();
                let uri = format!("{}?name=number%20{number}", served.uri);
                let mut stream = connect(&uri, None, without_copies()).unwrap();
                let back = stream.next().unwrap().unwrap().into_arrow().unwrap();
                assert_eq!((back.len(), &back), (100, &array));
                served.server.remove(&name).unwrap();
            });
        }
    });
    assert_eq!(served.server.stats().unwrap().batches, 8);
    assert!(format!("{:?}", served.server).starts_with("Server(0x"));
}
