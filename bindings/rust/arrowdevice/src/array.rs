// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ptr::null_mut;
use std::time::Duration;

use crate::call::{call, count, timeout_ns};
use crate::device::{Device, pointer_or_null};
use crate::device_type::DeviceType;
use crate::error::{MoveError, Result};
use crate::host_copy::HostCopy;
use crate::options::{CopyOptions, ImportOptions, Sharing};
use crate::owned::Owned;
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;
use crate::view::View;

/// Selects how much of an array is checked against its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Validation {
    /// Checks the structs and reads no data.
    #[default]
    Structure,
    /// Checks the structure and the data, on any device.
    Full,
    /// Checks the data, and rules that existing producers often break.
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
/// The array owns its memory, alone or shared: [`share`](Array::share), [`slice`](Array::slice) and
/// [`select`](Array::select) make more owners. Its data is valid when its event has fired, and
/// [`wait`](Array::wait) waits for that. All other methods wait by themselves if they must.
/// Dropping an array never blocks on work of the device.
///
/// ```compile_fail,E0382
/// # fn moved(array: arrowdevice::Array, device: arrowdevice::Device) -> arrowdevice::Result<()> {
/// let there = array.into_device(device, Default::default())?;
/// array.wait(None)?; // fails to compile, because the array was moved
/// # Ok(())
/// # }
/// ```
pub struct Array {
    raw: sys::ArrowDeviceArray,
    schema: Schema,
    /// Replaces the device that the type and id identify.
    source: Option<Device>,
}

// SAFETY: any one thread at a time may use an array, and any thread may release it.
unsafe impl Send for Array {}
// SAFETY: functions that take the array `const` may run at the same time on any threads. Functions
// that change it take `&mut`.
unsafe impl Sync for Array {}

impl Array {
    /// Takes ownership of a device array. Its device type and id identify its device, unless
    /// [`with_device`](Array::with_device) names it.
    ///
    /// # Safety
    /// The array is valid as the Arrow C Device data interface specifies, not released, and laid
    /// out as the schema describes. No other owner releases it.
    pub unsafe fn from_raw(array: sys::ArrowDeviceArray, schema: Schema) -> Array {
        Array {
            raw: array,
            schema,
            source: None,
        }
    }

    /// Returns the structs. The caller releases the array.
    pub fn into_raw(mut self) -> (sys::ArrowDeviceArray, Schema) {
        // Dropping `self` releases the empty struct, which does nothing.
        (std::mem::take(&mut self.raw), self.schema.clone())
    }

    /// Names the array's device if its type and id do not identify it, as in a context that the
    /// application owns.
    ///
    /// # Safety
    /// The array's buffers and event belong to the device.
    #[must_use]
    pub unsafe fn with_device(mut self, device: Device) -> Array {
        self.source = Some(device);
        self
    }

    /// Makes a device array from buffers that are already on a device. It copies nothing. The
    /// array's event fires after the queue's work so far, which writes the buffers. With `None` the
    /// data is ready. If the call fails, the error holds the input, and dropping the error releases
    /// it.
    ///
    /// # Safety
    /// The array is valid, not released, and laid out as the schema describes. Its buffers are on
    /// the device. No other owner releases it.
    pub unsafe fn export(
        device: Device,
        mut array: sys::ArrowArray,
        schema: Schema,
        producer_queue: Option<&mut Queue>,
    ) -> Result<Array, MoveError<Owned<sys::ArrowArray>>> {
        let queue = producer_queue.map_or(null_mut(), |queue| queue.as_ptr());
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the caller guarantees it.
        match call(|error| unsafe {
            sys::arrowdevice_array_export(device.as_ptr(), &raw mut array, queue, &raw mut out, error)
        }) {
            Ok(()) => Ok(Array {
                raw: out,
                schema,
                source: device.unless_found_by_pair(),
            }),
            // SAFETY: the failed call left the struct unchanged, and it is ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(array) })),
        }
    }

    /// Makes a device array from a CPU array. If the call fails, the error holds the input, and
    /// dropping the error releases it.
    ///
    /// # Safety
    /// The array is valid as the Arrow C data interface specifies, not released, and laid out as
    /// the schema describes. No other owner releases it.
    pub unsafe fn from_host(
        mut array: sys::ArrowArray,
        schema: Schema,
    ) -> Result<Array, MoveError<Owned<sys::ArrowArray>>> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the caller guarantees it.
        match call(|error| unsafe { sys::arrowdevice_array_from_host(&raw mut array, &raw mut out, error) }) {
            Ok(()) => Ok(Array {
                raw: out,
                schema,
                source: None,
            }),
            // SAFETY: the failed call left the struct unchanged, and it is ours.
            Err(error) => Err(MoveError::new(error, unsafe { Owned::new(array) })),
        }
    }

    /// Turns the array into a CPU array with complete data. It shares the memory if the CPU can
    /// read it, and copies if not. The caller releases the result.
    pub fn into_host(mut self, options: CopyOptions<'_>) -> Result<(sys::ArrowArray, Schema), MoveError<Array>> {
        let mut out = sys::ArrowArray::default();
        let raw_options = options.raw_move(self.source, 0);
        // SAFETY: all pointers are valid, and the array is ours alone.
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

    /// Starts a copy to the CPU and returns while it runs. The copy begins when the array is ready,
    /// and after the work that the queue of the options has now. The time-out of the options limits
    /// the time until the copy is complete. The result is an [`Array`] on the CPU, which
    /// `into_arrow` and `into_record_batch` turn into arrow's types without another copy.
    ///
    /// ```
    /// # fn main() -> arrowdevice::Result<()> {
    /// use arrowdevice::{Array, CopyOptions};
    ///
    /// let array = Array::from_arrow(&arrow_array::Int32Array::from(vec![1, 2]))?;
    /// let copy = array.into_host_async(CopyOptions::new())?;
    /// // ... other work, then `copy.await?` in an async function, or:
    /// assert_eq!(copy.wait()?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_host_async(self, options: CopyOptions<'_>) -> Result<HostCopy, MoveError<Array>> {
        let source = self.source;
        HostCopy::start(self, source, options)
    }

    /// Returns the type.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        usize::try_from(self.raw.array.length).unwrap_or(0)
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of null rows, or `None` if it has not been counted.
    pub fn null_count(&self) -> Option<usize> {
        usize::try_from(self.raw.array.null_count).ok()
    }

    /// Returns the type of device that can use the buffers.
    pub fn device_type(&self) -> DeviceType {
        DeviceType(self.raw.device_type)
    }

    /// Returns the device that the array is on.
    pub fn device(&self) -> Result<Device> {
        if let Some(device) = self.source {
            return Ok(device);
        }
        let mut out = null_mut();
        // SAFETY: the array is valid and only read.
        call(|error| unsafe { sys::arrowdevice_array_get_device(&raw const self.raw, &raw mut out, error) })?;
        // SAFETY: the pointer came from the library.
        Ok(unsafe { Device::from_ptr(out) }.expect("a successful call returns a device"))
    }

    /// Returns the struct. Its buffers may be used after its event has fired.
    pub fn as_raw(&self) -> &sys::ArrowDeviceArray {
        &self.raw
    }

    /// Returns true if the array's event has fired. It does not block. It fails with
    /// `DeviceFailure` if the producer's work failed.
    pub fn is_ready(&self) -> Result<bool> {
        let mut ready = 0;
        // SAFETY: the array is valid and only read.
        call(|error| unsafe {
            sys::arrowdevice_array_is_ready(&raw const self.raw, pointer_or_null(self.source), &raw mut ready, error)
        })?;
        Ok(ready != 0)
    }

    /// Waits for the array's event. `None` waits without limit. It fails with `TimedOut` if the
    /// event has not fired in time, and with `DeviceFailure` if the producer's work failed.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: the array is valid and only read.
        call(|error| unsafe {
            sys::arrowdevice_array_wait(
                &raw const self.raw,
                pointer_or_null(self.source),
                timeout_ns(timeout),
                error,
            )
        })
    }

    /// Puts a copy on a device. It copies only the bytes that the array's rows need. The data is
    /// complete when it returns.
    ///
    /// The copy holds a reference to the source until it has finished, so this array may be dropped
    /// at any time, also after `TimedOut`.
    pub fn copy_to(&mut self, to: Device, options: CopyOptions<'_>) -> Result<Array> {
        self.copy_with(to, options, 0)
    }

    /// Does the same as [`copy_to`](Array::copy_to), but returns while the copy runs.
    /// [`wait`](Array::wait) waits for the result.
    pub fn copy_to_async(&mut self, to: Device, options: CopyOptions<'_>) -> Result<Array> {
        self.copy_with(to, options, sys::ARROWDEVICE_COPY_ASYNC)
    }

    fn copy_with(&mut self, to: Device, options: CopyOptions<'_>, flags: u32) -> Result<Array> {
        let source = self.share()?;
        source
            .into_device_with(to, options.sharing(Sharing::Refused), flags)
            .map_err(MoveError::into_error)
    }

    /// Puts the array on a device. It shares the memory if the device can use it, and copies if
    /// not. The data is complete when it returns.
    pub fn into_device(self, to: Device, options: CopyOptions<'_>) -> Result<Array, MoveError<Array>> {
        self.into_device_with(to, options, 0)
    }

    /// Does the same as [`into_device`](Array::into_device), but returns while a copy runs.
    /// [`wait`](Array::wait) waits for the result.
    pub fn into_device_async(self, to: Device, options: CopyOptions<'_>) -> Result<Array, MoveError<Array>> {
        self.into_device_with(to, options, sys::ARROWDEVICE_COPY_ASYNC)
    }

    fn into_device_with(mut self, to: Device, options: CopyOptions<'_>, flags: u32) -> Result<Array, MoveError<Array>> {
        let mut out = sys::ArrowDeviceArray::default();
        let raw_options = options.raw_move(self.source, flags);
        // SAFETY: all pointers are valid, and the array is ours alone.
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

    /// Returns the struct for calls that make another owner.
    pub(crate) fn as_raw_mut(&mut self) -> *mut sys::ArrowDeviceArray {
        &raw mut self.raw
    }

    /// Makes a second owner of the memory.
    pub fn share(&mut self) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the array is ours alone.
        call(|error| unsafe { sys::arrowdevice_array_share(&raw mut self.raw, &raw mut out, error) })?;
        Ok(self.sibling(out, self.source))
    }

    /// Makes an owner of a range of rows of the same memory. It reads no data and copies none.
    pub fn slice(&mut self, offset: usize, length: usize) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the array is ours alone.
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

    /// Makes an owner of some columns of a record batch or struct array, in the given order. A
    /// column may appear several times.
    pub fn select(&mut self, columns: &[usize]) -> Result<Array> {
        let columns: Vec<i64> = columns.iter().map(|&column| count(column)).collect();
        let mut out = sys::ArrowDeviceArray::default();
        let mut out_schema = sys::ArrowSchema::default();
        // SAFETY: the array is ours alone, and the slice has as many columns as the call says.
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
        // SAFETY: the library made this copy for us.
        let schema = unsafe { Schema::from_raw(out_schema) };
        Ok(Array {
            raw: out,
            schema,
            source: self.source,
        })
    }

    /// Checks the array against its schema. Levels above `Structure` wait for the array's event.
    pub fn validate(&self, validation: Validation) -> Result<()> {
        // SAFETY: the array is valid and only read.
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

    /// Checks the array and returns its typed buffers. It copies nothing.
    pub fn import(mut self, options: ImportOptions<'_>) -> Result<View, MoveError<Array>> {
        let mut out = null_mut();
        let raw_options = options.raw(self.source);
        // SAFETY: all pointers are valid, and the array is ours alone.
        match call(|error| unsafe {
            sys::arrowdevice_array_import(
                &raw mut self.raw,
                self.schema.as_raw(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        }) {
            // SAFETY: the library made the view just now, from an array of this schema.
            Ok(()) => Ok(unsafe { View::from_raw(out, self.schema.clone(), self.source) }),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Releases the array when the queue's work so far has finished. It returns at once.
    pub fn release_after(mut self, queue: &mut Queue) -> Result<(), MoveError<Array>> {
        // SAFETY: both objects are ours alone.
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
    /// Combines [`Array::from_raw`] and [`Array::with_device`].
    pub(crate) unsafe fn from_parts(raw: sys::ArrowDeviceArray, schema: Schema, source: Option<Device>) -> Array {
        Array { raw, schema, source }
    }

    pub(crate) fn source(&self) -> Option<Device> {
        self.source
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: the struct is ours, and releasing a released struct does nothing.
        unsafe { sys::arrowdevice_array_release(&raw mut self.raw) }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = format!("{}:{}", self.device_type(), self.raw.device_id);
        write!(formatter, "Array({} rows of {:?} on {device})", self.len(), self.schema)
    }
}
