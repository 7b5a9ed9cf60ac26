// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ops::Deref;

use crate::sys;

/// A struct of the Arrow C interfaces that is released when it is dropped: what a call that was to take it over gives
/// back when it fails. [`into_raw`](Owned::into_raw) has it as it was.
pub struct Owned<T: Releasable>(T);

impl<T: Releasable> Owned<T> {
    /// # Safety
    /// It is released, or valid as the format says, and nobody else uses or releases it.
    pub(crate) unsafe fn new(raw: T) -> Owned<T> {
        Owned(raw)
    }

    /// Gives the struct up; the caller releases it.
    pub fn into_raw(mut self) -> T {
        // What is dropped here is released.
        std::mem::take(&mut self.0)
    }
}

impl<T: Releasable> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Releasable> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: ours; a released one is left alone.
        unsafe { self.0.release() }
    }
}

impl<T: Releasable> fmt::Debug for Owned<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Owned")
    }
}

// SAFETY: whoever holds a struct of the format may use and release it, on any thread.
unsafe impl<T: Releasable> Send for Owned<T> {}
// SAFETY: what is shared is only read.
unsafe impl<T: Releasable> Sync for Owned<T> {}

/// The structs that [`Owned`] knows how to release.
pub trait Releasable: sealed::Released {}

impl Releasable for sys::ArrowSchema {}
impl Releasable for sys::ArrowArray {}
impl Releasable for sys::ArrowArrayStream {}

mod sealed {
    use crate::sys;

    /// Its default is a released one.
    pub trait Released: Default {
        /// # Safety
        /// It is released, or the caller's to release.
        unsafe fn release(&mut self);
    }

    impl Released for sys::ArrowSchema {
        unsafe fn release(&mut self) {
            // SAFETY: the caller's.
            unsafe { sys::arrowdevice_schema_release(self) }
        }
    }

    impl Released for sys::ArrowArray {
        unsafe fn release(&mut self) {
            // SAFETY: the caller's.
            unsafe { sys::arrowdevice_host_array_release(self) }
        }
    }

    impl Released for sys::ArrowArrayStream {
        unsafe fn release(&mut self) {
            if let Some(release) = self.release {
                // SAFETY: the caller's.
                unsafe { release(self) }
            }
        }
    }
}
