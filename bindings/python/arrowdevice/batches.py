# SPDX-License-Identifier: Apache-2.0
"""Record batches on any device."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Sequence, overload

from . import _core
from .arrays import Array, check_requested, only_none
from .devices import Device, device_name
from .shown import columns_text, columns_values_text

if TYPE_CHECKING:
    import pyarrow

__all__ = ["RecordBatch"]


class RecordBatch(Array):
    """A record batch on a device: columns of one length.

    The constructor accepts the objects that Array accepts, if they are a struct without nulls of its own. The C data
    interface does not distinguish such a struct array from a record batch. `arrowdevice.to_device()` returns a
    RecordBatch for both.

    >>> import arrowdevice, pyarrow
    >>> batch = arrowdevice.RecordBatch(pyarrow.record_batch({"price": [1.5, 2.5], "name": ["a", None]}))
    >>> batch
    <arrowdevice.RecordBatch price: double, name: string; 2 rows on cpu:0>
      price: [1.5, 2.5]
      name: ['a', None]
    >>> batch["name"].null_count
    1
    >>> batch.select(["name"]).column_names
    ['name']
    """

    __slots__ = ()

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        if not is_batch(self._core):
            kind = "a struct with nulls of its own" if self.format == "+s" else f"an array of {self.type}"
            raise ValueError(f"{type(obj).__name__} gives {kind}, not a record batch (use arrowdevice.Array)")

    @property
    def num_rows(self) -> int:
        """Number of rows, as `len()`."""
        return len(self)

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return self._core.schema.n_children

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    def _index(self, key: int | str) -> int:
        """Returns the position of a column. Raises KeyError or IndexError if there is no such column."""
        if isinstance(key, str):
            return self.schema.index(key)
        count = self.num_columns
        if not -count <= key < count:
            raise IndexError(f"invalid column {key} (the batch has {count})")
        return key % count

    def column(self, key: int | str) -> Array:
        """Returns the column with a name or position. Shares the memory.

        Raises KeyError if no column, or several, have the name. Raises IndexError for an invalid position.
        """
        return Array._wrap(self._core.child(self._index(key)), self._device)

    @property
    def columns(self) -> list[Array]:
        """All columns."""
        return [self.column(i) for i in range(self.num_columns)]

    def select(self, keys: Sequence[int | str]) -> RecordBatch:
        """Returns columns by name or position, in the given order.

        Shares the memory. Raises the errors of `column()`.
        """
        if isinstance(keys, str):
            raise TypeError("select() takes a list of columns (for one column use column())")
        return RecordBatch._wrap(self._core.select([self._index(key) for key in keys]), self._device)

    @overload
    def __getitem__(self, key: builtins.slice) -> RecordBatch: ...

    @overload
    def __getitem__(self, key: int | str) -> Array: ...

    def __getitem__(self, key: builtins.slice | int | str) -> Array:
        return self._rows(key) if isinstance(key, builtins.slice) else self.column(key)

    def to_pyarrow(self) -> pyarrow.RecordBatch:
        """Returns a pyarrow.RecordBatch on the CPU. Needs pyarrow."""
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
        columns = columns_text(self.schema)
        return f"<arrowdevice.RecordBatch {columns}; {len(self):,} rows on {where}>{columns_values_text([self])}"

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        from .pickles import batch_pickle

        return batch_pickle(self)


def is_batch(core: _core.Array) -> bool:
    """Returns whether an array can be a record batch."""
    return core.schema.format == "+s" and (core.declared_null_count == 0 or not core.has_validity)


def wrapped(core: _core.Array, device: Device | None = None) -> Array:
    """Returns a RecordBatch if the array can be one, else an Array."""
    return (RecordBatch if is_batch(core) else Array)._wrap(core, device)
