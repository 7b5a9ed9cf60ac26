// SPDX-License-Identifier: Apache-2.0
use std::ptr::null_mut;
use std::time::Duration;

use crate::array::Validation;
use crate::call::{sized, timeout_ns};
use crate::device::{Device, pointer_or_null};
use crate::pool::Pool;
use crate::queue::Queue;
use crate::sys;

/// Selects if an array shares its memory with the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sharing {
    /// Shares if the target can use the memory, else copies.
    #[default]
    Allowed,
    /// Never copies. If the target cannot use the memory, the call fails with `Unsupported`.
    Required,
    /// Always copies.
    Refused,
}

impl Sharing {
    pub(crate) fn flags(self) -> u32 {
        match self {
            Sharing::Allowed => 0,
            Sharing::Required => sys::ARROWDEVICE_COPY_NEVER,
            Sharing::Refused => sys::ARROWDEVICE_COPY_ALWAYS,
        }
    }
}

/// Options of copies between devices and of `into_device` and `into_host`.
#[derive(Debug, Default)]
pub struct CopyOptions<'a> {
    sharing: Sharing,
    no_trim: bool,
    queue: Option<&'a mut Queue>,
    pool: Option<&'a Pool>,
    timeout: Option<Duration>,
}

impl<'a> CopyOptions<'a> {
    /// Returns the defaults: a queue of the library, the target's default pool, no time-out.
    pub fn new() -> CopyOptions<'a> {
        CopyOptions::default()
    }

    /// Selects if the memory is shared. Copies ignore it, because they always copy.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> CopyOptions<'a> {
        self.sharing = sharing;
        self
    }

    /// Copies whole buffers instead of the rows of a slice.
    #[must_use]
    pub fn no_trim(mut self, no_trim: bool) -> CopyOptions<'a> {
        self.no_trim = no_trim;
        self
    }

    /// Uses a queue of the target's backend, or of the source's backend if the target is the CPU.
    /// The copy runs after the queue's work so far.
    #[must_use]
    pub fn queue(mut self, queue: &'a mut Queue) -> CopyOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// Uses a pool for the target's memory.
    #[must_use]
    pub fn pool(mut self, pool: &'a Pool) -> CopyOptions<'a> {
        self.pool = Some(pool);
        self
    }

    /// Limits the whole call, which fails with `TimedOut`. Submitted work then ends in the
    /// background. A zero duration does not wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> CopyOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// Returns the struct for copies. It is valid as long as the values that it borrows.
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
            timeout_ns: timeout_ns(self.timeout),
            ..sized!(arrowdevice_copy_options)
        }
    }
}

/// Options of an import.
#[derive(Debug, Default)]
pub struct ImportOptions<'a> {
    resolve_sizes: bool,
    queue: Option<&'a mut Queue>,
    validation: Validation,
    timeout: Option<Duration>,
}

impl<'a> ImportOptions<'a> {
    /// Returns the defaults: structural validation, no waits.
    pub fn new() -> ImportOptions<'a> {
        ImportOptions::default()
    }

    /// Resolves sizes that are on the device. The import waits for the array's event then.
    #[must_use]
    pub fn resolve_sizes(mut self, resolve_sizes: bool) -> ImportOptions<'a> {
        self.resolve_sizes = resolve_sizes;
        self
    }

    /// Makes this queue wait for the array's event.
    #[must_use]
    pub fn queue(mut self, queue: &'a mut Queue) -> ImportOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// Selects how much of the array is checked.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> ImportOptions<'a> {
        self.validation = validation;
        self
    }

    /// Limits every wait of the CPU. The call fails with `TimedOut`. A zero duration does not wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> ImportOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// Returns the struct. It is valid as long as the values that it borrows.
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
            timeout_ns: timeout_ns(self.timeout),
            ..sized!(arrowdevice_import_options)
        }
    }
}

/// Options of a stream to a device.
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
    /// Returns the defaults: two batches at a time, a queue of the library, the target's default
    /// pool.
    pub fn new() -> StreamOptions<'a> {
        StreamOptions::default()
    }

    /// Makes a thread of the stream call the producer. Otherwise the consumer's thread calls it,
    /// inside the consumer's calls.
    #[must_use]
    pub fn read_ahead(mut self, read_ahead: bool) -> StreamOptions<'a> {
        self.read_ahead = read_ahead;
        self
    }

    /// Sets how many batches are requested from the producer before the first is returned. 0 means
    /// 2.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> StreamOptions<'a> {
        self.depth = depth;
        self
    }

    /// Selects if batches share the memory.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> StreamOptions<'a> {
        self.sharing = sharing;
        self
    }

    /// Copies whole buffers instead of the rows of slices.
    #[must_use]
    pub fn no_trim(mut self, no_trim: bool) -> StreamOptions<'a> {
        self.no_trim = no_trim;
        self
    }

    /// Moves a queue into the stream, which drops it after its end. If the stream cannot be made,
    /// these options drop the queue, and the application may then use a wrapped native queue again.
    /// The error holds the stream, not the queue.
    #[must_use]
    pub fn queue(mut self, queue: Queue) -> StreamOptions<'a> {
        self.queue = Some(queue);
        self
    }

    /// Uses a pool for the target's memory. The stream holds a reference to it.
    #[must_use]
    pub fn pool(mut self, pool: &'a Pool) -> StreamOptions<'a> {
        self.pool = Some(pool);
        self
    }

    /// Limits each call for the next array. The stream fails with `TimedOut`. A zero duration does
    /// not wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> StreamOptions<'a> {
        self.timeout = Some(timeout);
        self
    }

    /// Moves the queue to the stream that was made with these options.
    pub(crate) fn take_queue(&mut self) -> Option<Queue> {
        self.queue.take()
    }

    /// Returns the struct. It is valid as long as the values that it borrows and owns.
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
            timeout_ns: timeout_ns(self.timeout),
            ..sized!(arrowdevice_stream_options)
        }
    }
}
