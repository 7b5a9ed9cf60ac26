// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_void;
use std::fmt;
use std::ptr::{NonNull, null_mut};

use crate::array::Array;
use crate::call::call;
use crate::device_type::DeviceType;
use crate::error::{Error, MoveError, Result};
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;

/// Version 1 of DLPack's struct. Later 1.x have the same members.
#[repr(C)]
struct ManagedTensor {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
    flags: u64,
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: DataType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// The type of a tensor's elements, in the numbers of DLPack.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataType {
    /// 0 for signed integers, 1 for unsigned integers, 2 for floats.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// Elements of a vector, 1 for plain numbers.
    pub lanes: u16,
}

/// A tensor of DLPack 1, which tensor libraries exchange without a copy.
///
/// Dropping it calls the tensor's deleter. [`into_ptr`](Tensor::into_ptr) gives it to another
/// library, which then calls the deleter.
pub struct Tensor(NonNull<ManagedTensor>);

// SAFETY: DLPack allows the deleter on any thread, and the methods only read.
unsafe impl Send for Tensor {}
// SAFETY: the same.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Takes a tensor of another library. It fails with `Unsupported` for another major version
    /// than 1, and then leaves the tensor to the caller.
    ///
    /// # Safety
    /// The tensor is valid as DLPack specifies, and no other owner calls its deleter.
    pub unsafe fn from_ptr(tensor: NonNull<sys::DLManagedTensorVersioned>) -> Result<Tensor> {
        let tensor = tensor.cast::<ManagedTensor>();
        // SAFETY: the version is at the same place in each major version.
        let major = unsafe { (*tensor.as_ptr()).major };
        if major != 1 {
            let text = format!("the tensor has DLPack's major version {major} (expected 1)");
            return Err(Error::new(libc::ENOTSUP, text));
        }
        Ok(Tensor(tensor))
    }

    /// Returns the tensor. The caller, or the library that gets it, calls its deleter.
    pub fn into_ptr(self) -> NonNull<sys::DLManagedTensorVersioned> {
        let tensor = self.0.cast();
        std::mem::forget(self);
        tensor
    }

    fn raw(&self) -> &ManagedTensor {
        // SAFETY: the tensor is valid, and version 1.
        unsafe { self.0.as_ref() }
    }

    /// Returns the extent of each dimension.
    pub fn shape(&self) -> &[i64] {
        // SAFETY: DLPack guarantees `ndim` extents.
        unsafe { numbers(self.raw().shape, self.raw().ndim) }
    }

    /// Returns the elements from one index to the next of each dimension. It is empty if the
    /// tensor is compact and row-major.
    pub fn strides(&self) -> &[i64] {
        // SAFETY: DLPack guarantees `ndim` strides, or NULL.
        unsafe { numbers(self.raw().strides, self.raw().ndim) }
    }

    /// Returns the address or handle of the memory. The first element is
    /// [`byte_offset`](Tensor::byte_offset) bytes after its start.
    pub fn data(&self) -> *const c_void {
        self.raw().data
    }

    /// Returns the bytes before the first element.
    pub fn byte_offset(&self) -> u64 {
        self.raw().byte_offset
    }

    /// Returns the type of the elements.
    pub fn data_type(&self) -> DataType {
        self.raw().dtype
    }

    /// Returns the type of device that can use the memory. The numbers are those of Arrow.
    pub fn device_type(&self) -> DeviceType {
        DeviceType(self.raw().device_type)
    }

    /// Returns the id of the device, which is 0 for the CPU.
    pub fn device_id(&self) -> i32 {
        self.raw().device_id
    }
}

/// # Safety
/// `first` is NULL or has `n` numbers that live as long as `'a`.
unsafe fn numbers<'a>(first: *const i64, n: i32) -> &'a [i64] {
    match usize::try_from(n) {
        // SAFETY: the caller guarantees it.
        Ok(n) if !first.is_null() => unsafe { std::slice::from_raw_parts(first, n) },
        _ => &[],
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: the tensor is ours, and is not used again.
        unsafe {
            if let Some(deleter) = self.raw().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tensor")
            .field("shape", &self.shape())
            .field("data_type", &self.data_type())
            .field("device_type", &self.device_type())
            .field("device_id", &self.device_id())
            .finish()
    }
}

impl Array {
    /// Returns a read-only tensor of the array's numbers, which shares the memory. Fixed-size lists
    /// give further dimensions. Work that is queued later on the consumer's queue waits for the
    /// array. With `None` this call waits.
    ///
    /// It fails with `Unsupported` if there are nulls, or if the type is neither a number nor a
    /// fixed-size list of numbers.
    ///
    /// The tensor does not wait for the consumer's work. Drop it when that work has finished.
    pub fn to_tensor(&mut self, consumer_queue: Option<&mut Queue>) -> Result<Tensor> {
        let queue = consumer_queue.map_or(null_mut(), |queue| queue.as_ptr());
        let schema = self.schema().clone();
        let mut out = null_mut();
        // SAFETY: all pointers are valid.
        call(|error| unsafe {
            sys::arrowdevice_dlpack_export(self.as_raw_mut(), schema.as_raw(), queue, &raw mut out, error)
        })?;
        let tensor = NonNull::new(out).expect("a successful call returns a tensor");
        // SAFETY: the library made the tensor, and it is ours.
        unsafe { Tensor::from_ptr(tensor) }
    }

    /// Makes an array of a tensor, and shares the memory. The tensor is compact and row-major, and
    /// nobody writes to its memory while the array lives. The array is ready after the work that
    /// the producer's queue has now. With `None` the data is ready. If the call fails, the error
    /// holds the tensor.
    pub fn from_tensor(tensor: Tensor, producer_queue: Option<&mut Queue>) -> Result<Array, MoveError<Tensor>> {
        let queue = producer_queue.map_or(null_mut(), |queue| queue.as_ptr());
        let (mut array, mut schema) = (sys::ArrowDeviceArray::default(), sys::ArrowSchema::default());
        // SAFETY: all pointers are valid, and the tensor is ours.
        match call(|error| unsafe {
            sys::arrowdevice_dlpack_import(tensor.0.cast().as_ptr(), queue, &raw mut array, &raw mut schema, error)
        }) {
            Ok(()) => {
                std::mem::forget(tensor);
                // SAFETY: the call filled both structs, and they are ours.
                Ok(unsafe { Array::from_raw(array, Schema::from_raw(schema)) })
            }
            Err(error) => Err(MoveError::new(error, tensor)),
        }
    }
}
