# SPDX-License-Identifier: Apache-2.0
"""What objects of other libraries offer, and which of it is taken.

Device methods come before those of the CPU, which would copy or fail for an object on a device. For the same device, one array
comes before a stream: an object that has both, as pyarrow's RecordBatch, is one batch. DLPack comes last: it knows neither nulls
nor names.
"""

from __future__ import annotations

from typing import Any

from . import _core, _dlpack

ARRAY_METHODS = ("__arrow_c_device_array__", "__arrow_c_array__", "__dlpack__")
STREAM_METHODS = ("__arrow_c_device_stream__", "__arrow_c_stream__")
ALL_METHODS = (
    "__arrow_c_device_array__", "__arrow_c_device_stream__", "__arrow_c_array__", "__arrow_c_stream__", "__dlpack__",
)  # fmt: skip


def _first(obj: Any, methods: tuple[str, ...]) -> str | None:
    # Classes have these methods too, and cannot be asked.
    return None if isinstance(obj, type) else next((name for name in methods if hasattr(obj, name)), None)


def _read(obj: Any, method: str) -> _core.Array | _core.Stream:
    if method == "__arrow_c_device_array__":
        return _core.Array.take_device(*obj.__arrow_c_device_array__())
    if method == "__arrow_c_array__":
        return _core.Array.take_host(*obj.__arrow_c_array__())
    if method == "__arrow_c_device_stream__":
        return _core.Stream.take_device(obj.__arrow_c_device_stream__())
    if method == "__arrow_c_stream__":
        return _core.Stream.take_host(obj.__arrow_c_stream__())
    return _dlpack.take(obj)


def _nothing(obj: Any, methods: tuple[str, ...]) -> TypeError:
    kind = obj.__name__ if isinstance(obj, type) else type(obj).__name__
    what = "is a class" if isinstance(obj, type) else f"has none of {', '.join(methods)}"
    return TypeError(f"{kind} {what}")


def array_from(obj: Any) -> _core.Array:
    """An array of an object that offers one."""
    method = _first(obj, ARRAY_METHODS)
    if method is None:
        if _first(obj, STREAM_METHODS) is not None:
            raise TypeError(f"{type(obj).__name__} offers a stream of arrays: use arrowdevice.Stream")
        raise _nothing(obj, ARRAY_METHODS)
    core = _read(obj, method)
    assert isinstance(core, _core.Array)
    return core


def stream_from(obj: Any) -> _core.Stream:
    """A stream of an object that offers one, or a stream of the one array that it offers."""
    core = _read(obj, _first(obj, STREAM_METHODS) or _array_method(obj))
    if isinstance(core, _core.Array):
        return _core.Stream.from_arrays(core.schema, [core], core.device_type)
    return core


def _array_method(obj: Any) -> str:
    method = _first(obj, ARRAY_METHODS)
    if method is None:
        raise _nothing(obj, STREAM_METHODS + ARRAY_METHODS)
    return method


def any_from(obj: Any) -> _core.Array | _core.Stream:
    """What an object offers first."""
    method = _first(obj, ALL_METHODS)
    if method is None:
        raise _nothing(obj, ALL_METHODS)
    return _read(obj, method)
