# SPDX-License-Identifier: Apache-2.0
"""The DLPack protocol of Python: streams, versions, devices and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, errors
from .devices import Device, DeviceType, device_name
from .devices import device as find_device

if TYPE_CHECKING:
    from .arrays import Array

_VERSION = (1, 0)
_CPU = (1, 0)

# DLPack gives streams as integers. The library's default stream is 0. CUDA's default streams are 1 and 2 in DLPack.
_CUDA = (DeviceType.CUDA, DeviceType.CUDA_MANAGED)
_NO_WAIT = -1


def default_stream(device_type: int, device_id: int) -> _core.Queue | None:
    """Returns the vendor's default stream, or None if devices of the type have no streams."""
    if not _core.has_streams(device_type):
        return None
    return _core.Queue.wrap(_core.device_find_by_id(device_type, device_id), 0, 0)


def _queue(device: Device, stream: int | None) -> _core.Queue | None:
    """Returns the queue for a consumer's stream, or None if the CPU waits."""
    if not _core.has_streams(device.device_type):
        if stream not in (None, _NO_WAIT):
            raise ValueError(f"invalid stream {stream!r} on {device.name} (expected None or -1)")
        return None
    if stream == _NO_WAIT:
        return None  # the protocol allows a wait
    if stream is None and device.device_type == DeviceType.CUDA_MANAGED:
        return None  # the consumer may be the CPU, which does not wait for a stream
    if stream is not None and stream < 0:
        raise ValueError(f"invalid stream {stream} (expected at least -1)")
    if device.device_type in _CUDA:
        if stream == 0:
            raise ValueError("stream 0 is ambiguous on CUDA (use 1 for the legacy default stream, 2 for the thread's)")
        stream = 0 if stream == 1 else stream
    elif stream in (1, 2):
        raise ValueError(f"invalid stream {stream} on ROCm (the default stream is 0)")
    return _core.Queue.wrap(device._core, stream or 0, 0)


def export(
    array: Array,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """Returns the capsule of `__dlpack__`. Raises BufferError if the array cannot be a tensor."""
    from .transfer import array_to_device

    if stream is None and dl_device is None and not copy and max_version is not None and max_version >= _VERSION:
        if array._core.device_type == DeviceType.CPU:
            return _core.shared_capsule(array)
    own = array.__dlpack_device__()
    wanted = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted not in (own, _CPU):
        raise BufferError(f"invalid dl_device {wanted} for an array on {device_name(*own)} (expected {own} or {_CPU})")
    try:
        copied = bool(copy)
        if wanted != own:
            # The CPU shares memory that it can read in place. The result is complete, so the stream does not matter.
            copied = copied or not find_device("cpu").can_access(array.device)
            array = array_to_device(array, "cpu", copy)
            stream = None
        elif copied:
            array = array_to_device(array, array.device, copy=True)
        cpu_waits = array.device.device_type == DeviceType.CPU and stream is None
        consumer_queue = None if cpu_waits else _queue(array.device, stream)
        versioned = max_version is not None and tuple(max_version) >= _VERSION
        return _core.dlpack_export(array._core, consumer_queue, versioned, copied)
    except errors.NotShareableError:
        raise  # already a BufferError
    except errors.NotSupportedError as error:
        raise BufferError(str(error)) from error


def share(core: _core.Array) -> None:
    """Makes the tensor that the functions of `__dlpack_c_exchange_api__` give. Waits until the array is ready.

    Consumers work on the default stream, and do not wait for that work before they delete the tensor.
    """
    try:
        _core.share_as_tensor(core, default_stream(core.device_type, core.device_id))
    except errors.NotSupportedError as error:
        raise BufferError(str(error)) from error


def take(obj: Any) -> _core.Array:
    """Returns the array of a tensor: by the functions of its class, or else by its `__dlpack__`."""
    exchanged = _core.take_exchanged(obj)
    if exchanged is not None:
        return exchanged
    device_type, device_id = obj.__dlpack_device__()
    arguments: dict[str, Any] = {}
    producer_queue = default_stream(device_type, device_id)
    if producer_queue is not None:
        # The producer makes the default stream wait for the tensor. The event that the library records there fires
        # later.
        arguments["stream"] = 1 if device_type in _CUDA else 0
    try:
        capsule = obj.__dlpack__(max_version=_VERSION, **arguments)
    except TypeError:  # the producer is older than versions
        capsule = obj.__dlpack__(**arguments)
    return _core.dlpack_import(capsule, producer_queue)
