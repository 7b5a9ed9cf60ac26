// SPDX-License-Identifier: Apache-2.0
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
#[cfg(feature = "stream")]
use std::ptr::null;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::array::Array;
#[cfg(feature = "stream")]
use crate::async_stream::AsyncStream;
use crate::call::{call, count};
use crate::device::Device;
use crate::device_type::DeviceType;
use crate::error::{Error, MoveError, Result};
use crate::options::StreamOptions;
use crate::owned::Owned;
use crate::producer;
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;

/// A stream of arrays of one type on one type of device.
///
/// The stream ends with the first error. Dropping it early returns at once. If it has a wrapped
/// queue, dropping waits for a driver call that uses the queue.
pub struct Stream {
    held: Arc<Held>,
    schema: Option<Schema>,
    source: Option<Device>,
    ended: bool,
    /// Queues of this stream and of the streams behind it. They are dropped after the release,
    /// because the library stops using a wrapped queue when it is dropped.
    queues: Vec<Queue>,
    /// Makes the stream not `Sync`, because the format allows one thread at a time.
    by_one_thread: PhantomData<Cell<()>>,
}

/// The struct at a fixed address, so that a canceller on another thread can use it.
struct Held {
    raw: UnsafeCell<sys::ArrowDeviceArrayStream>,
    /// True from just before the struct is released, or after it was moved. The lock keeps a cancel
    /// from running at the same time.
    released: Mutex<bool>,
}

// SAFETY: the one owner of the stream calls all functions on the struct, from one thread at a time.
// The exception is the cancel, which may run beside them, and which the lock separates from the
// release.
unsafe impl Send for Held {}
// SAFETY: the same holds here.
unsafe impl Sync for Held {}

impl Held {
    fn new(raw: sys::ArrowDeviceArrayStream) -> Arc<Held> {
        Arc::new(Held {
            raw: UnsafeCell::new(raw),
            released: Mutex::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // No code panics while it holds the lock.
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a [`Stream`], or a reader of a stream, from another thread.
#[derive(Clone)]
pub struct Canceller(Arc<Held>);

impl Canceller {
    /// Stops the stream. A running call and all later calls fail with `Canceled`. It does not
    /// block.
    ///
    /// It fails with `InvalidInput` if the stream was dropped or moved, or if the library did not
    /// make it. The library makes the streams that [`Stream::into_device`] and similar methods
    /// return. A stream or reader that takes ownership of another stream has its own canceller.
    pub fn cancel(&self) -> Result<()> {
        let released = self.0.lock();
        if *released {
            return Err(Error::invalid("the stream is released"));
        }
        // SAFETY: the stream is not released while the lock is held, and a cancel may run beside a
        // call of the owner.
        call(|error| unsafe { sys::arrowdevice_stream_cancel(self.0.raw.get(), error) })
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Canceller")
    }
}

impl Stream {
    /// Takes ownership of a device stream.
    ///
    /// # Safety
    /// The stream is valid as the Arrow C Device data interface specifies and not released. Its
    /// arrays are laid out as its schema describes. No other owner uses or releases it.
    pub unsafe fn from_raw(stream: sys::ArrowDeviceArrayStream) -> Stream {
        Stream {
            held: Held::new(stream),
            schema: None,
            source: None,
            ended: false,
            queues: Vec::new(),
            by_one_thread: PhantomData,
        }
    }

    /// Returns the struct. The caller releases it, and a [`Canceller`] no longer affects it.
    ///
    /// Queues from [`StreamOptions::queue`] are dropped here. If a queue was wrapped, the stream
    /// continues on a queue of the library, and the application may use its native queue again.
    pub fn into_raw(self) -> sys::ArrowDeviceArrayStream {
        let mut released = self.held.lock();
        *released = true;
        // SAFETY: the struct is ours alone and not used again.
        let raw = unsafe { std::mem::take(&mut *self.held.raw.get()) };
        drop(released);
        raw
    }

    /// Makes a device stream on the CPU from a C stream. If the call fails, the error holds the
    /// input, and dropping the error releases it.
    ///
    /// # Safety
    /// The stream is valid as the Arrow C stream interface specifies and not released. Its arrays
    /// are laid out as its schema describes. No other owner uses or releases it.
    pub unsafe fn from_host(
        mut stream: sys::ArrowArrayStream,
    ) -> Result<Stream, MoveError<Owned<sys::ArrowArrayStream>>> {
        let mut out = sys::ArrowDeviceArrayStream::default();
        // SAFETY: the caller guarantees it.
        match call(|error| unsafe { sys::arrowdevice_stream_from_host(&raw mut stream, &raw mut out, error) }) {
            // SAFETY: the library made the struct just now.
            Ok(()) => Ok(unsafe { Stream::from_raw(out) }),
            // SAFETY: the failed call left the struct unchanged, and it is ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(stream) })),
        }
    }

    /// Makes a stream of arrays of one type, in the given order. Without arrays it makes a stream
    /// that has only a schema.
    pub fn from_arrays(
        schema: &Schema,
        arrays: Vec<Array>,
        device_type: DeviceType,
    ) -> Result<Stream, MoveError<Vec<Array>>> {
        let failed = |error, arrays| Err(MoveError::new(error, arrays));
        if let Err(error) = schema.check_arrays(&arrays) {
            return failed(error, arrays);
        }
        let mut raw_schema = match schema.to_raw() {
            Ok(schema) => schema,
            Err(error) => return failed(error, arrays),
        };
        let sources: Vec<Option<Device>> = arrays.iter().map(Array::source).collect();
        let source = sources.first().copied().flatten();
        if sources.iter().any(|other| *other != source) {
            // SAFETY: the object is ours and not used again.
            unsafe { sys::arrowdevice_schema_release(&raw mut raw_schema) };
            return failed(
                Error::invalid("the arrays are in different contexts of one device"),
                arrays,
            );
        }
        let (mut raw_arrays, schemas): (Vec<_>, Vec<_>) = arrays.into_iter().map(Array::into_raw).unzip();
        let mut out = sys::ArrowDeviceArrayStream::default();
        // SAFETY: the structs are ours alone, and the vector has as many arrays of this schema as
        // the call says.
        match call(|error| unsafe {
            sys::arrowdevice_stream_from_arrays(
                &raw mut raw_schema,
                raw_arrays.as_mut_ptr(),
                count(raw_arrays.len()),
                device_type.0,
                &raw mut out,
                error,
            )
        }) {
            // SAFETY: the library made the struct just now.
            Ok(()) => Ok(unsafe { Stream::from_raw(out) }.known(schema.clone()).on(source)),
            Err(error) => {
                // SAFETY: the struct is still ours and not used again.
                unsafe { sys::arrowdevice_schema_release(&raw mut raw_schema) };
                let arrays = raw_arrays.into_iter().zip(schemas).zip(sources);
                // SAFETY: the arrays were split into these values just now.
                let whole = arrays.map(|((raw, schema), source)| unsafe { Array::from_parts(raw, schema, source) });
                failed(error, whole.collect())
            }
        }
    }

    /// Makes a stream of an iterator's arrays. The stream calls the iterator when the consumer asks
    /// for an array.
    ///
    /// Use [`from_arrays`](Stream::from_arrays) for arrays in a context that the application owns,
    /// because it knows their device. The first error ends the stream, and the consumer gets its
    /// code and text. A panic becomes `DeviceFailure`.
    pub fn from_iterator<I>(schema: &Schema, device_type: DeviceType, arrays: I) -> Stream
    where
        I: Iterator<Item = Result<Array>> + Send + 'static,
    {
        // SAFETY: the library made the struct just now.
        unsafe { Stream::from_raw(producer::produce(schema.clone(), device_type, arrays)) }.known(schema.clone())
    }

    /// Returns the type of the arrays.
    pub fn schema(&mut self) -> Result<&Schema> {
        if self.schema.is_none() {
            let mut out = sys::ArrowSchema::default();
            // SAFETY: the struct is ours, and one thread at a time uses it.
            call(|error| unsafe { sys::arrowdevice_stream_get_schema(self.held.raw.get(), &raw mut out, error) })?;
            // SAFETY: the producer has transferred ownership of the struct.
            self.schema = Some(unsafe { Schema::from_raw(out) });
        }
        Ok(self.schema.as_ref().expect("set above"))
    }

    /// Returns the device type of the arrays.
    pub fn device_type(&self) -> DeviceType {
        // SAFETY: the struct is alive, and this member never changes.
        DeviceType(unsafe { (*self.held.raw.get()).device_type })
    }

    /// Makes a stream whose batches go to a device while they flow, several at a time. It shares a
    /// batch's memory if the device can use it, and copies if not. A batch may be returned before
    /// its data is complete; see [`Array::wait`].
    pub fn into_device(mut self, to: Device, mut options: StreamOptions<'_>) -> Result<Stream, MoveError<Stream>> {
        let mut out = sys::ArrowDeviceArrayStream::default();
        let raw_options = options.raw(self.source);
        let taken = self.hand_over(|raw, error| {
            // SAFETY: all pointers are valid, and the stream is ours alone.
            unsafe { sys::arrowdevice_stream_to_device(raw, to.as_ptr(), &raw const raw_options, &raw mut out, error) }
        });
        match taken {
            Ok(()) => {
                let mut queues = std::mem::take(&mut self.queues);
                queues.extend(options.take_queue());
                // SAFETY: the library made the struct just now.
                let moved = unsafe { Stream::from_raw(out) };
                Ok(moved.on(to.unless_found_by_pair()).with_queues(queues))
            }
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Turns the stream into a C stream whose batches are complete on the CPU when it returns them.
    /// The caller releases it. It cannot be cancelled.
    ///
    /// Queues are dropped here as in [`into_raw`](Stream::into_raw), including that of `options`.
    /// `into_reader` holds them.
    pub fn into_host(self, options: StreamOptions<'_>) -> Result<sys::ArrowArrayStream, MoveError<Stream>> {
        let mut out = sys::ArrowArrayStream::default();
        let raw_options = options.raw(self.source);
        let taken = self.hand_over(|raw, error| {
            // SAFETY: all pointers are valid, and the stream is ours alone.
            unsafe { sys::arrowdevice_stream_to_host(raw, &raw const raw_options, &raw mut out, error) }
        });
        match taken {
            Ok(()) => Ok(out),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Turns the stream into one for asynchronous programs, which is a `futures_core::Stream`.
    ///
    /// A thread of the library begins to read at once. It holds at most `depth` arrays that the
    /// consumer has not taken, including the array that it reads. 0 means 4. The arrays may be
    /// returned before their data is complete, as those of this stream.
    ///
    /// The call does not block. It fails with `InvalidInput` if the stream is released, and with
    /// `OutOfMemory` if no thread can start. The error holds the stream.
    #[cfg(feature = "stream")]
    pub fn into_async(mut self, depth: u32) -> Result<AsyncStream, MoveError<Stream>> {
        let started = AsyncStream::start(depth, self.schema.clone(), self.source, |handler| {
            // SAFETY: the stream is ours alone, and the handler lives until its release.
            self.hand_over(|raw, error| unsafe { sys::arrowdevice_async_produce(raw, handler, null(), error) })
        });
        match started {
            Ok(started) => Ok(started.with_queues(std::mem::take(&mut self.queues))),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Names the device of the stream's arrays if their type and id do not identify it, as in a
    /// context that the application owns.
    ///
    /// # Safety
    /// The arrays' buffers and events belong to the device.
    #[must_use]
    pub unsafe fn with_device(self, device: Device) -> Stream {
        self.on(Some(device))
    }

    /// Returns a handle that stops the stream from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.held))
    }

    /// Calls a function that takes ownership of the struct. No cancel runs meanwhile.
    pub(crate) fn hand_over(
        &self,
        function: impl FnOnce(*mut sys::ArrowDeviceArrayStream, *mut sys::arrowdevice_error) -> i32,
    ) -> Result<()> {
        let mut released = self.held.lock();
        call(|error| function(self.held.raw.get(), error))?;
        *released = true;
        Ok(())
    }

    pub(crate) fn known(mut self, schema: Schema) -> Stream {
        self.schema = Some(schema);
        self
    }

    /// Returns the device that replaces the one that the type and id of the arrays identify.
    pub(crate) fn source(&self) -> Option<Device> {
        self.source
    }

    pub(crate) fn on(mut self, source: Option<Device>) -> Stream {
        self.source = source;
        self
    }

    fn with_queues(mut self, queues: Vec<Queue>) -> Stream {
        self.queues = queues;
        self
    }

    fn pull(&mut self) -> Result<Option<Array>> {
        let schema = self.schema()?.clone();
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the struct is ours, and one thread at a time uses it.
        call(|error| unsafe { sys::arrowdevice_stream_get_next(self.held.raw.get(), &raw mut out, error) })?;
        if out.array.release.is_none() {
            return Ok(None);
        }
        // SAFETY: the producer has transferred ownership of the struct, and it has the stream's
        // schema.
        Ok(Some(unsafe { Array::from_parts(out, schema, self.source) }))
    }
}

impl Iterator for Stream {
    type Item = Result<Array>;

    /// Blocks as long as the producer does.
    fn next(&mut self) -> Option<Result<Array>> {
        if self.ended {
            return None;
        }
        let item = self.pull().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

impl FusedIterator for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        let released = std::mem::replace(&mut *self.held.lock(), true);
        if !released {
            // The lock is not held, because a producer's release may run any code.
            // SAFETY: the struct is ours alone and not used again.
            unsafe { sys::arrowdevice_stream_release(self.held.raw.get()) }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stream({} of {:?})", self.device_type(), self.schema)
    }
}
