// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ops::Deref;

use crate::sys;

/// A struct of the Arrow C interfaces that is released when it is dropped. A failed call returns
/// its input in this type. [`into_raw`](Owned::into_raw) returns the struct unchanged.
pub struct Owned<T: Releasable>(T);

impl<T: Releasable> Owned<T> {
    /// # Safety
    /// The struct is released, or valid as the format specifies. No other owner uses or releases
    /// it.
    pub(crate) unsafe fn new(raw: T) -> Owned<T> {
        Owned(raw)
    }

    /// Returns the struct. The caller releases it.
    pub fn into_raw(mut self) -> T {
        // Dropping `self` releases the empty struct, which does nothing.
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
        // SAFETY: the struct is ours, and releasing a released struct does nothing.
        unsafe { self.0.release() }
    }
}

impl<T: Releasable> fmt::Debug for Owned<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Owned")
    }
}

// SAFETY: the owner of a struct of the format may use and release it on any thread.
unsafe impl<T: Releasable> Send for Owned<T> {}
// SAFETY: a shared struct is only read.
unsafe impl<T: Releasable> Sync for Owned<T> {}

/// A struct that [`Owned`] can release.
pub trait Releasable: sealed::Released {}

impl Releasable for sys::ArrowSchema {}
impl Releasable for sys::ArrowArray {}
impl Releasable for sys::ArrowArrayStream {}

mod sealed {
    use crate::sys;

    /// The default value is a released struct.
    pub trait Released: Default {
        /// # Safety
        /// The struct is released, or the caller owns it.
        unsafe fn release(&mut self);
    }

    impl Released for sys::ArrowSchema {
        unsafe fn release(&mut self) {
            // SAFETY: the caller guarantees it.
            unsafe { sys::arrowdevice_schema_release(self) }
        }
    }

    impl Released for sys::ArrowArray {
        unsafe fn release(&mut self) {
            // SAFETY: the caller guarantees it.
            unsafe { sys::arrowdevice_host_array_release(self) }
        }
    }

    impl Released for sys::ArrowArrayStream {
        unsafe fn release(&mut self) {
            if let Some(release) = self.release {
                // SAFETY: the caller guarantees it.
                unsafe { release(self) }
            }
        }
    }
}
