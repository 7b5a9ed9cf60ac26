# SPDX-License-Identifier: Apache-2.0
"""The devices of this machine.

>>> import arrowdevice
>>> cpu = arrowdevice.device("cpu")
>>> cpu.name, cpu.device_type, cpu.is_host_readable
('cpu:0', <DeviceType.CPU: 1>, True)
>>> cpu in arrowdevice.devices()
True
"""

from __future__ import annotations

import enum
import uuid as _uuid
from typing import NamedTuple, Sequence, TypeAlias

from . import _core
from .durations import nanoseconds

__all__ = [
    "BackendReport", "Counters", "Device", "DeviceType", "MemoryInfo", "NativeDevice", "PoolStats", "device", "devices",
    "explain",
]  # fmt: skip


class DeviceType(enum.IntEnum):
    """The device types of the Arrow C device data interface, with the numbers of the format."""

    CPU = 1
    CUDA = 2
    CUDA_HOST = 3
    OPENCL = 4
    VULKAN = 7
    METAL = 8
    VPI = 9
    ROCM = 10
    ROCM_HOST = 11
    EXT_DEV = 12
    CUDA_MANAGED = 13
    ONEAPI = 14
    WEBGPU = 15
    HEXAGON = 16


def known_type(number: int) -> DeviceType | int:
    """Returns the DeviceType, or the number itself if the format does not name the type."""
    try:
        return DeviceType(number)
    except ValueError:
        return number


def device_name(device_type: int, device_id: int) -> str:
    """Returns a name such as "opencl:0". The CPU's ids -1 and 0 are one device."""
    kind = _core.device_type_name(device_type) or str(int(device_type))
    return f"{kind}:{max(device_id, 0)}"


class MemoryInfo(NamedTuple):
    """Bytes of a device that the driver reports now. A field is None if the driver does not report it."""

    free: int | None
    total: int | None


class PoolStats(NamedTuple):
    """Statistics of the default memory pool of a device."""

    used_bytes: int
    """Bytes of live allocations."""
    cached_bytes: int
    """Bytes that the pool keeps for reuse."""
    peak_bytes: int
    """The highest number of used bytes."""
    allocations: int
    """Number of allocations."""
    driver_allocations: int
    """Number of allocations that the driver made."""


class Counters(NamedTuple):
    """Numbers of calls and bytes between the library and a device's driver, from the start of the process."""

    driver_allocations: int
    submissions: int
    regions: int
    events: int
    host_waits: int
    readbacks: int
    bytes_in: int
    bytes_out: int
    staged_bytes: int


class NativeDevice(NamedTuple):
    """The vendor's handles of a device as integers, 0 where there is none. The backend's manual says which it has."""

    platform: int
    physical_device: int
    device: int
    context: int
    queue: int
    queue_family: int


class BackendReport(NamedTuple):
    """A place that the library searched for a backend."""

    status: int
    """0 if the backend was loaded, else the errno value."""
    backend: str
    path: str
    reason: str
    """Why the backend was not loaded."""


class Device:
    """A device, as `device()` and `devices()` return it. It needs no closing.

    Two objects compare equal if they are the same device.

    >>> import arrowdevice
    >>> arrowdevice.device("cpu") == arrowdevice.device("cpu:0")
    True
    """

    __slots__ = ("_core", "_info")

    _ADDRESSES, _HOST_READABLE, _EVENTS, _WAIT_BLOCKS, _WRAPPED, _COPY_BLOCKS, _SHAREABLE = 1, 2, 4, 8, 16, 32, 128
    _PEER_ACCESS, _PEER_COPY, _PEER_REMOTE = 1, 2, 4

    def __init__(self, name: str | DeviceType | tuple[int, int]) -> None:
        if isinstance(name, str):
            return self._of(_core.device_find_by_name(name.encode()))
        pair = (name, 0) if isinstance(name, DeviceType) else name
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, int) for part in pair)):
            raise TypeError(
                f"invalid device of type {type(name).__name__} "
                "(expected a name such as 'opencl:0', a DeviceType, or a pair of type and id)"
            )
        self._of(_core.device_find_by_id(*pair))

    def _of(self, core: _core.Device) -> None:
        self._core = core
        self._info = core.info()

    @classmethod
    def _wrap(cls, core: _core.Device) -> Device:
        made = cls.__new__(cls)
        made._of(core)
        return made

    @classmethod
    def wrap(
        cls,
        device_type: DeviceType | int,
        device_id: int = 0,
        *,
        platform: int = 0,
        physical_device: int = 0,
        device: int = 0,
        context: int = 0,
        queue: int = 0,
        queue_family: int = 0,
        api_version: int = 0,
        get_proc_addr: int = 0,
        extensions: Sequence[str] = (),
        features: int = 0,
        owner: object = None,
    ) -> WrappedDevice:
        """Returns a context of the program as a device, without taking it over. Call `close()` before the context ends.

        The handles are integers, such as `int_ptr` of a pyopencl object. The manual of the backend says which of them it
        needs. `owner` is kept until `close()`, and may be the object that keeps the context alive. Arrays of the program
        on the device come from `Array.from_buffers(..., device=...)`.

        If the API needs a lock for submissions, as Vulkan does, no thread may submit to `queue` during a call of this
        package. Other queues of the context are free.
        """
        handles = {
            "platform": platform,
            "physical_device": physical_device,
            "device": device,
            "context": context,
            "queue": queue,
            "queue_family": queue_family,
            "api_version": api_version,
            "get_proc_addr": get_proc_addr,
            "features": features,
        }
        core = _core.Device.wrap(int(device_type), device_id, handles, [name.encode() for name in extensions])
        made = WrappedDevice._wrap(core)
        assert isinstance(made, WrappedDevice)
        made._owner = owner
        return made

    @property
    def name(self) -> str:
        """The name that `device()` takes: "opencl:0"."""
        return device_name(self._info["device_type"], self._info["device_id"])

    @property
    def device_type(self) -> DeviceType | int:
        """An `ARROW_DEVICE_*` number of the format."""
        return known_type(self._info["device_type"])

    @property
    def device_id(self) -> int:
        """The id among the devices of the type."""
        return self._info["device_id"]

    @property
    def description(self) -> str:
        """The name that the driver gives the device."""
        return self._info["name"]

    @property
    def vendor(self) -> str:
        """The vendor that the driver reports."""
        return self._info["vendor"]

    @property
    def backend(self) -> str:
        """The backend of the device."""
        return self._info["backend"]

    @property
    def uuid(self) -> _uuid.UUID | None:
        """The UUID, None if unknown. Devices of two APIs have the same UUID if they are the same GPU."""
        raw = self._info["uuid"]
        return _uuid.UUID(bytes=raw) if any(raw) else None

    @property
    def total_memory(self) -> int | None:
        """Bytes, None if unknown."""
        total = self._info["total_memory"]
        return None if total < 0 else total

    @property
    def buffer_alignment(self) -> int:
        """Alignment of every allocation in bytes."""
        return self._info["buffer_alignment"]

    @property
    def staging_type(self) -> DeviceType | int | None:
        """The device type of pinned host memory, None if there is none."""
        number = self._info["staging_type"]
        return known_type(number) if number else None

    @property
    def numa_node(self) -> int | None:
        """The host's NUMA node that is nearest to the device, None if unknown."""
        node = self._info["numa_node"]
        return None if node < 0 else node

    def _flag(self, flag: int) -> bool:
        return bool(self._info["flags"] & flag)

    @property
    def has_addresses(self) -> bool:
        """True if buffers are addresses, False if they are handles."""
        return self._flag(self._ADDRESSES)

    @property
    def is_host_readable(self) -> bool:
        """True if the CPU reads and writes the memory in place."""
        return self._flag(self._HOST_READABLE)

    @property
    def has_events(self) -> bool:
        """True if arrays can carry an event that fires when they are ready."""
        return self._flag(self._EVENTS)

    @property
    def waits_block(self) -> bool:
        """True if a wait on a queue may block the CPU."""
        return self._flag(self._WAIT_BLOCKS)

    @property
    def copies_block(self) -> bool:
        """True if copies of pageable host memory may wait for a queue's work."""
        return self._flag(self._COPY_BLOCKS)

    @property
    def is_shareable(self) -> bool:
        """True if the device has memory that other processes can open."""
        return self._flag(self._SHAREABLE)

    @property
    def is_wrapped(self) -> bool:
        """True if the device is a native context that the application owns."""
        return self._flag(self._WRAPPED)

    @property
    def native(self) -> NativeDevice:
        """The vendor's handles, for programs that submit their own work."""
        return NativeDevice(*self._core.native())

    def memory(self) -> MemoryInfo:
        """Returns the free and total bytes that the driver reports now."""
        free, total = self._core.memory_info()
        return MemoryInfo(None if free < 0 else free, None if total < 0 else total)

    def pool(self) -> PoolStats:
        """Returns the statistics of the default pool."""
        return PoolStats(*self._core.pool_stats())

    def trim(self) -> None:
        """Returns the cached memory of the default pool to the driver."""
        self._core.pool_trim()

    def counters(self) -> Counters:
        """Returns the numbers of calls and bytes between the library and the driver."""
        return Counters(*self._core.counters())

    def can_access(self, other: DeviceLike) -> bool:
        """Returns whether this device can use memory of the other device in place. `to_device()` then shares it.

        It copies memory that is used over the bus, unless `copy=False` rules copies out (see `is_remote`).
        """
        return bool(device(other)._core.peer_flags(self._core) & self._PEER_ACCESS)

    def is_remote(self, other: DeviceLike) -> bool:
        """Returns whether each use of the other device's memory in place goes over the bus."""
        return bool(device(other)._core.peer_flags(self._core) & self._PEER_REMOTE)

    def can_copy_from(self, other: DeviceLike) -> bool:
        """Returns whether one direct copy transfers memory of the other device.

        Copies are staged through the host otherwise.
        """
        return bool(device(other)._core.peer_flags(self._core) & self._PEER_COPY)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self._core)

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        if self.is_wrapped:
            raise TypeError("a wrapped device has no meaning in another process")
        return type(self), (self.name,)

    def __repr__(self) -> str:
        total = self.total_memory
        size = "" if total is None else f", {total / 2**30:.1f} GiB"
        return f"<arrowdevice.Device {self.name}: {self.description}{size}>"


DeviceLike: TypeAlias = "Device | str | DeviceType | tuple[int, int]"


class WrappedDevice(Device):
    """A context of the program, as `Device.wrap()` returns it. A `with` block closes it."""

    __slots__ = ("_owner",)

    _owner: object

    def close(self, timeout: float | None = None) -> None:
        """Ends the use of the context. Later calls on the device fail. A second call does nothing.

        Waits for deferred work. Raises BusyError while an array, memory, pool or queue of the device is alive.
        """
        if not self._core.unwrapped:
            self._core.unwrap(nanoseconds(timeout))
        self._owner = None

    def __enter__(self) -> WrappedDevice:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def device(name: DeviceLike) -> Device:
    """Returns the device that has a name: a type's name, a colon and the id ("opencl:0"). A missing id means 0 ("cpu").

    A DeviceType means its device 0, and a pair is a type and an id, as `__dlpack_device__()` returns it.

    Returns a Device unchanged. Raises InvalidError for a name of another form, and DeviceNotFoundError if there is no
    such device. The first device of a driver starts that driver.

    >>> import arrowdevice
    >>> arrowdevice.device("cpu").name
    'cpu:0'
    """
    return name if isinstance(name, Device) else Device(name)


def devices() -> list[Device]:
    """Returns every device of every backend, ordered by type, then id. Starts all drivers.

    Leaves out a backend that fails. `explain()` gives the reason.
    """
    return [Device._wrap(core) for core in _core.device_list()]


def explain() -> list[BackendReport]:
    """Returns every place that the library has searched for a backend, in order, with the reason of each failure.

    >>> import arrowdevice
    >>> _ = arrowdevice.devices()
    >>> {report.backend for report in arrowdevice.explain() if report.status == 0} >= {"cpu"}
    True
    """
    return [BackendReport(*report) for report in _core.backend_reports()]
