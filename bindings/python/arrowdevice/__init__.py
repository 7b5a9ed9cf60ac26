# SPDX-License-Identifier: Apache-2.0
"""Arrow data on any device: export, import, move, copy and release.

>>> import arrowdevice, pyarrow
>>> batch = pyarrow.record_batch({"price": [1.5, 2.5], "name": ["a", "b"]})
>>> on_device = arrowdevice.move(batch, "cpu")  # or "opencl:0", "cuda:0", ...: see arrowdevice.devices()
>>> on_device.to_pyarrow().equals(batch)
True
"""

from __future__ import annotations

import atexit

from . import _core
from .arrays import Array, Buffer, RecordBatch
from .devices import BackendReport, Counters, Device, DeviceType, MemoryInfo, PoolStats, device, devices, explain
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
    NotSupportedError,
    OutOfMemoryError,
)
from .schema import Schema
from .streams import Stream
from .transfer import copy, move

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
    "MemoryInfo",
    "NotFoundError",
    "NotSupportedError",
    "OutOfMemoryError",
    "PoolStats",
    "RecordBatch",
    "Schema",
    "Stream",
    "copy",
    "device",
    "devices",
    "explain",
    "move",
    "quiesce",
]

__version__ = _core.version()


def quiesce(timeout: float | None = None) -> None:
    """Wait until nothing that was handed back or moved is still in flight. Raises DeviceTimeoutError."""
    _core.quiesce(_nanoseconds(timeout, none=-1))


# When the interpreter ends, producers are Python objects that are gone. What their arrays hold goes with the process. A
# thread that is inside of one would come back to nothing: it is waited for, but a minute at most, and signals end that.
atexit.register(_core.close_guard, 60_000_000_000)
