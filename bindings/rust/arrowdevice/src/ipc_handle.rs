// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::array::Array;
use crate::call::{call, count};
use crate::error::Result;
use crate::options::CopyOptions;
use crate::schema::Schema;
use crate::sys;

/// An array for another process of the machine: bytes and file descriptors.
///
/// [`Array::ipc_handle`] makes a handle. The program sends its bytes and descriptors through a Unix
/// socket, as a control message of type `SCM_RIGHTS`. The other process calls
/// [`open`](IpcHandle::open), and has an array over the same memory.
///
/// The memory is in use until the handle, its copies in other processes, and the arrays that were
/// opened are dropped. If a process ends, its copies are closed. Dropping a handle closes its
/// descriptors, and does not block.
pub struct IpcHandle(sys::arrowdevice_ipc_handle);

// SAFETY: any thread may release a handle, and any one thread at a time may use it.
unsafe impl Send for IpcHandle {}
// SAFETY: a shared handle is only read.
unsafe impl Sync for IpcHandle {}

impl IpcHandle {
    /// Opens a handle of another process, or of this one. A handle may be opened several times. The
    /// caller closes the descriptors afterwards.
    ///
    /// The call checks each number of the handle against the sizes that the kernel reports, and the
    /// last offsets of texts and binaries. It reads no other data. With
    /// [`Sharing::Refused`](crate::Sharing::Refused) it first copies the bytes of all buffers, and the
    /// array does not use the memory of the owner process. The pool of the options is a pool for this
    /// copy. The call refuses options with a queue.
    ///
    /// # Safety
    /// The array is valid as the Arrow format specifies, and no process writes to its memory while
    /// this process uses it. The library cannot check this, because the owner process keeps its access
    /// to the memory. A program that does not trust the owner process opens the handle with
    /// [`Sharing::Refused`](crate::Sharing::Refused), and [`validate`](Array::validate)s the array with
    /// `Full` before any other use.
    pub unsafe fn open(bytes: &[u8], descriptors: &[impl AsFd], options: CopyOptions<'_>) -> Result<Array> {
        let raw_options = options.raw_move(None, 0);
        let numbers: Vec<_> = descriptors.iter().map(|one| one.as_fd().as_raw_fd()).collect();
        let (mut array, mut schema) = (sys::ArrowDeviceArray::default(), sys::ArrowSchema::default());
        // SAFETY: all pointers are valid for the sizes that the call says.
        call(|error| unsafe {
            sys::arrowdevice_array_open_ipc_handle(
                bytes.as_ptr(),
                count(bytes.len()),
                numbers.as_ptr(),
                count(numbers.len()),
                &raw const raw_options,
                &raw mut array,
                &raw mut schema,
                error,
            )
        })?;
        // SAFETY: the call filled both structs, and they are ours.
        Ok(unsafe { Array::from_raw(array, Schema::from_raw(schema)) })
    }

    /// Returns the bytes. They are not secret, and give no access without the descriptors.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the struct is not released, and has this many bytes.
        unsafe { std::slice::from_raw_parts(self.0.bytes, self.0.size as usize) }
    }

    /// Returns the descriptors, which the handle owns. The order matters. In a child process after
    /// `fork`, the first is missing, and the handle cannot be opened.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        // SAFETY: the struct is not released, and has this many descriptors.
        let numbers = unsafe { std::slice::from_raw_parts(self.0.descriptors, self.0.n_descriptors as usize) };
        let open = numbers.iter().filter(|&&number| number >= 0);
        // SAFETY: the handle keeps the descriptors open.
        open.map(|&number| unsafe { BorrowedFd::borrow_raw(number) }).collect()
    }

    /// Returns the bytes that were copied because of the handle. It is 0 if the handle shares the
    /// array's memory.
    pub fn copied_bytes(&self) -> i64 {
        self.0.copied_bytes
    }
}

impl Drop for IpcHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and is not used again.
        unsafe { sys::arrowdevice_ipc_handle_release(&raw mut self.0) }
    }
}

impl fmt::Debug for IpcHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IpcHandle")
            .field("descriptors", &self.descriptors())
            .field("copied_bytes", &self.copied_bytes())
            .finish_non_exhaustive()
    }
}

impl Array {
    /// Makes a handle, which gives the array to another process. It waits until the array is ready.
    ///
    /// Memory of a pool with [`PoolOptions::shareable`](crate::PoolOptions::shareable) is shared.
    /// An array in other memory is copied into such a pool for each handle: that of the options, or one
    /// of the library. With
    /// [`Sharing::Required`](crate::Sharing::Required) the call fails with `Unsupported` instead. It
    /// also fails with `Unsupported` if the device has no memory that other processes can open.
    pub fn ipc_handle(&mut self, options: CopyOptions<'_>) -> Result<IpcHandle> {
        let raw_options = options.raw_move(self.source(), 0);
        let schema = self.schema().clone();
        let mut out = sys::arrowdevice_ipc_handle::default();
        // SAFETY: all pointers are valid, and the array is ours alone.
        call(|error| unsafe {
            sys::arrowdevice_array_get_ipc_handle(
                self.as_raw_mut(),
                schema.as_raw(),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        })?;
        Ok(IpcHandle(out))
    }
}
