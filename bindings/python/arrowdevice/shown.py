# SPDX-License-Identifier: Apache-2.0
"""Rows of arrays and their values as text."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence, TypeVar

from .devices import DeviceType
from .errors import InvalidError

if TYPE_CHECKING:
    from .arrays import Array
    from .batches import RecordBatch
    from .schema import Schema

_Rows = TypeVar("_Rows", "Array", "RecordBatch")
_ROWS = 10
_COLUMNS = 8
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 40


def rows_of(parts: Sequence[_Rows], first: int, end: int) -> Iterator[_Rows]:
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


def values_text(array: Array) -> str:
    """Returns the first and last values of an array, as "[1, 2]".

    Returns an empty text unless the values are on the CPU and complete and pyarrow is installed. Reads ten rows at most,
    after it has validated them.
    """
    return _text_of_rows(list(_first_and_last_rows([array])))


def columns_values_text(batches: Sequence[RecordBatch]) -> str:
    """Returns a line for each of the first columns of batches, with its values, or an empty text."""
    names = batches[0].column_names[:_COLUMNS] if batches else []
    shown = list(_first_and_last_rows(batches))
    texts = [(name, _text_of_rows([[rows.column(i) for rows in end] for end in shown])) for i, name in enumerate(names)]
    return "".join(f"\n  {name}: {text}" for name, text in texts if text)


def _first_and_last_rows(parts: Sequence[_Rows]) -> Iterator[list[_Rows]]:
    """Yields the first and the last rows of arrays that follow each other, or yields all rows at once if they are few."""
    length = sum(map(len, parts))
    half = _ROWS // 2
    ranges = [(0, length)] if length <= _ROWS else [(0, half), (length - half, length)]
    for first, end in ranges:
        yield list(rows_of(parts, first, end))


def _text_of_rows(ends: Sequence[Sequence[Array]]) -> str:
    """Returns the text of the values at each end, see `values_text()`."""
    if not all(rows._core.device_type == DeviceType.CPU and rows.is_ready() for end in ends for rows in end):
        return ""
    try:
        texts = [", ".join(text for rows in end for text in _texts(rows)) for end in ends]
    except (ImportError, NotImplementedError):  # pyarrow lacks the type
        return ""
    except InvalidError:
        return "[invalid, validate() says why]"
    return f"[{', ..., '.join(texts)}]"


def _texts(rows: Array) -> list[str]:
    import pyarrow

    rows.validate("full")
    return [_text(value) for value in pyarrow.array(rows)]


def _text(value: Any) -> str:
    try:
        return _short.repr(value.as_py())
    except (OverflowError, ValueError):  # Python has no such date or time, or a struct has two fields of one name
        number = getattr(value, "value", None)
        return str(number) if isinstance(number, int) else f"<{value.type}>"
