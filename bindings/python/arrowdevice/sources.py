# SPDX-License-Identifier: Apache-2.0
"""Reads objects of other libraries.

Device methods come before CPU methods, because CPU methods copy or fail for an object on a device. An array comes
before a stream, because an object that has both methods is one batch, as pyarrow's RecordBatch. DLPack comes last,
because it has neither nulls nor names.
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
    """Returns the first method that an object has. A class has the methods too but cannot call them."""
    return None if isinstance(obj, type) else next((name for name in methods if hasattr(obj, name)), None)


def _read(obj: Any, method: str) -> _core.Array | _core.Stream:
    """Calls a method of an object and moves the result out of the capsules."""
    if method == "__arrow_c_device_array__":
        return _core.Array.take_device(*obj.__arrow_c_device_array__())
    if method == "__arrow_c_array__":
        return _core.Array.take_host(*obj.__arrow_c_array__())
    if method == "__arrow_c_device_stream__":
        return _core.Stream.take_device(obj.__arrow_c_device_stream__())
    if method == "__arrow_c_stream__":
        return _core.Stream.take_host(obj.__arrow_c_stream__())
    return _dlpack.take(obj)


def _no_method(obj: Any, methods: tuple[str, ...]) -> TypeError:
    kind = obj.__name__ if isinstance(obj, type) else type(obj).__name__
    what = "is a class" if isinstance(obj, type) else f"has none of {', '.join(methods)}"
    return TypeError(f"{kind} {what}")


def array_from(obj: Any) -> _core.Array:
    """Returns the array of an object that has an array method."""
    method = _first(obj, ARRAY_METHODS)
    if method is None:
        if _first(obj, STREAM_METHODS) is not None:
            raise TypeError(f"{type(obj).__name__} has a stream of arrays (use arrowdevice.Stream)")
        raise _no_method(obj, ARRAY_METHODS)
    core = _read(obj, method)
    assert isinstance(core, _core.Array)
    return core


def stream_from(obj: Any) -> _core.Stream:
    """Returns the stream of an object, or a stream of its one array."""
    core = _read(obj, _first(obj, STREAM_METHODS) or _array_method(obj))
    if isinstance(core, _core.Array):
        return _core.Stream.from_arrays(core.schema, [core], core.device_type)
    return core


def _array_method(obj: Any) -> str:
    method = _first(obj, ARRAY_METHODS)
    if method is None:
        raise _no_method(obj, STREAM_METHODS + ARRAY_METHODS)
    return method


def any_from(obj: Any) -> _core.Array | _core.Stream:
    """Returns the array or stream of the first method that an object has."""
    method = _first(obj, ALL_METHODS)
    if method is None:
        raise _no_method(obj, ALL_METHODS)
    return _read(obj, method)
