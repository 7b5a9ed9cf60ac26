// SPDX-License-Identifier: Apache-2.0
//! Calls C functions, and runs code that C calls.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int};
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

/// Makes an options or info struct with its size set.
macro_rules! sized {
    ($struct:ident) => {
        $crate::sys::$struct {
            struct_size: size_of::<$crate::sys::$struct>() as u32,
            ..Default::default()
        }
    };
}
pub(crate) use sized;

/// Returns the text in a fixed C array, which the library always terminates.
pub(crate) fn text(array: &[c_char]) -> String {
    // SAFETY: `c_char` and `u8` have the same layout, and the slice bounds the search for the end.
    let bytes = unsafe { std::slice::from_raw_parts(array.as_ptr().cast::<u8>(), array.len()) };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Writes a text into a fixed C array, with its terminator. A text that is too long loses its end.
pub(crate) fn write_text(array: &mut [c_char], text: &str) {
    let Some(last) = array.len().checked_sub(1) else { return };
    // A C string ends at its first zero.
    let text = text.replace('\0', "\u{fffd}");
    let end = (0..=last.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    for (to, byte) in array.iter_mut().zip(text[..end].bytes().chain([0])) {
        *to = byte as c_char;
    }
}

/// Returns a text for C. `what` names the text in the error.
pub(crate) fn c_text(what: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid(format!("{what} {text:?} has a zero byte")))
}

/// Returns the text at a pointer, or `None` for NULL.
///
/// # Safety
/// `text` is NULL or a terminated string that lives as long as `'a`.
pub(crate) unsafe fn text_or_none<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller guarantees it.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Converts a time-out to `timeout_ns`. `None` waits without limit, and a zero duration does not
/// wait.
pub(crate) fn timeout_ns(timeout: Option<Duration>) -> i64 {
    match timeout {
        None => sys::ARROWDEVICE_NO_TIMEOUT,
        Some(Duration::ZERO) => sys::ARROWDEVICE_POLL,
        Some(limit) => i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX),
    }
}

/// Converts a count to the library's type. A count that does not fit is larger than any valid
/// count, and the library refuses it.
pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Runs code that C calls. A panic becomes an error, because it must not unwind into C.
pub(crate) fn without_panic<T>(what: &str, function: impl FnOnce() -> Result<T>) -> Result<T> {
    // State that the panic left half-changed belongs to the callee, which is not used after an
    // error.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|payload| {
        let error = Error::new(libc::EIO, format!("{what} panicked: {}", panic_text(payload.as_ref())));
        drop_without_panic(payload);
        Err(error)
    })
}

/// Drops a value of the program. The panic hook has already reported a panic in it.
pub(crate) fn drop_without_panic<T>(value: T) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(value)));
    // The payload may panic when it is dropped, and so may the payload of that panic.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(dropped))) {
        std::mem::forget(again);
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with a payload that is not text")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{c_text, count, text, timeout_ns, write_text};

    #[test]
    fn time_outs_are_clamped_and_zero_becomes_a_poll() {
        assert_eq!(timeout_ns(None), 0);
        assert_eq!(timeout_ns(Some(Duration::ZERO)), -1);
        assert_eq!(timeout_ns(Some(Duration::from_nanos(1))), 1);
        assert_eq!(timeout_ns(Some(Duration::from_micros(2))), 2000);
        assert_eq!(timeout_ns(Some(Duration::MAX)), i64::MAX);
    }

    #[test]
    fn counts_that_do_not_fit_become_the_maximum() {
        assert_eq!(count(3), 3);
        assert_eq!(count(usize::MAX), i64::MAX);
    }

    #[test]
    fn text_ends_at_its_terminator_or_the_array() {
        assert_eq!(text(&[b'a' as _, b'b' as _, 0, b'c' as _]), "ab");
        assert_eq!(text(&[b'a' as _, b'b' as _]), "ab");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn written_text_ends_before_a_character_that_does_not_fit() {
        let written = |size, value| {
            let mut array = vec![b'x' as _; size];
            write_text(&mut array, value);
            text(&array)
        };
        assert_eq!(written(4, "abc"), "abc");
        assert_eq!(written(4, "abcd"), "abc");
        assert_eq!(written(4, "ab\u{e9}"), "ab");
        assert_eq!(written(8, "a\0b"), "a\u{fffd}b");
        assert_eq!(written(1, "a"), "");
        assert_eq!(written(0, "a"), "");
    }

    #[test]
    fn text_for_c_has_no_zero_byte() {
        assert_eq!(c_text("name", "ab").unwrap().as_c_str(), c"ab");
        let refused = c_text("name", "a\0").unwrap_err();
        assert_eq!(refused.message(), "name \"a\\0\" has a zero byte");
    }
}
