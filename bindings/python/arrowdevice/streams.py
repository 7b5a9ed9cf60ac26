# SPDX-License-Identifier: Apache-2.0
"""Batches that flow."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from . import _core
from .arrays import Array, check_requested, only_none, wrapped
from .devices import DeviceType, known_type
from .schema import Schema
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Stream"]


def _lie_alike(one: Schema, other: Schema) -> bool:
    """Whether the bytes of both mean the same; names and flags change none."""
    if one.format != other.format or len(one.children) != len(other.children):
        return False
    if one.dictionary is None or other.dictionary is None:
        return one.dictionary is other.dictionary and all(map(_lie_alike, one.children, other.children))
    return _lie_alike(one.dictionary, other.dictionary)


class Stream:
    """A stream of record batches on devices of one type (of arrays, if its type is no struct).

    Made from any object with `__arrow_c_device_stream__`, `__arrow_c_stream__`, or what an Array is made from, which are
    looked for in this order: tables, readers, data frames. It is read once. It belongs to one thread at a time, but for
    `cancel()` and `close()`, which any thread may call.

    Batches of a moved stream are handed out while their copy may still run. This package's methods wait by themselves; call
    `batch.wait()` before giving addresses to code of your own.

    >>> import arrowdevice, pyarrow
    >>> table = pyarrow.table({"n": range(10)})
    >>> with arrowdevice.Stream(table) as stream:
    ...     print(stream.schema.names, [batch.num_rows for batch in stream])
    ['n'] [10]
    """

    __slots__ = ("__weakref__", "_core")

    def __init__(self, obj: Any) -> None:
        from .sources import stream_from

        self._core: _core.Stream = stream_from(obj)

    @classmethod
    def _wrap(cls, core: _core.Stream) -> Stream:
        made = cls.__new__(cls)
        made._core = core
        return made

    @classmethod
    def from_batches(cls, batches: Iterable[Any], schema: Any = None) -> Stream:
        """A stream of batches, all of one type and on one type of device. Their memory is shared.

        >>> import arrowdevice, pyarrow
        >>> batch = pyarrow.record_batch({"n": [1, 2]})
        >>> [len(b) for b in arrowdevice.Stream.from_batches([batch, batch])]
        [2, 2]
        """
        arrays = [batch if isinstance(batch, Array) else Array(batch) for batch in batches]
        if schema is None:
            if not arrays:
                raise ValueError("a stream without batches needs a schema")
            core = arrays[0]._core.schema
        else:
            core = (schema if isinstance(schema, Schema) else Schema(schema))._core
        schema = Schema._wrap(core)
        for number, array in enumerate(arrays):
            if not _lie_alike(array.schema, schema):
                raise ValueError(f"batch {number} is of {array.type}, and the stream of {type_name(schema)}")
        kind = arrays[0]._core.device_type if arrays else DeviceType.CPU
        return cls._wrap(_core.Stream.from_arrays(core, [array._core for array in arrays], kind))

    @property
    def schema(self) -> Schema:
        """The type of what flows. Asks the producer the first time, which may block."""
        return Schema._wrap(self._core.schema())

    @property
    def device_type(self) -> DeviceType | int:
        """The type of device that all batches are on."""
        return known_type(self._core.device_type)

    @property
    def closed(self) -> bool:
        """Whether it has been closed, or handed over."""
        return self._core.closed

    def __iter__(self) -> Iterator[Array]:
        return self

    def __next__(self) -> Any:
        core = self._core.next()
        if core is None:
            raise StopIteration
        return wrapped(core)

    def cancel(self) -> None:
        """Stop it, from any thread: who asks for more gets a CanceledError, and so does who waits for the next batch of a
        stream that was moved. A producer of somebody else's cannot be woken: its batch is given out still."""
        self._core.cancel()

    def close(self) -> None:
        """Let it go, also before its end. Batches that were read stay. What a device still works on is not waited for."""
        self._core.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def to_host(self, *, depth: int = 0) -> Stream:
        """The same on the CPU, copied while it flows. This one is handed over."""
        from .transfer import moved_stream

        return moved_stream(self, "cpu", depth=depth)

    def to_pyarrow(self) -> pyarrow.RecordBatchReader:
        """The same as a pyarrow.RecordBatchReader, on the CPU. This one is handed over. Needs pyarrow."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self.to_host())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        check_requested(requested_schema)
        if self._core.device_type != DeviceType.CPU:
            kind = _core.device_type_name(self._core.device_type) or self._core.device_type
            raise ValueError(
                f"__arrow_c_stream__ is for data on the CPU, and this stream is on {kind}: call .to_host() first, or "
                "have it read by __arrow_c_device_stream__"
            )
        return self._core.host_capsule()

    def __arrow_c_device_stream__(self, requested_schema: object = None, **kwargs: Any) -> object:
        only_none(kwargs)
        check_requested(requested_schema)
        return self._core.device_capsule()

    def __repr__(self) -> str:
        if self._core.closed:
            return "<arrowdevice.Stream, closed>"
        return f"<arrowdevice.Stream on {_core.device_type_name(self._core.device_type) or self._core.device_type}>"
