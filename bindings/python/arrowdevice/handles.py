# SPDX-License-Identifier: Apache-2.0
"""Arrays for other processes of the machine."""

from __future__ import annotations

import os
from multiprocessing import reduction
from typing import Any, NoReturn, Self, Sequence

from . import _core
from .arrays import Array
from .batches import wrapped
from .durations import nanoseconds
from .queues import Pool
from .transfer import copy_flags

__all__ = ["IpcHandle"]


class IpcHandle:
    """An IPC handle of an array: bytes and file descriptors for another process of the machine.

    `Array.ipc_handle()` makes a handle. The other process opens it and has an array over the same memory. Handles go
    through queues and pipes of `multiprocessing`, and as arguments of processes that are not forked. Close the handle
    after the other process has received it, because a queue reads it later. A program with a Unix socket sends `data`
    and `descriptors`, for example by `socket.send_fds()`.

    The memory is in use until the handle, its copies and the opened arrays are closed. If a process ends, the system
    closes its copies. A queue keeps a copy in the sending process until the other process receives the handle.

    :param data: The bytes of a handle that this process has received.
    :param descriptors: Its descriptors in order. On success the handle owns them, and closes them.

    >>> import arrowdevice, pyarrow
    >>> with arrowdevice.Array(pyarrow.array([1, 2])).ipc_handle() as handle:
    ...     array = handle.open()
    >>> array.to_pylist()
    [1, 2]
    """

    __slots__ = ("_core",)

    def __init__(self, data: bytes, descriptors: Sequence[int]) -> None:
        numbers = list(descriptors)
        for number in numbers:
            os.set_inheritable(number, False)  # those of socket.recv_fds() would survive exec
        self._core = _core.IpcHandle.received(bytes(data), numbers)

    @classmethod
    def _of(cls, core: _core.IpcHandle) -> Self:
        made = cls.__new__(cls)
        made._core = core
        return made

    @property
    def data(self) -> bytes:
        """The bytes of the handle."""
        return self._core.data

    @property
    def descriptors(self) -> list[int]:
        """The file descriptors of the handle, which belong to it."""
        return self._core.descriptors

    @property
    def copied_bytes(self) -> int:
        """Bytes that were copied because of the handle, 0 if it shares the array's memory or was received."""
        return self._core.copied_bytes

    def open(self, *, copy: bool | None = None, pool: Pool | None = None, timeout: float | None = None) -> Array:
        """Returns the array, a RecordBatch if it can be one. It stays valid after the handle is closed.

        A write to its memory on the CPU ends the process. The owner process can change the memory at any time. If you do
        not trust it, open the handle with `copy=True` and validate the array.

        :param copy: True copies the bytes first. The array does not use the memory of the owner process then.
        :param pool: The pool for the copy.
        :param timeout: Limits the waits for a device, in seconds.
        """
        core_pool = None if pool is None else pool._core
        return wrapped(self._core.open(copy_flags(copy), nanoseconds(timeout), core_pool))

    def close(self) -> None:
        """Closes the descriptors of this handle. Has no effect on a closed handle."""
        self._core.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a handle has file descriptors, which pickle cannot store (use a queue or pipe of multiprocessing, or send "
            "data and descriptors through a Unix socket)"
        )


def _received(data: bytes, duplicates: list[Any]) -> IpcHandle:
    descriptors: list[int] = []
    try:
        for duplicate in duplicates:
            descriptors.append(duplicate.detach())
        return IpcHandle(data, descriptors)
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _sent(handle: IpcHandle) -> tuple[Any, tuple[bytes, list[Any]]]:
    return _received, (handle.data, [reduction.DupFd(descriptor) for descriptor in handle.descriptors])


# Pickles of multiprocessing, which have a way for descriptors.
reduction.ForkingPickler.register(IpcHandle, _sent)
