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
from typing import NamedTuple

from . import _core

__all__ = ["BackendReport", "Counters", "Device", "DeviceType", "MemoryInfo", "PoolStats", "device", "devices", "explain"]


class DeviceType(enum.IntEnum):
    """The device types of the Arrow C device data interface, by its numbers."""

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
    """A type that the format does not name stays a number."""
    try:
        return DeviceType(number)
    except ValueError:
        return number


def device_name(device_type: int, device_id: int) -> str:
    """ "opencl:0"; the CPU's ids -1 and 0 are one device."""
    kind = _core.device_type_name(device_type) or str(int(device_type))
    return f"{kind}:{max(device_id, 0)}"


class MemoryInfo(NamedTuple):
    """Bytes of a device, as its driver says now; None where it does not say."""

    free: int | None
    total: int | None


class PoolStats(NamedTuple):
    """What the library holds of a device's memory, in bytes and counts."""

    used: int
    kept: int
    peak: int
    allocations: int
    driver_allocations: int


class Counters(NamedTuple):
    """What the library has asked of a device's driver since the process began."""

    buffers: int
    submissions: int
    regions: int
    events: int
    host_waits: int
    readbacks: int
    bytes_in: int
    bytes_out: int
    staged_bytes: int


class BackendReport(NamedTuple):
    """One place where a backend was looked for: status 0 if it was loaded, else the errno value, and why."""

    status: int
    backend: str
    path: str
    reason: str


class Device:
    """A device: what `device()` and `devices()` give. There is nothing to free.

    Two of them are equal where they are the same device.

    >>> import arrowdevice
    >>> arrowdevice.device("cpu") == arrowdevice.device("cpu:0")
    True
    """

    __slots__ = ("_core", "_info")

    _ADDRESSES, _HOST_READABLE, _EVENTS, _WAIT_BLOCKS, _ADOPTED = 1, 2, 4, 8, 16

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a device's name is a str such as 'opencl:0', not {type(name).__name__}")
        self._of(_core.device_find(name.encode()))

    def _of(self, core: _core.Device) -> None:
        self._core = core
        self._info = core.describe()

    @classmethod
    def _wrap(cls, core: _core.Device) -> Device:
        made = cls.__new__(cls)
        made._of(core)
        return made

    @property
    def name(self) -> str:
        """The name that `device()` finds it by: "opencl:0"."""
        return device_name(self._info["device_type"], self._info["device_id"])

    @property
    def device_type(self) -> DeviceType | int:
        """An `ARROW_DEVICE_*` number of the format."""
        return known_type(self._info["device_type"])

    @property
    def device_id(self) -> int:
        """Which of its type."""
        return self._info["device_id"]

    @property
    def description(self) -> str:
        """As the driver calls it."""
        return self._info["name"]

    @property
    def vendor(self) -> str:
        """Who makes it, as the driver says."""
        return self._info["vendor"]

    @property
    def backend(self) -> str:
        """The backend that drives it."""
        return self._info["backend"]

    @property
    def uuid(self) -> _uuid.UUID | None:
        """None if unknown. Two APIs may name one GPU."""
        raw = self._info["uuid"]
        return _uuid.UUID(bytes=raw) if any(raw) else None

    @property
    def total_memory(self) -> int | None:
        """Bytes; None if unknown."""
        total = self._info["total_memory"]
        return None if total < 0 else total

    @property
    def buffer_alignment(self) -> int:
        """Bytes; the start of every allocation has it."""
        return self._info["buffer_alignment"]

    @property
    def staging_type(self) -> DeviceType | int | None:
        """The device type of its pinned host memory, None if there is none."""
        number = self._info["staging_type"]
        return known_type(number) if number else None

    def _flag(self, flag: int) -> bool:
        return bool(self._info["flags"] & flag)

    @property
    def has_addresses(self) -> bool:
        """Buffers are addresses, else handles."""
        return self._flag(self._ADDRESSES)

    @property
    def is_host_readable(self) -> bool:
        """The CPU reads and writes its memory in place."""
        return self._flag(self._HOST_READABLE)

    @property
    def has_events(self) -> bool:
        """Its arrays can carry an event that fires when they are ready."""
        return self._flag(self._EVENTS)

    @property
    def waits_block(self) -> bool:
        """A wait on a queue of it may block the CPU."""
        return self._flag(self._WAIT_BLOCKS)

    @property
    def is_adopted(self) -> bool:
        """It is an application's own context."""
        return self._flag(self._ADOPTED)

    def memory(self) -> MemoryInfo:
        """Bytes free and in all, as the driver says now."""
        free, total = self._core.memory()
        return MemoryInfo(None if free < 0 else free, None if total < 0 else total)

    def pool(self) -> PoolStats:
        """What the library holds of its memory now."""
        return PoolStats(*self._core.pool_stats())

    def trim(self) -> None:
        """Give back to the driver what the library keeps and does not use."""
        self._core.pool_trim()

    def counters(self) -> Counters:
        """What the library has asked of its driver."""
        return Counters(*self._core.counters())

    def can_access(self, other: Device | str) -> bool:
        """Whether this device can use memory of the other one where it is, so that moving shares."""
        return bool(device(other)._core.reach(self._core) & 1)

    def can_copy_from(self, other: Device | str) -> bool:
        """Whether memory of the other one gets here in one direct copy; else it is staged through the host."""
        return bool(device(other)._core.reach(self._core) & 2)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self._core)

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        if self.is_adopted:
            raise TypeError("a device that an application adopted means nothing to another process")
        return type(self), (self.name,)

    def __repr__(self) -> str:
        total = self.total_memory
        size = "" if total is None else f", {total / 2**30:.1f} GiB"
        return f"<arrowdevice.Device {self.name}: {self.description}{size}>"


def device(name: Device | str) -> Device:
    """The device of a name: a type's name, a colon and the id ("opencl:0"); without an id, id 0 ("cpu").

    A Device is returned as it is. Raises InvalidError for a name of another form, DeviceNotFoundError where there is no such
    device. A driver is started with the first device that is asked of it.

    >>> import arrowdevice
    >>> arrowdevice.device("cpu").name
    'cpu:0'
    """
    return name if isinstance(name, Device) else Device(name)


def devices() -> list[Device]:
    """Every device of every backend, ordered by type, then id. Starts all drivers.

    A backend that fails is left out; `explain()` says why.
    """
    return [Device._wrap(core) for core in _core.device_list()]


def explain() -> list[BackendReport]:
    """Every place where a backend was looked for so far, in that order, loaded or not and why not.

    >>> import arrowdevice
    >>> _ = arrowdevice.devices()
    >>> {report.backend for report in arrowdevice.explain() if report.status == 0} >= {"cpu"}
    True
    """
    return [BackendReport(*report) for report in _core.explain()]
