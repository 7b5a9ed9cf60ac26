# SPDX-License-Identifier: Apache-2.0
"""What the DLPack protocol of Python leaves to both sides: streams, versions, devices and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, errors
from .devices import Device, DeviceType, device_name
from .devices import device as find_device

if TYPE_CHECKING:
    from .arrays import Array

_VERSION = (1, 0)
_CPU = (1, 0)

# Streams are integers there; 0 is the default stream of the library. For CUDA 1 and 2 stand for the default streams.
_CUDA = (DeviceType.CUDA, DeviceType.CUDA_MANAGED)
_WITH_STREAMS = (*_CUDA, DeviceType.ROCM)
_NO_WAIT = -1


def _queue(device: Device, stream: int | None) -> _core.Queue | None:
    """The queue behind a stream of a consumer; None: the CPU waits."""
    if device.device_type not in _WITH_STREAMS:
        if stream not in (None, _NO_WAIT):
            raise ValueError(f"a stream, here {stream!r}, has no meaning on {device.name}")
        return None
    if stream == _NO_WAIT:
        return None  # waiting is never wrong
    if stream is None and device.device_type == DeviceType.CUDA_MANAGED:
        return None  # the consumer may be the CPU, which no stream holds back
    if stream is not None and stream < 0:
        raise ValueError(f"there is no stream {stream}")
    if device.device_type in _CUDA:
        if stream == 0:
            raise ValueError("stream 0 is ambiguous on CUDA: 1 is the legacy default stream, 2 that of the thread")
        stream = 0 if stream == 1 else stream
    elif stream in (1, 2):
        raise ValueError(f"stream {stream} has no meaning on ROCm, whose default stream is 0")
    return _core.Queue(device._core, stream or 0)


def export(
    array: Array,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """The capsule of `__dlpack__`; BufferError for what cannot be a tensor."""
    from .transfer import move

    own = array.__dlpack_device__()
    wanted = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted not in (own, _CPU):
        raise BufferError(f"the array is on {device_name(*own)}, and can be given there or on the CPU, not on {wanted}")
    try:
        copied = bool(copy)
        if wanted != own:
            # Shared where the CPU reads the memory in place. Complete, whatever the stream.
            copied = copied or not find_device("cpu").can_access(array.device)
            array = move(array, "cpu", copy=copy)
            stream = None
        elif copied:
            array = move(array, array.device, copy=True)
        waiter = None if array.device.device_type == DeviceType.CPU and stream is None else _queue(array.device, stream)
        versioned = max_version is not None and tuple(max_version) >= _VERSION
        return _core.dlpack_export(array._core, waiter, versioned, copied)
    except errors.NotSupportedError as error:
        raise BufferError(str(error)) from error


def take(obj: Any) -> _core.Array:
    """The array in what an object's `__dlpack__` gives."""
    device_type, device_id = obj.__dlpack_device__()
    arguments: dict[str, Any] = {}
    written_on = None
    if device_type in _WITH_STREAMS:
        # Its producer makes the default stream wait for it, and so does the event that is recorded there.
        arguments["stream"] = 1 if device_type in _CUDA else 0
        written_on = _core.Queue(_core.device_get(device_type, device_id), 0)
    try:
        capsule = obj.__dlpack__(max_version=_VERSION, **arguments)
    except TypeError:  # older than versions
        capsule = obj.__dlpack__(**arguments)
    return _core.dlpack_import(capsule, written_on)
