# SPDX-License-Identifier: Apache-2.0
"""Arrays on any device."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, ClassVar, Self, Sequence

from . import _core, _dlpack
from .buffers import Buffer, array_of_buffers
from .devices import Device, DeviceLike, DeviceType, device_name, known_type
from .durations import nanoseconds
from .queues import Memory, Pool, Queue
from .schema import Schema
from .shown import values_text
from .sources import array_from

if TYPE_CHECKING:
    import pyarrow

    from .handles import IpcHandle
    from .host_copies import HostCopy

__all__ = ["Array", "Buffer"]

# DLPack gives CPU, pinned and managed memory the id 0.
_ALWAYS_0 = (DeviceType.CUDA_HOST, DeviceType.ROCM_HOST, DeviceType.CUDA_MANAGED)
_take_exchanged = _core.take_exchanged
_LEVELS = {"structure": 0, "full": 1, "strict": 2}


def only_none(arguments: dict[str, Any]) -> None:
    """Raises NotImplementedError for an unknown keyword argument that is not None, as the capsule protocol requires."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"the argument {name}={value!r} is not supported")


def check_requested(requested_schema: object) -> None:
    """Raises if a requested schema is not a schema. The protocol allows a producer to ignore a valid one."""
    if requested_schema is not None:
        _core.Schema.take(requested_schema)


class Array:
    """An array on a device.

    The constructor accepts any object with `__arrow_c_device_array__`, `__arrow_c_array__` or `__dlpack__`, and calls
    the first of them. It copies no data, and the object stays usable. An array is immutable.

    >>> import arrowdevice, pyarrow
    >>> array = arrowdevice.Array(pyarrow.array([1, 2, None, 4, 5], pyarrow.int32()))
    >>> array
    <arrowdevice.Array int32, 5 rows on cpu:0: [1, 2, None, 4, 5]>
    >>> array.null_count, array.nbytes, array.device_type
    (1, 21, <DeviceType.CPU: 1>)
    >>> array[1:3].to_pyarrow().to_pylist()
    [2, None]
    """

    __slots__ = ("__weakref__", "_core", "_device")

    __dlpack_c_exchange_api__: ClassVar[object]

    def __init__(self, obj: Any) -> None:
        tensor = _take_exchanged(obj)
        self._core: _core.Array = array_from(obj) if tensor is None else tensor
        self._device: Device | None = None

    @classmethod
    def _wrap(cls, core: _core.Array, device: Device | None = None) -> Self:
        made = cls.__new__(cls)
        made._core = core
        made._device = device
        return made

    @classmethod
    def from_buffers(
        cls,
        type: Any,
        length: int,
        buffers: Sequence[Buffer | Memory | int | None],
        *,
        device: DeviceLike | None = None,
        null_count: int = -1,
        offset: int = 0,
        children: Sequence[Array] = (),
        queue: Queue | None = None,
        owner: object = None,
    ) -> Array:
        """Returns an array of memory that is on a device already. Copies no data.

        :param type: A Schema, or an object with `__arrow_c_schema__` such as a pyarrow type.
        :param buffers: The buffers of the type's layout in order. None is a missing validity bitmap. An integer is an
            address or handle, which needs `owner` and `device`.
        :param null_count: -1 if unknown. Without a validity bitmap it is 0.
        :param queue: The queue whose work so far writes the buffers. The array is ready after that work. Without a
            queue the call waits for the arrays that `buffers` belong to.
        :param owner: An object that keeps the memory alive. The array keeps `buffers` and `owner` until it is released.

        >>> import arrowdevice, pyarrow
        >>> memory = arrowdevice.Memory("cpu", 64)
        >>> array = arrowdevice.Array.from_buffers(pyarrow.int64(), 8, [None, memory])
        >>> len(array), array.type
        (8, 'int64')
        """
        return array_of_buffers(type, length, buffers, device, null_count, offset, children, queue, owner)

    # -- properties ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._core.length

    @property
    def schema(self) -> Schema:
        """The type."""
        return Schema._wrap(self._core.schema)

    @property
    def format(self) -> str:
        """The format string of the type in the C data interface: "i"."""
        return self._core.schema.format

    @property
    def type(self) -> str:
        """The type in words: "int32"."""
        return self.schema.type

    @property
    def device(self) -> Device:
        """The device of the array. Asks the driver for the context of the buffers if it is unknown."""
        if self._device is None:
            self._device = Device._wrap(self._core.device())
        return self._device

    @property
    def device_type(self) -> DeviceType | int:
        """The type of the device. Starts no driver."""
        return known_type(self._core.device_type)

    @property
    def device_id(self) -> int:
        """The id of the device, -1 for the CPU. Starts no driver."""
        return self._core.device_id

    @property
    def offset(self) -> int:
        """Number of rows in the buffers before the first row."""
        return self._core.offset

    @property
    def null_count(self) -> int | None:
        """Number of null rows. None if the producer has not counted and the data is not on the CPU."""
        core = self._core
        if core.declared_null_count >= 0:
            return core.declared_null_count
        if core.schema.format == "n":
            return core.length
        # Unions and run-end encoded arrays have no validity.
        if core.schema.format.startswith(("+u", "+r")) or not core.has_validity:
            return 0
        return core.count_nulls() if core.device_type == DeviceType.CPU else None

    @property
    def nbytes(self) -> int:
        """Bytes that the rows use, including children and dictionaries.

        The number for a slice starts at the start of the buffers. Reads back sizes that are on the device.
        """
        return sum(buffer.size or 0 for buffer in self.buffers(sizes=True))

    def buffers(self, *, sizes: bool = False) -> list[Buffer]:
        """Returns the buffers of the array, of its children and of its dictionaries.

        `sizes` waits for the array and reads back sizes that are on the device.

        >>> import arrowdevice, pyarrow
        >>> [(buffer.role, buffer.size) for buffer in arrowdevice.Array(pyarrow.array(["a", "bc"])).buffers()]
        [('validity', 0), ('offsets', 12), ('data', 3)]
        """
        return [Buffer(self, index, fields) for index, fields in enumerate(self._core.buffers(sizes))]

    # -- slices --------------------------------------------------------------------------------------------------------

    def slice(self, offset: int, length: int | None = None) -> Self:
        """Returns a range of rows.

        Shares the memory. Raises InvalidError for a range outside the array, unlike `array[a:b]`.
        """
        rest = len(self) - offset if length is None else length
        return self._wrap(self._core.slice(offset, rest), self._device)

    def _rows(self, key: builtins.slice) -> Self:
        start, stop, step = key.indices(len(self))
        if step != 1:
            raise ValueError(f"invalid slice step {step} (expected 1)")
        return self.slice(start, max(stop - start, 0))

    def __getitem__(self, key: builtins.slice) -> Array:
        if isinstance(key, builtins.slice):
            return self._rows(key)
        raise TypeError(f"invalid index {key!r} (expected a slice such as array[2:5]; for values use to_pylist())")

    __iter__ = None

    # -- waiting and checking ------------------------------------------------------------------------------------------

    def is_ready(self) -> bool:
        """Returns whether the device work that writes the array has finished. Does not block."""
        return self._core.is_ready()

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the array is ready. Raises DeviceTimeoutError after `timeout` seconds. 0 does not wait."""
        self._core.wait(nanoseconds(timeout))

    def validate(self, level: str = "full") -> None:
        """Validates the array against its type. Raises InvalidError with the invalid field and row.

        "structure" reads no data. "full" reads all data, on any device. "strict" also checks rules that many producers
        violate.
        """
        if level not in _LEVELS:
            raise ValueError(f"invalid validation level {level!r} (expected {', '.join(map(repr, _LEVELS))})")
        self._core.validate(_LEVELS[level])

    # -- other devices -------------------------------------------------------------------------------------------------

    def to_device(
        self,
        device: DeviceLike,
        copy: bool | None = None,
        *,
        wait: bool = True,
        timeout: float | None = None,
        queue: Queue | None = None,
        pool: Pool | None = None,
    ) -> Self:
        """Returns the array on a device, as `arrowdevice.to_device()` does. This array stays usable.

        None shares the memory if possible. True always copies. False never copies: NotShareableError if a copy is
        needed.
        """
        from .transfer import array_to_device

        return array_to_device(self, device, copy, wait=wait, timeout=timeout, queue=queue, pool=pool)

    def to_host(self, *, timeout: float | None = None) -> Self:
        """Returns the array on the CPU, complete. Shares the memory if the CPU can read it, else copies."""
        return self.to_device("cpu", timeout=timeout)

    def to_host_async(self, *, timeout: float | None = None, queue: Queue | None = None) -> HostCopy[Self]:
        """Starts a copy to the CPU and returns while it runs. This array stays usable.

        The result is a `concurrent.futures.Future` that can be awaited too. The copy begins when the array is ready and
        the work of `queue` so far has finished. `timeout` limits the time until the copy is complete. Callbacks of the
        future run on a thread of the library. They must not wait for another copy from the same device.

        >>> import arrowdevice, pyarrow
        >>> copy = arrowdevice.Array(pyarrow.array([1, 2])).to_host_async()
        >>> copy.result().to_pylist()
        [1, 2]
        """
        from .host_copies import HostCopy

        copy = HostCopy[Self](self._wrap)
        self._core.to_host_async(nanoseconds(timeout), None if queue is None else queue._core, copy._finish)
        return copy

    def open_eventfd(self) -> int:
        """Returns a file descriptor for event loops, which becomes readable when the array is ready or has failed.

        Keep the array until then, and close the descriptor with `os.close()`.
        """
        return self._core.open_eventfd()

    def ipc_handle(
        self, *, copy: bool | None = None, pool: Pool | None = None, timeout: float | None = None
    ) -> IpcHandle:
        """Returns an IPC handle, by which another process of the machine opens this array.

        Memory of a pool with `shareable=True` is shared. Arrays in other memory are copied for each handle.

        :param copy: False raises NotShareableError instead of copying. True copies always.
        :param pool: The pool for a copy. It needs `shareable=True`.
        :param timeout: Limits the wait for the array and the copy, in seconds.

        >>> import arrowdevice, pyarrow
        >>> pool = arrowdevice.Pool("cpu", shareable=True)
        >>> array = arrowdevice.to_device(pyarrow.array([1, 2]), "cpu", copy=True, pool=pool)
        >>> with array.ipc_handle(copy=False) as handle:
        ...     handle.copied_bytes, handle.open().to_pylist()
        (0, [1, 2])
        """
        from .handles import IpcHandle
        from .transfer import copy_flags

        core_pool = None if pool is None else pool._core
        return IpcHandle._of(_core.IpcHandle.of(self._core, copy_flags(copy), nanoseconds(timeout), core_pool))

    def to_pyarrow(self) -> pyarrow.Array:
        """Returns a pyarrow.Array on the CPU. Needs pyarrow."""
        import pyarrow

        return pyarrow.array(self.to_host())

    def to_pylist(self) -> list[Any]:
        """Returns the values as Python objects, None for a null. Needs pyarrow.

        >>> import arrowdevice, pyarrow
        >>> arrowdevice.Array(pyarrow.array(["a", None])).to_pylist()
        ['a', None]
        """
        values: list[Any] = self.to_pyarrow().to_pylist()
        return values

    def to_numpy(self) -> Any:
        """Returns a NumPy array on the CPU, which shares memory if it can.

        Numbers without nulls need NumPy only. Other types need pyarrow, which turns a null into NaN or None.
        """
        import numpy

        host: Any = self.to_host()
        try:
            return numpy.from_dlpack(host)
        except BufferError:
            return host.to_pyarrow().to_numpy(zero_copy_only=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        return numpy.array(self.to_numpy(), dtype=dtype, copy=copy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()

    def release(self) -> None:
        """Releases the array now. Shared owners keep the memory alive. Later uses of this object raise ValueError."""
        self._core.release()

    # -- protocols -----------------------------------------------------------------------------------------------------

    def _check_on_cpu(self, method: str) -> None:
        if self._core.device_type != DeviceType.CPU:
            where = device_name(self._core.device_type, self._core.device_id)
            raise ValueError(
                f"{method} needs data on the CPU, and this is on {where} "
                f"(call .to_host() first, or use {method.replace('_c_', '_c_device_')})"
            )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        check_requested(requested_schema)
        self._check_on_cpu("__arrow_c_array__")
        return self._core.schema.capsule(), self._core.host_capsule()

    def __arrow_c_device_array__(self, requested_schema: object = None, **kwargs: Any) -> tuple[object, object]:
        only_none(kwargs)
        check_requested(requested_schema)
        return self._core.schema.capsule(), self._core.device_capsule()

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        return _dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind = self._core.device_type
        return int(kind), 0 if kind in _ALWAYS_0 else max(self._core.device_id, 0)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickles the rows. The new array is on the CPU. Needs pyarrow."""
        from .pickles import array_pickle

        return array_pickle(self)

    def __repr__(self) -> str:
        if self._core.released:
            return f"<arrowdevice.{type(self).__name__}, released>"
        where = device_name(self._core.device_type, self._core.device_id)
        values = values_text(self)
        return f"<arrowdevice.{type(self).__name__} {self.type}, {len(self):,} rows on {where}{values and ': ' + values}>"


Array.__dlpack_c_exchange_api__ = _core.exchange_capsule(Array, _dlpack.share, _dlpack.default_stream)
