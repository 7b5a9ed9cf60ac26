// SPDX-License-Identifier: Apache-2.0
use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};

use crate::call::{call, count, drop_without_panic, sized, without_panic};
use crate::device::Device;
use crate::error::{Error, MoveError, Result};
use crate::sys;

/// Memory of a device, kept for reuse and bounded. Every device has one already. Live buffers keep a pool after it has
/// been dropped.
pub struct Pool(NonNull<sys::arrowdevice_pool>);

// SAFETY: all functions on pools are "Thread-safety: free"; it is destroyed once, by its one owner.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// How a pool gets, keeps and bounds its memory.
#[derive(Default)]
pub struct PoolOptions {
    max_cached_bytes: i64,
    max_bytes: i64,
    allocator: Option<PoolAllocator>,
}

/// Options with an allocator behind the pointers that C has of it, and nothing else.
struct PoolAllocator(sys::arrowdevice_pool_options);

// SAFETY: an `Allocator` is `Send`, and the pointer in there owns one.
unsafe impl Send for PoolAllocator {}
// SAFETY: an `Allocator` is `Sync`.
unsafe impl Sync for PoolAllocator {}

impl Drop for PoolAllocator {
    fn drop(&mut self) {
        if let Some(destroy) = self.0.destroy {
            // SAFETY: made by `allocator`, and no pool has taken it over.
            unsafe { destroy(self.0.user) }
        }
    }
}

impl PoolOptions {
    /// The defaults.
    pub fn new() -> PoolOptions {
        PoolOptions::default()
    }

    /// Bytes kept when unused; 0: none. Without it, a quarter of what is free, at most 1 GiB.
    #[must_use]
    pub fn max_cached_bytes(mut self, bytes: usize) -> PoolOptions {
        self.max_cached_bytes = if bytes == 0 { -1 } else { count(bytes) };
        self
    }

    /// Bytes in use and kept together; beyond, calls fail with `OutOfMemory`. 0: no cap.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> PoolOptions {
        self.max_bytes = count(bytes);
        self
    }

    /// The application's own allocator in place of the driver's.
    #[must_use]
    pub fn allocator<A: Allocator>(mut self, allocator: A) -> PoolOptions {
        self.allocator = Some(PoolAllocator(sys::arrowdevice_pool_options {
            allocate: Some(allocate::<A>),
            deallocate: Some(deallocate::<A>),
            destroy: Some(destroy::<A>),
            user: Box::into_raw(Box::new(allocator)).cast::<c_void>(),
            ..sized!(arrowdevice_pool_options)
        }));
        self
    }
}

impl fmt::Debug for PoolOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PoolOptions")
            .field("max_cached_bytes", &self.max_cached_bytes)
            .field("max_bytes", &self.max_bytes)
            .field("has_allocator", &self.allocator.is_some())
            .finish()
    }
}

/// Where a pool's memory comes from. It is called from any thread, and dropped after the last deallocation.
///
/// # Safety
/// What `allocate` gives is memory of the pool's device, as large and as aligned as asked for, and nobody else's until it
/// is deallocated.
pub unsafe trait Allocator: Send + Sync + 'static {
    /// So many bytes with this alignment. With a `native_queue` the memory may be ordered on that queue.
    fn allocate(&self, size: usize, alignment: usize, native_queue: *mut c_void) -> Result<NonNull<c_void>>;

    /// Gives back what `allocate` gave.
    ///
    /// # Safety
    /// Called once for each buffer, by the library only.
    unsafe fn deallocate(&self, buffer: NonNull<c_void>, size: usize, native_queue: *mut c_void);
}

unsafe extern "C" fn allocate<A: Allocator>(
    user: *mut c_void,
    size: i64,
    alignment: i64,
    native_queue: *mut c_void,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: `user` is the allocator until it is destroyed.
    let allocator = unsafe { &*user.cast::<A>() };
    match without_panic("an allocator", || {
        allocator.allocate(size as usize, alignment as usize, native_queue)
    }) {
        Ok(buffer) => {
            // SAFETY: the library's, to be filled.
            unsafe { *out = buffer.as_ptr() };
            0
        }
        Err(error) => error.errno(),
    }
}

unsafe extern "C" fn deallocate<A: Allocator>(
    user: *mut c_void,
    buffer: *mut c_void,
    size: i64,
    native_queue: *mut c_void,
) {
    // SAFETY: `user` is the allocator until it is destroyed.
    let allocator = unsafe { &*user.cast::<A>() };
    // Nobody is there to be told of a panic but the panic hook, which was.
    let _ = without_panic("an allocator", || {
        let buffer = NonNull::new(buffer).ok_or_else(|| Error::invalid("no buffer"))?;
        // SAFETY: what was allocated, once.
        unsafe { allocator.deallocate(buffer, size as usize, native_queue) };
        Ok(())
    });
}

unsafe extern "C" fn destroy<A: Allocator>(user: *mut c_void) {
    // SAFETY: made by Box::into_raw, and not used again.
    drop_without_panic(unsafe { Box::from_raw(user.cast::<A>()) });
}

/// A pool's figures, in bytes and counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes of live buffers.
    pub used_bytes: i64,
    /// Bytes kept for reuse.
    pub cached_bytes: i64,
    /// The greatest `used + kept` so far.
    pub peak_bytes: i64,
    /// Buffers given out.
    pub allocations: i64,
    /// Of these, asked of the driver.
    pub driver_allocations: i64,
}

impl Pool {
    /// A pool of a device's memory. When it fails, the options come back, with the allocator.
    pub fn new(device: Device, options: PoolOptions) -> Result<Pool, MoveError<PoolOptions>> {
        let mut raw = sys::arrowdevice_pool_options {
            max_cached_bytes: options.max_cached_bytes,
            max_bytes: options.max_bytes,
            ..options
                .allocator
                .as_ref()
                .map_or_else(|| sized!(arrowdevice_pool_options), |allocator| allocator.0)
        };
        let mut out = null_mut();
        // SAFETY: devices are always valid; the callbacks fit what `user` points to.
        let made =
            call(|error| unsafe { sys::arrowdevice_pool_create(device.as_ptr(), &raw mut raw, &raw mut out, error) });
        if let Err(error) = made {
            return Err(MoveError::new(error, options));
        }
        std::mem::forget(options.allocator); // the pool destroys it
        Ok(Pool(NonNull::new(out).expect("a success comes with a pool")))
    }

    /// Its figures now.
    pub fn stats(&self) -> Result<PoolStats> {
        let mut raw = sized!(arrowdevice_pool_stats);
        // SAFETY: alive; the size is set.
        call(|error| unsafe { sys::arrowdevice_pool_get_stats(self.as_ptr(), &raw mut raw, error) })?;
        Ok(PoolStats {
            used_bytes: raw.used_bytes,
            cached_bytes: raw.cached_bytes,
            peak_bytes: raw.peak_bytes,
            allocations: raw.allocations,
            driver_allocations: raw.driver_allocations,
        })
    }

    /// Gives back to the driver all that is kept and not in use.
    pub fn trim(&self) -> Result<()> {
        // SAFETY: alive.
        call(|error| unsafe { sys::arrowdevice_pool_trim(self.as_ptr(), error) })
    }

    /// For calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_pool {
        self.0.as_ptr()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: alive, and not used again.
        unsafe { sys::arrowdevice_pool_destroy(self.as_ptr()) }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Pool({:p})", self.0)
    }
}
