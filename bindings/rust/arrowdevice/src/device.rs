// SPDX-License-Identifier: Apache-2.0
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::str::FromStr;
use std::time::Duration;

use crate::call::{c_text, call, count, sized, text, timeout_ns};
use crate::device_type::DeviceType;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::sys;

/// A device: a vendor's context with a published pair of type and id.
///
/// A device is a value that owns nothing, because devices stay valid as long as the process. No
/// driver is used before the first call that names a device of its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device(NonNull<sys::arrowdevice_device>);

// SAFETY: "Pointers to devices stay valid as long as the process", and all functions on them have
// "Thread-safety: free".
unsafe impl Send for Device {}
// SAFETY: the same holds here.
unsafe impl Sync for Device {}

impl Device {
    /// Finds a device by its name. A name is the type's name, a colon and the id ("opencl:0"), or
    /// the type's name alone ("cpu").
    ///
    /// It fails with `NoDevice` if there is no driver or no such device, and the message gives the
    /// reason. It fails with `InvalidInput` if the name has another form or the type is unknown.
    pub fn find_by_name(name: &str) -> Result<Device> {
        let name = c_text("name", name)?;
        // SAFETY: the name is terminated, and the output is ours.
        found(|out, error| unsafe { sys::arrowdevice_device_find_by_name(name.as_ptr(), out, error) })
    }

    /// Finds a device by its type and id.
    pub fn find_by_id(device_type: DeviceType, id: i64) -> Result<Device> {
        // SAFETY: the output is ours.
        found(|out, error| unsafe { sys::arrowdevice_device_find_by_id(device_type.0, id, out, error) })
    }

    /// Returns the CPU, which always exists.
    pub fn cpu() -> Result<Device> {
        Device::find_by_id(DeviceType::CPU, -1)
    }

    /// Returns the number of devices of a type, whose ids count from 0. It returns 0 if the type's
    /// driver is missing.
    pub fn count(device_type: DeviceType) -> Result<usize> {
        let mut found = 0;
        // SAFETY: the output is ours.
        call(|error| unsafe { sys::arrowdevice_device_count(device_type.0, &raw mut found, error) })?;
        Ok(found as usize)
    }

    /// Lists all devices of all backends, ordered by type, then id. It loads every backend.
    /// [`backend_reports`](crate::backend_reports) gives the reason if a device is missing.
    pub fn list() -> Result<Vec<Device>> {
        let mut devices: Vec<*mut sys::arrowdevice_device> = Vec::new();
        loop {
            let mut there = 0;
            // SAFETY: the vector has the length that the call says.
            call(|error| unsafe {
                sys::arrowdevice_device_list(devices.as_mut_ptr(), count(devices.len()), &raw mut there, error)
            })?;
            let there = there as usize;
            if there <= devices.len() {
                devices.truncate(there);
                return Ok(devices.into_iter().filter_map(NonNull::new).map(Device).collect());
            }
            devices.resize(there, null_mut()); // another thread may load a backend between the two calls
        }
    }

    /// Wraps a context that the application owns as a device. Its arrays carry the given `id`. The
    /// same handles return the same device and count the calls. Each success needs one
    /// [`close`](Device::close).
    ///
    /// # Safety
    /// The handles are as the backend's manual describes. They stay valid until the device is
    /// closed.
    pub unsafe fn wrap(device_type: DeviceType, id: i64, native: &sys::arrowdevice_native_device) -> Result<Device> {
        // SAFETY: the caller guarantees it.
        found(|out, error| unsafe { sys::arrowdevice_device_wrap(device_type.0, id, native, out, error) })
    }

    /// Undoes one [`wrap`](Device::wrap). It fails with `Busy` while arrays, pools or queues of the
    /// device exist. It fails with `TimedOut` while the device's work has not finished. The device
    /// stays usable after either error. After the last close, every call on the device fails with
    /// `NoDevice`.
    pub fn close(self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: devices are always valid.
        call(|error| unsafe { sys::arrowdevice_device_unwrap(self.as_ptr(), timeout_ns(timeout), error) })
    }

    /// Returns a description of the device. It calls no driver.
    pub fn info(self) -> Result<DeviceInfo> {
        let mut raw = sized!(arrowdevice_device_info);
        // SAFETY: devices are always valid, and the struct's size is set.
        call(|error| unsafe { sys::arrowdevice_device_get_info(self.as_ptr(), &raw mut raw, error) })?;
        Ok(DeviceInfo::from_raw(&raw))
    }

    /// Returns what `to` can do with this device's memory.
    pub fn peer_flags(self, to: Device) -> Result<PeerFlags> {
        let mut flags = 0;
        // SAFETY: devices are always valid.
        call(|error| unsafe {
            sys::arrowdevice_device_get_peer_flags(self.as_ptr(), to.as_ptr(), &raw mut flags, error)
        })?;
        Ok(PeerFlags {
            access: flags & sys::ARROWDEVICE_PEER_ACCESS != 0,
            copy: flags & sys::ARROWDEVICE_PEER_COPY != 0,
            remote: flags & sys::ARROWDEVICE_PEER_REMOTE != 0,
        })
    }

    /// Returns the free and total bytes, as the driver reports them now.
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

    /// Returns what the library has requested from the device since the process began.
    pub fn counters(self) -> Result<Counters> {
        let mut raw = sized!(arrowdevice_device_counters);
        // SAFETY: devices are always valid, and the struct's size is set.
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

    /// Makes a pool the device's default. The device holds a reference to it. `None` restores the
    /// library's own pool.
    pub fn set_default_pool(self, pool: Option<&Pool>) -> Result<()> {
        let pool = pool.map_or(null_mut(), Pool::as_ptr);
        // SAFETY: devices are always valid, and the pool is alive.
        call(|error| unsafe { sys::arrowdevice_device_set_pool(self.as_ptr(), pool, error) })
    }

    /// Returns the vendor's handles of the device. They are borrowed and live as long as the
    /// device.
    pub fn native(self) -> Result<sys::arrowdevice_native_device> {
        let mut native = sized!(arrowdevice_native_device);
        // SAFETY: devices are always valid, and the struct's size is set.
        call(|error| unsafe { sys::arrowdevice_device_get_native(self.as_ptr(), &raw mut native, error) })?;
        Ok(native)
    }

    /// Returns the pointer for calls of [`sys`](crate::sys).
    pub fn as_ptr(self) -> *mut sys::arrowdevice_device {
        self.0.as_ptr()
    }

    /// # Safety
    /// The pointer is NULL or came from the library.
    pub(crate) unsafe fn from_ptr(device: *mut sys::arrowdevice_device) -> Option<Device> {
        NonNull::new(device).map(Device)
    }

    /// Returns the device if its type and id do not identify it, because the application owns its
    /// context.
    pub(crate) fn unless_found_by_pair(self) -> Option<Device> {
        let mut raw = sized!(arrowdevice_device_info);
        // SAFETY: devices are always valid, and the struct's size is set. The call fails for a
        // closed device.
        let code = unsafe { sys::arrowdevice_device_get_info(self.as_ptr(), &raw mut raw, null_mut()) };
        (code == 0 && raw.flags & sys::ARROWDEVICE_DEVICE_WRAPPED != 0).then_some(self)
    }
}

/// Returns the pointer of the device, or NULL for `None`.
pub(crate) fn pointer_or_null(device: Option<Device>) -> *mut sys::arrowdevice_device {
    device.map_or(null_mut(), Device::as_ptr)
}

fn found(
    function: impl FnOnce(*mut *mut sys::arrowdevice_device, *mut sys::arrowdevice_error) -> i32,
) -> Result<Device> {
    let mut out = null_mut();
    call(|error| function(&raw mut out, error))?;
    // SAFETY: the pointer came from the library.
    Ok(unsafe { Device::from_ptr(out) }.expect("a successful call returns a device"))
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Device> {
        Device::find_by_name(name)
    }
}

/// Writes the device's name: "opencl:0".
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

/// A description of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Returns the type.
    pub device_type: DeviceType,
    /// The index among devices of its type.
    pub device_id: i64,
    /// The driver's name of the device.
    pub name: String,
    /// The device's vendor.
    pub vendor: String,
    /// The backend that drives the device.
    pub backend: String,
    /// Equal if two APIs name the same GPU.
    pub uuid: Option<[u8; 16]>,
    /// Returns the size in bytes.
    pub total_memory: Option<u64>,
    /// Alignment of every allocation in bytes.
    pub buffer_alignment: usize,
    /// Alignment of the start of a sub-buffer in bytes.
    pub sub_buffer_alignment: usize,
    /// True if buffers are addresses, false if they are handles.
    pub has_addresses: bool,
    /// True if the CPU reads and writes the device's memory in place.
    pub host_readable: bool,
    /// True if arrays on the device can carry events.
    pub has_events: bool,
    /// True if a wait of a queue may block the CPU.
    pub wait_blocks: bool,
    /// True if copies of pageable host memory may wait for a queue's work.
    pub copy_blocks: bool,
    /// True if memory that is allocated for a queue is there after the queue's work so far.
    pub stream_ordered: bool,
    /// True if the device has memory that other processes can open.
    pub shareable: bool,
    /// True if the application owns the context.
    pub wrapped: bool,
    /// Type of the device's pinned host memory.
    pub staging_type: Option<DeviceType>,
    /// The host's NUMA node that is nearest to the device.
    pub numa_node: Option<u32>,
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
            copy_blocks: has(sys::ARROWDEVICE_DEVICE_COPY_BLOCKS),
            stream_ordered: has(sys::ARROWDEVICE_DEVICE_STREAM_ORDERED),
            shareable: has(sys::ARROWDEVICE_DEVICE_SHAREABLE),
            wrapped: has(sys::ARROWDEVICE_DEVICE_WRAPPED),
            staging_type: (raw.staging_type != 0).then_some(DeviceType(raw.staging_type)),
            numa_node: u32::try_from(raw.numa_node).ok(),
        }
    }
}

/// Flags of what one device can do with another device's memory. If both are false, data goes
/// through host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerFlags {
    /// The device uses the memory in place.
    pub access: bool,
    /// The device copies the memory directly.
    pub copy: bool,
    /// Each use in place goes over the bus.
    pub remote: bool,
}

/// Bytes of a device. `None` if the driver does not report the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Free bytes.
    pub free: Option<u64>,
    /// Total bytes.
    pub total: Option<u64>,
}

/// Counters of what the library has requested from a device since the process began. They count
/// calls of the driver, not allocations that a pool served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Allocations by the driver.
    pub driver_allocations: i64,
    /// Submitted batches of copies.
    pub submissions: i64,
    /// Regions in these batches.
    pub regions: i64,
    /// Recorded events.
    pub events: i64,
    /// Waits of the CPU for an event of this device.
    pub host_waits: i64,
    /// Batches that were submitted only to read sizes and ranges.
    pub readbacks: i64,
    /// Bytes copied to the device.
    pub bytes_in: i64,
    /// Bytes copied from the device.
    pub bytes_out: i64,
    /// Bytes that went through staging memory to or from the device.
    pub staged_bytes: i64,
}
