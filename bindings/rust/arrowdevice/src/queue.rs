// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use crate::array::Array;
use crate::call::{call, count, sized, timeout_parameter};
use crate::device::Device;
use crate::error::Result;
use crate::sys;

/// An in-order lane of work on a device. Dropping it returns at once; of a wrapped one, once a call of the driver's that a
/// stream makes with it, if one is in progress, has returned. Work and events in flight survive.
pub struct Queue(NonNull<sys::arrowdevice_queue>);

// SAFETY: "per object": one thread at a time, any thread. It is not `Sync`.
unsafe impl Send for Queue {}

impl Queue {
    /// A queue of the library.
    pub fn new(device: Device) -> Result<Queue> {
        // SAFETY: devices are always valid, the out is ours.
        made(|out, error| unsafe { sys::arrowdevice_queue_create(device.as_ptr(), out, error) })
    }

    /// An application's own queue, which is never touched again once this has been dropped.
    ///
    /// # Safety
    /// The handle is a queue of the device's context, and is alive until this has been dropped.
    pub unsafe fn wrap(device: Device, native: &sys::arrowdevice_native_queue) -> Result<Queue> {
        // SAFETY: the caller's.
        made(|out, error| unsafe { sys::arrowdevice_queue_wrap(device.as_ptr(), native, out, error) })
    }

    /// Waits until all work that was queued so far is done. `TimedOut` if it is not yet, `DeviceFailure` if some failed.
    pub fn finish(&mut self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: alive, and ours alone.
        call(|error| unsafe { sys::arrowdevice_queue_finish(self.as_ptr(), timeout_parameter(timeout), error) })
    }

    /// Makes the queue wait for an array's event. Work that is queued later runs after the event.
    pub fn wait_array(&mut self, array: &Array) -> Result<()> {
        // SAFETY: the array is alive and only read, and the queue is ours alone.
        call(|error| unsafe {
            sys::arrowdevice_queue_wait_array(array.as_raw(), array.source_pointer(), self.as_ptr(), error)
        })
    }

    /// Queues copies of bytes, to run after the queue's work so far, in any order among themselves.
    ///
    /// # Safety
    /// Both ends of each region are valid for its size until the copies are done.
    pub unsafe fn copy(&mut self, regions: &[sys::arrowdevice_copy_region]) -> Result<()> {
        // SAFETY: alive, and ours alone; of the regions, the caller's.
        call(|error| unsafe {
            sys::arrowdevice_queue_copy(self.as_ptr(), regions.as_ptr(), count(regions.len()), error)
        })
    }

    /// The vendor's handle behind it, borrowed as long as this lives.
    pub fn native(&self) -> Result<sys::arrowdevice_native_queue> {
        let mut native = sized!(arrowdevice_native_queue);
        // SAFETY: alive; the size is set.
        call(|error| unsafe { sys::arrowdevice_queue_get_native(self.as_ptr(), &raw mut native, error) })?;
        Ok(native)
    }

    /// For calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_queue {
        self.0.as_ptr()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: alive, and not used again.
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
    Ok(Queue(NonNull::new(out).expect("a success comes with a queue")))
}
