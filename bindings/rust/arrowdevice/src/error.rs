// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_int;
use std::fmt;

use crate::call::text;
use crate::sys;

/// What a call gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong. The names stand for the `errno` values that the C API answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `EINVAL`: the input is wrong.
    InvalidInput,
    /// `ENOTSUP`: the type, layout or device type is not supported.
    Unsupported,
    /// `ENODEV`: no such driver or device, or it was retired.
    NoDevice,
    /// `ENOMEM`: host or device memory is exhausted; the message says which.
    OutOfMemory,
    /// `EIO`: the device failed, now or in earlier work.
    DeviceFailure,
    /// `ETIMEDOUT`: a wait took longer than it may.
    TimedOut,
    /// `ECANCELED`: a stream was cancelled.
    Canceled,
    /// `EBUSY`: what is to go is in use.
    Busy,
    /// `EEXIST`: it is there already.
    AlreadyExists,
    /// `ENOENT`: it is not there.
    NotFound,
    /// Another value, as a producer of a stream may answer it; see [`Error::errno`].
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

/// A call of the library failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    native_code: i32,
    backend: String,
    message: String,
}

impl Error {
    /// An error of the program's own, as a producer of a [`Stream`](crate::Stream) or an
    /// [`Allocator`](crate::Allocator) answers it.
    pub fn new(errno: i32, message: impl Into<String>) -> Error {
        Error {
            // 0 would mean success to whoever it is handed on to.
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

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::from_errno(self.errno)
    }

    /// The `errno` value that the function returned.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// The vendor's own code, 0 if none.
    pub fn native_code(&self) -> i32 {
        self.native_code
    }

    /// The backend that failed, "cuda"; "" when the library itself did.
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// What happened, where, and to which input.
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

/// A call that takes something over failed, and gives it back untouched.
///
/// `?` turns it into an [`Error`] where the input is not needed any more. As an error of any kind, its text is that of the
/// [`Error`], which is also its source.
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
// Boxed: a result should not be as large as what it seldom holds.
pub struct MoveError<T>(Box<(Error, T)>);

// SAFETY: who shares it reads the error, and reaches the value only where that may be shared, too.
unsafe impl<T> Sync for MoveError<T> {}

impl<T> MoveError<T> {
    pub(crate) fn new(error: Error, value: T) -> MoveError<T> {
        MoveError(Box::new((error, value)))
    }

    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// What would have been taken over.
    ///
    /// What is not `Sync`, as a [`Stream`](crate::Stream), is reached by [`value_mut`](MoveError::value_mut).
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

    /// What would have been taken over.
    pub fn value_mut(&mut self) -> &mut T {
        &mut self.0.1
    }

    /// What would have been taken over.
    pub fn into_value(self) -> T {
        self.0.1
    }

    /// What went wrong; the input is dropped.
    pub fn into_error(self) -> Error {
        self.0.0
    }

    /// Both.
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
