// SPDX-License-Identifier: Apache-2.0
//! An iterator behind the callbacks of a device stream.

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
    /// `None` once it has given the end or an error.
    arrays: Option<I>,
    /// What every further call answers.
    failure: Option<Error>,
    text: Option<CString>,
}

/// A stream that the caller releases.
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

    /// Its consumer goes by the stream's schema and device.
    fn checked(&self, array: Option<Array>) -> Result<Option<Array>> {
        let Some(array) = array else { return Ok(None) };
        if array.device_type() != self.device_type {
            let (is, should) = (array.device_type(), self.device_type);
            return Err(Error::invalid(format!("an array on {is} in a stream of {should}")));
        }
        if !array.schema().same_layout(&self.schema) {
            return Err(Error::invalid(format!(
                "an array of {:?} in a stream of {:?}",
                array.schema(),
                self.schema
            )));
        }
        if array.source().is_some() {
            return Err(Error::invalid(
                "an array in an application's own context, where the consumer would not look for it",
            ));
        }
        Ok(Some(array))
    }

    /// The code of a call, whose text `get_last_error` has until the next one.
    fn answer(&mut self, result: Result<()>) -> c_int {
        let error = result.err();
        self.text = error.as_ref().map(|error| {
            // A text of C ends at its first zero.
            CString::new(error.to_string().replace('\0', "\u{fffd}")).unwrap_or_default()
        });
        error.map_or(0, |error| error.errno())
    }
}

/// # Safety
/// A stream of `produce::<I>` that is not released, called by one thread at a time.
unsafe fn producer_of<'a, I>(stream: *mut sys::ArrowDeviceArrayStream) -> &'a mut Producer<I> {
    // SAFETY: the caller's.
    unsafe { &mut *(*stream).private_data.cast::<Producer<I>>() }
}

unsafe extern "C" fn get_schema<I>(stream: *mut sys::ArrowDeviceArrayStream, out: *mut sys::ArrowSchema) -> c_int
where
    I: Iterator<Item = Result<Array>>,
{
    // SAFETY: the format's.
    let producer = unsafe { producer_of::<I>(stream) };
    // SAFETY: the consumer's, to be filled.
    let result = producer.schema.to_raw().map(|schema| unsafe { out.write(schema) });
    producer.answer(result)
}

unsafe extern "C" fn get_next<I>(stream: *mut sys::ArrowDeviceArrayStream, out: *mut sys::ArrowDeviceArray) -> c_int
where
    I: Iterator<Item = Result<Array>>,
{
    // SAFETY: the format's.
    let producer = unsafe { producer_of::<I>(stream) };
    let result = producer.next().map(|array| {
        let raw = array.map_or_else(sys::ArrowDeviceArray::default, |array| array.into_raw().0);
        // SAFETY: the consumer's, to be filled.
        unsafe { out.write(raw) }
    });
    producer.answer(result)
}

unsafe extern "C" fn get_last_error<I>(stream: *mut sys::ArrowDeviceArrayStream) -> *const c_char {
    // SAFETY: the format's.
    let producer = unsafe { producer_of::<I>(stream) };
    producer.text.as_ref().map_or(null(), |text| text.as_ptr())
}

unsafe extern "C" fn release<I>(stream: *mut sys::ArrowDeviceArrayStream) {
    // SAFETY: made by Box::into_raw, and not used again.
    let producer = unsafe { Box::from_raw((*stream).private_data.cast::<Producer<I>>()) };
    // SAFETY: the consumer's, to be marked.
    unsafe { (*stream).release = None };
    drop_without_panic(producer);
}
