// SPDX-License-Identifier: Apache-2.0
use std::pin::Pin;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use arrow_array::Int32Array;
use arrowdevice::{
    Array, AsyncStream, CopyOptions, DeviceType, ErrorKind, Result, Sharing, Stream, StreamOptions, sys,
};
use futures::stream::{FusedStream, StreamExt};

use crate::bounded::{LIMIT, Wakes, block_on, returns};
use crate::counted::{self, Count, Dropped};
use crate::devices::{SLOW, device, tested};
use crate::streams::{batches, failing, host, produced, schema, waiting};
use crate::types::numbers;

/// Polls for the next array and counts the wakes.
fn poll(stream: &mut AsyncStream, wakes: &Arc<Wakes>) -> Poll<Option<Result<Array>>> {
    let waker = Waker::from(Arc::clone(wakes));
    futures::Stream::poll_next(Pin::new(stream), &mut Context::from_waker(&waker))
}

/// Makes an endless producer. It counts its arrays, their releases, and its own drop.
#[derive(Default)]
struct Endless {
    made: Count,
    released: Count,
    dropped: Count,
}

impl Endless {
    fn stream(&self) -> Stream {
        let (made, released, held) = (self.made.clone(), self.released.clone(), Dropped(self.dropped.clone()));
        let arrays = std::iter::repeat_with(move || {
            let _ = &held;
            made.add();
            Ok(counted::device_array(&released))
        });
        Stream::from_iterator(&counted::schema(), DeviceType::CPU, arrays)
    }
}

#[test]
fn async_stream_gives_the_arrays_of_every_device() {
    for device in tested() {
        let arrays = produced(batches().into_iter().map(|batch| Ok(host(&batch))));
        let options = StreamOptions::new().sharing(Sharing::Refused);
        let there = arrays.into_device(device, options).unwrap();
        let mut there = there.into_async(2).unwrap();
        block_on(async {
            assert!(there.schema().await.unwrap().same_layout(&schema()));
            for batch in batches() {
                let array = there.next().await.unwrap().unwrap();
                assert_eq!(array.device().unwrap(), device);
                assert_eq!(array.into_record_batch().unwrap(), batch);
                assert!(!there.is_terminated() || batch == batches()[4]);
            }
            assert!(there.next().await.is_none() && there.next().await.is_none());
            assert!(there.is_terminated());
        });
    }
}

#[test]
fn async_stream_returns_its_arrays_before_an_error() {
    for device in tested() {
        let there = produced(failing()).into_device(device, StreamOptions::new()).unwrap();
        let items: Vec<_> = block_on(there.into_async(1).unwrap().collect());
        assert_eq!(items.len(), 3);
        assert!(items[..2].iter().all(Result::is_ok));
        let error = items[2].as_ref().unwrap_err();
        assert_eq!((error.kind(), error.errno()), (ErrorKind::Other, libc::EPIPE));
        assert!(error.message().contains("the pipe broke"), "{error}");
    }
}

/// Makes a stream whose producer ends before it tells its schema.
fn abandoned() -> Stream {
    let mut handler = null_mut();
    let mut stream = sys::ArrowDeviceArrayStream::default();
    // SAFETY: all pointers are valid, and no producer has the handler. The library made the stream
    // just now.
    unsafe {
        let code = sys::arrowdevice_async_collect(
            sys::ARROW_DEVICE_CPU,
            null(),
            &raw mut handler,
            &raw mut stream,
            null_mut(),
        );
        assert_eq!(code, 0);
        (*handler).release.unwrap()(handler);
        Stream::from_raw(stream)
    }
}

#[test]
fn error_before_the_schema_is_also_the_first_item() {
    let mut stream = abandoned().into_async(1).unwrap();
    block_on(async {
        for _ in 0..2 {
            assert_eq!(stream.schema().await.unwrap_err().errno(), libc::EIO);
        }
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.errno(), libc::EIO);
        assert!(error.message().contains("before the end"), "{error}");
        assert!(stream.next().await.is_none());
        assert_eq!(stream.schema().await.unwrap_err(), error);
    });
}

#[test]
fn polling_returns_while_the_producer_waits_and_one_wake_follows() {
    let (stream, is_asked, give) = waiting();
    let mut stream = stream.into_async(1).unwrap();
    is_asked.recv_timeout(LIMIT).unwrap(); // the schema has been told, and the library's thread is in the producer
    let wakes = Arc::new(Wakes::default());
    let waking = Arc::clone(&wakes);
    let (mut stream, is_pending) = returns(move || {
        let is_pending = poll(&mut stream, &waking).is_pending();
        (stream, is_pending)
    });
    assert!(is_pending);
    assert_eq!(wakes.0.get(), 0);
    give.send(host(&numbers(0..3))).unwrap();
    wakes.0.wait_until(1);
    let Poll::Ready(Some(Ok(array))) = poll(&mut stream, &wakes) else {
        panic!("woken without an array");
    };
    assert_eq!(array.into_record_batch().unwrap(), numbers(0..3));
    assert!(poll(&mut stream, &wakes).is_pending());
    drop(give); // the producer's end
    wakes.0.wait_until(2);
    assert!(matches!(poll(&mut stream, &wakes), Poll::Ready(None)));
    assert_eq!(wakes.0.get(), 2);
}

#[test]
fn task_that_waits_for_the_schema_is_woken() {
    let (stream, _is_asked, _give) = waiting();
    let there = stream.into_device(device("ext_dev:0"), StreamOptions::new()).unwrap();
    let mut there = there.into_async(1).unwrap();
    assert!(block_on(there.schema()).unwrap().same_layout(&schema()));
}

#[test]
fn depth_limits_the_arrays_that_are_not_taken() {
    for (depth, limit) in [(0, 4), (1, 1), (7, 7)] {
        let endless = Endless::default();
        let mut stream = endless.stream().into_async(depth).unwrap();
        for taken in 0..200 {
            // The limit is reached without a consumer, and not exceeded.
            endless.made.wait_until(taken + limit);
            assert_eq!(endless.made.get(), taken + limit, "depth {depth}, {taken} taken");
            assert_eq!(block_on(stream.next()).unwrap().unwrap().len(), 3);
        }
    }
}

#[test]
fn dropping_an_async_stream_stops_its_producer_and_releases_all() {
    for taken in [0, 1, 5] {
        let endless = Endless::default();
        let mut stream = endless.stream().into_async(3).unwrap();
        for _ in 0..taken {
            assert_eq!(block_on(stream.next()).unwrap().unwrap().len(), 3);
        }
        drop(stream);
        endless.dropped.wait_until(1);
        assert!(endless.made.get() <= taken + 3);
        endless.released.wait_until(endless.made.get());
    }
}

#[test]
fn dropping_an_async_stream_does_not_wait_for_the_producer() {
    let (stream, is_asked, give) = waiting();
    let there = stream.into_device(device("ext_dev:0"), StreamOptions::new()).unwrap();
    let stream = there.into_async(4).unwrap();
    is_asked.recv_timeout(LIMIT).unwrap(); // the library's thread is in the producer
    returns(move || drop(stream));
    give.send(host(&numbers(0..3))).unwrap(); // returns to a stream that was cancelled
    let asked_again = is_asked.recv_timeout(LIMIT);
    assert_eq!(asked_again, Err(RecvTimeoutError::Disconnected));
}

#[test]
fn arrays_may_arrive_before_their_data() {
    let slow = Array::from_arrow(&Int32Array::from(vec![4; 5000]))
        .unwrap()
        .into_device_async(device(SLOW), CopyOptions::new())
        .unwrap();
    let schema = slow.schema().clone();
    let stream = Stream::from_arrays(&schema, vec![slow], DeviceType::EXT_DEV).unwrap();
    let array = block_on(stream.into_async(1).unwrap().next()).unwrap().unwrap();
    assert!(!array.is_ready().unwrap()); // the copy takes two seconds
    let host = block_on(array.into_host_async(CopyOptions::new()).unwrap()).unwrap();
    assert_eq!(host.into_arrow().unwrap().len(), 5000);
}

#[test]
fn async_stream_moves_to_another_thread_while_it_waits() {
    let (stream, is_asked, give) = waiting();
    let mut stream = stream.into_async(1).unwrap();
    is_asked.recv_timeout(LIMIT).unwrap();
    let forgotten = Arc::new(Wakes::default());
    assert!(poll(&mut stream, &forgotten).is_pending());
    let consumer = thread::spawn(move || {
        let wakes = Arc::new(Wakes::default());
        assert!(poll(&mut stream, &wakes).is_pending());
        give.send(host(&numbers(0..3))).unwrap();
        wakes.0.wait_until(1);
        block_on(stream.next()).unwrap().unwrap().len()
    });
    assert_eq!(consumer.join().unwrap(), 3);
    assert_eq!(forgotten.0.get(), 0, "only the last waker is woken");
}

#[test]
fn panic_of_a_waker_does_not_end_the_stream() {
    struct Broken;
    impl Wake for Broken {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }
    let (stream, is_asked, give) = waiting();
    let mut stream = stream.into_async(1).unwrap();
    is_asked.recv_timeout(LIMIT).unwrap();
    let waker = Waker::from(Arc::new(Broken));
    let polled = futures::Stream::poll_next(Pin::new(&mut stream), &mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    give.send(host(&numbers(0..3))).unwrap();
    assert_eq!(block_on(stream.next()).unwrap().unwrap().len(), 3);
}

#[test]
fn failed_into_async_returns_the_stream() {
    // SAFETY: the stream is released, and the call refuses that.
    let failed = unsafe { Stream::from_raw(Default::default()) }
        .into_async(1)
        .unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    let error = failed.into_value().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}
