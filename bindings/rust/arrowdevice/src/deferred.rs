// SPDX-License-Identifier: Apache-2.0
use std::time::Duration;

use crate::call::{call, count, timeout_parameter};
use crate::error::Result;
use crate::sys;

/// Waits until nothing is deferred or in flight: for an orderly shutdown. `TimedOut` leaves the rest deferred.
pub fn wait_idle(timeout: Option<Duration>) -> Result<()> {
    // SAFETY: free from any thread.
    call(|error| unsafe { sys::arrowdevice_wait_idle(timeout_parameter(timeout), error) })
}

/// Pending moves and releases end on one thread of the library; with manual reaping there is no such thread, and the
/// program calls [`deferred_run`]. `Busy` if something has been deferred already.
pub fn deferred_set_manual(on: bool) -> Result<()> {
    // SAFETY: free from any thread.
    call(|error| unsafe { sys::arrowdevice_deferred_set_manual(i32::from(on), error) })
}

/// Ends deferred work whose events have fired, on the calling thread: at most so many pieces, `None` for all. Does not
/// wait. Says how many.
pub fn deferred_run(at_most: Option<usize>) -> Result<usize> {
    let mut done = 0;
    // SAFETY: free from any thread.
    call(|error| unsafe { sys::arrowdevice_deferred_run(at_most.map_or(-1, count), &raw mut done, error) })?;
    Ok(done as usize)
}
