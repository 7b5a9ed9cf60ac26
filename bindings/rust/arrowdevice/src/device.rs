// SPDX-License-Identifier: Apache-2.0
use std::ffi::CString;
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::str::FromStr;
use std::time::Duration;

use crate::call::{call, count, sized, text, timeout_parameter};
use crate::device_type::DeviceType;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::sys;

/// A device: a vendor's context with a published pair of type and id.
///
/// A value that owns nothing, since devices stay valid as long as the process. Nothing of a driver is touched before the
/// first call that names a device of its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device(NonNull<sys::arrowdevice_device>);

// SAFETY: "Pointers to devices stay valid as long as the process", and all functions on them are "Thread-safety: free".
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// A device by its name: the type's name, a colon and the id ("opencl:0"), or without an id ("cpu").
    ///
    /// `NoDevice` if there is no driver or no such device, with the reason in the message; `InvalidInput` for a name of
    /// another form or an unknown type.
    pub fn find_by_name(name: &str) -> Result<Device> {
        let name =
            CString::new(name).map_err(|_| Error::invalid(format!("{name:?}: a name without zero bytes is needed")))?;
        // SAFETY: the name is terminated, the out is ours.
        found(|out, error| unsafe { sys::arrowdevice_device_find_by_name(name.as_ptr(), out, error) })
    }

    /// A device by its pair.
    pub fn find_by_id(device_type: DeviceType, id: i64) -> Result<Device> {
        // SAFETY: the out is ours.
        found(|out, error| unsafe { sys::arrowdevice_device_find_by_id(device_type.0, id, out, error) })
    }

    /// The CPU, which is always there.
    pub fn cpu() -> Result<Device> {
        Device::find_by_id(DeviceType::CPU, -1)
    }

    /// How many devices of a type there are; their ids count from 0. A type whose driver is absent counts 0.
    pub fn count(device_type: DeviceType) -> Result<usize> {
        let mut found = 0;
        // SAFETY: the out is ours.
        call(|error| unsafe { sys::arrowdevice_device_count(device_type.0, &raw mut found, error) })?;
        Ok(found as usize)
    }

    /// All devices of all backends, ordered by type, then id. Loads every backend; [`backend_reports`](crate::backend_reports) says why
    /// one is not there.
    pub fn list() -> Result<Vec<Device>> {
        let mut devices: Vec<*mut sys::arrowdevice_device> = Vec::new();
        loop {
            let mut there = 0;
            // SAFETY: the vector is as long as is said.
            call(|error| unsafe {
                sys::arrowdevice_device_list(devices.as_mut_ptr(), count(devices.len()), &raw mut there, error)
            })?;
            let there = there as usize;
            if there <= devices.len() {
                devices.truncate(there);
                return Ok(devices.into_iter().filter_map(NonNull::new).map(Device).collect());
            }
            devices.resize(there, null_mut()); // another thread may load a backend between two calls
        }
    }

    /// An application's own context as a device; `id` is what its arrays carry. The same handles give the same device,
    /// counted: each success is to be undone by one [`close`](Device::close).
    ///
    /// # Safety
    /// The handles are what the backend's manual says, and stay valid until the device has been retired.
    pub unsafe fn wrap(device_type: DeviceType, id: i64, native: &sys::arrowdevice_native_device) -> Result<Device> {
        // SAFETY: the caller's.
        found(|out, error| unsafe { sys::arrowdevice_device_wrap(device_type.0, id, native, out, error) })
    }

    /// Undoes one [`wrap`](Device::wrap). `Busy` while arrays, pools or queues of it are alive, `TimedOut` while its
    /// work is not done; the device is usable after either. Once retired, every call on it answers `NoDevice`.
    pub fn close(self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: devices are always valid.
        call(|error| unsafe { sys::arrowdevice_device_unwrap(self.as_ptr(), timeout_parameter(timeout), error) })
    }

    /// What is known of it. Calls no driver.
    pub fn info(self) -> Result<DeviceInfo> {
        let mut raw = sized!(arrowdevice_device_info);
        // SAFETY: devices are always valid; the size is set.
        call(|error| unsafe { sys::arrowdevice_device_get_info(self.as_ptr(), &raw mut raw, error) })?;
        Ok(DeviceInfo::from_raw(&raw))
    }

    /// What `to` can do with this device's memory.
    pub fn peer_flags(self, to: Device) -> Result<PeerFlags> {
        let mut flags = 0;
        // SAFETY: devices are always valid.
        call(|error| unsafe {
            sys::arrowdevice_device_get_peer_flags(self.as_ptr(), to.as_ptr(), &raw mut flags, error)
        })?;
        Ok(PeerFlags {
            access: flags & sys::ARROWDEVICE_PEER_ACCESS != 0,
            copy: flags & sys::ARROWDEVICE_PEER_COPY != 0,
        })
    }

    /// Bytes free and in all, as the driver says now.
    pub fn memory_info(self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (-1, -1);
        // SAFETY: devices are always valid.
        call(|error| unsafe {
            sys::arrowdevice_device_get_memory_info(self.as_ptr(), &raw mut free, &raw mut total, error)
        })?;
        Ok(MemoryInfo {
            free: u64::try_from(free).ok(),
            total: u64::try_from(total).ok(),
        })
    }

    /// What the library has asked of it since the process began.
    pub fn counters(self) -> Result<Counters> {
        let mut raw = sized!(arrowdevice_device_counters);
        // SAFETY: devices are always valid; the size is set.
        call(|error| unsafe { sys::arrowdevice_device_get_counters(self.as_ptr(), &raw mut raw, error) })?;
        Ok(Counters {
            driver_allocations: raw.driver_allocations,
            submissions: raw.submissions,
            regions: raw.regions,
            events: raw.events,
            host_waits: raw.host_waits,
            readbacks: raw.readbacks,
            bytes_in: raw.bytes_in,
            bytes_out: raw.bytes_out,
            staged_bytes: raw.staged_bytes,
        })
    }

    /// Makes a pool its default, which the device keeps alive from then on; `None`: the library's own again.
    pub fn set_default_pool(self, pool: Option<&Pool>) -> Result<()> {
        let pool = pool.map_or(null_mut(), Pool::as_ptr);
        // SAFETY: devices are always valid, the pool is alive.
        call(|error| unsafe { sys::arrowdevice_device_set_pool(self.as_ptr(), pool, error) })
    }

    /// The vendor's handles behind it, borrowed as long as the device.
    pub fn native(self) -> Result<sys::arrowdevice_native_device> {
        let mut native = sized!(arrowdevice_native_device);
        // SAFETY: devices are always valid; the size is set.
        call(|error| unsafe { sys::arrowdevice_device_get_native(self.as_ptr(), &raw mut native, error) })?;
        Ok(native)
    }

    /// For calls of [`sys`](crate::sys).
    pub fn as_ptr(self) -> *mut sys::arrowdevice_device {
        self.0.as_ptr()
    }

    /// # Safety
    /// A device that the library gave out.
    pub(crate) unsafe fn from_ptr(device: *mut sys::arrowdevice_device) -> Option<Device> {
        NonNull::new(device).map(Device)
    }

    /// Itself where its arrays may not be found by their pair, since an application's own context has it too.
    pub(crate) fn unless_found_by_pair(self) -> Option<Device> {
        let mut raw = sized!(arrowdevice_device_info);
        // SAFETY: devices are always valid; the size is set. Nothing is said of a retired one.
        let code = unsafe { sys::arrowdevice_device_get_info(self.as_ptr(), &raw mut raw, null_mut()) };
        (code == 0 && raw.flags & sys::ARROWDEVICE_DEVICE_WRAPPED != 0).then_some(self)
    }
}

/// The pointer of a device that may be none.
pub(crate) fn pointer_or_null(device: Option<Device>) -> *mut sys::arrowdevice_device {
    device.map_or(null_mut(), Device::as_ptr)
}

fn found(
    function: impl FnOnce(*mut *mut sys::arrowdevice_device, *mut sys::arrowdevice_error) -> i32,
) -> Result<Device> {
    let mut out = null_mut();
    call(|error| function(&raw mut out, error))?;
    // SAFETY: the library gave it out.
    Ok(unsafe { Device::from_ptr(out) }.expect("a success comes with a device"))
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Device> {
        Device::find_by_name(name)
    }
}

/// As its name: "opencl:0".
impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        let name = info.map(|info| format!("{}:{}", info.device_type, info.device_id));
        formatter.pad(&name.unwrap_or_else(|_| "a closed device".to_string()))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Device({self})")
    }
}

/// What is known of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its type.
    pub device_type: DeviceType,
    /// Which of its type.
    pub device_id: i64,
    /// As the driver calls it.
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// The backend that drives it.
    pub backend: String,
    /// Two APIs may name one GPU.
    pub uuid: Option<[u8; 16]>,
    /// Bytes.
    pub total_memory: Option<u64>,
    /// Bytes; the start of every allocation has it.
    pub buffer_alignment: usize,
    /// Bytes; where a part of an allocation may start.
    pub sub_buffer_alignment: usize,
    /// Buffers are addresses, else handles.
    pub has_addresses: bool,
    /// The CPU reads and writes its memory in place.
    pub host_readable: bool,
    /// It can publish sync events.
    pub has_events: bool,
    /// Waits of its queues may block the CPU.
    pub wait_blocks: bool,
    /// It is an application's own context.
    pub wrapped: bool,
    /// The type of its pinned host memory.
    pub staging_type: Option<DeviceType>,
}

impl DeviceInfo {
    fn from_raw(raw: &sys::arrowdevice_device_info) -> DeviceInfo {
        let has = |flag| raw.flags & flag != 0;
        DeviceInfo {
            device_type: DeviceType(raw.device_type),
            device_id: raw.device_id,
            name: text(&raw.name),
            vendor: text(&raw.vendor),
            backend: text(&raw.backend),
            uuid: (raw.uuid != [0; 16]).then_some(raw.uuid),
            total_memory: u64::try_from(raw.total_memory).ok(),
            buffer_alignment: raw.buffer_alignment as usize,
            sub_buffer_alignment: raw.sub_buffer_alignment as usize,
            has_addresses: has(sys::ARROWDEVICE_DEVICE_ADDRESSES),
            host_readable: has(sys::ARROWDEVICE_DEVICE_HOST_READABLE),
            has_events: has(sys::ARROWDEVICE_DEVICE_EVENTS),
            wait_blocks: has(sys::ARROWDEVICE_DEVICE_WAIT_BLOCKS),
            wrapped: has(sys::ARROWDEVICE_DEVICE_WRAPPED),
            staging_type: (raw.staging_type != 0).then_some(DeviceType(raw.staging_type)),
        }
    }
}

/// What one device can do with another's memory; where neither, data is staged through the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerFlags {
    /// Use it where it is.
    pub access: bool,
    /// Copy it directly.
    pub copy: bool,
}

/// Bytes of a device; `None` where the driver does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Not in use.
    pub free: Option<u64>,
    /// In all.
    pub total: Option<u64>,
}

/// What the library has asked of a device since the process began: calls of the driver, not hits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Allocations made by the driver.
    pub driver_allocations: i64,
    /// Batches of copies submitted.
    pub submissions: i64,
    /// Regions in these batches.
    pub regions: i64,
    /// Events recorded.
    pub events: i64,
    /// Times that the CPU waited for an event of this device.
    pub host_waits: i64,
    /// Batches submitted only to learn sizes and ranges.
    pub readbacks: i64,
    /// Bytes copied to the device.
    pub bytes_in: i64,
    /// Bytes copied from it.
    pub bytes_out: i64,
    /// Bytes that went through staging memory on the way to or from it.
    pub staged_bytes: i64,
}
