// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use crate::array::Array;
use crate::call::{call, count, sized, timeout_ns};
use crate::device::Device;
use crate::error::Result;
use crate::sys;

/// An in-order queue of work on a device. Dropping it returns at once, and work and events in
/// flight survive. Dropping a wrapped queue waits for a driver call that a stream makes with it.
pub struct Queue(NonNull<sys::arrowdevice_queue>);

// SAFETY: the functions have "Thread-safety: per object": one thread at a time, on any thread. It
// is not `Sync`.
unsafe impl Send for Queue {}

impl Queue {
    /// Makes a queue of the library.
    pub fn new(device: Device) -> Result<Queue> {
        // SAFETY: devices are always valid, and the output is ours.
        made(|out, error| unsafe { sys::arrowdevice_queue_create(device.as_ptr(), out, error) })
    }

    /// Wraps a queue that the application owns. The library no longer uses the native queue when
    /// the wrapper is dropped.
    ///
    /// # Safety
    /// The handle is a queue of the device's context and stays valid until the wrapper is dropped.
    pub unsafe fn wrap(device: Device, native: &sys::arrowdevice_native_queue) -> Result<Queue> {
        // SAFETY: the caller guarantees it.
        made(|out, error| unsafe { sys::arrowdevice_queue_wrap(device.as_ptr(), native, out, error) })
    }

    /// Waits until all work that was queued so far has finished. It fails with `TimedOut` if the
    /// work has not finished in time, and with `DeviceFailure` if the work failed.
    pub fn finish(&mut self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: the object is alive and ours alone.
        call(|error| unsafe { sys::arrowdevice_queue_finish(self.as_ptr(), timeout_ns(timeout), error) })
    }

    /// Makes the queue wait for an array's event. Work that is queued later runs after the event.
    pub fn wait_array(&mut self, array: &Array) -> Result<()> {
        // SAFETY: the array is valid and only read, and the queue is ours alone.
        call(|error| unsafe {
            sys::arrowdevice_queue_wait_array(self.as_ptr(), array.as_raw(), array.source_pointer(), error)
        })
    }

    /// Queues copies of bytes that run after the queue's work so far. Regions of one call may run
    /// in any order.
    ///
    /// # Safety
    /// Both ranges of each region are valid until the copies have finished.
    pub unsafe fn copy(&mut self, regions: &[sys::arrowdevice_copy_region]) -> Result<()> {
        // SAFETY: the queue is alive and ours alone, and the caller guarantees the regions.
        call(|error| unsafe {
            sys::arrowdevice_queue_copy(self.as_ptr(), regions.as_ptr(), count(regions.len()), error)
        })
    }

    /// Returns the vendor's handle of the queue. It is borrowed and lives as long as the queue.
    pub fn native(&self) -> Result<sys::arrowdevice_native_queue> {
        let mut native = sized!(arrowdevice_native_queue);
        // SAFETY: the object is alive, and the struct's size is set.
        call(|error| unsafe { sys::arrowdevice_queue_get_native(self.as_ptr(), &raw mut native, error) })?;
        Ok(native)
    }

    /// Returns the pointer for calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_queue {
        self.0.as_ptr()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the object is alive and not used again.
        unsafe { sys::arrowdevice_queue_destroy(self.as_ptr()) }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Queue({:p})", self.0)
    }
}

fn made(function: impl FnOnce(*mut *mut sys::arrowdevice_queue, *mut sys::arrowdevice_error) -> i32) -> Result<Queue> {
    let mut out = null_mut();
    call(|error| function(&raw mut out, error))?;
    Ok(Queue(NonNull::new(out).expect("a successful call returns a queue")))
}
