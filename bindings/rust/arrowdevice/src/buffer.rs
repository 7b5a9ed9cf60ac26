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

/// Device memory: an address or a handle, depending on the device. Dropping it frees the memory at
/// once. If queued work still needs the memory, use [`free_after`](Buffer::free_after).
pub struct Buffer {
    device: Device,
    data: NonNull<c_void>,
    size: usize,
}

// SAFETY: all functions on buffers have "Thread-safety: free".
unsafe impl Send for Buffer {}
// SAFETY: the same holds here.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocates `size` bytes, more than 0, from a pool or the device's default pool. `queue` is
    /// the queue that uses the buffer first. With `None` any queue may.
    pub fn new(device: Device, size: usize, pool: Option<&Pool>, queue: Option<&Queue>) -> Result<Buffer> {
        let pool = pool.map_or(null_mut(), Pool::as_ptr);
        let queue = queue.map_or(null_mut(), Queue::as_ptr);
        let mut data = null_mut();
        // SAFETY: all pointers are valid, and the output is ours.
        call(|error| unsafe {
            sys::arrowdevice_buffer_allocate(device.as_ptr(), pool, queue, count(size), &raw mut data, error)
        })?;
        Ok(Buffer {
            device,
            data: NonNull::new(data).expect("a successful call returns a buffer"),
            size,
        })
    }

    /// Returns the address or handle.
    pub fn as_ptr(&self) -> *mut c_void {
        self.data.as_ptr()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Frees the buffer at once. The memory is used again only after the queue's work so far.
    pub fn free_after(self, queue: &Queue) {
        let buffer = ManuallyDrop::new(self);
        // SAFETY: the object is ours and not used again.
        unsafe { sys::arrowdevice_buffer_free(buffer.device.as_ptr(), queue.as_ptr(), buffer.as_ptr()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the object is ours and not used again.
        unsafe { sys::arrowdevice_buffer_free(self.device.as_ptr(), null_mut(), self.as_ptr()) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({} bytes on {})", self.size, self.device)
    }
}
