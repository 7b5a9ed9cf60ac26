// SPDX-License-Identifier: Apache-2.0
//! C structs that count their releases.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::DataType;
use arrowdevice::{Array, Schema, sys};

/// Counts releases or drops.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
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
