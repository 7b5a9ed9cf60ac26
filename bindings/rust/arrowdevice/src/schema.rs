// SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

use crate::array::Array;
use crate::call::{call, text_or_none};
use crate::error::{Error, Result};
use crate::owned::Owned;
use crate::sys;

/// The type of an array or stream. It is immutable, and clones share one struct.
#[derive(Clone)]
pub struct Schema(Arc<Owned<sys::ArrowSchema>>);

impl Schema {
    /// Takes ownership of a schema.
    ///
    /// # Safety
    /// The schema is valid as the Arrow C data interface specifies and not released. No other owner
    /// releases it.
    pub unsafe fn from_raw(schema: sys::ArrowSchema) -> Schema {
        // SAFETY: the caller guarantees it.
        Schema(Arc::new(unsafe { Owned::new(schema) }))
    }

    /// Makes a deep copy of a schema. The caller keeps the original.
    ///
    /// # Safety
    /// The schema is released, or valid as the Arrow C data interface specifies.
    pub unsafe fn copy_of(schema: &sys::ArrowSchema) -> Result<Schema> {
        let mut out = sys::ArrowSchema::default();
        // SAFETY: the caller guarantees it.
        call(|error| unsafe { sys::arrowdevice_schema_copy(schema, &raw mut out, error) })?;
        // SAFETY: the library made this copy for us.
        Ok(unsafe { Schema::from_raw(out) })
    }

    /// Makes a deep copy for another user of the C interface. The receiver releases it.
    pub fn to_raw(&self) -> Result<sys::ArrowSchema> {
        let mut out = sys::ArrowSchema::default();
        // SAFETY: the object is alive.
        call(|error| unsafe { sys::arrowdevice_schema_copy(self.as_raw(), &raw mut out, error) })?;
        Ok(out)
    }

    /// Returns the struct, borrowed from this schema.
    pub fn as_raw(&self) -> &sys::ArrowSchema {
        &self.0
    }

    /// Returns the format string: "+s", "i".
    pub fn format(&self) -> &CStr {
        format(self.as_raw())
    }

    /// Returns the field's name.
    pub fn name(&self) -> Option<&CStr> {
        // SAFETY: the struct is alive and valid as the format specifies.
        unsafe { text_or_none(self.as_raw().name) }
    }

    /// Returns true if arrays of both types have the same layout. Names, metadata and nullability
    /// may differ.
    pub fn same_layout(&self, other: &Schema) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || same_layout(self.as_raw(), other.as_raw())
    }

    /// Checks that the arrays have the layout of this type. The library checks structs only, and
    /// arrays of other types may have the same structs, such as `int32` and `float`.
    pub(crate) fn check_arrays(&self, arrays: &[Array]) -> Result<()> {
        match arrays.iter().position(|array| !array.schema().same_layout(self)) {
            None => Ok(()),
            Some(index) => Err(Error::invalid(format!(
                "array {index} has schema {:?} (expected {self:?})",
                arrays[index].schema()
            ))),
        }
    }
}

fn format(schema: &sys::ArrowSchema) -> &CStr {
    // SAFETY: the format requires the string.
    unsafe { text_or_none(schema.format) }.unwrap_or_default()
}

fn children(schema: &sys::ArrowSchema) -> impl Iterator<Item = &sys::ArrowSchema> {
    // SAFETY: the format requires this many children.
    (0..usize::try_from(schema.n_children).unwrap_or(0)).map(move |index| unsafe { &**schema.children.add(index) })
}

fn dictionary(schema: &sys::ArrowSchema) -> Option<&sys::ArrowSchema> {
    // SAFETY: the pointer is NULL or a valid schema.
    unsafe { schema.dictionary.as_ref() }
}

fn same_layout(one: &sys::ArrowSchema, other: &sys::ArrowSchema) -> bool {
    format(one) == format(other)
        && one.n_children == other.n_children
        && children(one)
            .zip(children(other))
            .all(|(one, other)| same_layout(one, other))
        && match (dictionary(one), dictionary(other)) {
            (None, None) => true,
            (Some(one), Some(other)) => same_layout(one, other),
            _ => false,
        }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn write(schema: &sys::ArrowSchema, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            // SAFETY: the struct is alive and valid as the format specifies.
            if let Some(name) = unsafe { text_or_none(schema.name) }.filter(|name| !name.is_empty()) {
                write!(formatter, "{}: ", name.to_string_lossy())?;
            }
            formatter.write_str(&format(schema).to_string_lossy())?;
            for (index, child) in children(schema).enumerate() {
                formatter.write_str(if index == 0 { "(" } else { ", " })?;
                write(child, formatter)?;
            }
            if schema.n_children > 0 {
                formatter.write_str(")")?;
            }
            if let Some(values) = dictionary(schema) {
                formatter.write_str(" of ")?;
                write(values, formatter)?;
            }
            Ok(())
        }
        formatter.write_str("Schema ")?;
        write(self.as_raw(), formatter)
    }
}
