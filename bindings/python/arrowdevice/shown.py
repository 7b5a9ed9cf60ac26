# SPDX-License-Identifier: Apache-2.0
"""Rows of arrays and their values as text."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from .devices import DeviceType
from .errors import InvalidError

if TYPE_CHECKING:
    from .arrays import Array, RecordBatch
    from .schema import Schema

_ROWS = 10
_COLUMNS = 8
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 40


def rows_of(parts: Sequence[Array], first: int, end: int) -> Iterator[Array]:
    """Yields the rows from `first` to `end` of arrays that follow each other. Shares the memory."""
    for part in parts:
        begin = max(first, 0)
        if begin < min(end, len(part)):
            yield part[begin : min(end, len(part))]
        first -= len(part)
        end -= len(part)


def columns_text(schema: Schema) -> str:
    """Returns the names and types of the columns of a batch, the first eight if there are more."""
    children = schema.children
    columns = [f"{child.name}: {child.type}" for child in children[:_COLUMNS]]
    if len(children) > _COLUMNS:
        columns.append(f"and {len(children) - _COLUMNS} more")
    return ", ".join(columns) or "no columns"


def values_text(parts: Sequence[Array]) -> str:
    """Returns the first and last values of arrays that follow each other, as "[1, 2]".

    Returns an empty text unless the values are on the CPU and complete and pyarrow is installed. Reads ten rows at most,
    after it has validated them.
    """
    if not all(part._core.device_type == DeviceType.CPU and part.is_ready() for part in parts):
        return ""
    length = sum(map(len, parts))
    half = _ROWS // 2
    ranges = [(0, length)] if length <= _ROWS else [(0, half), (length - half, length)]
    try:
        texts = [[text for rows in rows_of(parts, *range) for text in _texts(rows)] for range in ranges]
    except (ImportError, NotImplementedError):  # pyarrow lacks the type
        return ""
    except InvalidError:
        return "[invalid, validate() says why]"
    return f"[{', ..., '.join(', '.join(text) for text in texts)}]"


def _texts(rows: Array) -> list[str]:
    import pyarrow

    rows.validate("full")
    return [_text(value) for value in pyarrow.array(rows)]


def _text(value: Any) -> str:
    try:
        return _short.repr(value.as_py())
    except (OverflowError, ValueError):  # Python has no such date or time
        return str(value.value)


def columns_values_text(batches: Sequence[RecordBatch]) -> str:
    """Returns a line for each of the first columns of batches, with its values, or an empty text."""
    names = batches[0].column_names[:_COLUMNS] if batches else []
    texts = [(name, values_text([batch.column(index) for batch in batches])) for index, name in enumerate(names)]
    return "".join(f"\n  {name}: {text}" for name, text in texts if text)
