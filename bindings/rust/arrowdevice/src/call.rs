// SPDX-License-Identifier: Apache-2.0
//! How C functions are called, and how they call back.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sys;

/// Calls a function that returns a code and fills an error.
pub(crate) fn call(function: impl FnOnce(*mut sys::arrowdevice_error) -> c_int) -> Result<()> {
    let mut error = sys::arrowdevice_error::default();
    match function(&raw mut error) {
        0 => Ok(()),
        errno => Err(Error::from_raw(errno, &error)),
    }
}

/// A struct of options or info with its size set.
macro_rules! sized {
    ($struct:ident) => {
        $crate::sys::$struct {
            struct_size: size_of::<$crate::sys::$struct>() as u32,
            ..Default::default()
        }
    };
}
pub(crate) use sized;

/// The text in a fixed array of C, which the library always terminates.
pub(crate) fn text(array: &[c_char]) -> String {
    // SAFETY: `c_char` and `u8` have one layout, and the slice bounds the search for the end.
    let bytes = unsafe { std::slice::from_raw_parts(array.as_ptr().cast::<u8>(), array.len()) };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The text behind a pointer, if there is one.
///
/// # Safety
/// `text` is NULL or a terminated string that lives as long as `'a`.
pub(crate) unsafe fn text_or_none<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// A time-out as a parameter: `None` waits for ever.
pub(crate) fn timeout_parameter(timeout: Option<Duration>) -> i64 {
    timeout.map_or(-1, nanoseconds)
}

/// A time-out in options, where 0 would mean for ever.
pub(crate) fn timeout_option(timeout: Option<Duration>) -> i64 {
    timeout.map_or(0, |timeout| nanoseconds(timeout).max(1))
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// A count as the library takes it. What does not fit is more than there is of anything, and refused as such.
pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Runs what C called: a panic becomes an error, since it must not unwind into C.
pub(crate) fn without_panic<T>(what: &str, function: impl FnOnce() -> Result<T>) -> Result<T> {
    // What is half-changed is the callee's own, and is not used again after an error.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|payload| {
        let error = Error::new(libc::EIO, format!("{what} panicked: {}", panic_text(payload.as_ref())));
        drop_without_panic(payload);
        Err(error)
    })
}

/// Drops a value of the program's. The panic hook has told what a panic in there has to say.
pub(crate) fn drop_without_panic<T>(value: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(value)));
    // What was thrown may throw when it is dropped, and so may that.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(dropped))) {
        std::mem::forget(again);
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with a payload that is no text")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{count, text, timeout_option, timeout_parameter};

    #[test]
    fn time_outs_are_bounded_and_a_poll_stays_one() {
        assert_eq!(timeout_parameter(None), -1);
        assert_eq!(timeout_parameter(Some(Duration::ZERO)), 0);
        assert_eq!(timeout_parameter(Some(Duration::MAX)), i64::MAX);
        assert_eq!(timeout_option(None), 0);
        assert_eq!(timeout_option(Some(Duration::ZERO)), 1);
        assert_eq!(timeout_option(Some(Duration::from_micros(2))), 2000);
    }

    #[test]
    fn counts_that_do_not_fit_are_too_many() {
        assert_eq!(count(3), 3);
        assert_eq!(count(usize::MAX), i64::MAX);
    }

    #[test]
    fn text_ends_at_its_end_or_with_the_array() {
        assert_eq!(text(&[b'a' as _, b'b' as _, 0, b'c' as _]), "ab");
        assert_eq!(text(&[b'a' as _, b'b' as _]), "ab");
        assert_eq!(text(&[]), "");
    }
}
