# SPDX-License-Identifier: Apache-2.0
"""Tables on any device."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterable, Self, Sequence, overload

from .arrays import Array, check_requested, only_none
from .batches import RecordBatch
from .devices import DeviceLike
from .durations import nanoseconds
from .schema import Schema
from .shown import columns_text, columns_values_text, rows_of
from .streams import Stream

if TYPE_CHECKING:
    import builtins

    import pyarrow

    from .queues import Pool

__all__ = ["Table"]


class Table:
    """Record batches of one type, which stay where they are. A table is immutable and can be used more than once.

    The constructor accepts the objects that Stream accepts, and reads them to their end.

    >>> import arrowdevice, pyarrow
    >>> table = arrowdevice.Table(pyarrow.table({"n": range(10), "name": list("abcdefghij")}))
    >>> there = arrowdevice.to_device(table, "cpu")
    >>> there
    <arrowdevice.Table n: int64, name: string; 10 rows in 1 batch on cpu:0>
      n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
      name: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
    >>> there[2:5].select(["name"]).to_pyarrow().to_pydict()
    {'name': ['c', 'd', 'e']}
    >>> len(there)
    10
    """

    __slots__ = ("__weakref__", "_batches", "_schema")

    def __init__(self, obj: Any) -> None:
        with obj if isinstance(obj, Stream) else Stream(obj) as stream:
            schema = stream.schema
            self._set(schema, [batch for batch in stream])

    def _set(self, schema: Schema, batches: Sequence[Array]) -> None:
        if schema.format != "+s":
            raise ValueError(f"a stream of {schema.type} makes no table (a table has record batches)")
        for batch in batches:
            if not isinstance(batch, RecordBatch):
                raise ValueError("a batch has null rows of its own (a record batch has none)")
        self._schema = schema
        self._batches = [batch for batch in batches if isinstance(batch, RecordBatch)]

    @classmethod
    def _of(cls, schema: Schema, batches: Sequence[Array]) -> Self:
        made = cls.__new__(cls)
        made._set(schema, batches)
        return made

    @classmethod
    def from_batches(cls, batches: Iterable[Any], schema: Any = None) -> Self:
        """Returns a table of batches that have one type and one device type. Shares their memory.

        >>> import arrowdevice, pyarrow
        >>> batch = pyarrow.record_batch({"n": [1, 2]})
        >>> arrowdevice.Table.from_batches([batch, batch])
        <arrowdevice.Table n: int64; 4 rows in 2 batches on cpu:0>
          n: [1, 2, 1, 2]
        """
        return cls(Stream.from_batches(batches, schema))

    # -- properties ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(len(batch) for batch in self._batches)

    @property
    def schema(self) -> Schema:
        """The type of the batches."""
        return self._schema

    @property
    def num_rows(self) -> int:
        """Number of rows, as `len()`."""
        return len(self)

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self._schema.children)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._schema.names

    @property
    def batches(self) -> list[RecordBatch]:
        """The batches in order. Shares the memory."""
        return list(self._batches)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows use, as in `Array.nbytes`."""
        return sum(batch.nbytes for batch in self._batches)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def column(self, key: int | str) -> list[Array]:
        """Returns a column by name or position, an array for each batch. Shares the memory."""
        if isinstance(key, str):
            key = self._schema.index(key)
        if not -self.num_columns <= key < self.num_columns:
            raise IndexError(f"invalid column {key} (the table has {self.num_columns})")
        return [batch.column(key) for batch in self._batches]

    def select(self, keys: Sequence[int | str]) -> Table:
        """Returns columns by name or position, in the given order. Shares the memory."""
        if not self._batches:
            return type(self)(self.to_pyarrow().select(list(keys)))
        batches = [batch.select(keys) for batch in self._batches]
        return self._of(batches[0].schema, batches)

    @overload
    def __getitem__(self, key: builtins.slice) -> Table: ...

    @overload
    def __getitem__(self, key: int | str) -> list[Array]: ...

    def __getitem__(self, key: builtins.slice | int | str) -> Table | list[Array]:
        return self._rows(key) if isinstance(key, slice) else self.column(key)

    def _rows(self, rows: builtins.slice) -> Table:
        first, end, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"invalid slice step {step} (expected 1)")
        return self._of(self._schema, list(rows_of(self._batches, first, end)))

    # -- devices -------------------------------------------------------------------------------------------------------

    def to_device(
        self,
        device: DeviceLike,
        copy: bool | None = None,
        *,
        wait: bool = True,
        timeout: float | None = None,
        pool: Pool | None = None,
    ) -> Table:
        """Returns the table on a device, as `arrowdevice.to_device()` does for each batch. This table stays usable."""
        nanoseconds(timeout)  # raises ValueError for an invalid one
        end = None if timeout is None else time.monotonic() + timeout

        def left() -> float | None:
            return None if end is None else max(end - time.monotonic(), 0.0)

        batches = [
            batch.to_device(device, copy, wait=False, timeout=left(), pool=pool) for batch in self._batches
        ]
        if wait:
            for batch in batches:
                batch.wait(left())
        return self._of(self._schema, batches)

    def to_host(self, *, timeout: float | None = None) -> Table:
        """Returns the table on the CPU, complete. Shares the memory if the CPU can read it, else copies."""
        return self.to_device("cpu", timeout=timeout)

    def stream(self) -> Stream:
        """Returns a stream of the batches. Shares the memory."""
        return Stream.from_batches(self._batches, self._schema)

    def to_pyarrow(self) -> pyarrow.Table:
        """Returns a pyarrow.Table on the CPU. Needs pyarrow."""
        import pyarrow

        return pyarrow.table(self.to_host())

    def release(self) -> None:
        """Releases the batches now. Shared owners keep the memory alive."""
        for batch in self._batches:
            batch.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        check_requested(requested_schema)
        return self.stream().__arrow_c_stream__()

    def __arrow_c_device_stream__(self, requested_schema: object = None, **kwargs: Any) -> object:
        only_none(kwargs)
        check_requested(requested_schema)
        return self.stream().__arrow_c_device_stream__()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickles the rows. The new table is on the CPU. Needs pyarrow."""
        from .pickles import table_pickle

        return table_pickle(self)

    def __repr__(self) -> str:
        if any(batch._core.released for batch in self._batches):
            return "<arrowdevice.Table, released>"
        n = len(self._batches)
        places = {batch.device.name for batch in self._batches}
        where = f" on {places.pop()}" if len(places) == 1 else ""
        batches = f"{n:,} batch{'' if n == 1 else 'es'}"
        values = columns_values_text(self._batches)
        return f"<arrowdevice.Table {columns_text(self._schema)}; {len(self):,} rows in {batches}{where}>{values}"
