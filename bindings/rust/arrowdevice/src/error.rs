// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_int;
use std::fmt;

use crate::call::{text, write_text};
use crate::sys;

/// Result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A kind of error. Each kind stands for an `errno` value of the C API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `EINVAL`: the input is invalid.
    InvalidInput,
    /// `ENOTSUP`: the type, layout or device type is not supported.
    Unsupported,
    /// `ENODEV`: there is no such driver or device, or the device was closed.
    NoDevice,
    /// `ENOMEM`: host or device memory is exhausted. The message names which.
    OutOfMemory,
    /// `EIO`: the device failed, now or in earlier work.
    DeviceFailure,
    /// `ETIMEDOUT`: a wait reached its limit.
    TimedOut,
    /// `ECANCELED`: a stream was cancelled.
    Canceled,
    /// `EBUSY`: the object is still in use.
    Busy,
    /// `EEXIST`: the object exists already.
    AlreadyExists,
    /// `ENOENT`: the object does not exist.
    NotFound,
    /// Any other value, for example from the producer of a stream; see [`Error::errno`].
    Other,
}

impl ErrorKind {
    fn from_errno(errno: c_int) -> ErrorKind {
        match errno {
            libc::EINVAL => ErrorKind::InvalidInput,
            libc::ENOTSUP => ErrorKind::Unsupported,
            libc::ENODEV => ErrorKind::NoDevice,
            libc::ENOMEM => ErrorKind::OutOfMemory,
            libc::EIO => ErrorKind::DeviceFailure,
            libc::ETIMEDOUT => ErrorKind::TimedOut,
            libc::ECANCELED => ErrorKind::Canceled,
            libc::EBUSY => ErrorKind::Busy,
            libc::EEXIST => ErrorKind::AlreadyExists,
            libc::ENOENT => ErrorKind::NotFound,
            _ => ErrorKind::Other,
        }
    }
}

/// A failed call of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    native_code: i32,
    backend: String,
    message: String,
}

impl Error {
    /// Makes an error of the program itself. A producer of a [`Stream`](crate::Stream) or an
    /// [`Allocator`](crate::Allocator) returns it.
    pub fn new(errno: i32, message: impl Into<String>) -> Error {
        Error {
            // 0 would mean success to the receiver.
            errno: if errno == 0 { libc::EIO } else { errno },
            native_code: 0,
            backend: String::new(),
            message: message.into(),
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new(libc::EINVAL, message)
    }

    pub(crate) fn from_raw(errno: c_int, raw: &sys::arrowdevice_error) -> Error {
        Error {
            errno,
            native_code: raw.native_code,
            backend: text(&raw.backend),
            message: text(&raw.message),
        }
    }

    pub(crate) fn to_raw(&self) -> sys::arrowdevice_error {
        let mut raw = sys::arrowdevice_error {
            code: self.errno,
            native_code: self.native_code,
            ..Default::default()
        };
        write_text(&mut raw.backend, &self.backend);
        write_text(&mut raw.message, &self.message);
        raw
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::from_errno(self.errno)
    }

    /// Returns the `errno` value that the function returned.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// Returns the vendor's own code, or 0 if there is none.
    pub fn native_code(&self) -> i32 {
        self.native_code
    }

    /// Returns the backend that failed, such as "cuda", or "" if the library itself failed.
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// Returns the message, which describes the failure, its place and the input that caused it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.message.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "error {} ({:?})", self.errno, self.kind())
        }
    }
}

impl std::error::Error for Error {}

/// A failed call that takes ownership of its input. It holds the input unchanged.
///
/// `?` converts it to an [`Error`] if the function returns one. As `std::error::Error` it has the
/// text of the [`Error`], which is also its source.
///
/// ```
/// # fn main() -> arrowdevice::Result<()> {
/// # let array = arrowdevice::Array::from_arrow(&arrow_array::Int32Array::from(vec![1, 2]))?;
/// use arrowdevice::{CopyOptions, Device, ErrorKind, Sharing};
///
/// let never = CopyOptions::new().sharing(Sharing::Required);
/// let failed = array.into_device(Device::find_by_name("ext_dev:0")?, never).unwrap_err();
/// assert_eq!(failed.error().kind(), ErrorKind::Unsupported);
/// let array = failed.into_value();
/// assert_eq!(array.len(), 2);
/// # Ok(())
/// # }
/// ```
// The box keeps results small.
pub struct MoveError<T>(Box<(Error, T)>);

// SAFETY: sharing gives access to the error, and to the value only if the value is `Sync`.
unsafe impl<T> Sync for MoveError<T> {}

impl<T> MoveError<T> {
    pub(crate) fn new(error: Error, value: T) -> MoveError<T> {
        MoveError(Box::new((error, value)))
    }

    /// Returns the error.
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// Returns the input of the failed call.
    ///
    /// A value that is not `Sync`, such as a [`Stream`](crate::Stream), is available by
    /// [`value_mut`](MoveError::value_mut).
    ///
    /// ```compile_fail,E0277
    /// fn shared(failed: &arrowdevice::MoveError<arrowdevice::Stream>) -> &arrowdevice::Stream {
    ///     failed.value()
    /// }
    /// ```
    pub fn value(&self) -> &T
    where
        T: Sync,
    {
        &self.0.1
    }

    /// Returns the input of the failed call.
    pub fn value_mut(&mut self) -> &mut T {
        &mut self.0.1
    }

    /// Returns the input of the failed call.
    pub fn into_value(self) -> T {
        self.0.1
    }

    /// Returns the error and drops the input.
    pub fn into_error(self) -> Error {
        self.0.0
    }

    /// Returns the error and the input.
    pub fn into_parts(self) -> (Error, T) {
        *self.0
    }
}

impl<T> fmt::Debug for MoveError<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("MoveError")
            .field(self.error())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for MoveError<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(formatter)
    }
}

impl<T> std::error::Error for MoveError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.error())
    }
}

impl<T> From<MoveError<T>> for Error {
    fn from(failed: MoveError<T>) -> Error {
        failed.into_error()
    }
}
