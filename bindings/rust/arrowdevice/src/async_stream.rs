// SPDX-License-Identifier: Apache-2.0
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::FusedStream;

use crate::array::Array;
use crate::call::{text_or_none, without_panic};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::schema::Schema;
use crate::sys;

/// Arrays that the stream holds at most, if the program does not choose.
const DEFAULT_DEPTH: u32 = 4;

/// The arrays of a [`Stream`](crate::Stream) for asynchronous programs. It is a
/// `futures_core::Stream`, and [`Stream::into_async`](crate::Stream::into_async) makes it.
///
/// A thread of the library reads the stream and wakes the program's task for each array. Polling
/// does not block, and needs no particular executor. The consumer owns the arrays that it receives.
///
/// The stream's error is the last item. The arrays that precede it come first. The error has the
/// producer's code and text.
///
/// Dropping it cancels the stream and returns at once. If the thread is inside the producer, that
/// thread drops the producer when the producer returns. If the stream has a wrapped queue, dropping
/// waits for a driver call that uses the queue.
///
/// One thread at a time uses it, and it may move between threads. [`Stream`](crate::Stream) has the
/// same rule.
///
/// ```
/// use arrow_array::Array as _;
/// use arrowdevice::{Array, Device, DeviceType, Schema, Stream, StreamOptions};
/// use futures::StreamExt;
/// # use arrow_array::Int32Array;
/// # use arrow_schema::DataType;
/// # fn main() -> arrowdevice::Result<()> {
/// # let schema = Schema::try_from(&DataType::Int32)?;
/// # let arrays = (0..3).map(|n| Array::from_arrow(&Int32Array::from(vec![n; 10])));
/// # let stream = Stream::from_iterator(&schema, DeviceType::CPU, arrays)
/// #     .into_device(Device::find_by_name("ext_dev:0")?, StreamOptions::new())?;
///
/// // Arrays on the CPU are complete, so that `into_arrow` does not block.
/// let on_cpu = stream.into_device(Device::cpu()?, StreamOptions::new())?;
/// let mut arrays = on_cpu.into_async(2)?;
/// let rows = futures::executor::block_on(async {
///     let mut rows = 0;
///     while let Some(array) = arrays.next().await {
///         rows += array?.into_arrow()?.len();
///     }
///     Ok::<usize, arrowdevice::Error>(rows)
/// })?;
/// assert_eq!(rows, 30);
/// # Ok(())
/// # }
/// ```
pub struct AsyncStream {
    shared: Arc<Shared>,
    /// Queues of the streams behind this one. They are dropped after the cancel, because the
    /// library stops using a wrapped queue when it is dropped.
    _queues: Vec<Queue>,
}

/// The part that the thread of the library also uses.
struct Shared {
    depth: u32,
    source: Option<Device>,
    state: Mutex<State>,
    /// The lock keeps the producer alive during a call of it. No code takes `state` meanwhile.
    upstream: Mutex<Upstream>,
}

#[derive(Default)]
struct State {
    schema: Option<Schema>,
    items: VecDeque<Result<Array>>,
    /// The error that ended the stream. It is also the last item.
    failure: Option<Error>,
    /// True if no item follows those in the queue.
    has_ended: bool,
    waker: Option<Waker>,
}

/// The producer's side of the stream, which the program may call.
enum Upstream {
    /// The producer has not told its schema.
    Pending,
    /// The producer lives until it releases the handler.
    Running(*mut sys::ArrowAsyncProducer),
    /// The handler is released, or the stream is cancelled.
    Closed,
}

// SAFETY: the consumer may call a producer of the library from any thread.
unsafe impl Send for Upstream {}

impl Upstream {
    /// Stores the producer. Returns false if the stream was dropped already.
    fn attach(&mut self, producer: *mut sys::ArrowAsyncProducer) -> bool {
        if matches!(self, Upstream::Closed) {
            return false;
        }
        *self = Upstream::Running(producer);
        true
    }

    /// Allows the producer to make `arrays` more calls.
    fn request(&self, arrays: u32) {
        if let Upstream::Running(producer) = *self {
            // SAFETY: the lock keeps the producer alive, and it has all callbacks.
            unsafe {
                if let Some(request) = (*producer).request {
                    request(producer, i64::from(arrays));
                }
            }
        }
    }

    fn cancel(&mut self) {
        if let Upstream::Running(producer) = std::mem::replace(self, Upstream::Closed) {
            // SAFETY: the lock keeps the producer alive, and it has all callbacks.
            unsafe {
                if let Some(cancel) = (*producer).cancel {
                    cancel(producer);
                }
            }
        }
    }
}

impl Shared {
    /// A panic under the locks is impossible, so a poisoned value is complete.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn upstream(&self) -> MutexGuard<'_, Upstream> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the consumer.
    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            // No caller can get the error of a panic. The panic hook has already reported it.
            let _ = without_panic("a waker", || {
                waker.wake();
                Ok(())
            });
        }
    }
}

impl State {
    /// Notes the last item, and ignores all further ones.
    fn end(&mut self, failure: Option<Error>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if let Some(error) = failure {
            self.failure = Some(error.clone());
            self.items.push_back(Err(error));
        }
    }
}

impl AsyncStream {
    /// Makes a stream, and calls `produce` with the handler that receives the arrays. If `produce`
    /// fails, no producer has seen the handler.
    pub(crate) fn start(
        depth: u32,
        schema: Option<Schema>,
        source: Option<Device>,
        produce: impl FnOnce(*mut sys::ArrowAsyncDeviceStreamHandler) -> Result<()>,
    ) -> Result<AsyncStream> {
        let shared = Arc::new(Shared {
            depth: if depth == 0 { DEFAULT_DEPTH } else { depth },
            source,
            state: Mutex::new(State {
                schema,
                ..State::default()
            }),
            upstream: Mutex::new(Upstream::Pending),
        });
        let handler = Box::into_raw(Box::new(sys::ArrowAsyncDeviceStreamHandler {
            on_schema: Some(on_schema),
            on_next_task: Some(on_next_task),
            on_error: Some(on_error),
            release: Some(release),
            producer: null_mut(),
            private_data: Arc::into_raw(Arc::clone(&shared)).cast_mut().cast(),
        }));
        if let Err(error) = produce(handler) {
            // SAFETY: no producer has the handler.
            unsafe { release(handler) };
            return Err(error);
        }
        Ok(AsyncStream {
            shared,
            _queues: Vec::new(),
        })
    }

    pub(crate) fn with_queues(mut self, queues: Vec<Queue>) -> AsyncStream {
        self._queues = queues;
        self
    }

    /// Waits for the type of the arrays and returns it. It consumes no array.
    ///
    /// If the stream fails before it tells its type, this method returns the error. The error is
    /// also the first item.
    pub async fn schema(&mut self) -> Result<Schema> {
        poll_fn(|context| {
            let mut state = self.shared.state();
            match (&state.schema, &state.failure) {
                (Some(schema), _) => return Poll::Ready(Ok(schema.clone())),
                (None, Some(error)) => return Poll::Ready(Err(error.clone())),
                (None, None) => {}
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl futures_core::Stream for AsyncStream {
    type Item = Result<Array>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Array>>> {
        let mut state = self.shared.state();
        let Some(item) = state.items.pop_front() else {
            if state.has_ended {
                return Poll::Ready(None);
            }
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        drop(state);
        self.shared.upstream().request(1);
        Poll::Ready(Some(item))
    }
}

impl FusedStream for AsyncStream {
    fn is_terminated(&self) -> bool {
        let state = self.shared.state();
        state.has_ended && state.items.is_empty()
    }
}

impl Drop for AsyncStream {
    fn drop(&mut self) {
        self.shared.upstream().cancel();
        // The producer may hold the shared part longer than this stream lives.
        let mut state = self.shared.state();
        let unread = (std::mem::take(&mut state.items), state.waker.take());
        drop(state);
        drop(unread);
    }
}

impl fmt::Debug for AsyncStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state();
        formatter
            .debug_struct("AsyncStream")
            .field("schema", &state.schema)
            .field("unread", &state.items.len())
            .field("has_ended", &state.has_ended)
            .finish()
    }
}

/// # Safety
/// `start` made the handler, and it is not released.
unsafe fn shared_of<'a>(handler: *mut sys::ArrowAsyncDeviceStreamHandler) -> &'a Shared {
    // SAFETY: the caller guarantees it.
    unsafe { &*(*handler).private_data.cast::<Shared>() }
}

/// Receives the schema, and requests the first arrays.
unsafe extern "C" fn on_schema(
    handler: *mut sys::ArrowAsyncDeviceStreamHandler,
    stream_schema: *mut sys::ArrowSchema,
) -> c_int {
    // SAFETY: the handler is ours. The producer transfers ownership of the schema.
    let (shared, schema) = unsafe {
        (
            shared_of(handler),
            Schema::from_raw(std::mem::take(&mut *stream_schema)),
        )
    };
    // SAFETY: the producer has set this member.
    if !shared.upstream().attach(unsafe { (*handler).producer }) {
        return libc::ECANCELED;
    }
    shared.update(|state| {
        state.schema.get_or_insert(schema);
    });
    shared.upstream().request(shared.depth);
    0
}

/// Receives an array, or the end.
unsafe extern "C" fn on_next_task(
    handler: *mut sys::ArrowAsyncDeviceStreamHandler,
    task: *mut sys::ArrowAsyncTask,
    _metadata: *const c_char,
) -> c_int {
    // SAFETY: the handler is ours.
    let shared = unsafe { shared_of(handler) };
    if task.is_null() {
        shared.update(|state| state.end(None));
        return 0;
    }
    // SAFETY: the task is valid and not extracted.
    match unsafe { extract(task) } {
        Ok(raw) => {
            shared.update(|state| {
                let schema = state.schema.clone().expect("the schema comes first");
                // SAFETY: the producer has transferred ownership of the struct, and it has the
                // stream's schema.
                let array = unsafe { Array::from_parts(raw, schema, shared.source) };
                state.items.push_back(Ok(array));
            });
            0
        }
        Err(error) => {
            let code = error.errno();
            shared.update(|state| state.end(Some(error)));
            code
        }
    }
}

/// # Safety
/// The task is valid and not extracted.
unsafe fn extract(task: *mut sys::ArrowAsyncTask) -> Result<sys::ArrowDeviceArray> {
    let mut out = sys::ArrowDeviceArray::default();
    // SAFETY: the caller guarantees it.
    let code = unsafe {
        (*task)
            .extract_data
            .map_or(libc::EINVAL, |extract_data| extract_data(task, &raw mut out))
    };
    match code {
        0 => Ok(out),
        code => Err(Error::new(
            code,
            format!("extract_data of a task failed with errno {code}"),
        )),
    }
}

/// Receives the error that ends the stream.
unsafe extern "C" fn on_error(
    handler: *mut sys::ArrowAsyncDeviceStreamHandler,
    code: c_int,
    message: *const c_char,
    _metadata: *const c_char,
) {
    // SAFETY: the handler is ours. The text is valid during this call.
    let (shared, text) = unsafe { (shared_of(handler), text_or_none(message)) };
    let text = text.map_or_else(String::new, |text: &CStr| text.to_string_lossy().into_owned());
    shared.update(|state| state.end(Some(Error::new(code, text))));
}

/// Ends the stream, also after a cancel.
unsafe extern "C" fn release(handler: *mut sys::ArrowAsyncDeviceStreamHandler) {
    // SAFETY: `start` made both pointers, and they are not used again.
    let shared = unsafe {
        let handler = Box::from_raw(handler);
        Arc::from_raw(handler.private_data.cast::<Shared>())
    };
    *shared.upstream() = Upstream::Closed;
    let unfinished = "the producer released its handler before the end of the stream";
    shared.update(|state| state.end(Some(Error::new(libc::EIO, unfinished))));
}
