// SPDX-License-Identifier: Apache-2.0
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Mutex;

use arrow_array::{Int32Array, UInt8Array};
use arrowdevice::{
    Allocator, Array, Buffer, CopyOptions, Device, Error, ErrorKind, LogLevel, Pool, PoolOptions, Queue, Sharing, sys,
};

use crate::counted::{Count, Dropped};
use crate::devices::{closed, device, tested};
use crate::types;

/// An allocator of host memory that counts.
struct Counting {
    live: Count,
    freed: Count,
    layouts: Mutex<Vec<(usize, Layout)>>,
    fails: Option<&'static str>,
    _dropped: Dropped,
}

impl Counting {
    fn new(dropped: &Count, fails: Option<&'static str>) -> Counting {
        let (live, freed) = (Count::default(), Count::default());
        Counting {
            live,
            freed,
            layouts: Mutex::default(),
            fails,
            _dropped: Dropped(dropped.clone()),
        }
    }
}

// SAFETY: the host's allocator returns what the call requests.
unsafe impl Allocator for Counting {
    fn allocate(&self, size: usize, alignment: usize, _: *mut c_void) -> arrowdevice::Result<NonNull<c_void>> {
        match self.fails {
            Some("panic") => panic!("the allocator's own"),
            Some(message) => return Err(Error::new(libc::ENOMEM, message)),
            None => {}
        }
        let layout = Layout::from_size_align(size, alignment).unwrap();
        // SAFETY: the library never requests 0 bytes.
        let memory = NonNull::new(unsafe { alloc(layout) }).unwrap();
        self.layouts.lock().unwrap().push((memory.as_ptr().addr(), layout));
        self.live.add();
        Ok(memory.cast())
    }

    unsafe fn deallocate(&self, buffer: NonNull<c_void>, size: usize, _: *mut c_void) {
        let mut layouts = self.layouts.lock().unwrap();
        let index = layouts
            .iter()
            .position(|(at, _)| *at == buffer.as_ptr().addr())
            .unwrap();
        let (_, layout) = layouts.swap_remove(index);
        assert_eq!(layout.size(), size);
        // SAFETY: the buffer came from `allocate`, and the library frees it once.
        unsafe { dealloc(buffer.as_ptr().cast(), layout) };
        self.freed.add();
    }
}

#[test]
fn pool_uses_an_allocator_and_drops_it_last() {
    let dropped = Count::default();
    let allocator = Counting::new(&dropped, None);
    let (live, freed) = (allocator.live.clone(), allocator.freed.clone());
    let pool = Pool::new(
        Device::cpu().unwrap(),
        PoolOptions::new().max_cached_bytes(0).allocator(allocator),
    )
    .unwrap();
    let array = Array::try_from(&types::batch()).unwrap();
    let options = CopyOptions::new().pool(&pool).sharing(Sharing::Refused);
    let copy = array.into_device(Device::cpu().unwrap(), options).unwrap();
    assert!(live.get() > 0);
    drop(pool);
    assert_eq!((freed.get(), dropped.get()), (0, 0));
    assert_eq!(copy.into_record_batch().unwrap(), types::batch());
    assert_eq!((freed.get(), dropped.get()), (live.get(), 1));
}

#[test]
fn failing_or_panicking_allocator_returns_an_error() {
    let cpu = Device::cpu().unwrap();
    for (fails, kind) in [
        ("it is all gone", ErrorKind::OutOfMemory),
        ("panic", ErrorKind::DeviceFailure),
    ] {
        let dropped = Count::default();
        let options = PoolOptions::new().allocator(Counting::new(&dropped, Some(fails)));
        let pool = Pool::new(cpu, options).unwrap();
        let array = Array::from_arrow(&Int32Array::from(vec![1; 100])).unwrap();
        let options = CopyOptions::new().pool(&pool).sharing(Sharing::Refused);
        let failed = array.into_device(cpu, options).unwrap_err();
        assert_eq!(failed.error().kind(), kind, "{failed}");
        assert_eq!(failed.into_value().into_arrow().unwrap().len(), 100);
        drop(pool);
        assert_eq!(dropped.get(), 1);
    }
}

#[test]
fn allocator_without_a_pool_is_dropped() {
    let dropped = Count::default();
    drop(PoolOptions::new().allocator(Counting::new(&dropped, None)));
    assert_eq!(dropped.get(), 1);
    let options = PoolOptions::new()
        .max_bytes(usize::MAX)
        .allocator(Counting::new(&dropped, None));
    let options = options.allocator(Counting::new(&dropped, None));
    assert_eq!(dropped.get(), 2);
    drop(options);
    assert_eq!(dropped.get(), 3);
}

#[test]
fn failed_pool_returns_its_allocator() {
    let closed = closed();

    let dropped = Count::default();
    let allocator = Counting::new(&dropped, None);
    let live = allocator.live.clone();
    let options = PoolOptions::new().max_cached_bytes(0).allocator(allocator);
    let refused = Pool::new(closed, options).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::NoDevice);
    assert_eq!(dropped.get(), 0);

    let cpu = Device::cpu().unwrap();
    let pool = Pool::new(cpu, refused.into_value()).unwrap();
    drop(Buffer::new(cpu, 100, Some(&pool), None).unwrap());
    assert_eq!((live.get(), dropped.get()), (1, 0));
    drop(pool);
    assert_eq!(dropped.get(), 1);

    let options = PoolOptions::new().allocator(Counting::new(&dropped, None));
    let refused = Pool::new(closed, options).unwrap_err();
    assert_eq!(Error::from(refused).kind(), ErrorKind::NoDevice); // drops the allocator with the options
    assert_eq!(dropped.get(), 2);
}

#[test]
fn shareable_pool_refuses_an_allocator_and_returns_it() {
    let dropped = Count::default();
    let options = PoolOptions::new()
        .shareable(true)
        .allocator(Counting::new(&dropped, None));
    let refused = Pool::new(Device::cpu().unwrap(), options).unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(dropped.get(), 0);
    drop(refused);
    assert_eq!(dropped.get(), 1);
}

#[test]
fn pools_count_cache_and_limit_memory() {
    for device in tested() {
        let pool = Pool::new(device, PoolOptions::new().max_bytes(1 << 20)).unwrap();
        let buffer = Buffer::new(device, 1000, Some(&pool), None).unwrap();
        assert_eq!((buffer.size(), buffer.device()), (1000, device));
        let stats = pool.stats().unwrap();
        assert!(
            stats.used_bytes >= 1000 && stats.allocations == 1 && stats.driver_allocations >= 1,
            "{stats:?}"
        );
        let error = Buffer::new(device, 1 << 21, Some(&pool), None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert_eq!(
            Buffer::new(device, 0, None, None).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        drop(buffer);
        assert_eq!(pool.stats().unwrap().used_bytes, 0);
        pool.trim().unwrap();
        assert_eq!(pool.stats().unwrap().cached_bytes, 0);
    }
}

#[test]
fn set_default_pool_refuses_a_pool_of_another_device() {
    let small = device("ext_dev:3"); // no test that counts uses this device
    let pool = Pool::new(small, PoolOptions::new()).unwrap();
    small.set_default_pool(Some(&pool)).unwrap();
    let buffer = Buffer::new(small, 64, None, None).unwrap();
    assert!(pool.stats().unwrap().allocations >= 1);
    small.set_default_pool(None).unwrap();
    drop(buffer);
    let error = device("cpu").set_default_pool(Some(&pool)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn queue_copies_bytes_in_order_before_an_export() {
    for device in tested() {
        let mut queue = Queue::new(device).unwrap();
        let bytes: Box<[u8]> = (0..200).collect();
        let buffer = Buffer::new(device, bytes.len(), None, Some(&queue)).unwrap();
        let mut back = vec![0_u8; bytes.len()];
        let into = sys::arrowdevice_copy_region {
            dst_device: device.as_ptr(),
            dst: buffer.as_ptr(),
            src: bytes.as_ptr().cast(),
            size: 200,
            ..Default::default()
        };
        let from = sys::arrowdevice_copy_region {
            dst: back.as_mut_ptr().cast(),
            src_device: device.as_ptr(),
            src: buffer.as_ptr(),
            size: 200,
            ..Default::default()
        };
        // SAFETY: all buffers live until the queue has finished.
        unsafe {
            queue.copy(&[into]).unwrap();
            queue.copy(&[from]).unwrap();
        }
        queue.finish(None).unwrap();
        assert_eq!(back, &bytes[..], "{device}");

        let mut buffers = [std::ptr::null(), buffer.as_ptr().cast_const()];
        unsafe extern "C" fn release(array: *mut sys::ArrowArray) {
            // SAFETY: the library calls this with a valid array.
            unsafe { (*array).release = None }
        }
        let raw = sys::ArrowArray {
            length: 200,
            n_buffers: 2,
            buffers: buffers.as_mut_ptr(),
            release: Some(release),
            ..Default::default()
        };
        let schema = arrowdevice::Schema::try_from(&arrow_schema::DataType::UInt8).unwrap();
        // SAFETY: the buffer and its pointers outlive the array.
        let mut array = unsafe { Array::export(device, raw, schema, Some(&mut queue)) }.unwrap();
        assert_eq!(array.device().unwrap(), device);
        let copy = array.copy_to(Device::cpu().unwrap(), CopyOptions::new()).unwrap();
        drop(array);
        buffer.free_after(&queue);
        let expected: arrow_array::ArrayRef = std::sync::Arc::new(UInt8Array::from_iter_values(0..200));
        assert_eq!(&copy.into_arrow().unwrap(), &expected);
    }
}

#[test]
fn log_handler_gets_messages_and_may_panic() {
    let lines = std::sync::Arc::new(Mutex::new(Vec::new()));
    let mistake = || {
        // SAFETY: foreign memory is left unchanged and logged.
        unsafe {
            sys::arrowdevice_buffer_free(
                device("cpu").as_ptr(),
                std::ptr::null_mut(),
                NonNull::dangling().as_ptr(),
            )
        }
    };
    let to = lines.clone();
    arrowdevice::log_set_handler(move |level, line| to.lock().unwrap().push((level, line.to_string())));
    mistake();
    let called = Count::default();
    let panicking = called.clone();
    arrowdevice::log_set_handler(move |_, _| {
        panicking.add();
        panic!("the handler's own");
    });
    mistake();
    arrowdevice::log_reset_handler();
    assert!(called.get() >= 1);
    let lines = lines.lock().unwrap();
    assert!(
        lines
            .iter()
            .any(|(level, line)| *level <= LogLevel::Warning && !line.is_empty()),
        "{lines:?}"
    );
}
