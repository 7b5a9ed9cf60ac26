// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::array::Array;
use crate::call::call;
use crate::device::Device;
use crate::error::{MoveError, Result};
use crate::node::Node;
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;

/// An array that has been checked, with its typed buffers; see [`Array::import`]. Dropping it says that the consumer's
/// device work on it is finished; [`release_after`](View::release_after) is for work that is queued.
pub struct View {
    raw: NonNull<sys::arrowdevice_view>,
    schema: Schema,
    source: Option<Device>,
}

// SAFETY: "per object": one thread at a time, any thread.
unsafe impl Send for View {}
// SAFETY: what takes it `const` is "Thread-safety: free".
unsafe impl Sync for View {}

impl View {
    /// # Safety
    /// A live view of an array of this schema, that nobody else ends.
    pub(crate) unsafe fn from_raw(view: *mut sys::arrowdevice_view, schema: Schema, source: Option<Device>) -> View {
        View {
            raw: NonNull::new(view).expect("a success comes with a view"),
            schema,
            source,
        }
    }

    /// The root of its tree of nodes.
    pub fn root(&self) -> Node<'_> {
        // SAFETY: alive; the node lives as long.
        Node::new(unsafe { &*sys::arrowdevice_view_get_root(self.as_ptr()) })
    }

    /// Its type.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Where it is.
    pub fn device(&self) -> Device {
        // SAFETY: alive; every view has a device.
        unsafe { Device::from_ptr(sys::arrowdevice_view_get_device(self.as_ptr())) }.expect("a view has a device")
    }

    /// The struct of its array, borrowed.
    pub fn array(&self) -> &sys::ArrowDeviceArray {
        // SAFETY: alive; the array lives as long.
        unsafe { &*sys::arrowdevice_view_get_array(self.as_ptr()) }
    }

    /// A second owner of its memory, as an array.
    pub fn share(&self) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: alive.
        call(|error| unsafe { sys::arrowdevice_view_share(self.as_ptr(), &raw mut out, error) })?;
        // SAFETY: made just now, of this schema and on this device.
        Ok(unsafe { Array::from_parts(out, self.schema.clone(), self.source) })
    }

    /// Ends it; the array lives on, as it came.
    pub fn into_array(self) -> Array {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: ours, and ended here.
        unsafe { sys::arrowdevice_view_detach(self.as_ptr(), &raw mut out) };
        let (schema, source) = self.ended();
        // SAFETY: the array that the view owned.
        unsafe { Array::from_parts(out, schema, source) }
    }

    /// Ends it, and releases its array once the queue's work so far is done. Returns at once.
    pub fn release_after(self, queue: &mut Queue) -> Result<(), MoveError<View>> {
        // SAFETY: both are ours alone.
        match call(|error| unsafe { sys::arrowdevice_view_release_after(self.as_ptr(), queue.as_ptr(), error) }) {
            Ok(()) => {
                self.ended();
                Ok(())
            }
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// For calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_view {
        self.raw.as_ptr()
    }

    /// What is left of a view that the library has ended.
    fn ended(self) -> (Schema, Option<Device>) {
        let view = ManuallyDrop::new(self);
        // SAFETY: read once, since `view` is not dropped.
        (unsafe { std::ptr::read(&raw const view.schema) }, view.source)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: alive, and not used again.
        unsafe { sys::arrowdevice_view_release(self.as_ptr()) }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "View({:?} on {})", self.schema, self.device())
    }
}
