// SPDX-License-Identifier: Apache-2.0
//! Moves arrays, record batches and readers of the `arrow` crates to and from this crate without a
//! copy.

use std::fmt;
use std::iter::FusedIterator;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{
    Array as ArrowArray, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, make_array,
};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef};

use crate::array::Array;
use crate::device::Device;
use crate::device_type::DeviceType;
use crate::error::{Error, MoveError, Result};
use crate::options::{CopyOptions, StreamOptions};
use crate::schema::Schema;
use crate::stream::{Canceller, Stream};
use crate::sys;

const _: () = assert!(size_of::<FFI_ArrowArray>() == size_of::<sys::ArrowArray>());
const _: () = assert!(align_of::<FFI_ArrowArray>() == align_of::<sys::ArrowArray>());
const _: () = assert!(size_of::<FFI_ArrowSchema>() == size_of::<sys::ArrowSchema>());
const _: () = assert!(align_of::<FFI_ArrowSchema>() == align_of::<sys::ArrowSchema>());

/// Converts a struct of the C data interface between the type of this crate and that of `arrow`.
///
/// # Safety
/// Both types are the same C struct.
unsafe fn as_the_other<From, To>(from: From) -> To {
    let from = ManuallyDrop::new(from);
    // SAFETY: both types have the same layout, and `from` is not dropped.
    unsafe { std::ptr::read((&raw const *from).cast::<To>()) }
}

impl From<ArrowError> for Error {
    /// Errors of this crate are recovered unchanged; see `ArrowError::from`.
    fn from(error: ArrowError) -> Error {
        match error {
            ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => Error::new(libc::EIO, other.to_string()),
            },
            ArrowError::NotYetImplemented(_) => Error::new(libc::ENOTSUP, error.to_string()),
            ArrowError::MemoryError(_) => Error::new(libc::ENOMEM, error.to_string()),
            ArrowError::IoError(_, _) => Error::new(libc::EIO, error.to_string()),
            _ => Error::invalid(error.to_string()),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> ArrowError {
        ArrowError::ExternalError(Box::new(error))
    }
}

impl<T> From<MoveError<T>> for ArrowError {
    fn from(failed: MoveError<T>) -> ArrowError {
        failed.into_error().into()
    }
}

impl TryFrom<&ArrowSchema> for Schema {
    type Error = Error;

    /// Converts the type of record batches, with its metadata.
    fn try_from(schema: &ArrowSchema) -> Result<Schema> {
        Ok(exported(FFI_ArrowSchema::try_from(schema)?))
    }
}

impl TryFrom<&Field> for Schema {
    type Error = Error;

    /// Converts the type of arrays, with name, nullability and metadata.
    fn try_from(field: &Field) -> Result<Schema> {
        Ok(exported(FFI_ArrowSchema::try_from(field)?))
    }
}

impl TryFrom<&DataType> for Schema {
    type Error = Error;

    /// Converts the type of arrays. The arrays may have nulls.
    fn try_from(data_type: &DataType) -> Result<Schema> {
        Schema::try_from(&Field::new("", data_type.clone(), true))
    }
}

fn exported(schema: FFI_ArrowSchema) -> Schema {
    // SAFETY: both types are the same C struct, and arrow made this one just now.
    unsafe { Schema::from_raw(as_the_other(schema)) }
}

impl Schema {
    fn as_ffi(&self) -> &FFI_ArrowSchema {
        // SAFETY: both types are the same C struct, and it is borrowed.
        unsafe { &*std::ptr::from_ref(self.as_raw()).cast::<FFI_ArrowSchema>() }
    }

    /// Converts the type to a field of `arrow`.
    pub fn to_arrow_field(&self) -> Result<Field> {
        Ok(Field::try_from(self.as_ffi())?)
    }

    /// Converts the type to a schema of `arrow`. It fails with `InvalidInput` if the type is not
    /// that of record batches.
    pub fn to_arrow_schema(&self) -> Result<ArrowSchema> {
        Ok(ArrowSchema::try_from(self.as_ffi())?)
    }
}

impl Array {
    /// Makes a device array on the CPU from an array of `arrow`. It shares the memory.
    pub fn from_arrow(array: &dyn ArrowArray) -> Result<Array> {
        Array::from_arrow_data(&array.to_data())
    }

    /// Makes a device array on the CPU from array data of `arrow`. It shares the memory.
    pub fn from_arrow_data(data: &ArrayData) -> Result<Array> {
        let schema = Schema::try_from(data.data_type())?;
        with_schema(data, schema)
    }

    /// Makes a device array on the CPU from a record batch, with its schema's metadata. It shares
    /// the memory.
    pub fn from_record_batch(batch: &RecordBatch) -> Result<Array> {
        let schema = Schema::try_from(batch.schema_ref().as_ref())?;
        with_schema(&StructArray::from(batch.clone()).into_data(), schema)
    }

    /// Turns the array into an array of `arrow`. It shares the memory if the CPU can read it, and
    /// copies from the device if not.
    pub fn into_arrow(self) -> Result<ArrayRef, MoveError<Array>> {
        self.into_arrow_with(CopyOptions::new())
    }

    /// Does the same as [`into_arrow`](Array::into_arrow), with options for the copy.
    pub fn into_arrow_with(self, options: CopyOptions<'_>) -> Result<ArrayRef, MoveError<Array>> {
        self.into_arrow_and(options, |data| Ok(make_array(data)))
    }

    /// Turns the array into a record batch of `arrow`. It shares the memory if the CPU can read it,
    /// and copies from the device if not.
    ///
    /// It fails with `InvalidInput` if the array is not a struct or has null rows, which a record
    /// batch cannot have.
    pub fn into_record_batch(self) -> Result<RecordBatch, MoveError<Array>> {
        self.into_record_batch_with(CopyOptions::new())
    }

    /// Does the same as [`into_record_batch`](Array::into_record_batch), with options for the copy.
    pub fn into_record_batch_with(self, options: CopyOptions<'_>) -> Result<RecordBatch, MoveError<Array>> {
        match self.schema().to_arrow_schema() {
            Ok(schema) => self.into_arrow_and(options, |data| batch_of(Arc::new(schema), data)),
            Err(error) => Err(MoveError::new(error, self)),
        }
    }

    fn into_arrow_and<T>(
        mut self,
        options: CopyOptions<'_>,
        then: impl FnOnce(ArrayData) -> Result<T>,
    ) -> Result<T, MoveError<Array>> {
        // Types that arrow does not know are refused before anything is copied. If arrow refuses
        // the array later, the error holds it.
        if let Err(error) = DataType::try_from(self.schema().as_ffi()) {
            return Err(MoveError::new(error.into(), self));
        }
        let kept = match self.share() {
            Ok(kept) => kept,
            Err(error) => return Err(MoveError::new(error, self)),
        };
        let (raw, schema) = self.into_host(options)?;
        // SAFETY: both types are the same C struct. The array is complete, of this schema, and no
        // other owner releases it.
        unsafe { arrow_array::ffi::from_ffi(as_the_other(raw), schema.as_ffi()) }
            .map_err(Error::from)
            .and_then(then)
            .map_err(|error| MoveError::new(error, kept))
    }
}

fn with_schema(data: &ArrayData, schema: Schema) -> Result<Array> {
    // SAFETY: both types are the same C struct. arrow made this one just now, and it holds
    // references to its buffers.
    let raw = unsafe { as_the_other::<_, sys::ArrowArray>(FFI_ArrowArray::new(data)) };
    // SAFETY: the same, and the schema is that of the data.
    Ok(unsafe { Array::from_host(raw, schema) }?)
}

fn batch_of(schema: SchemaRef, data: ArrayData) -> Result<RecordBatch> {
    if data.null_count() > 0 {
        return Err(Error::invalid(format!(
            "the array has {} null rows (a record batch has none)",
            data.null_count()
        )));
    }
    let rows = RecordBatchOptions::new().with_row_count(Some(data.len()));
    let (_, columns, _) = StructArray::from(data).into_parts();
    Ok(RecordBatch::try_new_with_options(schema, columns, &rows)?)
}

impl TryFrom<&RecordBatch> for Array {
    type Error = Error;

    fn try_from(batch: &RecordBatch) -> Result<Array> {
        Array::from_record_batch(batch)
    }
}

impl TryFrom<&dyn ArrowArray> for Array {
    type Error = Error;

    fn try_from(array: &dyn ArrowArray) -> Result<Array> {
        Array::from_arrow(array)
    }
}

impl TryFrom<&ArrayData> for Array {
    type Error = Error;

    fn try_from(data: &ArrayData) -> Result<Array> {
        Array::from_arrow_data(data)
    }
}

impl TryFrom<Array> for ArrayRef {
    type Error = MoveError<Array>;

    fn try_from(array: Array) -> Result<ArrayRef, MoveError<Array>> {
        array.into_arrow()
    }
}

impl TryFrom<Array> for RecordBatch {
    type Error = MoveError<Array>;

    fn try_from(array: Array) -> Result<RecordBatch, MoveError<Array>> {
        array.into_record_batch()
    }
}

impl Stream {
    /// Makes a device stream on the CPU from a reader of record batches.
    pub fn from_reader<R>(reader: R) -> Result<Stream, MoveError<R>>
    where
        R: RecordBatchReader + Send + 'static,
    {
        let schema = match Schema::try_from(reader.schema().as_ref()) {
            Ok(schema) => schema,
            Err(error) => return Err(MoveError::new(error, reader)),
        };
        let arrays = reader.map(|batch| Array::from_record_batch(&batch?));
        Ok(Stream::from_iterator(&schema, DeviceType::CPU, arrays))
    }

    /// Makes a reader of the stream's batches. A thread of the stream copies them to the CPU ahead
    /// of the reader.
    pub fn into_reader(mut self, options: StreamOptions<'_>) -> Result<RecordBatches, MoveError<Stream>> {
        let found = self.schema().cloned().and_then(|schema| {
            let arrow_schema = schema.to_arrow_schema()?;
            Ok((schema, arrow_schema, Device::cpu()?))
        });
        let (schema, arrow_schema, cpu) = match found {
            Ok(found) => found,
            Err(error) => return Err(MoveError::new(error, self)),
        };
        Ok(RecordBatches {
            arrays: self.into_device(cpu, options)?.known(schema),
            arrow_schema: Arc::new(arrow_schema),
            ended: false,
        })
    }
}

/// A reader of a device stream's batches on the CPU; see [`Stream::into_reader`].
pub struct RecordBatches {
    arrays: Stream,
    arrow_schema: SchemaRef,
    ended: bool,
}

impl RecordBatches {
    /// Returns a handle that stops the stream from another thread.
    pub fn canceller(&self) -> Canceller {
        self.arrays.canceller()
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>> {
        let Some(array) = self.arrays.next().transpose()? else {
            return Ok(None);
        };
        let (raw, schema) = array.into_host(CopyOptions::new())?;
        // SAFETY: both types are the same C struct. The array is complete, of this schema, and no
        // other owner releases it.
        let data = unsafe { arrow_array::ffi::from_ffi(as_the_other(raw), schema.as_ffi()) }?;
        batch_of(Arc::clone(&self.arrow_schema), data).map(Some)
    }
}

impl Iterator for RecordBatches {
    type Item = Result<RecordBatch, ArrowError>;

    /// A failure is an `ArrowError::ExternalError` that holds an [`Error`] of this crate.
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.pull().map_err(ArrowError::from).transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

impl FusedIterator for RecordBatches {}

impl RecordBatchReader for RecordBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.arrow_schema)
    }
}

impl fmt::Debug for RecordBatches {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RecordBatches({:?})", self.arrow_schema)
    }
}
