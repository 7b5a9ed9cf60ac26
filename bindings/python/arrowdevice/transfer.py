# SPDX-License-Identifier: Apache-2.0
"""Puts data on a device."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from . import _core
from .arrays import Array
from .batches import wrapped
from .devices import Device, DeviceLike
from .devices import device as find_device
from .durations import nanoseconds
from .queues import Pool, Queue
from .sources import any_from
from .streams import Stream
from .tables import Table

__all__ = ["to_device"]

AnyArray = TypeVar("AnyArray", bound=Array)


def copy_flags(copy: bool | None) -> int:
    """Returns the library's flags for `copy`."""
    if copy not in (None, True, False):
        raise TypeError(f"invalid copy {copy!r} (expected None, True or False)")
    return 0 if copy is None else _core.COPY_ALWAYS if copy else _core.COPY_NEVER


def array_to_device(
    array: AnyArray,
    to: DeviceLike,
    copy: bool | None = None,
    *,
    wait: bool = True,
    timeout: float | None = None,
    queue: Queue | None = None,
    pool: Pool | None = None,
) -> AnyArray:
    """Returns an array on a device."""
    device = find_device(to)
    flags = copy_flags(copy) | (0 if wait else _core.COPY_ASYNC)
    core_queue = None if queue is None else queue._core
    core_pool = None if pool is None else pool._core
    core = array._core.to_device(device._core, flags, nanoseconds(timeout), core_queue, core_pool)
    return array._wrap(core, device)


def stream_to_device(
    stream: Stream,
    to: DeviceLike,
    copy: bool | None = None,
    *,
    timeout: float | None = None,
    depth: int = 0,
    read_ahead: bool = False,
    interface: str = "pull",
    pool: Pool | None = None,
    queue: Queue | None = None,
) -> Stream:
    """Returns a stream on a device. Moves `stream`."""
    device = find_device(to)
    flags = copy_flags(copy)
    if depth < 0:
        raise ValueError(f"invalid depth {depth} (expected a number of batches of at least 0)")
    if interface == "async":
        if read_ahead or timeout is not None or pool is not None or queue is not None:
            raise TypeError("read_ahead, timeout, pool and queue need interface='pull', and interface is 'async'")
        return Stream._wrap(stream._core.async_to_device(device._core, int(device.device_type), depth, flags))
    if interface != "pull":
        raise ValueError(f"invalid interface {interface!r} (expected 'pull' or 'async')")
    stream_flags = _core.STREAM_READ_AHEAD if read_ahead else 0
    return Stream._wrap(
        stream._core.to_device(
            device._core,
            stream_flags,
            depth,
            flags,
            nanoseconds(timeout),
            None if pool is None else pool._core,
            None if queue is None else queue._core,
        )
    )


@overload
def to_device(
    obj: AnyArray,
    device: DeviceLike,
    copy: bool | None = ...,
    *,
    wait: bool = ...,
    timeout: float | None = ...,
    queue: Queue | None = ...,
    pool: Pool | None = ...,
) -> AnyArray: ...


@overload
def to_device(
    obj: Any,
    device: DeviceLike,
    copy: bool | None = ...,
    *,
    wait: bool = ...,
    timeout: float | None = ...,
    queue: Queue | None = ...,
    pool: Pool | None = ...,
    depth: int = ...,
    read_ahead: bool = ...,
    interface: str = ...,
) -> Any: ...


def to_device(
    obj: Any,
    device: DeviceLike,
    copy: bool | None = None,
    *,
    wait: bool = True,
    timeout: float | None = None,
    queue: Queue | None = None,
    pool: Pool | None = None,
    depth: int = 0,
    read_ahead: bool = False,
    interface: str = "pull",
) -> Any:
    """Puts data on a device: shares the memory if the device can use it, else copies.

    `obj` is an Array, a RecordBatch, a Stream, or any object with one of these methods. The function calls the first
    that `obj` has: `__arrow_c_device_array__`, `__arrow_c_device_stream__`, `__arrow_c_array__`, `__arrow_c_stream__`,
    `__dlpack__`. Returns an Array (a RecordBatch for a struct without nulls of its own) or a Stream. An array stays
    usable. A stream is moved. For a Table of this package, the result is a Table.

    :param copy: None shares if possible. True always copies. False never copies: NotShareableError if a copy is needed.
    :param wait: For an array or table. False returns while the copy runs, see `Array.is_ready()` and `Array.wait()`.
    :param timeout: Seconds. Limits the whole call, or each `next()` of a stream.
    :param queue: The copy runs on this queue, after its work so far. None means a queue of the library. A stream uses
        the queue alone until it is closed. If another package takes the stream, the queue is closed.
    :param pool: The pool of the target device for copies. None means its default pool.
    :param depth: For a stream. Number of batches that the stream requests before it returns the oldest. 0 means 2.
    :param read_ahead: For a stream. True calls the producer on a thread of the stream.
    :param interface: For a stream. "pull", or "async" for the handlers of the async interface.

    >>> import arrowdevice, pyarrow
    >>> batch = pyarrow.record_batch({"n": [1, 2, 3]})
    >>> shared = arrowdevice.to_device(batch, "cpu")
    >>> shared
    <arrowdevice.RecordBatch n: int64; 3 rows on cpu:0>
      n: [1, 2, 3]
    >>> copied = arrowdevice.to_device(shared, "cpu", copy=True)
    >>> [a.address == b.address for a, b in zip(shared.buffers(), copied.buffers()) if a.address]
    [False]
    """
    copy_flags(copy)  # raises TypeError before a stream is moved
    if isinstance(obj, Table):
        if queue is not None or depth or read_ahead or interface != "pull":
            raise TypeError("queue, depth, read_ahead and interface need a stream or an array, and the object is a table")
        return obj.to_device(device, copy, wait=wait, timeout=timeout, pool=pool)
    if isinstance(obj, (Array, Stream)):
        source: Array | Stream = obj
    else:
        core = any_from(obj)
        source = wrapped(core) if isinstance(core, _core.Array) else Stream._wrap(core)
    if isinstance(source, Array):
        if depth or read_ahead or interface != "pull":
            raise TypeError("depth, read_ahead and interface need a stream, and the object is one array")
        return array_to_device(source, device, copy, wait=wait, timeout=timeout, queue=queue, pool=pool)
    if not wait:
        raise TypeError("wait=False needs one array, and the object is a stream")
    return stream_to_device(
        source,
        device,
        copy,
        timeout=timeout,
        depth=depth,
        read_ahead=read_ahead,
        interface=interface,
        pool=pool,
        queue=queue,
    )
