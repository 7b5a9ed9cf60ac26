// SPDX-License-Identifier: Apache-2.0
use std::thread;

use arrowdevice::{
    Array, AsyncStream, Buffer, Canceller, CopyOptions, Device, Error, MoveError, Node, Owned, Pool, Queue,
    RecordBatches, Schema, Server, Stream, Validation, View, sys,
};

use crate::devices::tested;
use crate::types;

const fn send<T: Send>() {}
const fn sync<T: Sync>() {}

const _: () = {
    send::<Device>();
    sync::<Device>();
    send::<Schema>();
    sync::<Schema>();
    send::<Pool>();
    sync::<Pool>();
    send::<Buffer>();
    sync::<Buffer>();
    send::<Server>();
    sync::<Server>();
    send::<Array>();
    sync::<Array>();
    send::<View>();
    sync::<View>();
    send::<Node<'_>>();
    sync::<Node<'_>>();
    send::<Canceller>();
    sync::<Canceller>();
    send::<Error>();
    sync::<Error>();
    send::<MoveError<Array>>();
    sync::<MoveError<Array>>();
    send::<MoveError<Stream>>();
    sync::<MoveError<Stream>>();
    send::<Owned<sys::ArrowArray>>();
    sync::<Owned<sys::ArrowArray>>();
    send::<Queue>();
    send::<Stream>();
    send::<RecordBatches>();
    send::<AsyncStream>();
};

/// The future of the schema runs in executors with several threads.
const _: fn(&mut AsyncStream) = |stream| {
    fn send_value(_: &impl Send) {}
    send_value(&stream.schema());
};

/// Does not compile for a `Sync` type, because two implementations of `Shared` would then apply and
/// the compiler refuses to choose.
macro_rules! assert_not_sync {
    ($($type:ty),*) => {$(
        const _: fn() = || {
            trait Shared<Way> {
                fn ways() {}
            }
            #[allow(dead_code, reason = "a name for a way")]
            struct BySync;
            impl<T> Shared<()> for T {}
            impl<T: Sync> Shared<BySync> for T {}
            <$type as Shared<_>>::ways();
        };
    )*};
}
assert_not_sync!(Queue, Stream, RecordBatches, AsyncStream);

#[test]
fn many_threads_read_one_array() {
    let batch = types::batch();
    for from in tested() {
        let mut array = Array::try_from(&batch)
            .unwrap()
            .into_device(from, CopyOptions::new())
            .unwrap();
        let owners: Vec<Array> = tested().iter().map(|_| array.share().unwrap()).collect();
        thread::scope(|scope| {
            for (to, mut own) in tested().into_iter().zip(owners) {
                let (array, batch) = (&array, &batch);
                scope.spawn(move || {
                    let copy = own.copy_to(to, CopyOptions::new()).unwrap();
                    array.wait(None).unwrap();
                    array.validate(Validation::Full).unwrap();
                    assert_eq!(&copy.into_record_batch().unwrap(), batch);
                });
            }
        });
    }
}

#[test]
fn owners_of_shared_memory_drop_on_different_threads() {
    let batch = types::batch();
    for device in tested() {
        let mut array = Array::try_from(&batch)
            .unwrap()
            .into_device_async(device, CopyOptions::new())
            .unwrap();
        let parts: Vec<Array> = (0..8).map(|part| array.slice(part, 20).unwrap()).collect();
        drop(array);
        let threads = parts.into_iter().enumerate().map(|(offset, part)| {
            let expected = batch.slice(offset, 20);
            thread::spawn(move || assert_eq!(part.into_record_batch().unwrap(), expected))
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().unwrap();
        }
    }
}

#[test]
fn queues_and_streams_move_between_threads() {
    use arrowdevice::{DeviceType, StreamOptions};
    for device in tested() {
        let mut queue = Queue::new(device).unwrap();
        let schema = Schema::try_from(types::numbers([]).schema_ref().as_ref()).unwrap();
        let arrays = (0..4)
            .map(|n| Array::try_from(&types::numbers(0..n)).unwrap())
            .collect();
        let stream = Stream::from_arrays(&schema, arrays, DeviceType::CPU).unwrap();
        let lengths = thread::spawn(move || {
            queue.finish(None).unwrap();
            let there = stream.into_device(device, StreamOptions::new().queue(queue)).unwrap();
            thread::spawn(move || there.map(|array| array.unwrap().len()).collect::<Vec<_>>())
                .join()
                .unwrap()
        });
        assert_eq!(lengths.join().unwrap(), [0, 1, 2, 3]);
    }
}
