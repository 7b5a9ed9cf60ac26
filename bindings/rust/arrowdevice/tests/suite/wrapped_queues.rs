// SPDX-License-Identifier: Apache-2.0
//! Tests how long streams use a queue that the application owns. The library stops using it when
//! the wrapping `Queue` is dropped.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use arrowdevice::{
    Allocator, Array, Device, DeviceType, Error, ErrorKind, Pool, PoolOptions, Queue, Result, Schema, Stream,
    StreamOptions,
};
use futures::StreamExt;

use crate::bounded::block_on;
use crate::devices::device;
use crate::types::numbers;

/// An allocator that records the queue of each call and returns no memory.
struct Asked(Arc<Mutex<Vec<usize>>>);

// SAFETY: it returns no memory.
unsafe impl Allocator for Asked {
    fn allocate(&self, _: usize, _: usize, native_queue: *mut c_void) -> Result<NonNull<c_void>> {
        self.0.lock().unwrap().push(native_queue.addr());
        Err(Error::new(libc::ENOMEM, "none"))
    }

    unsafe fn deallocate(&self, _: NonNull<c_void>, _: usize, _: *mut c_void) {
        unreachable!("nothing was allocated");
    }
}

/// Returns true if the stream still used the application's queue when `next` asked for its first
/// array, which fails.
fn uses_the_applications_queue(next: impl FnOnce(Stream) -> Error) -> bool {
    uses_the_queue_after(|stream, open| {
        drop(open);
        next(stream)
    })
}

/// Does the same with a producer that waits until `next` drops its second argument.
fn uses_the_queue_after(next: impl FnOnce(Stream, Sender<()>) -> Error) -> bool {
    let device = device("ext_dev:0");
    let application = Queue::new(device).unwrap();
    let native = application.native().unwrap();
    // SAFETY: `next` drops the wrapper before the application's own queue.
    let wrapped = unsafe { Queue::wrap(device, &native) }.unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let pool = Pool::new(device, PoolOptions::new().allocator(Asked(asked.clone()))).unwrap();

    let batch = numbers(0..1000);
    let schema = Schema::try_from(batch.schema_ref().as_ref()).unwrap();
    let (open, is_open) = channel::<()>();
    let arrays = std::iter::once_with(move || {
        is_open.recv().unwrap_err(); // the sender is dropped
        Array::try_from(&batch)
    });
    let stream = Stream::from_iterator(&schema, DeviceType::CPU, arrays);
    let options = StreamOptions::new().queue(wrapped).pool(&pool);
    let error = next(stream.into_device(device, options).unwrap(), open);
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    let asked = asked.lock().unwrap();
    assert!(!asked.is_empty());
    asked.contains(&native.queue.addr())
}

fn first_error(mut stream: Stream) -> Error {
    stream.next().unwrap().unwrap_err()
}

#[test]
fn stream_uses_a_wrapped_queue_until_it_is_dropped() {
    assert!(uses_the_applications_queue(first_error));
}

#[test]
fn streams_behind_streams_and_readers_use_a_wrapped_queue() {
    assert!(uses_the_applications_queue(|stream| {
        let back = stream
            .into_device(Device::cpu().unwrap(), StreamOptions::new())
            .unwrap();
        first_error(back.into_device(device("ext_dev:1"), StreamOptions::new()).unwrap())
    }));
    assert!(uses_the_applications_queue(|stream| {
        let mut reader = stream.into_reader(StreamOptions::new()).unwrap();
        reader.next().unwrap().unwrap_err().into()
    }));
}

#[test]
fn async_stream_uses_a_wrapped_queue_until_it_is_dropped() {
    assert!(uses_the_queue_after(|stream, open| {
        let mut stream = stream.into_async(1).unwrap();
        drop(open);
        block_on(stream.next()).unwrap().unwrap_err()
    }));
}

#[test]
fn into_raw_continues_without_the_wrapped_queue() {
    assert!(!uses_the_applications_queue(|stream| {
        // SAFETY: `into_raw` returned the struct just now.
        first_error(unsafe { Stream::from_raw(stream.into_raw()) })
    }));
    assert!(!uses_the_applications_queue(|stream| {
        let raw = stream.into_host(StreamOptions::new()).unwrap();
        // SAFETY: `into_host` returned the struct just now.
        first_error(unsafe { Stream::from_host(raw) }.unwrap())
    }));
}

#[test]
fn failed_into_device_keeps_the_streams_queue() {
    assert!(uses_the_applications_queue(|stream| {
        let foreign = || StreamOptions::new().queue(Queue::new(device("opencl:0")).unwrap());
        let refused = stream.into_device(device("ext_dev:1"), foreign()).unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::InvalidInput);
        let refused = refused.into_value().into_reader(foreign()).unwrap_err();
        first_error(refused.into_value())
    }));
}
