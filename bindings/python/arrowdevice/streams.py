# SPDX-License-Identifier: Apache-2.0
"""Streams of record batches."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable, Iterator

from . import _core
from .arrays import Array, check_requested, only_none
from .batches import wrapped
from .devices import Device, DeviceLike, DeviceType, known_type
from .schema import Schema
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow

    from .queues import Pool, Queue
    from .tables import Table

__all__ = ["Stream"]


def _have_same_layout(one: Schema, other: Schema) -> bool:
    """Returns whether arrays of both types have the same layout. Names and flags do not matter."""
    if one.format != other.format or len(one.children) != len(other.children):
        return False
    if one.dictionary is None or other.dictionary is None:
        return one.dictionary is other.dictionary and all(map(_have_same_layout, one.children, other.children))
    return _have_same_layout(one.dictionary, other.dictionary)


class Stream:
    """A stream of record batches on devices of one type. A stream whose type is not a struct gives arrays.

    The constructor accepts tables, readers, data frames and other objects. It calls the first method that the object
    has: `__arrow_c_device_stream__`, `__arrow_c_stream__`, or a method that Array accepts. A stream can be read once.
    One thread at a time may use it. Any thread may call `cancel()` and `close()`.

    A stream on another device returns batches while their copy may still run. The methods of this package wait for the
    copy. Call `batch.wait()` before your own code uses the addresses.

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
        """Returns a stream of batches that have one type and one device type. Shares their memory.

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
            if not _have_same_layout(array.schema, schema):
                raise ValueError(f"batch {number} has type {array.type} (the stream has {type_name(schema)})")
        kind = arrays[0]._core.device_type if arrays else DeviceType.CPU
        return cls._wrap(_core.Stream.from_arrays(core, [array._core for array in arrays], kind))

    @property
    def schema(self) -> Schema:
        """The type of the batches. The first use asks the producer, which may block."""
        return Schema._wrap(self._core.schema())

    @property
    def device_type(self) -> DeviceType | int:
        """The device type of all batches."""
        return known_type(self._core.device_type)

    @property
    def closed(self) -> bool:
        """True if the stream was closed or moved."""
        return self._core.closed

    def __iter__(self) -> Iterator[Array]:
        return self

    def __next__(self) -> Any:
        core = self._core.next()
        if core is None:
            raise StopIteration
        return wrapped(core)

    def __aiter__(self) -> AsyncIterator[Array]:
        return self

    async def __anext__(self) -> Any:
        """Returns the next batch, and reads it on a thread of the loop's default executor.

        Cancelling the task that waits also cancels the stream.
        """
        import asyncio

        reading = asyncio.get_running_loop().run_in_executor(None, self._core.next)
        try:
            core = await asyncio.shield(reading)
        except asyncio.CancelledError:
            self.cancel()
            reading.add_done_callback(lambda done: done.cancelled() or done.exception())  # the error is expected
            raise
        if core is None:
            raise StopAsyncIteration
        return wrapped(core)

    def cancel(self) -> None:
        """Cancels the stream from any thread.

        A later read raises CanceledError. A read that waits for a stream of the library raises it too. A foreign
        producer cannot be interrupted, so that a read that waits for one still returns its batch.
        """
        self._core.cancel()

    def close(self) -> None:
        """Releases the stream. Batches stay valid. Does not wait for device work."""
        self._core.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def to_device(
        self,
        device: DeviceLike,
        copy: bool | None = None,
        *,
        timeout: float | None = None,
        depth: int = 0,
        read_ahead: bool = False,
        interface: str = "pull",
        pool: Pool | None = None,
        queue: Queue | None = None,
    ) -> Stream:
        """Returns a stream of the same batches on a device, as `arrowdevice.to_device()` does. Moves this stream."""
        from .transfer import stream_to_device

        return stream_to_device(
            self,
            device,
            copy,
            timeout=timeout,
            depth=depth,
            read_ahead=read_ahead,
            interface=interface,
            pool=pool,
            queue=queue,
        )

    def to_host(self, *, depth: int = 0) -> Stream:
        """Returns a stream of the same batches on the CPU. Moves this stream."""
        return self.to_device("cpu", depth=depth)

    def read_all(self) -> Table:
        """Reads the stream to its end and closes it. Returns the batches as a table, where they are.

        >>> import arrowdevice, pyarrow
        >>> arrowdevice.to_device(pyarrow.table({"n": range(4)}), "cpu").read_all()
        <arrowdevice.Table n: int64; 4 rows in 1 batch on cpu:0>
          n: [0, 1, 2, 3]
        """
        from .tables import Table

        return Table(self)

    def to_pyarrow(self) -> pyarrow.RecordBatchReader:
        """Returns a pyarrow.RecordBatchReader on the CPU. Moves this stream. Needs pyarrow."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self.to_host())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        check_requested(requested_schema)
        if self._core.device_type != DeviceType.CPU:
            kind = _core.device_type_name(self._core.device_type) or self._core.device_type
            raise ValueError(
                f"__arrow_c_stream__ needs a stream on the CPU, and this stream is on {kind} "
                "(call .to_host() first, or use __arrow_c_device_stream__)"
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
