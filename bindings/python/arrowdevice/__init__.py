# SPDX-License-Identifier: Apache-2.0
"""Arrow data on any device: export, import, share, copy and release.

>>> import arrowdevice, pyarrow
>>> batch = pyarrow.record_batch({"price": [1.5, 2.5], "name": ["a", "b"]})
>>> on_device = arrowdevice.to_device(batch, "cpu")  # or "opencl:0", "cuda:0", ...: see arrowdevice.devices()
>>> on_device.to_pyarrow().equals(batch)
True
"""

from __future__ import annotations

import atexit

from . import _core
from .arrays import Array, Buffer
from .batches import RecordBatch
from .devices import (
    BackendReport,
    Counters,
    Device,
    DeviceType,
    MemoryInfo,
    NativeDevice,
    PoolStats,
    WrappedDevice,
    device,
    devices,
    explain,
)
from .durations import nanoseconds as _nanoseconds
from .errors import (
    BusyError,
    CanceledError,
    DeviceError,
    DeviceNotFoundError,
    DeviceTimeoutError,
    Error,
    ExistsError,
    InvalidError,
    NotFoundError,
    NotShareableError,
    NotSupportedError,
    OutOfMemoryError,
)
from .handles import IpcHandle
from .links import Server, ServerStats, connect
from .paths import get_include, get_libraries, get_library_dirs
from .queues import Memory, Pool, Queue
from .schema import Schema
from .streams import Stream
from .tables import Table
from .transfer import to_device

__all__ = [
    "Array",
    "BackendReport",
    "Buffer",
    "BusyError",
    "CanceledError",
    "Counters",
    "Device",
    "DeviceError",
    "DeviceNotFoundError",
    "DeviceTimeoutError",
    "DeviceType",
    "Error",
    "ExistsError",
    "InvalidError",
    "IpcHandle",
    "Memory",
    "MemoryInfo",
    "NativeDevice",
    "NotFoundError",
    "NotShareableError",
    "NotSupportedError",
    "OutOfMemoryError",
    "Pool",
    "PoolStats",
    "Queue",
    "RecordBatch",
    "Schema",
    "Server",
    "ServerStats",
    "Stream",
    "Table",
    "WrappedDevice",
    "connect",
    "device",
    "devices",
    "explain",
    "get_include",
    "get_libraries",
    "get_library_dirs",
    "to_device",
    "wait_idle",
]

__version__ = _core.version()


def wait_idle(timeout: float | None = None) -> None:
    """Waits until submitted and deferred work has finished. Raises DeviceTimeoutError after `timeout` seconds."""
    _core.wait_idle(_nanoseconds(timeout))


# Stops calls into Python producers before the interpreter ends. The process then frees the memory of their arrays.
# Waits at most a minute for a thread that runs a producer. A signal ends the wait.
atexit.register(_core.close_guard, 60_000_000_000)
