# SPDX-License-Identifier: Apache-2.0
"""Pickles of arrays and tables: their rows in Arrow's IPC format. Needs pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arrays import Array
from .batches import RecordBatch

if TYPE_CHECKING:
    from .tables import Table

Pickle = tuple[Any, tuple[bytes]]


def _written(table: Any) -> bytes:
    """Returns the rows of a pyarrow.Table or pyarrow.RecordBatch, without those outside of a slice."""
    import pyarrow

    if table.num_rows == 0:  # pyarrow cannot read back what it writes of an empty slice
        table = pyarrow.RecordBatch.from_pylist([], schema=table.schema)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return bytes(sink.getvalue())


def _read(rows: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.open_stream(rows)


def array_pickle(array: Array) -> Pickle:
    import pyarrow

    schema = pyarrow.schema([pyarrow.field(array.schema)])
    return restored_array, (_written(pyarrow.record_batch([array.to_pyarrow()], schema=schema)),)


def restored_array(rows: bytes) -> Array:
    return restored_batch(rows).column(0)


def batch_pickle(batch: RecordBatch) -> Pickle:
    return restored_batch, (_written(batch.to_pyarrow()),)


def restored_batch(rows: bytes) -> RecordBatch:
    return RecordBatch(_read(rows).read_next_batch())


def table_pickle(table: Table) -> Pickle:
    return restored_table, (_written(table.to_pyarrow()),)


def restored_table(rows: bytes) -> Table:
    from .tables import Table

    return Table(_read(rows))
