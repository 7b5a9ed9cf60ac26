// SPDX-License-Identifier: Apache-2.0
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use arrowdevice::{
    Array, Device, DeviceType, Error, ErrorKind, Pool, PoolOptions, Queue, Result, Schema, Sharing, Stream,
    StreamOptions,
};

use crate::counted::{self, Count, Dropped};
use crate::devices::{device, tested};
use crate::types::{self, numbers};

pub(crate) fn schema() -> Schema {
    Schema::try_from(numbers([]).schema_ref().as_ref()).unwrap()
}

pub(crate) fn host(batch: &RecordBatch) -> Array {
    Array::try_from(batch).unwrap()
}

pub(crate) fn batches() -> Vec<RecordBatch> {
    (0..5).map(|batch| numbers(batch * 10..batch * 12)).collect()
}

fn reader(batches: Vec<Result<RecordBatch, ArrowError>>) -> impl RecordBatchReader + Send + 'static {
    RecordBatchIterator::new(batches, numbers([]).schema())
}

pub(crate) fn produced<I>(arrays: I) -> Stream
where
    I: Iterator<Item = Result<Array>> + Send + 'static,
{
    Stream::from_iterator(&schema(), DeviceType::CPU, arrays)
}

#[test]
fn readers_round_trip_through_every_device() {
    let batch = types::batch();
    for device in tested() {
        let batches: Vec<_> = (0..4).map(|offset| Ok(batch.slice(offset * 9, 20))).collect();
        let stream = Stream::from_reader(RecordBatchIterator::new(batches, batch.schema())).unwrap();
        assert_eq!(stream.device_type(), DeviceType::CPU);
        let pool = Pool::new(device, PoolOptions::new()).unwrap();
        let options = StreamOptions::new()
            .depth(3)
            .read_ahead(true)
            .queue(Queue::new(device).unwrap())
            .pool(&pool);
        let there = stream.into_device(device, options).unwrap();
        drop(pool);
        assert_eq!(there.device_type(), device.info().unwrap().device_type);
        let reader = there.into_reader(StreamOptions::new()).unwrap();
        assert_eq!(reader.schema(), batch.schema());
        let back: Vec<_> = reader.map(|batch| batch.unwrap()).collect();
        assert_eq!(
            back,
            (0..4).map(|offset| batch.slice(offset * 9, 20)).collect::<Vec<_>>(),
            "{device}"
        );
    }
}

#[test]
fn stream_iterates_over_its_arrays_and_ends() {
    for device in tested() {
        let arrays = batches().iter().map(host).collect();
        let stream = Stream::from_arrays(&schema(), arrays, DeviceType::CPU).unwrap();
        let options = StreamOptions::new().sharing(Sharing::Refused);
        let mut there = stream.into_device(device, options).unwrap();
        assert!(there.schema().unwrap().same_layout(&schema()));
        for batch in batches() {
            let array = there.next().unwrap().unwrap();
            assert_eq!(array.device().unwrap(), device);
            assert_eq!(array.into_record_batch().unwrap(), batch);
        }
        assert!(there.next().is_none() && there.next().is_none());
    }
}

#[test]
fn stream_may_be_empty() {
    let mut stream = Stream::from_arrays(&schema(), vec![], DeviceType::EXT_DEV).unwrap();
    assert_eq!(stream.device_type(), DeviceType::EXT_DEV);
    assert_eq!(stream.schema().unwrap().format(), c"+s");
    assert!(stream.next().is_none());
}

/// Returns two arrays and then an error.
pub(crate) fn failing() -> impl Iterator<Item = Result<Array>> + Send + 'static {
    let arrays = batches().into_iter().take(2).map(|batch| Ok(host(&batch)));
    arrays.chain([Err(Error::new(libc::EPIPE, "the pipe broke"))])
}

#[test]
fn stream_returns_its_batches_before_an_error() {
    for device in tested() {
        let there = produced(failing()).into_device(device, StreamOptions::new()).unwrap();
        let items: Vec<_> = there.collect();
        assert_eq!(items.len(), 3);
        assert!(items[..2].iter().all(Result::is_ok));
        let error = items[2].as_ref().unwrap_err();
        assert_eq!((error.kind(), error.errno()), (ErrorKind::Other, libc::EPIPE));
        assert!(error.message().contains("the pipe broke"), "{error}");

        let there = produced(failing()).into_device(device, StreamOptions::new()).unwrap();
        let mut reader = there.into_reader(StreamOptions::new()).unwrap();
        assert_eq!(reader.by_ref().take(2).filter(Result::is_ok).count(), 2);
        let error = Error::from(reader.next().unwrap().unwrap_err());
        assert_eq!(error.errno(), libc::EPIPE);
        assert!(error.message().contains("the pipe broke"), "{error}");
        assert!(reader.next().is_none());
    }
}

#[test]
fn error_of_a_reader_keeps_its_kind() {
    let lost = ArrowError::from(Error::new(libc::ENODEV, "lost"));
    let items = vec![Ok(numbers(0..3)), Err(lost), Ok(numbers(0..1))];
    let stream = Stream::from_reader(reader(items)).unwrap();
    let items: Vec<_> = stream.collect();
    assert_eq!(items.len(), 2);
    assert_eq!(items[1].as_ref().unwrap_err().kind(), ErrorKind::NoDevice);
}

#[test]
fn panic_of_a_producer_becomes_a_stream_error() {
    let arrays = (0..3).map(|index| {
        if index == 1 {
            panic!("index {index}");
        }
        Ok(host(&numbers(0..3)))
    });
    let mut stream = produced(arrays)
        .into_device(device("ext_dev:0"), StreamOptions::new())
        .unwrap();
    assert!(stream.next().unwrap().is_ok());
    let error = stream.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceFailure);
    assert!(error.message().contains("panicked: index 1"), "{error}");
    assert!(stream.next().is_none());
}

#[test]
fn panic_in_a_producers_drop_is_caught() {
    struct Fragile(Count);
    impl Drop for Fragile {
        fn drop(&mut self) {
            self.0.add();
            panic!("in a drop");
        }
    }
    let count = Count::default();
    let fragile = Fragile(count.clone());
    drop(produced(std::iter::from_fn(move || {
        let _ = &fragile;
        None
    })));
    assert_eq!(count.get(), 1);
}

#[test]
fn array_of_another_type_ends_the_stream() {
    let count = Count::default();
    let wrong_type = counted::device_array(&count);
    let elsewhere = host(&numbers(0..3))
        .into_device(device("ext_dev:0"), Default::default())
        .unwrap();
    for (array, says) in [(wrong_type, "Schema i"), (elsewhere, "ext_dev")] {
        let mut stream = produced([Ok(array)].into_iter());
        let error = stream.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.message().contains(says), "{error}");
    }
    assert_eq!(count.get(), 1);
}

#[test]
fn dropping_a_stream_early_drops_its_producer() {
    let dropped = Count::default();
    let held = Dropped(dropped.clone());
    let endless = std::iter::repeat_with(move || {
        let _ = &held;
        Ok(host(&numbers(0..3)))
    });
    let mut there = produced(endless)
        .into_device(Device::cpu().unwrap(), StreamOptions::new())
        .unwrap();
    assert!(there.next().unwrap().is_ok());
    assert_eq!(dropped.get(), 0);
    drop(there);
    arrowdevice::wait_idle(None).unwrap();
    assert_eq!(dropped.get(), 1);
}

/// Makes a producer that reports when it is asked, and then waits for its array.
pub(crate) fn waiting() -> (Stream, Receiver<()>, Sender<Array>) {
    let (asked, is_asked) = channel();
    let (give, given) = channel::<Array>();
    let arrays = std::iter::from_fn(move || {
        asked.send(()).ok()?;
        given.recv().ok().map(Ok)
    });
    (produced(arrays), is_asked, give)
}

#[test]
fn cancel_ends_a_waiting_stream() {
    let (stream, is_asked, give) = waiting();
    let options = StreamOptions::new().read_ahead(true);
    let mut there = stream.into_device(device("ext_dev:0"), options).unwrap();
    let canceller = there.canceller();
    let consumer = thread::spawn(move || there.next());
    is_asked.recv().unwrap(); // waits until the stream's thread is in the producer
    canceller.cancel().unwrap();
    let error = consumer.join().unwrap().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.errno()), (ErrorKind::Canceled, libc::ECANCELED));
    drop(give);
    let error = canceller.cancel().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "the stream is gone: {error}");
}

#[test]
fn cancel_ends_a_waiting_reader() {
    let (stream, is_asked, give) = waiting();
    let mut reader = stream.into_reader(StreamOptions::new().read_ahead(true)).unwrap();
    let canceller = reader.canceller();
    let consumer = thread::spawn(move || (reader.next(), reader.next().is_none()));
    is_asked.recv().unwrap(); // waits until the stream's thread is in the producer
    canceller.cancel().unwrap();
    let (item, has_ended) = consumer.join().unwrap();
    assert_eq!(Error::from(item.unwrap().unwrap_err()).kind(), ErrorKind::Canceled);
    assert!(has_ended);
    drop(give);
    let error = canceller.cancel().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "the reader is gone: {error}");
}

#[test]
fn cancel_refuses_foreign_and_moved_streams() {
    let (stream, _is_asked, _give) = waiting();
    let foreign = stream.canceller();
    assert_eq!(foreign.cancel().unwrap_err().kind(), ErrorKind::InvalidInput);
    let there = stream.into_device(device("ext_dev:0"), StreamOptions::new()).unwrap();
    assert_eq!(foreign.cancel().unwrap_err().kind(), ErrorKind::InvalidInput);
    let ours = there.canceller();
    ours.cancel().unwrap();
    let raw = there.into_raw();
    assert_eq!(ours.cancel().unwrap_err().kind(), ErrorKind::InvalidInput);
    // SAFETY: `into_raw` returned the struct just now.
    let mut again = unsafe { Stream::from_raw(raw) };
    assert_eq!(again.next().unwrap().unwrap_err().kind(), ErrorKind::Canceled);
}

#[test]
fn failed_into_device_returns_the_stream() {
    // SAFETY: the stream is released, and the call refuses that.
    let released = || unsafe { Stream::from_raw(Default::default()) };
    let failed = released()
        .into_device(device("ext_dev:0"), StreamOptions::new())
        .unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    let failed = released().into_host(StreamOptions::new()).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        failed.into_value().next().unwrap().unwrap_err().kind(),
        ErrorKind::InvalidInput
    );

    let mut numbers = Stream::from_arrays(&counted::schema(), vec![], DeviceType::CPU).unwrap();
    assert!(numbers.schema().is_ok());
    let failed = numbers.into_reader(StreamOptions::new()).unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput, "no batches: {failed}");
    assert!(failed.into_value().next().is_none());
}

#[test]
fn into_device_refuses_a_queue_of_another_backend() {
    let foreign = StreamOptions::new().queue(Queue::new(device("ext_dev:0")).unwrap());
    let stream = produced(batches().into_iter().map(|batch| Ok(host(&batch))));
    let refused = stream.into_device(device("opencl:0"), foreign).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(refused.into_value().count(), batches().len());
}

#[test]
fn c_streams_are_imported_and_exported() {
    let stream = Stream::from_reader(reader(batches().into_iter().map(Ok).collect())).unwrap();
    let there = stream.into_device(device("ext_dev:1"), StreamOptions::new()).unwrap();
    let raw = there.into_host(StreamOptions::new()).unwrap();
    // SAFETY: `into_host` returned the struct just now.
    let host = unsafe { Stream::from_host(raw) }.unwrap();
    let back: Vec<_> = host.map(|array| array.unwrap().into_record_batch().unwrap()).collect();
    assert_eq!(back, batches());
    // SAFETY: the stream is released, and the call refuses that.
    let failed = unsafe { Stream::from_host(Default::default()) }.unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
}
