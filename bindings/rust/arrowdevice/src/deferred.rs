// SPDX-License-Identifier: Apache-2.0
use std::time::Duration;

use crate::call::{call, count, timeout_ns};
use crate::error::Result;
use crate::sys;

/// Waits until no work is deferred or in flight. A program calls it for an orderly shutdown. If it
/// fails with `TimedOut`, the rest stays deferred.
pub fn wait_idle(timeout: Option<Duration>) -> Result<()> {
    // SAFETY: any thread may call the function.
    call(|error| unsafe { sys::arrowdevice_wait_idle(timeout_ns(timeout), error) })
}

/// Selects who finishes deferred work. By default a thread of the library finishes pending moves
/// and releases. With manual deferral there is no such thread, and the program calls
/// [`deferred_run`]. The call fails with `Busy` if work has been deferred already.
pub fn deferred_set_manual(on: bool) -> Result<()> {
    // SAFETY: any thread may call the function.
    call(|error| unsafe { sys::arrowdevice_deferred_set_manual(i32::from(on), error) })
}

/// Finishes deferred work whose events have fired, on the calling thread. `at_most` limits the
/// number of items, and `None` runs all of them. It does not wait. It returns the number of
/// finished items.
pub fn deferred_run(at_most: Option<usize>) -> Result<usize> {
    let mut done = 0;
    // SAFETY: any thread may call the function.
    call(|error| unsafe { sys::arrowdevice_deferred_run(at_most.map_or(-1, count), &raw mut done, error) })?;
    Ok(done as usize)
}
