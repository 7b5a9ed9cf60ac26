# SPDX-License-Identifier: Apache-2.0
"""Arrays and record batches, wherever they lie."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Sequence, overload

from . import _core, _dlpack
from .devices import Device, DeviceType, device_name, known_type
from .durations import nanoseconds
from .schema import Schema

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Array", "Buffer", "RecordBatch"]

# DLPack gives CPU, pinned and managed memory the id 0.
_ALWAYS_0 = (DeviceType.CUDA_HOST, DeviceType.ROCM_HOST, DeviceType.CUDA_MANAGED)
_LEVELS = {"structure": 0, "full": 1, "strict": 2}
_ROLES = {
    1: "validity", 2: "data", 3: "offsets", 4: "sizes", 5: "type_ids", 6: "views", 7: "variadic", 8: "variadic_sizes",
}  # fmt: skip


class Buffer(NamedTuple):
    """One buffer of an array: where it lies, and how many bytes of it the array uses."""

    path: str
    """The names of the fields that lead to it: "prices.item"; "" for the array's own."""
    role: str
    """ "validity", "data", "offsets" ..."""
    address: int
    """An address, or a handle where the device has handles; 0 where the array has none."""
    size: int | None
    """None where it lies on the device and was not asked for."""


def only_none(arguments: dict[str, Any]) -> None:
    """What the capsule protocol may get one day is refused, unless it is None."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"the argument {name}={value!r} is not supported")


def check_requested(requested_schema: object) -> None:
    """A schema that is asked for is best effort by the protocol: what comes is the array's own. Only nonsense is refused."""
    if requested_schema is not None:
        _core.Schema.take(requested_schema)


class Array:
    """An array on a device.

    Made from any object with `__arrow_c_device_array__`, `__arrow_c_array__` or `__dlpack__`, which are looked for in this
    order; nothing is copied, and the object may be used as before. An array never changes.

    >>> import arrowdevice, pyarrow
    >>> array = arrowdevice.Array(pyarrow.array([1, 2, None, 4, 5], pyarrow.int32()))
    >>> array
    <arrowdevice.Array int32, 5 rows on cpu:0>
    >>> array.null_count, array.nbytes, array.device_type
    (1, 21, <DeviceType.CPU: 1>)
    >>> array[1:3].to_pyarrow().to_pylist()
    [2, None]
    """

    __slots__ = ("__weakref__", "_core", "_device")

    def __init__(self, obj: Any) -> None:
        from .sources import array_from

        self._core: _core.Array = array_from(obj)
        self._device: Device | None = None

    @classmethod
    def _wrap(cls, core: _core.Array, device: Device | None = None) -> Self:
        made = cls.__new__(cls)
        made._core = core
        made._device = device
        return made

    # -- what it is ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._core.length

    @property
    def schema(self) -> Schema:
        """Its type."""
        return Schema._wrap(self._core.schema)

    @property
    def format(self) -> str:
        """The format string of its type, as in the C data interface: "i"."""
        return self._core.schema.format

    @property
    def type(self) -> str:
        """Its type in words: "int32"."""
        return self.schema.type

    @property
    def device(self) -> Device:
        """Where it is; asks the driver whose context its buffers are of, where that is not known."""
        if self._device is None:
            self._device = Device._wrap(self._core.device())
        return self._device

    @property
    def device_type(self) -> DeviceType | int:
        """The type of its device. Starts no driver."""
        return known_type(self._core.device_type)

    @property
    def device_id(self) -> int:
        """The id of its device, -1 for the CPU. Starts no driver."""
        return self._core.device_id

    @property
    def offset(self) -> int:
        """Rows before its first one in its buffers."""
        return self._core.offset

    @property
    def null_count(self) -> int | None:
        """How many rows are null; None where the producer has not counted and the data is not on the CPU."""
        core = self._core
        if core.declared_null_count >= 0:
            return core.declared_null_count
        if core.schema.format == "n":
            return core.length
        # Unions and run ends have no validity of their own.
        if core.schema.format.startswith(("+u", "+r")) or not core.has_validity:
            return 0
        return core.count_nulls() if core.device_type == DeviceType.CPU else None

    @property
    def nbytes(self) -> int:
        """The bytes that its rows use, children and dictionaries included.

        A slice is counted from the start of its buffers. Where sizes lie on the device, waits for the array and reads them.
        """
        return sum(buffer.size or 0 for buffer in self.buffers(sizes=True))

    def buffers(self, *, sizes: bool = False) -> list[Buffer]:
        """Its buffers and those of its children and dictionaries.

        With `sizes`, those that lie on the device too: waits for the array and reads them.

        >>> import arrowdevice, pyarrow
        >>> [(buffer.role, buffer.size) for buffer in arrowdevice.Array(pyarrow.array(["a", "bc"])).buffers()]
        [('validity', 0), ('offsets', 12), ('data', 3)]
        """
        return [
            Buffer(path, _ROLES.get(role, str(role)), address, size)
            for path, role, address, size in self._core.buffers(sizes)
        ]

    # -- parts ---------------------------------------------------------------------------------------------------------

    def slice(self, offset: int, length: int | None = None) -> Self:
        """Some rows; the memory is shared. Unlike `array[a:b]`, rows that are not there are an InvalidError."""
        rest = len(self) - offset if length is None else length
        return self._wrap(self._core.slice(offset, rest), self._device)

    def _rows(self, key: builtins.slice) -> Self:
        start, stop, step = key.indices(len(self))
        if step != 1:
            raise ValueError("rows can be sliced in steps of 1 only")
        return self.slice(start, max(stop - start, 0))

    def __getitem__(self, key: builtins.slice) -> Array:
        if isinstance(key, builtins.slice):
            return self._rows(key)
        raise TypeError(f"an array is sliced, as in array[2:5]; for values use to_pyarrow(). Not {key!r}")

    __iter__ = None

    # -- waiting and checking ------------------------------------------------------------------------------------------

    def ready(self) -> bool:
        """Whether its data is there: work that writes it may still run on the device. Does not block."""
        return self._core.ready()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until its data is there, for so many seconds, 0 to look once. Raises DeviceTimeoutError."""
        self._core.wait(nanoseconds(timeout, none=-1))

    def validate(self, level: str = "full") -> None:
        """Check it against its type; raises InvalidError with the field and row that is wrong.

        "structure" looks at no data, "full" at all of it, wherever it lies, "strict" also at what real producers neglect.
        """
        if level not in _LEVELS:
            raise ValueError(f"the level is one of {', '.join(map(repr, _LEVELS))}, not {level!r}")
        self._core.validate(_LEVELS[level])

    # -- elsewhere -----------------------------------------------------------------------------------------------------

    def to_host(self, *, timeout: float | None = None) -> Self:
        """The same on the CPU, complete: shared where the CPU reads the memory, else copied."""
        from .transfer import moved

        return moved(self, "cpu", flags=0, timeout=timeout)

    def to_pyarrow(self) -> pyarrow.Array:
        """The same as a pyarrow.Array (a pyarrow.RecordBatch for a batch), on the CPU. Needs pyarrow."""
        import pyarrow

        return pyarrow.array(self.to_host())

    def release(self) -> None:
        """Give its memory back now, not when it is collected. What shares it keeps it. It cannot be used any more."""
        self._core.release()

    # -- protocols -----------------------------------------------------------------------------------------------------

    def _check_on_cpu(self, method: str) -> None:
        if self._core.device_type != DeviceType.CPU:
            where = device_name(self._core.device_type, self._core.device_id)
            raise ValueError(
                f"{method} is for data on the CPU, and this is on {where}: call .to_host() first, or have it read "
                f"by {method.replace('_c_', '_c_device_')}"
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

    def __repr__(self) -> str:
        if self._core.released:
            return f"<arrowdevice.{type(self).__name__}, released>"
        where = device_name(self._core.device_type, self._core.device_id)
        return f"<arrowdevice.{type(self).__name__} {self.type}, {len(self):,} rows on {where}>"


class RecordBatch(Array):
    """A record batch on a device: columns of one length.

    Made as an Array is, from what is a struct without nulls of its own. In the C data interface a record batch and such a
    struct array look the same; where the class was not named, as in `arrowdevice.move()`, it is a RecordBatch.

    >>> import arrowdevice, pyarrow
    >>> batch = arrowdevice.RecordBatch(pyarrow.record_batch({"price": [1.5, 2.5], "name": ["a", None]}))
    >>> batch
    <arrowdevice.RecordBatch price: double, name: string; 2 rows on cpu:0>
    >>> batch["name"].null_count
    1
    >>> batch.select(["name"]).column_names
    ['name']
    """

    __slots__ = ()

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        if not is_batch(self._core):
            what = "a struct with nulls of its own" if self.format == "+s" else f"an array of {self.type}"
            raise ValueError(f"{type(obj).__name__} gives {what}, which is no record batch: use arrowdevice.Array")

    @property
    def num_rows(self) -> int:
        """As many as `len()`."""
        return len(self)

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return self._core.schema.n_children

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    def _index(self, key: int | str) -> int:
        """The position of a column that is there."""
        if isinstance(key, str):
            return self.schema.index(key)
        count = self.num_columns
        if not -count <= key < count:
            raise IndexError(f"there is no column {key}: the batch has {count}")
        return key % count

    def column(self, key: int | str) -> Array:
        """One column, by its name or position; the memory is shared.

        KeyError if no column, or several, have the name; IndexError if there is none at the position.
        """
        return Array._wrap(self._core.child(self._index(key)), self._device)

    @property
    def columns(self) -> list[Array]:
        """All columns."""
        return [self.column(i) for i in range(self.num_columns)]

    def select(self, keys: Sequence[int | str]) -> RecordBatch:
        """Some columns, in the order given, by name or position; the memory is shared. Errors as from `column()`."""
        if isinstance(keys, str):
            raise TypeError("select() takes a list of columns; for one column use column()")
        return RecordBatch._wrap(self._core.select([self._index(key) for key in keys]), self._device)

    @overload
    def __getitem__(self, key: builtins.slice) -> RecordBatch: ...

    @overload
    def __getitem__(self, key: int | str) -> Array: ...

    def __getitem__(self, key: builtins.slice | int | str) -> Array:
        return self._rows(key) if isinstance(key, builtins.slice) else self.column(key)

    def to_pyarrow(self) -> pyarrow.RecordBatch:
        """The same as a pyarrow.RecordBatch, on the CPU. Needs pyarrow."""
        import pyarrow

        return pyarrow.record_batch(self.to_host())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        check_requested(requested_schema)
        self._check_on_cpu("__arrow_c_stream__")
        return self._stream().host_capsule()

    def __arrow_c_device_stream__(self, requested_schema: object = None, **kwargs: Any) -> object:
        only_none(kwargs)
        check_requested(requested_schema)
        return self._stream().device_capsule()

    def _stream(self) -> _core.Stream:
        return _core.Stream.from_arrays(self._core.schema, [self._core], self._core.device_type)

    def __repr__(self) -> str:
        if self._core.released:
            return super().__repr__()
        where = device_name(self._core.device_type, self._core.device_id)
        columns = [f"{child.name}: {child.type}" for child in self.schema.children[:8]]
        if self.num_columns > len(columns):
            columns.append(f"and {self.num_columns - len(columns)} more")
        text = ", ".join(columns) or "no columns"
        return f"<arrowdevice.RecordBatch {text}; {len(self):,} rows on {where}>"


def is_batch(core: _core.Array) -> bool:
    """Whether an array can be a record batch."""
    return core.schema.format == "+s" and (core.declared_null_count == 0 or not core.has_validity)


def wrapped(core: _core.Array, device: Device | None = None) -> Array:
    """A RecordBatch where it can be one, else an Array."""
    return (RecordBatch if is_batch(core) else Array)._wrap(core, device)
