// SPDX-License-Identifier: Apache-2.0
use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use crate::call::without_panic;
use crate::sys;

/// The library's version, "major.minor.patch".
pub fn version() -> &'static str {
    // SAFETY: static text.
    unsafe { CStr::from_ptr(sys::arrowdevice_version()) }
        .to_str()
        .unwrap_or_default()
}

/// How much a message of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LogLevel {
    /// Something failed where nobody could be told.
    Error,
    /// Something is not as it should be.
    Warning,
    /// What the library does.
    Info,
    /// In detail.
    Debug,
}

/// Every handler so far, in sight of leak checkers.
static HANDLERS: Mutex<Vec<&'static (dyn Any + Send + Sync)>> = Mutex::new(Vec::new());

/// Sends the library's log to a function, which is called from any thread and must not call the library.
///
/// The function lives as long as the process, since a message that is under way may still reach it after another one has
/// taken its place.
pub fn log_set_handler<F>(handler: F)
where
    F: Fn(LogLevel, &str) + Send + Sync + 'static,
{
    // Leaked first: a pointer that was taken out of a box is not good for anything once the box has moved.
    let handler: &'static F = Box::leak(Box::new(handler));
    let user = (&raw const *handler).cast_mut().cast::<c_void>();
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).push(handler);
    // SAFETY: the trampoline is made for this type, and what `user` points to is never freed.
    unsafe { sys::arrowdevice_log_set_handler(Some(log::<F>), user) }
}

/// Errors go to standard error again, and what `ARROWDEVICE_LOG` asks for.
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
    // Nobody is there to be told of a panic but the panic hook, which was.
    let _ = without_panic("a log handler", || {
        // SAFETY: `user` is what log_set_handler() keeps, the message a terminated text for the time of the call.
        let (handler, message) = unsafe { (&*user.cast::<F>(), CStr::from_ptr(message)) };
        handler(level, &message.to_string_lossy());
        Ok(())
    });
}
