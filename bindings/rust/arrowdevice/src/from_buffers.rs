// SPDX-License-Identifier: Apache-2.0
//! Makes an array of memory that the program's kernels write.

use std::ffi::c_void;
use std::ptr::null;

use crate::array::{Array, Validation};
use crate::buffer::Buffer;
use crate::call::count;
use crate::device::Device;
use crate::error::{Error, MoveError, Result};
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;

/// The memory of an array, which owns it by `private_data`.
struct Parts {
    buffers: Vec<Option<Buffer>>,
    pointers: Vec<*const c_void>,
}

impl Array {
    /// Makes an array of memory that work on the queue writes, such as the result of a kernel. It
    /// copies nothing. The array is ready after the queue's work so far. With `None` the data is
    /// ready.
    ///
    /// `buffers` are those of the type's layout in order, and `None` is a missing validity bitmap.
    /// With a bitmap, the number of nulls is unknown. The type has no children. If the call fails,
    /// the error holds the buffers, which the queue's work may still use.
    ///
    /// # Safety
    /// The work writes data that is valid for the type, and each buffer has room for `length` rows.
    pub unsafe fn from_buffers(
        device: Device,
        schema: Schema,
        length: usize,
        buffers: Vec<Option<Buffer>>,
        producer_queue: Option<&mut Queue>,
    ) -> Result<Array, MoveError<Vec<Option<Buffer>>>> {
        if let Some(other) = buffers.iter().flatten().find(|buffer| buffer.device() != device) {
            let error = Error::invalid(format!("a buffer is on {} (expected {device})", other.device()));
            return Err(MoveError::new(error, buffers));
        }
        let (raw, parts) = array_of(length, buffers);
        // SAFETY: the struct is valid and ours, and the caller guarantees its data.
        let array = match unsafe { Array::export(device, raw, schema, producer_queue) } {
            Ok(array) => array,
            Err(failed) => {
                // SAFETY: `failed` holds the array, which has not been released.
                return Err(MoveError::new(failed.error().clone(), unsafe { take_buffers(parts) }));
            }
        };
        match array.validate(Validation::Structure) {
            Ok(()) => Ok(array),
            // SAFETY: `array` has not been released.
            Err(error) => Err(MoveError::new(error, unsafe { take_buffers(parts) })),
        }
    }
}

fn array_of(length: usize, buffers: Vec<Option<Buffer>>) -> (sys::ArrowArray, *mut Parts) {
    let pointers = buffers
        .iter()
        .map(|buffer| buffer.as_ref().map_or(null(), |buffer| buffer.as_ptr().cast_const()))
        .collect();
    let has_validity = matches!(buffers.first(), Some(Some(_)));
    let n_buffers = count(buffers.len());
    let mut parts = Box::new(Parts { buffers, pointers });
    let array = sys::ArrowArray {
        length: count(length),
        null_count: if has_validity { -1 } else { 0 },
        n_buffers,
        buffers: parts.pointers.as_mut_ptr(),
        release: Some(release),
        ..Default::default()
    };
    let parts = Box::into_raw(parts);
    let private_data = parts.cast();
    (sys::ArrowArray { private_data, ..array }, parts)
}

/// # Safety
/// `array_of` made the parts, and their array has not been released.
unsafe fn take_buffers(parts: *mut Parts) -> Vec<Option<Buffer>> {
    // SAFETY: the caller guarantees it.
    std::mem::take(unsafe { &mut (*parts).buffers })
}

unsafe extern "C" fn release(array: *mut sys::ArrowArray) {
    // SAFETY: Box::into_raw made the pointer, and it is not used again.
    drop(unsafe { Box::from_raw((*array).private_data.cast::<Parts>()) });
    // SAFETY: the owner's struct is valid for writes.
    unsafe { (*array).release = None };
}
