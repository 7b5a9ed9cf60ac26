// SPDX-License-Identifier: Apache-2.0
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::array::Array;
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
/// It ends with the first error. Dropping it early returns at once; where it was given a wrapped queue, once
/// a call of the driver's with that, if one is in progress, has returned.
pub struct Stream {
    held: Arc<Held>,
    schema: Option<Schema>,
    source: Option<Device>,
    ended: bool,
    /// What it and the streams behind it were given. Dropped after the release: the library lets go of a wrapped queue when
    /// that is dropped, and would go on without it.
    queues: Vec<Queue>,
    /// Not `Sync`: the format knows no use of a stream by two threads.
    by_one_thread: PhantomData<Cell<()>>,
}

/// The struct, at an address of its own: a canceller reaches it from another thread.
struct Held {
    raw: UnsafeCell<sys::ArrowDeviceArrayStream>,
    /// Set before the struct is released or once it was moved. Locked during a cancel, which neither may meet.
    released: Mutex<bool>,
}

// SAFETY: all functions on the struct are called by the one owner of the stream, from one thread at a time, but for the
// cancel, which is free beside them, and kept from the release by the lock.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl Held {
    fn new(raw: sys::ArrowDeviceArrayStream) -> Arc<Held> {
        Arc::new(Held {
            raw: UnsafeCell::new(raw),
            released: Mutex::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // Nothing under the lock panics half-way.
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a [`Stream`], or a reader of one, from another thread.
#[derive(Clone)]
pub struct Canceller(Arc<Held>);

impl Canceller {
    /// Stops the stream: from then on it answers `Canceled`, also on a thread that waits in it. Does not block.
    ///
    /// `InvalidInput` for a stream that was dropped or handed over, and for one that the library has not made; only
    /// [`Stream::into_device`] and its kin make such. What it was handed over to, a further stream or a reader, has a canceller
    /// of its own.
    pub fn cancel(&self) -> Result<()> {
        let released = self.0.lock();
        if *released {
            return Err(Error::invalid("the stream is released"));
        }
        // SAFETY: not released while the lock is held; free beside a call of the owner.
        call(|error| unsafe { sys::arrowdevice_stream_cancel(self.0.raw.get(), error) })
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Canceller")
    }
}

impl Stream {
    /// Takes a device stream over.
    ///
    /// # Safety
    /// It is valid as the Arrow C Device data interface says, not released, its arrays are laid out as its schema says,
    /// and nobody else uses or releases it.
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

    /// Gives the struct up; the caller releases it, and no [`Canceller`] reaches it any more.
    ///
    /// Queues that it was given by [`StreamOptions::queue`] end here: the stream goes on on a queue of the library in place
    /// of a wrapped one, which the application has back.
    pub fn into_raw(self) -> sys::ArrowDeviceArrayStream {
        let mut released = self.held.lock();
        *released = true;
        // SAFETY: ours alone, and not used again.
        let raw = unsafe { std::mem::take(&mut *self.held.raw.get()) };
        drop(released);
        raw
    }

    /// A C stream as a device stream on the CPU. What is not taken comes back, or is released where the error alone is kept.
    ///
    /// # Safety
    /// It is valid as the Arrow C stream interface says, not released, its arrays are laid out as its schema says, and
    /// nobody else uses or releases it.
    pub unsafe fn from_host(
        mut stream: sys::ArrowArrayStream,
    ) -> Result<Stream, MoveError<Owned<sys::ArrowArrayStream>>> {
        let mut out = sys::ArrowDeviceArrayStream::default();
        // SAFETY: the caller's.
        match call(|error| unsafe { sys::arrowdevice_stream_from_host(&raw mut stream, &raw mut out, error) }) {
            // SAFETY: made just now.
            Ok(()) => Ok(unsafe { Stream::from_raw(out) }),
            // SAFETY: as it was, and still ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(stream) })),
        }
    }

    /// A stream of arrays of one type, in their order; none: a stream of a schema only.
    pub fn from_arrays(
        schema: &Schema,
        arrays: Vec<Array>,
        device_type: DeviceType,
    ) -> Result<Stream, MoveError<Vec<Array>>> {
        let failed = |error, arrays| Err(MoveError::new(error, arrays));
        // The library sees structs; that an `int32` is no `float` is for us to see.
        if let Some(index) = arrays.iter().position(|array| !array.schema().same_layout(schema)) {
            let message = format!(
                "array {index}: {:?}, where the stream has {schema:?}",
                arrays[index].schema()
            );
            return failed(Error::invalid(message), arrays);
        }
        let mut raw_schema = match schema.to_raw() {
            Ok(schema) => schema,
            Err(error) => return failed(error, arrays),
        };
        let sources: Vec<Option<Device>> = arrays.iter().map(Array::source).collect();
        let source = sources.first().copied().flatten();
        if sources.iter().any(|other| *other != source) {
            // SAFETY: ours, and not used again.
            unsafe { sys::arrowdevice_schema_release(&raw mut raw_schema) };
            return failed(Error::invalid("arrays of several contexts of one device"), arrays);
        }
        let (mut raw_arrays, schemas): (Vec<_>, Vec<_>) = arrays.into_iter().map(Array::into_raw).unzip();
        let mut out = sys::ArrowDeviceArrayStream::default();
        // SAFETY: ours alone; there are so many arrays, of this schema.
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
            // SAFETY: made just now.
            Ok(()) => Ok(unsafe { Stream::from_raw(out) }.known(schema.clone()).on(source)),
            Err(error) => {
                // SAFETY: ours still, and not used again.
                unsafe { sys::arrowdevice_schema_release(&raw mut raw_schema) };
                let arrays = raw_arrays.into_iter().zip(schemas).zip(sources);
                // SAFETY: they came from these parts just now.
                let whole = arrays.map(|((raw, schema), source)| unsafe { Array::from_parts(raw, schema, source) });
                failed(error, whole.collect())
            }
        }
    }

    /// A stream of what an iterator gives, which is asked when the consumer asks.
    ///
    /// Arrays in an application's own context go by [`from_arrays`](Stream::from_arrays) instead, which knows where they
    /// are. The first error ends it, and reaches the consumer with its code and text; so does a panic, as `DeviceFailure`.
    pub fn from_iterator<I>(schema: &Schema, device_type: DeviceType, arrays: I) -> Stream
    where
        I: Iterator<Item = Result<Array>> + Send + 'static,
    {
        // SAFETY: made just now.
        unsafe { Stream::from_raw(producer::produce(schema.clone(), device_type, arrays)) }.known(schema.clone())
    }

    /// The type of its arrays.
    pub fn schema(&mut self) -> Result<&Schema> {
        if self.schema.is_none() {
            let mut out = sys::ArrowSchema::default();
            // SAFETY: ours, by one thread at a time.
            call(|error| unsafe { sys::arrowdevice_stream_get_schema(self.held.raw.get(), &raw mut out, error) })?;
            // SAFETY: the producer's gift, ours from here.
            self.schema = Some(unsafe { Schema::from_raw(out) });
        }
        Ok(self.schema.as_ref().expect("set above"))
    }

    /// The type of device of its arrays.
    pub fn device_type(&self) -> DeviceType {
        // SAFETY: alive; nobody writes it.
        DeviceType(unsafe { (*self.held.raw.get()).device_type })
    }

    /// A stream whose batches are moved to a device while they flow: shared where the device can use the memory, copied
    /// where not, several at a time. They may come before their data does; see [`Array::wait`].
    pub fn into_device(mut self, to: Device, mut options: StreamOptions<'_>) -> Result<Stream, MoveError<Stream>> {
        let mut out = sys::ArrowDeviceArrayStream::default();
        let raw_options = options.raw(self.source);
        let taken = self.hand_over(|raw, error| {
            // SAFETY: all are alive, and the stream is ours alone.
            unsafe { sys::arrowdevice_stream_to_device(raw, to.as_ptr(), &raw const raw_options, &raw mut out, error) }
        });
        match taken {
            Ok(()) => {
                let mut queues = std::mem::take(&mut self.queues);
                queues.extend(options.take_queue());
                // SAFETY: made just now.
                let moved = unsafe { Stream::from_raw(out) };
                Ok(moved.on(to.unless_found_by_pair()).with_queues(queues))
            }
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// As a C stream, whose batches are complete on the CPU when it hands them out. The caller releases it; there is no
    /// way to cancel it.
    ///
    /// Queues end here as in [`into_raw`](Stream::into_raw), that of `options` too. `into_reader` keeps them.
    pub fn into_host(self, options: StreamOptions<'_>) -> Result<sys::ArrowArrayStream, MoveError<Stream>> {
        let mut out = sys::ArrowArrayStream::default();
        let raw_options = options.raw(self.source);
        let taken = self.hand_over(|raw, error| {
            // SAFETY: all are alive, and the stream is ours alone.
            unsafe { sys::arrowdevice_stream_to_host(raw, &raw const raw_options, &raw mut out, error) }
        });
        match taken {
            Ok(()) => Ok(out),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Says on which device its arrays are where their pair does not, as in an application's own context.
    ///
    /// # Safety
    /// Their buffers and events are the device's.
    #[must_use]
    pub unsafe fn with_device(self, device: Device) -> Stream {
        self.on(Some(device))
    }

    /// Stops it from other threads.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.held))
    }

    /// Calls what takes the struct over; no cancel looks at it meanwhile.
    fn hand_over(
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

    fn on(mut self, source: Option<Device>) -> Stream {
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
        // SAFETY: ours, by one thread at a time.
        call(|error| unsafe { sys::arrowdevice_stream_get_next(self.held.raw.get(), &raw mut out, error) })?;
        if out.array.release.is_none() {
            return Ok(None);
        }
        // SAFETY: the producer's gift, ours from here, of the stream's schema.
        Ok(Some(unsafe { Array::from_parts(out, schema, self.source) }))
    }
}

impl Iterator for Stream {
    type Item = Result<Array>;

    /// Blocks as the producer does.
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
            // Without the lock, since a producer's release may do as it likes.
            // SAFETY: ours alone, and not used again.
            unsafe { sys::arrowdevice_stream_release(self.held.raw.get()) }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stream({} of {:?})", self.device_type(), self.schema)
    }
}
