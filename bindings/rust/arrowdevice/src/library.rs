// SPDX-License-Identifier: Apache-2.0
use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use crate::call::without_panic;
use crate::sys;

/// Returns the library's version: "major.minor.patch".
pub fn version() -> &'static str {
    // SAFETY: the text is static.
    unsafe { CStr::from_ptr(sys::arrowdevice_version()) }
        .to_str()
        .unwrap_or_default()
}

/// The severity of a log message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LogLevel {
    /// An operation failed, and no caller could get the error.
    Error,
    /// A state that needs attention.
    Warning,
    /// An action of the library.
    Info,
    /// Details for debugging.
    Debug,
}

/// Every handler so far, reachable for leak checkers.
static HANDLERS: Mutex<Vec<&'static (dyn Any + Send + Sync)>> = Mutex::new(Vec::new());

/// Sends the library's log to a function. Any thread may call the function, and it must not call
/// the library.
///
/// The function lives as long as the process, because another thread may still call it after a new
/// function has replaced it.
pub fn log_set_handler<F>(handler: F)
where
    F: Fn(LogLevel, &str) + Send + Sync + 'static,
{
    // The handler is leaked first, because moving a box invalidates pointers that were taken from
    // it.
    let handler: &'static F = Box::leak(Box::new(handler));
    let user = (&raw const *handler).cast_mut().cast::<c_void>();
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).push(handler);
    // SAFETY: the trampoline has this type, and the memory at `user` is never freed.
    unsafe { sys::arrowdevice_log_set_handler(Some(log::<F>), user) }
}

/// Restores the default: errors go to standard error, and so do the levels that `ARROWDEVICE_LOG`
/// selects.
pub fn log_reset_handler() {
    // SAFETY: NULL restores the default.
    unsafe { sys::arrowdevice_log_set_handler(None, null_mut()) }
}

unsafe extern "C" fn log<F>(user: *mut c_void, level: c_int, message: *const c_char)
where
    F: Fn(LogLevel, &str) + Send + Sync + 'static,
{
    let level = match level {
        0 => LogLevel::Error,
        1 => LogLevel::Warning,
        2 => LogLevel::Info,
        _ => LogLevel::Debug,
    };
    // No caller can get the error of a panic. The panic hook has already reported it.
    let _ = without_panic("a log handler", || {
        // SAFETY: `user` is the handler that log_set_handler() leaked, and the message is
        // terminated and lives during the call.
        let (handler, message) = unsafe { (&*user.cast::<F>(), CStr::from_ptr(message)) };
        handler(level, &message.to_string_lossy());
        Ok(())
    });
}
