// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::array::Array;
use crate::call::{call, without_panic};
use crate::device::Device;
use crate::error::{Error, MoveError};
use crate::options::CopyOptions;
use crate::schema::Schema;
use crate::sys;

type Outcome = Result<Array, MoveError<Array>>;

/// A copy to the CPU that runs while the program goes on. [`Array::into_host_async`] starts it.
///
/// Its result is the array on the CPU, or the error with the array as it was. A program awaits it
/// in any executor, or calls [`wait`](HostCopy::wait). A copy whose `HostCopy` is dropped still
/// runs to its end, and its result is dropped.
pub struct HostCopy(Arc<Shared>);

/// The part that the thread of the library also uses.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

impl Shared {
    /// A panic under the lock is impossible, so a poisoned state is complete.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The argument that the library passes to `done`.
struct Started {
    shared: Arc<Shared>,
    schema: Schema,
    source: Option<Device>,
}

impl HostCopy {
    /// Starts the copy of an array. `source` is the array's device, if its struct does not name it.
    pub(crate) fn start(
        array: Array,
        source: Option<Device>,
        options: CopyOptions<'_>,
    ) -> Result<HostCopy, MoveError<Array>> {
        let raw_options = options.raw_move(source, 0);
        let (mut raw, schema) = array.into_raw();
        let shared = Arc::new(Shared::default());
        let started = Box::into_raw(Box::new(Started {
            shared: shared.clone(),
            schema: schema.clone(),
            source,
        }));
        // SAFETY: all pointers are valid, and the array is ours alone. `done` takes `started` if
        // the call succeeds.
        match call(|error| unsafe {
            sys::arrowdevice_array_to_host_async(
                &raw mut raw,
                schema.as_raw(),
                &raw const raw_options,
                Some(done),
                started.cast(),
                error,
            )
        }) {
            Ok(()) => Ok(HostCopy(shared)),
            Err(error) => {
                // SAFETY: the failed call left both as they were.
                let array = unsafe {
                    drop(Box::from_raw(started));
                    array_of(raw, schema, source)
                };
                Err(MoveError::new(error, array))
            }
        }
    }

    /// Returns true if the result is there. It does not block.
    pub fn is_ready(&self) -> bool {
        self.0.state().outcome.is_some()
    }

    /// Waits for the result. The copy's time-out limits the wait.
    pub fn wait(self) -> Result<Array, MoveError<Array>> {
        let mut state = self.0.state();
        loop {
            match state.outcome.take() {
                Some(outcome) => return outcome,
                None => state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Future for HostCopy {
    type Output = Result<Array, MoveError<Array>>;

    /// # Panics
    /// Panics if it is called again after it was ready.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        assert!(
            Arc::strong_count(&self.0) > 1,
            "a HostCopy was polled after it was ready"
        );
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl fmt::Debug for HostCopy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostCopy")
            .field("is_ready", &self.is_ready())
            .finish()
    }
}

/// # Safety
/// The array is valid and ours alone, of the schema, and on the device.
unsafe fn array_of(raw: sys::ArrowDeviceArray, schema: Schema, source: Option<Device>) -> Array {
    // SAFETY: the caller guarantees it.
    unsafe {
        let array = Array::from_raw(raw, schema);
        match source {
            Some(device) => array.with_device(device),
            None => array,
        }
    }
}

/// Receives the result on a thread of the library.
unsafe extern "C" fn done(
    user: *mut c_void,
    array: *mut sys::ArrowArray,
    source: *mut sys::ArrowDeviceArray,
    error: *const sys::arrowdevice_error,
) {
    // SAFETY: start() leaked it, and the library calls this function once.
    let started = unsafe { Box::from_raw(user.cast::<Started>()) };
    let Started {
        shared,
        schema,
        source: device,
    } = *started;
    // SAFETY: the library gives either `array`, or `source` and `error`. We take the array out.
    let outcome = unsafe {
        match error.as_ref() {
            None => {
                let raw = sys::ArrowDeviceArray {
                    array: std::mem::take(&mut *array),
                    device_type: sys::ARROW_DEVICE_CPU,
                    device_id: -1,
                    ..Default::default()
                };
                Ok(Array::from_raw(raw, schema))
            }
            Some(error) => Err(MoveError::new(
                Error::from_raw(error.code, error),
                array_of(std::mem::take(&mut *source), schema, device),
            )),
        }
    };
    let mut state = shared.state();
    state.outcome = Some(outcome);
    let waker = state.waker.take();
    drop(state);
    shared.changed.notify_one();
    if let Some(waker) = waker {
        // No caller can get the error of a panic. The panic hook has already reported it.
        let _ = without_panic("a waker", || {
            waker.wake();
            Ok(())
        });
    }
}
