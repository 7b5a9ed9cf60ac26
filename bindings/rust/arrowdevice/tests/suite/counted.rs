// SPDX-License-Identifier: Apache-2.0
//! C structs that count their releases.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex};

use arrow_schema::DataType;
use arrowdevice::{Array, Schema, sys};

use crate::bounded::LIMIT;

/// Counts releases or drops.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<(Mutex<usize>, Condvar)>);

impl Count {
    pub(crate) fn add(&self) {
        let (count, changed) = &*self.0;
        *count.lock().unwrap() += 1;
        changed.notify_all();
    }

    pub(crate) fn get(&self) -> usize {
        *self.0.0.lock().unwrap()
    }

    /// Waits until other threads have counted to `expected`. It fails the test after the limit.
    pub(crate) fn wait_until(&self, expected: usize) {
        let (count, changed) = &*self.0;
        let waiting = changed.wait_timeout_while(count.lock().unwrap(), LIMIT, |count| *count < expected);
        assert!(!waiting.unwrap().1.timed_out(), "{} of {expected}", self.get());
    }
}

/// Increments the count when it is dropped.
pub(crate) struct Dropped(pub(crate) Count);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.add();
    }
}

struct Private {
    _values: Box<[i32]>,
    buffers: [*const c_void; 2],
    _count: Dropped,
}

unsafe extern "C" fn release(array: *mut sys::ArrowArray) {
    // SAFETY: `array` made the pointer, and it is released once.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Private>()));
        (*array).release = None;
    }
}

/// Makes an array of three numbers.
pub(crate) fn array(count: &Count) -> sys::ArrowArray {
    let values = Box::new([1, 2, 3]);
    let buffers = [null_mut(), values.as_ptr().cast::<c_void>()];
    let private = Box::leak(Box::new(Private {
        _values: values,
        buffers,
        _count: Dropped(count.clone()),
    }));
    sys::ArrowArray {
        length: 3,
        null_count: 0,
        n_buffers: 2,
        buffers: private.buffers.as_mut_ptr(),
        release: Some(release),
        private_data: std::ptr::from_mut(private).cast::<c_void>(),
        ..Default::default()
    }
}

pub(crate) fn schema() -> Schema {
    Schema::try_from(&DataType::Int32).unwrap()
}

/// Makes an array of the crate from it.
pub(crate) fn device_array(count: &Count) -> Array {
    // SAFETY: the array matches the schema.
    unsafe { Array::from_host(array(count), schema()) }.unwrap()
}
