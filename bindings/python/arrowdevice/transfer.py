# SPDX-License-Identifier: Apache-2.0
"""Data from one device to another."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from . import _core
from .arrays import Array, wrapped
from .devices import Device
from .devices import device as find_device
from .durations import option_nanoseconds
from .sources import any_from
from .streams import Stream

__all__ = ["copy", "move"]

AnyArray = TypeVar("AnyArray", bound=Array)


def moved(array: AnyArray, to: Device | str, *, flags: int, timeout: float | None) -> AnyArray:
    """An array on a device."""
    device = find_device(to)
    return array._wrap(array._core.move_to(device._core, flags, option_nanoseconds(timeout)), device)


def moved_stream(
    stream: Stream,
    to: Device | str,
    *,
    depth: int = 0,
    read_ahead: bool = False,
    copy_flags: int = 0,
    timeout: float | None = None,
    interface: str = "pull",
) -> Stream:
    """A stream on a device."""
    device = find_device(to)
    if depth < 0:
        raise ValueError(f"depth is a number of batches, not {depth}")
    if interface == "async":
        if read_ahead or timeout is not None:
            raise TypeError("read_ahead and timeout are for streams that are pulled, and interface is 'async'")
        return Stream._wrap(stream._core.push_to(device._core, int(device.device_type), depth, copy_flags))
    if interface != "pull":
        raise ValueError(f"interface is 'pull' or 'async', not {interface!r}")
    flags = _core.STREAM_READ_AHEAD if read_ahead else 0
    return Stream._wrap(
        stream._core.move_to(device._core, flags, depth, copy_flags, option_nanoseconds(timeout))
    )


@overload
def move(
    obj: AnyArray,
    device: Device | str,
    *,
    copy: bool | None = ...,
    wait: bool = ...,
    timeout: float | None = ...,
) -> AnyArray: ...


@overload
def move(
    obj: Any,
    device: Device | str,
    *,
    copy: bool | None = ...,
    wait: bool = ...,
    timeout: float | None = ...,
    depth: int = ...,
    read_ahead: bool = ...,
    interface: str = ...,
) -> Any: ...


def move(
    obj: Any,
    device: Device | str,
    *,
    copy: bool | None = None,
    wait: bool = True,
    timeout: float | None = None,
    depth: int = 0,
    read_ahead: bool = False,
    interface: str = "pull",
) -> Any:
    """Hand data over to a device: shared where the device can use the memory, copied where not.

    `obj` is an Array, RecordBatch or Stream, or any object with one of these methods, which are looked for in this order:
    `__arrow_c_device_array__`, `__arrow_c_device_stream__`, `__arrow_c_array__`, `__arrow_c_stream__`, `__dlpack__`. The result
    is an Array (a RecordBatch for a struct without nulls of its own) or a Stream. An array stays as it is; a stream is handed
    over.

    copy        None: only where it must be; True: always; False: never (NotSupportedError where it must be).
    wait        for an array: False returns while the copy runs, see `Array.ready()` and `Array.wait()`.
    timeout     seconds; bounds every wait of the CPU before a submission.
    depth       for a stream: batches that are asked for before the oldest of them is handed out. 0: 2.
    read_ahead  for a stream: a thread of the stream asks the producer.
    interface   for a stream: "pull", or "async", through handlers of the async interface.

    >>> import arrowdevice, pyarrow
    >>> batch = pyarrow.record_batch({"n": [1, 2, 3]})
    >>> arrowdevice.move(batch, "cpu")
    <arrowdevice.RecordBatch n: int64; 3 rows on cpu:0>
    """
    if copy not in (None, True, False):
        raise TypeError(f"copy is None, True or False, not {copy!r}")
    flags = 0 if copy is None else _core.COPY_ALWAYS if copy else _core.COPY_NEVER
    if isinstance(obj, (Array, Stream)):
        source: Array | Stream = obj
    else:
        core = any_from(obj)
        source = wrapped(core) if isinstance(core, _core.Array) else Stream._wrap(core)
    if isinstance(source, Array):
        if depth or read_ahead or interface != "pull":
            raise TypeError("depth, read_ahead and interface are for streams, and this is one array")
        return moved(source, device, flags=flags | (0 if wait else _core.COPY_ASYNC), timeout=timeout)
    if not wait:
        raise TypeError(
            "wait= applies to a single array; batches of a stream are always handed out while their copy may still be "
            "running"
        )
    return moved_stream(
        source, device, depth=depth, read_ahead=read_ahead, copy_flags=flags, timeout=timeout, interface=interface
    )


@overload
def copy(obj: AnyArray, device: Device | str, *, wait: bool = ..., timeout: float | None = ...) -> AnyArray: ...


@overload
def copy(
    obj: Any,
    device: Device | str,
    *,
    wait: bool = ...,
    timeout: float | None = ...,
    depth: int = ...,
    read_ahead: bool = ...,
    interface: str = ...,
) -> Any: ...


def copy(
    obj: Any,
    device: Device | str,
    *,
    wait: bool = True,
    timeout: float | None = None,
    depth: int = 0,
    read_ahead: bool = False,
    interface: str = "pull",
) -> Any:
    """Put a copy of data on a device: `move()` with `copy=True`.

    >>> import arrowdevice, pyarrow
    >>> array = arrowdevice.Array(pyarrow.array([1, 2, 3]))
    >>> twin = arrowdevice.copy(array, "cpu")
    >>> [a.address == b.address for a, b in zip(array.buffers(), twin.buffers()) if a.address]
    [False]
    """
    return move(
        obj, device, copy=True, wait=wait, timeout=timeout, depth=depth, read_ahead=read_ahead, interface=interface
    )
