// SPDX-License-Identifier: Apache-2.0
//! Puts an iterator behind the callbacks of a device stream.

use std::ffi::{CString, c_char, c_int};
use std::ptr::null;

use crate::array::Array;
use crate::call::{drop_without_panic, without_panic};
use crate::device_type::DeviceType;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::sys;

struct Producer<I> {
    schema: Schema,
    device_type: DeviceType,
    /// `None` after the iterator has returned its end or an error.
    arrays: Option<I>,
    /// The error that every later call returns.
    failure: Option<Error>,
    text: Option<CString>,
}

/// Makes a stream that the caller releases.
pub(crate) fn produce<I>(schema: Schema, device_type: DeviceType, arrays: I) -> sys::ArrowDeviceArrayStream
where
    I: Iterator<Item = Result<Array>> + Send + 'static,
{
    let producer = Producer {
        schema,
        device_type,
        arrays: Some(arrays),
        failure: None,
        text: None,
    };
    sys::ArrowDeviceArrayStream {
        device_type: device_type.0,
        get_schema: Some(get_schema::<I>),
        get_next: Some(get_next::<I>),
        get_last_error: Some(get_last_error::<I>),
        release: Some(release::<I>),
        private_data: Box::into_raw(Box::new(producer)).cast(),
    }
}

impl<I: Iterator<Item = Result<Array>>> Producer<I> {
    fn next(&mut self) -> Result<Option<Array>> {
        let Some(arrays) = self.arrays.as_mut() else {
            return self.failure.clone().map_or(Ok(None), Err);
        };
        let next = without_panic("a producer", || arrays.next().transpose()).and_then(|array| self.checked(array));
        if !matches!(next, Ok(Some(_))) {
            drop_without_panic(self.arrays.take());
            self.failure = next.as_ref().err().cloned();
        }
        next
    }

    /// Checks the array against the stream's schema and device, because the consumer relies on
    /// them.
    fn checked(&self, array: Option<Array>) -> Result<Option<Array>> {
        let Some(array) = array else { return Ok(None) };
        if array.device_type() != self.device_type {
            let (is, should) = (array.device_type(), self.device_type);
            return Err(Error::invalid(format!("the array is on {is} (expected {should})")));
        }
        if !array.schema().same_layout(&self.schema) {
            return Err(Error::invalid(format!(
                "the array has schema {:?} (expected {:?})",
                array.schema(),
                self.schema
            )));
        }
        if array.source().is_some() {
            return Err(Error::invalid(
                "the array is in a context that the application owns, and the consumer cannot find that context",
            ));
        }
        Ok(Some(array))
    }

    /// Returns the code of a call, and keeps its text for `get_last_error` until the next call.
    fn answer(&mut self, result: Result<()>) -> c_int {
        let error = result.err();
        self.text = error.as_ref().map(|error| {
            // A C string ends at its first zero.
            CString::new(error.to_string().replace('\0', "\u{fffd}")).unwrap_or_default()
        });
        error.map_or(0, |error| error.errno())
    }
}

/// # Safety
/// The stream comes from `produce::<I>` and is not released. One thread at a time calls it.
unsafe fn producer_of<'a, I>(stream: *mut sys::ArrowDeviceArrayStream) -> &'a mut Producer<I> {
    // SAFETY: the caller guarantees it.
    unsafe { &mut *(*stream).private_data.cast::<Producer<I>>() }
}

unsafe extern "C" fn get_schema<I>(stream: *mut sys::ArrowDeviceArrayStream, out: *mut sys::ArrowSchema) -> c_int
where
    I: Iterator<Item = Result<Array>>,
{
    // SAFETY: the format's rules guarantee it.
    let producer = unsafe { producer_of::<I>(stream) };
    // SAFETY: the consumer's output is valid for writes.
    let result = producer.schema.to_raw().map(|schema| unsafe { out.write(schema) });
    producer.answer(result)
}

unsafe extern "C" fn get_next<I>(stream: *mut sys::ArrowDeviceArrayStream, out: *mut sys::ArrowDeviceArray) -> c_int
where
    I: Iterator<Item = Result<Array>>,
{
    // SAFETY: the format's rules guarantee it.
    let producer = unsafe { producer_of::<I>(stream) };
    let result = producer.next().map(|array| {
        let raw = array.map_or_else(sys::ArrowDeviceArray::default, |array| array.into_raw().0);
        // SAFETY: the consumer's output is valid for writes.
        unsafe { out.write(raw) }
    });
    producer.answer(result)
}

unsafe extern "C" fn get_last_error<I>(stream: *mut sys::ArrowDeviceArrayStream) -> *const c_char {
    // SAFETY: the format's rules guarantee it.
    let producer = unsafe { producer_of::<I>(stream) };
    producer.text.as_ref().map_or(null(), |text| text.as_ptr())
}

unsafe extern "C" fn release<I>(stream: *mut sys::ArrowDeviceArrayStream) {
    // SAFETY: Box::into_raw made the pointer, and it is not used again.
    let producer = unsafe { Box::from_raw((*stream).private_data.cast::<Producer<I>>()) };
    // SAFETY: the consumer's struct is valid for writes.
    unsafe { (*stream).release = None };
    drop_without_panic(producer);
}
