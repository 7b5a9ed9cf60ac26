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

/// A checked array with its typed buffers; see [`Array::import`]. Dropping it declares that the
/// consumer's work on the device has finished. Use [`release_after`](View::release_after) for work
/// that is queued.
pub struct View {
    raw: NonNull<sys::arrowdevice_view>,
    schema: Schema,
    source: Option<Device>,
}

// SAFETY: the functions have "Thread-safety: per object": one thread at a time, on any thread.
unsafe impl Send for View {}
// SAFETY: functions that take the view `const` have "Thread-safety: free".
unsafe impl Sync for View {}

impl View {
    /// # Safety
    /// The view is alive and of an array of this schema. No other owner ends it.
    pub(crate) unsafe fn from_raw(view: *mut sys::arrowdevice_view, schema: Schema, source: Option<Device>) -> View {
        View {
            raw: NonNull::new(view).expect("a successful call returns a view"),
            schema,
            source,
        }
    }

    /// Returns the root of the tree of nodes.
    pub fn root(&self) -> Node<'_> {
        // SAFETY: the view is alive, and the node lives as long.
        Node::new(unsafe { &*sys::arrowdevice_view_get_root(self.as_ptr()) })
    }

    /// Returns the type.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the device.
    pub fn device(&self) -> Device {
        // SAFETY: the view is alive, and every view has a device.
        unsafe { Device::from_ptr(sys::arrowdevice_view_get_device(self.as_ptr())) }.expect("a view has a device")
    }

    /// Returns the struct of the view's array.
    pub fn array(&self) -> &sys::ArrowDeviceArray {
        // SAFETY: the view is alive, and the array lives as long.
        unsafe { &*sys::arrowdevice_view_get_array(self.as_ptr()) }
    }

    /// Makes a second owner of the memory, as an array.
    pub fn share(&self) -> Result<Array> {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the object is alive.
        call(|error| unsafe { sys::arrowdevice_view_share(self.as_ptr(), &raw mut out, error) })?;
        // SAFETY: the library made the struct just now, of this schema and on this device.
        Ok(unsafe { Array::from_parts(out, self.schema.clone(), self.source) })
    }

    /// Ends the view and returns its array unchanged.
    pub fn into_array(self) -> Array {
        let mut out = sys::ArrowDeviceArray::default();
        // SAFETY: the view is ours, and it ends here.
        unsafe { sys::arrowdevice_view_detach(self.as_ptr(), &raw mut out) };
        let (schema, source) = self.ended();
        // SAFETY: the view owned the array.
        unsafe { Array::from_parts(out, schema, source) }
    }

    /// Ends the view, and releases its array when the queue's work so far has finished. It returns
    /// at once.
    pub fn release_after(self, queue: &mut Queue) -> Result<(), MoveError<View>> {
        // SAFETY: both objects are ours alone.
        match call(|error| unsafe { sys::arrowdevice_view_release_after(self.as_ptr(), queue.as_ptr(), error) }) {
            Ok(()) => {
                self.ended();
                Ok(())
            }
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    /// Returns the pointer for calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_view {
        self.raw.as_ptr()
    }

    /// Returns the remaining fields of a view that the library has ended.
    fn ended(self) -> (Schema, Option<Device>) {
        let view = ManuallyDrop::new(self);
        // SAFETY: the field is read once, because `view` is not dropped.
        (unsafe { std::ptr::read(&raw const view.schema) }, view.source)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the object is alive and not used again.
        unsafe { sys::arrowdevice_view_release(self.as_ptr()) }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "View({:?} on {})", self.schema, self.device())
    }
}
