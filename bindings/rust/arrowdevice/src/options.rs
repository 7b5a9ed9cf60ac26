// SPDX-License-Identifier: Apache-2.0
use std::ptr::null_mut;
use std::time::Duration;

use crate::array::Validation;
use crate::call::{sized, timeout_option};
use crate::device::{Device, pointer_or_null};
use crate::pool::Pool;
use crate::queue::Queue;
use crate::sys;

/// Whether an array that is handed over keeps its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sharing {
    /// Where the target can use the memory; else it is copied.
    #[default]
    Allowed,
    /// Always: where the target cannot use the memory, the call fails with `Unsupported`.
    Required,
    /// Never: it is always copied.
    Refused,
}

impl Sharing {
    fn flags(self) -> u32 {
        match self {
            Sharing::Allowed => 0,
            Sharing::Required => sys::ARROWDEVICE_COPY_NEVER,
            Sharing::Refused => sys::ARROWDEVICE_COPY_ALWAYS,
        }
    }
}

/// How arrays are copied and moved between devices.
#[derive(Debug, Default)]
pub struct CopyOptions<'a> {
    sharing: Sharing,
    no_trim: bool,
    queue: Option<&'a mut Queue>,
    pool: Option<&'a Pool>,
    timeout: Option<Duration>,
}

impl<'a> CopyOptions<'a> {
    /// The defaults: on a queue of the library, from the target's default pool, as long as it takes.
    pub fn new() -> CopyOptions<'a> {
        CopyOptions::default()
    }

    /// Whether the memory is shared where it can be. For moves; copies always copy.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> CopyOptions<'a> {
        self.sharing = sharing;
        self
    }

    /// Does not trim to the rows of a slice.
    #[must_use]
    pub fn no_trim(mut self, no_trim: bool) -> CopyOptions<'a> {
        self.no_trim = no_trim;
        self
    }

    /// A queue of the target's backend, or of the source's when the target is the CPU. The copy comes after its work so
    /// far.
    #[must_use]
    pub fn queue(mut self, queue: &'a mut Queue) -> CopyOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// Where the target's memory comes from.
    #[must_use]
    pub fn pool(mut self, pool: &'a Pool) -> CopyOptions<'a> {
        self.pool = Some(pool);
        self
    }

    /// Bounds every wait of the CPU before the submission: `TimedOut`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> CopyOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// For a copy. Valid as long as what it borrows.
    pub(crate) fn raw_copy(&self, source: Option<Device>) -> sys::arrowdevice_copy_options {
        self.raw(source, 0)
    }

    /// For a move. Valid as long as what it borrows.
    pub(crate) fn raw_move(&self, source: Option<Device>, more_flags: u32) -> sys::arrowdevice_copy_options {
        self.raw(source, self.sharing.flags() | more_flags)
    }

    fn raw(&self, source: Option<Device>, flags: u32) -> sys::arrowdevice_copy_options {
        let no_trim = if self.no_trim { sys::ARROWDEVICE_COPY_NO_TRIM } else { 0 };
        sys::arrowdevice_copy_options {
            flags: flags | no_trim,
            queue: self.queue.as_ref().map_or(null_mut(), |queue| queue.as_ptr()),
            pool: self.pool.map_or(null_mut(), Pool::as_ptr),
            source_device: pointer_or_null(source),
            timeout_ns: timeout_option(self.timeout),
            ..sized!(arrowdevice_copy_options)
        }
    }
}

/// How an array is taken over for its typed buffers.
#[derive(Debug, Default)]
pub struct ImportOptions<'a> {
    resolve_sizes: bool,
    queue: Option<&'a mut Queue>,
    validation: Validation,
    timeout: Option<Duration>,
}

impl<'a> ImportOptions<'a> {
    /// The defaults: structural validation, nobody waits.
    pub fn new() -> ImportOptions<'a> {
        ImportOptions::default()
    }

    /// Also learns sizes that lie on the device, for which it waits for the array's event.
    #[must_use]
    pub fn resolve_sizes(mut self, resolve_sizes: bool) -> ImportOptions<'a> {
        self.resolve_sizes = resolve_sizes;
        self
    }

    /// This queue waits for the array's event.
    #[must_use]
    pub fn queue(mut self, queue: &'a mut Queue) -> ImportOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// How far the array is checked.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> ImportOptions<'a> {
        self.validation = validation;
        self
    }

    /// Bounds every wait of the CPU: `TimedOut`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> ImportOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// Valid as long as what it borrows.
    pub(crate) fn raw(&self, source: Option<Device>) -> sys::arrowdevice_import_options {
        sys::arrowdevice_import_options {
            flags: if self.resolve_sizes {
                sys::ARROWDEVICE_IMPORT_RESOLVE_SIZES
            } else {
                0
            },
            queue: self.queue.as_ref().map_or(null_mut(), |queue| queue.as_ptr()),
            source_device: pointer_or_null(source),
            validate: self.validation.level(),
            timeout_ns: timeout_option(self.timeout),
            ..sized!(arrowdevice_import_options)
        }
    }
}

/// How a stream moves its batches.
#[derive(Debug, Default)]
pub struct StreamOptions<'a> {
    read_ahead: bool,
    depth: u32,
    sharing: Sharing,
    no_trim: bool,
    queue: Option<Queue>,
    pool: Option<&'a Pool>,
    timeout: Option<Duration>,
}

impl<'a> StreamOptions<'a> {
    /// The defaults: two batches at a time, on a queue of the library, from the target's default pool.
    pub fn new() -> StreamOptions<'a> {
        StreamOptions::default()
    }

    /// A thread of the stream calls the producer. Without it, only the consumer's own thread does, within its calls.
    #[must_use]
    pub fn read_ahead(mut self, read_ahead: bool) -> StreamOptions<'a> {
        self.read_ahead = read_ahead;
        self
    }

    /// Batches that are asked of the producer before the oldest of them is handed out; 0: 2.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> StreamOptions<'a> {
        self.depth = depth;
        self
    }

    /// Whether batches share the memory where they can.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> StreamOptions<'a> {
        self.sharing = sharing;
        self
    }

    /// Does not trim to the rows of slices.
    #[must_use]
    pub fn no_trim(mut self, no_trim: bool) -> StreamOptions<'a> {
        self.no_trim = no_trim;
        self
    }

    /// A queue that is the stream's own from here, and is dropped after it. If the stream is not made, the queue is dropped
    /// with these options, which hands a wrapped one back to the application: the error gives back the stream, not this.
    #[must_use]
    pub fn queue(mut self, queue: Queue) -> StreamOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// Where the target's memory comes from. The stream holds it.
    #[must_use]
    pub fn pool(mut self, pool: &'a Pool) -> StreamOptions<'a> {
        self.pool = Some(pool);
        self
    }

    /// Bounds every wait of the CPU before a submission: `TimedOut`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> StreamOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// For the stream that was made with these options, which uses it from now on.
    pub(crate) fn take_queue(&mut self) -> Option<Queue> {
        self.queue.take()
    }

    /// Valid as long as what it borrows and owns.
    pub(crate) fn raw(&self, source: Option<Device>) -> sys::arrowdevice_stream_options {
        let no_trim = if self.no_trim { sys::ARROWDEVICE_COPY_NO_TRIM } else { 0 };
        sys::arrowdevice_stream_options {
            flags: if self.read_ahead {
                sys::ARROWDEVICE_STREAM_READ_AHEAD
            } else {
                0
            },
            depth: i32::try_from(self.depth).unwrap_or(i32::MAX),
            copy_flags: self.sharing.flags() | no_trim,
            queue: self.queue.as_ref().map_or(null_mut(), Queue::as_ptr),
            pool: self.pool.map_or(null_mut(), Pool::as_ptr),
            source_device: pointer_or_null(source),
            timeout_ns: timeout_option(self.timeout),
            ..sized!(arrowdevice_stream_options)
        }
    }
}
