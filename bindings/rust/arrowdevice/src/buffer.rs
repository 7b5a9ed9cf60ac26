// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

use crate::call::{call, count};
use crate::device::Device;
use crate::error::Result;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::sys;

/// Device memory: an address or a handle, as the device has them. Dropped, it is given back as unused; use
/// [`free_after`](Buffer::free_after) where queued work still needs it.
pub struct Buffer {
    device: Device,
    data: NonNull<c_void>,
    size: usize,
}

// SAFETY: "Thread-safety: free" for all functions on buffers.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// So many bytes, more than 0, of a pool or the device's default one; `queue` will use them first, `None`: any.
    pub fn new(device: Device, size: usize, pool: Option<&Pool>, queue: Option<&Queue>) -> Result<Buffer> {
        let pool = pool.map_or(null_mut(), Pool::as_ptr);
        let queue = queue.map_or(null_mut(), Queue::as_ptr);
        let mut data = null_mut();
        // SAFETY: all are alive, the out is ours.
        call(|error| unsafe {
            sys::arrowdevice_buffer_allocate(device.as_ptr(), pool, queue, count(size), &raw mut data, error)
        })?;
        Ok(Buffer {
            device,
            data: NonNull::new(data).expect("a success comes with a buffer"),
            size,
        })
    }

    /// The address or handle.
    pub fn as_ptr(&self) -> *mut c_void {
        self.data.as_ptr()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Where it is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Gives it back at once; the memory is used again only after the queue's work so far.
    pub fn free_after(self, queue: &Queue) {
        let buffer = ManuallyDrop::new(self);
        // SAFETY: ours, and not used again.
        unsafe { sys::arrowdevice_buffer_free(buffer.device.as_ptr(), queue.as_ptr(), buffer.as_ptr()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        unsafe { sys::arrowdevice_buffer_free(self.device.as_ptr(), null_mut(), self.as_ptr()) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({} bytes on {})", self.size, self.device)
    }
}
