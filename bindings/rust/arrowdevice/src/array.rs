// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ptr::null_mut;
use std::time::Duration;

use crate::call::{call, count, timeout_parameter};
use crate::device::{Device, pointer_or_null};
use crate::device_type::DeviceType;
use crate::error::{MoveError, Result};
use crate::options::{CopyOptions, ImportOptions, Sharing};
use crate::owned::Owned;
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;
use crate::view::View;

/// How far an array is checked against its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Validation {
    /// The structs, without looking at data.
    #[default]
    Structure,
    /// Also the data, wherever it lies.
    Full,
    /// Also what real producers neglect.
    Strict,
}

impl Validation {
    pub(crate) fn level(self) -> i32 {
        match self {
            Validation::Structure => sys::ARROWDEVICE_VALIDATE_STRUCTURE,
            Validation::Full => sys::ARROWDEVICE_VALIDATE_FULL,
            Validation::Strict => sys::ARROWDEVICE_VALIDATE_STRICT,
        }
    }
}

/// An Arrow array or record batch on a device, with its type.
///
/// It owns its memory, alone or with others: [`share`](Array::share), [`slice`](Array::slice) and
/// [`select`](Array::select) make co-owners. Its data may still be on its way, until its event has fired:
/// [`wait`](Array::wait) says when; everything in this crate waits by itself where it must. Dropped, it never blocks on
/// the device's work.
///
/// ```compile_fail,E0382
/// # fn moved(array: arrowdevice::Array, device: arrowdevice::Device) -> arrowdevice::Result<()> {
/// let there = array.into_device(device, Default::default())?;
/// array.wait(None)?; // was handed over
/// # Ok(())
/// # }
/// ```
pub struct Array {
    raw: sys::ArrowDeviceArray,
    schema: Schema,
    /// Overrides what the pair of type and id would find.
    source: Option<Device>,
}

// SAFETY: an array belongs to one thread at a time, any thread, and is released from any thread.
unsafe impl Send for Array {}
// SAFETY: functions that take it `const` may run at the same time on any threads; those that change it take `&mut`.
unsafe impl Sync for Array {}

impl Array {
    /// Takes a device array over. It is found by its pair of device type and id; see
    /// [`with_device`](Array::with_device).
    ///
    /// # Safety
    /// It is valid as the Arrow C Device data interface says, not released, laid out as the schema says, and nobody else
    /// releases it.
    pub unsafe fn from_raw(array: sys::ArrowDeviceArray, schema: Schema) -> Array {
        Array {
            raw: array,
            schema,
            source: None,
        }
    }

    /// Gives the structs up; the caller releases the array.
    pub fn into_raw(mut self) -> (sys::ArrowDeviceArray, Schema) {
        // What is dropped here is released.
        (std::mem::take(&mut self.raw), self.schema.clone())
    }

    /// Says on which device it is where its pair does not, as in an application's own context.
    ///
    /// # Safety
    /// Its buffers and its event are the device's.
    #[must_use]
    pub unsafe fn with_device(mut self, device: Device) -> Array {
        self.source = Some(device);
        self
    }

    /// Makes a device array out of buffers that already are on a device. Nothing is copied. Its event fires after the
    /// queue's work so far, which writes them; `None`: the data is ready. What is not taken comes back, or is released where
    /// the error alone is kept.
    ///
    /// # Safety
    /// The array is valid and not released, its buffers are on the device, it is laid out as the schema says, and nobody
    /// else releases it.
    pub unsafe fn export(
        device: Device,
        mut array: sys::ArrowArray,
        schema: Schema,
        producer_queue: Option<&mut Queue>,
    ) -> Result<Array, MoveError<Owned<sys::ArrowArray>>> {
        let queue = producer_queue.map_or(null_mut(), |queue| queue.as_ptr());
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the caller's.
        match call(|error| unsafe {
            sys::arrowdevice_array_export(device.as_ptr(), &raw mut array, queue, &raw mut out, error)
        }) {
            Ok(()) => Ok(Array {
                raw: out,
                schema,
                source: device.unless_found_by_pair(),
            }),
            // SAFETY: as it was, and still ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(array) })),
        }
    }

    /// A CPU array as a device array. What is not taken comes back, or is released where the error alone is kept.
    ///
    /// # Safety
    /// It is valid as the Arrow C data interface says, not released, laid out as the schema says, and nobody else
    /// releases it.
    pub unsafe fn from_host(
        mut array: sys::ArrowArray,
        schema: Schema,
    ) -> Result<Array, MoveError<Owned<sys::ArrowArray>>> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the caller's.
        match call(|error| unsafe { sys::arrowdevice_array_from_host(&raw mut array, &raw mut out, error) }) {
            Ok(()) => Ok(Array {
                raw: out,
                schema,
                source: None,
            }),
            // SAFETY: as it was, and still ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(array) })),
        }
    }

    /// As a CPU array, complete: shared where the CPU can read the memory, copied where not. The caller releases it.
    pub fn into_host(mut self, options: CopyOptions<'_>) -> Result<(sys::ArrowArray, Schema), MoveError<Array>> {
        let mut out = sys::ArrowArray::default();
        let raw_options = options.raw_move(self.source, 0);
        // SAFETY: all are alive, and the array is ours alone.
        match call(|error| unsafe {
            sys::arrowdevice_array_to_host(
                &raw mut self.raw,
                self.schema.as_raw(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        }) {
            Ok(()) => Ok((out, self.schema.clone())),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Its type.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Rows.
    pub fn len(&self) -> usize {
        usize::try_from(self.raw.array.length).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows that are null, where that has been counted.
    pub fn null_count(&self) -> Option<usize> {
        usize::try_from(self.raw.array.null_count).ok()
    }

    /// The type of device that can use the buffers.
    pub fn device_type(&self) -> DeviceType {
        DeviceType(self.raw.device_type)
    }

    /// The device that it is on.
    pub fn device(&self) -> Result<Device> {
        if let Some(device) = self.source {
            return Ok(device);
        }
        let mut out = null_mut();
        // SAFETY: alive, and only read.
        call(|error| unsafe { sys::arrowdevice_array_get_device(&raw const self.raw, &raw mut out, error) })?;
        // SAFETY: the library gave it out.
        Ok(unsafe { Device::from_ptr(out) }.expect("a success comes with a device"))
    }

    /// The struct, borrowed. Its buffers are to be used after its event has fired.
    pub fn as_raw(&self) -> &sys::ArrowDeviceArray {
        &self.raw
    }

    /// Whether its event has fired. Does not block. `DeviceFailure` if its producer's work failed.
    pub fn is_ready(&self) -> Result<bool> {
        let mut ready = 0;
        // SAFETY: alive, and only read.
        call(|error| unsafe {
            sys::arrowdevice_array_is_ready(&raw const self.raw, pointer_or_null(self.source), &raw mut ready, error)
        })?;
        Ok(ready != 0)
    }

    /// Waits for its event, `None` for ever. `TimedOut` if it has not fired in time, `DeviceFailure` if its producer's
    /// work failed.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: alive, and only read.
        call(|error| unsafe {
            sys::arrowdevice_array_wait(
                &raw const self.raw,
                pointer_or_null(self.source),
                timeout_parameter(timeout),
                error,
            )
        })
    }

    /// Puts a copy on a device, only of the bytes that its rows need. Complete on return.
    pub fn copy_to(&self, to: Device, options: CopyOptions<'_>) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        let raw_options = options.raw_copy(self.source);
        // SAFETY: all are alive; the array is only read.
        call(|error| unsafe {
            sys::arrowdevice_array_copy(
                &raw const self.raw,
                self.schema.as_raw(),
                to.as_ptr(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        })?;
        Ok(self.sibling(out, to.unless_found_by_pair()))
    }

    /// As [`copy_to`](Array::copy_to), but returns while the copy runs; [`wait`](Array::wait) for the result.
    ///
    /// The copy is a co-owner of what it reads until it is done, so that this array may be dropped at any time.
    pub fn copy_to_async(&mut self, to: Device, options: CopyOptions<'_>) -> Result<Array> {
        let source = self.share()?;
        let options = options.sharing(Sharing::Refused);
        source
            .into_device_with(to, options, sys::ARROWDEVICE_COPY_ASYNC)
            .map_err(MoveError::into_error)
    }

    /// Hands it over to a device: shared where that device can use the memory, copied where not. Complete on return.
    pub fn into_device(self, to: Device, options: CopyOptions<'_>) -> Result<Array, MoveError<Array>> {
        self.into_device_with(to, options, 0)
    }

    /// As [`into_device`](Array::into_device), but returns while a copy runs; [`wait`](Array::wait) for the result.
    pub fn into_device_async(self, to: Device, options: CopyOptions<'_>) -> Result<Array, MoveError<Array>> {
        self.into_device_with(to, options, sys::ARROWDEVICE_COPY_ASYNC)
    }

    fn into_device_with(mut self, to: Device, options: CopyOptions<'_>, flags: u32) -> Result<Array, MoveError<Array>> {
        let mut out = sys::ArrowDeviceArray::default();
        let raw_options = options.raw_move(self.source, flags);
        // SAFETY: all are alive, and the array is ours alone.
        match call(|error| unsafe {
            sys::arrowdevice_array_to_device(
                &raw mut self.raw,
                self.schema.as_raw(),
                to.as_ptr(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        }) {
            Ok(()) => Ok(self.sibling(out, to.unless_found_by_pair())),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// A second owner of its memory.
    pub fn share(&mut self) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: ours alone.
        call(|error| unsafe { sys::arrowdevice_array_share(&raw mut self.raw, &raw mut out, error) })?;
        Ok(self.sibling(out, self.source))
    }

    /// Some of its rows, as a co-owner of its memory. Reads no data, copies none.
    pub fn slice(&mut self, offset: usize, length: usize) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: ours alone.
        call(|error| unsafe {
            sys::arrowdevice_array_slice(
                &raw mut self.raw,
                self.schema.as_raw(),
                count(offset),
                count(length),
                &raw mut out,
                error,
            )
        })?;
        Ok(self.sibling(out, self.source))
    }

    /// Some columns of a record batch or struct array, in the order given, as a co-owner of its memory. One may appear
    /// several times.
    pub fn select(&mut self, columns: &[usize]) -> Result<Array> {
        let columns: Vec<i64> = columns.iter().map(|&column| count(column)).collect();
        let mut out = sys::ArrowDeviceArray::default();
        let mut out_schema = sys::ArrowSchema::default();
        // SAFETY: ours alone; there are so many columns.
        call(|error| unsafe {
            sys::arrowdevice_array_select(
                &raw mut self.raw,
                self.schema.as_raw(),
                columns.as_ptr(),
                count(columns.len()),
                &raw mut out,
                &raw mut out_schema,
                error,
            )
        })?;
        // SAFETY: a copy of its own.
        let schema = unsafe { Schema::from_raw(out_schema) };
        Ok(Array {
            raw: out,
            schema,
            source: self.source,
        })
    }

    /// Checks it against its schema. Beyond the structure it waits for its event.
    pub fn validate(&self, validation: Validation) -> Result<()> {
        // SAFETY: alive, and only read.
        call(|error| unsafe {
            sys::arrowdevice_array_validate(
                &raw const self.raw,
                self.schema.as_raw(),
                pointer_or_null(self.source),
                validation.level(),
                error,
            )
        })
    }

    /// Checks it and gives its typed buffers. Nothing is copied.
    pub fn import(mut self, options: ImportOptions<'_>) -> Result<View, MoveError<Array>> {
        let mut out = null_mut();
        let raw_options = options.raw(self.source);
        // SAFETY: all are alive, and the array is ours alone.
        match call(|error| unsafe {
            sys::arrowdevice_array_import(
                &raw mut self.raw,
                self.schema.as_raw(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        }) {
            // SAFETY: made just now, of an array of this schema.
            Ok(()) => Ok(unsafe { View::from_raw(out, self.schema.clone(), self.source) }),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Releases it once the queue's work so far is done. Returns at once.
    pub fn release_after(mut self, queue: &mut Queue) -> Result<(), MoveError<Array>> {
        // SAFETY: both are ours alone.
        match call(|error| unsafe { sys::arrowdevice_array_release_after(&raw mut self.raw, queue.as_ptr(), error) }) {
            Ok(()) => Ok(()),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    pub(crate) fn source_pointer(&self) -> *mut sys::arrowdevice_device {
        pointer_or_null(self.source)
    }

    fn sibling(&self, raw: sys::ArrowDeviceArray, source: Option<Device>) -> Array {
        Array {
            raw,
            schema: self.schema.clone(),
            source,
        }
    }

    /// # Safety
    /// As [`Array::from_raw`] and [`Array::with_device`].
    pub(crate) unsafe fn from_parts(raw: sys::ArrowDeviceArray, schema: Schema, source: Option<Device>) -> Array {
        Array { raw, schema, source }
    }

    pub(crate) fn source(&self) -> Option<Device> {
        self.source
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: ours; a released one is left alone.
        unsafe { sys::arrowdevice_array_release(&raw mut self.raw) }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = format!("{}:{}", self.device_type(), self.raw.device_id);
        write!(formatter, "Array({} rows of {:?} on {device})", self.len(), self.schema)
    }
}
