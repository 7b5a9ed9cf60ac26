# SPDX-License-Identifier: Apache-2.0
"""Arrays for other processes of the machine."""

from __future__ import annotations

import os
from multiprocessing import reduction
from typing import Any, NoReturn, Self, Sequence

from . import _core
from .arrays import Array, wrapped

__all__ = ["IpcHandle"]


class IpcHandle:
    """An array for another process of the machine: bytes and file descriptors.

    `Array.ipc_handle()` makes a handle. The other process opens it and has an array over the same memory. A handle goes
    through queues, pipes and arguments of `multiprocessing`, except to a child that is forked. A program with a Unix
    socket of its own sends `data` and `descriptors`, for example by `socket.send_fds()`.

    The memory is in use until the handle, its copies in other processes, and the arrays that were opened are closed. If
    a process ends, its copies are closed.

    :param data: The bytes of a handle that this process has received.
    :param descriptors: Its descriptors in order. The handle owns them and closes them.

    >>> import arrowdevice, pyarrow
    >>> with arrowdevice.Array(pyarrow.array([1, 2])).ipc_handle() as handle:
    ...     array = handle.open()
    >>> array.to_pylist()
    [1, 2]
    """

    __slots__ = ("_descriptors", "_made", "_received")

    def __init__(self, data: bytes, descriptors: Sequence[int]) -> None:
        self._made: _core.IpcHandle | None = None
        self._received: bytes | None = bytes(data)
        self._descriptors: list[int] = list(descriptors)

    @classmethod
    def _of(cls, core: _core.IpcHandle) -> Self:
        made = cls(b"", [])
        made._made = core
        return made

    @property
    def data(self) -> bytes:
        """The bytes of the handle."""
        if self._made is not None:
            return self._made.data
        if self._received is None:
            raise ValueError("the handle was closed")
        return self._received

    @property
    def descriptors(self) -> list[int]:
        """The file descriptors of the handle, which belong to it."""
        return list(self._descriptors) if self._made is None else self._made.descriptors

    @property
    def copied_bytes(self) -> int:
        """Bytes that were copied because of the handle, 0 if it shares the array's memory or was received."""
        return 0 if self._made is None else self._made.copied_bytes

    def open(self) -> Array:
        """Returns the array, a RecordBatch if it can be one. It stays valid after the handle is closed.

        Its memory on the CPU must not be written. Call `validate("full")` for a copy of the array if its owner is not
        trusted, because the owner can change the memory at any time.
        """
        return wrapped(_core.open_ipc_handle(self.data, self.descriptors))

    def close(self) -> None:
        """Closes the descriptors of this handle. Has no effect on a closed handle."""
        if self._made is not None:
            self._made.release()
        descriptors, self._descriptors = self._descriptors, []
        self._received = None
        for descriptor in descriptors:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a handle has file descriptors, which pickle cannot store (use a queue or pipe of multiprocessing, or send "
            "data and descriptors through a Unix socket)"
        )


def _received(data: bytes, duplicates: list[Any]) -> IpcHandle:
    descriptors = [duplicate.detach() for duplicate in duplicates]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return IpcHandle(data, descriptors)


def _sent(handle: IpcHandle) -> tuple[Any, tuple[bytes, list[Any]]]:
    return _received, (handle.data, [reduction.DupFd(descriptor) for descriptor in handle.descriptors])


# Pickles of multiprocessing, which have a way for descriptors.
reduction.ForkingPickler.register(IpcHandle, _sent)
