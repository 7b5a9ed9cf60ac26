// SPDX-License-Identifier: Apache-2.0
use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};

use crate::call::{call, count, drop_without_panic, sized, without_panic};
use crate::device::Device;
use crate::error::{Error, MoveError, Result};
use crate::sys;

/// Device memory with a cache for reuse and an upper limit. Every device has a default pool. Live
/// buffers hold a reference to a dropped pool.
pub struct Pool(NonNull<sys::arrowdevice_pool>);

// SAFETY: all functions on pools have "Thread-safety: free", and the one owner destroys the pool
// once.
unsafe impl Send for Pool {}
// SAFETY: the same holds here.
unsafe impl Sync for Pool {}

/// Options of a pool.
#[derive(Default)]
pub struct PoolOptions {
    max_cached_bytes: i64,
    max_bytes: i64,
    shareable: bool,
    allocator: Option<PoolAllocator>,
}

/// Options that hold only an allocator and its C callbacks.
struct PoolAllocator(sys::arrowdevice_pool_options);

// SAFETY: an `Allocator` is `Send`, and the pointer owns one.
unsafe impl Send for PoolAllocator {}
// SAFETY: an `Allocator` is `Sync`.
unsafe impl Sync for PoolAllocator {}

impl Drop for PoolAllocator {
    fn drop(&mut self) {
        if let Some(destroy) = self.0.destroy {
            // SAFETY: `allocator` made the pointer, and no pool owns it.
            unsafe { destroy(self.0.user) }
        }
    }
}

impl PoolOptions {
    /// Returns the defaults.
    pub fn new() -> PoolOptions {
        PoolOptions::default()
    }

    /// Limits the bytes that are cached for reuse. 0 caches none. The default is a quarter of the
    /// free memory, up to 1 GiB, or up to an eighth of the device's memory if that is more.
    #[must_use]
    pub fn max_cached_bytes(mut self, bytes: usize) -> PoolOptions {
        self.max_cached_bytes = if bytes == 0 { -1 } else { count(bytes) };
        self
    }

    /// Limits the sum of used and cached bytes. Beyond it, calls fail with `OutOfMemory`. 0 sets no
    /// limit.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> PoolOptions {
        self.max_bytes = count(bytes);
        self
    }

    /// Makes the memory shareable: other processes can open it without a copy, by handles of
    /// [`Array::ipc_handle`](crate::Array::ipc_handle) or as clients of a [`Server`](crate::Server). A
    /// process that opens an array can read whole allocations of the pool. It fails with `Unsupported` if the device has no such memory, and
    /// with `InvalidInput` if there is an allocator.
    #[must_use]
    pub fn shareable(mut self, shareable: bool) -> PoolOptions {
        self.shareable = shareable;
        self
    }

    /// Uses an allocator of the application instead of the driver's.
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
            .field("shareable", &self.shareable)
            .field("has_allocator", &self.allocator.is_some())
            .finish()
    }
}

/// A source of a pool's memory. Any thread may call it. It is dropped after the last deallocation.
///
/// # Safety
/// `allocate` returns memory of the pool's device with the requested size and alignment. The memory
/// is exclusive until it is deallocated.
pub unsafe trait Allocator: Send + Sync + 'static {
    /// Allocates `size` bytes with this alignment. With a `native_queue`, the memory may be valid
    /// in that queue's order only.
    fn allocate(&self, size: usize, alignment: usize, native_queue: *mut c_void) -> Result<NonNull<c_void>>;

    /// Frees memory from `allocate`.
    ///
    /// # Safety
    /// Only the library calls this, once for each buffer.
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
            // SAFETY: the library's output is valid for writes.
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
    // No caller can get the error of a panic. The panic hook has already reported it.
    let _ = without_panic("an allocator", || {
        let buffer = NonNull::new(buffer).ok_or_else(|| Error::invalid("the buffer is NULL"))?;
        // SAFETY: the buffer came from `allocate`, and the library frees it once.
        unsafe { allocator.deallocate(buffer, size as usize, native_queue) };
        Ok(())
    });
}

unsafe extern "C" fn destroy<A: Allocator>(user: *mut c_void) {
    // SAFETY: Box::into_raw made the pointer, and it is not used again.
    drop_without_panic(unsafe { Box::from_raw(user.cast::<A>()) });
}

/// Statistics of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes of live buffers.
    pub used_bytes: i64,
    /// Bytes cached for reuse.
    pub cached_bytes: i64,
    /// The largest `used_bytes + cached_bytes` so far.
    pub peak_bytes: i64,
    /// Allocated buffers.
    pub allocations: i64,
    /// Allocated buffers that came from the driver.
    pub driver_allocations: i64,
}

impl Pool {
    /// Makes a pool of a device's memory. If it fails, the error holds the options with the
    /// allocator.
    pub fn new(device: Device, options: PoolOptions) -> Result<Pool, MoveError<PoolOptions>> {
        let mut raw = sys::arrowdevice_pool_options {
            flags: if options.shareable {
                sys::ARROWDEVICE_POOL_SHAREABLE
            } else {
                0
            },
            max_cached_bytes: options.max_cached_bytes,
            max_bytes: options.max_bytes,
            ..options
                .allocator
                .as_ref()
                .map_or_else(|| sized!(arrowdevice_pool_options), |allocator| allocator.0)
        };
        let mut out = null_mut();
        // SAFETY: devices are always valid, and the callbacks match the type at `user`.
        let made =
            call(|error| unsafe { sys::arrowdevice_pool_create(device.as_ptr(), &raw mut raw, &raw mut out, error) });
        if let Err(error) = made {
            return Err(MoveError::new(error, options));
        }
        std::mem::forget(options.allocator); // the pool destroys the allocator
        Ok(Pool(NonNull::new(out).expect("a successful call returns a pool")))
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> Result<PoolStats> {
        let mut raw = sized!(arrowdevice_pool_stats);
        // SAFETY: the object is alive, and the struct's size is set.
        call(|error| unsafe { sys::arrowdevice_pool_get_stats(self.as_ptr(), &raw mut raw, error) })?;
        Ok(PoolStats {
            used_bytes: raw.used_bytes,
            cached_bytes: raw.cached_bytes,
            peak_bytes: raw.peak_bytes,
            allocations: raw.allocations,
            driver_allocations: raw.driver_allocations,
        })
    }

    /// Returns all cached memory to the driver.
    pub fn trim(&self) -> Result<()> {
        // SAFETY: the object is alive.
        call(|error| unsafe { sys::arrowdevice_pool_trim(self.as_ptr(), error) })
    }

    /// Returns the pointer for calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_pool {
        self.0.as_ptr()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the object is alive and not used again.
        unsafe { sys::arrowdevice_pool_destroy(self.as_ptr()) }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Pool({:p})", self.0)
    }
}
