// SPDX-License-Identifier: Apache-2.0
//! Waits that fail a test instead of hanging.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use crate::counted::Count;

/// The longest time that a test waits for another thread.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Counts the wakes of a task.
#[derive(Default)]
pub(crate) struct Wakes(pub(crate) Count);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.add();
    }
}

/// Runs a future on this thread. It fails the test if no wake comes within the limit.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut future = pin!(future);
    loop {
        let seen = wakes.0.get();
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => wakes.0.wait_until(seen + 1),
        }
    }
}

/// Calls a function on another thread. It fails the test if the function blocks or panics.
pub(crate) fn returns<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, result) = channel();
    thread::spawn(move || send.send(function()));
    result
        .recv_timeout(LIMIT)
        .expect("the function returns within the limit")
}
