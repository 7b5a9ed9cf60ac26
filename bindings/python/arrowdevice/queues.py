# SPDX-License-Identifier: Apache-2.0
"""Queues of device work, pools, and memory for results."""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ContextManager, Iterator, NamedTuple, cast

from . import _core
from .devices import Device, DeviceLike, PoolStats
from .devices import device as find_device
from .durations import nanoseconds

if TYPE_CHECKING:
    from .arrays import Array

__all__ = ["Memory", "Pool", "Queue"]


class NativeQueue(NamedTuple):
    """A vendor's queue."""

    handle: int
    """A `CUstream`, `hipStream_t`, `cl_command_queue`, `VkQueue` or Level Zero list as an integer."""
    family: int
    """The queue family. Only Vulkan has families."""


class _WithoutCollection:
    """Stops the garbage collector while any thread holds the lock of a queue.

    A collection could free a `Memory` on the thread that holds the lock. Freeing it needs the lock.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._holders = 0
        self._collects = False

    def __enter__(self) -> None:
        with self._mutex:
            if self._holders == 0:
                self._collects = gc.isenabled()
                gc.disable()
            self._holders += 1

    def __exit__(self, *exception: object) -> None:
        with self._mutex:
            self._holders -= 1
            if self._holders == 0 and self._collects:
                gc.enable()


_without_collection = _WithoutCollection()

# Arrays of queues that the program has forgotten. Work may still use them.
_forgotten: list[Array] = []


class Queue:
    """An in-order queue of work on a device.

    A program submits its own work, such as kernels, to the native queue. The library orders its arrays with that work.
    One thread at a time uses a queue: a second thread gets a RuntimeError.

    >>> import arrowdevice, pyarrow
    >>> queue = arrowdevice.Queue("cpu")
    >>> array = arrowdevice.to_device(pyarrow.array([1, 2]), "cpu")
    >>> with queue.use(array):
    ...     pass  # submit the work that uses the buffers of `array`
    >>> queue.finish()
    """

    __slots__ = ("_core", "_device", "_held")

    def __init__(self, device: DeviceLike) -> None:
        self._device = find_device(device)
        self._core = _core.Queue.create(self._device._core)
        self._held: list[Array] = []

    @classmethod
    def wrap(cls, device: DeviceLike, native: int, *, family: int = 0) -> Queue:
        """Returns a queue that the application owns. 0 is the vendor's default stream.

        The application keeps its queue alive until `close()` has returned.
        """
        made = cls.__new__(cls)
        made._device = find_device(device)
        made._core = _core.Queue.wrap(made._device._core, native, family)
        made._held = []
        return made

    @property
    def device(self) -> Device:
        """The device of the queue."""
        return self._device

    @property
    def native(self) -> NativeQueue:
        """The vendor's queue, valid until `close()`."""
        return NativeQueue(*self._core.native())

    def lock(self) -> ContextManager[NativeQueue]:
        """Locks the native queue for a `with` block that submits to it, and gives the native queue.

        Vulkan requires the lock, because the library submits to its queues too. On devices without such a requirement
        there is no lock. The block calls the vendor's API only. A call of this package, or the release of one of its
        objects, could wait for the lock. The garbage collector is off meanwhile.
        """
        lock = _core.QueueLock(self._device._core, self.native, _without_collection)
        return cast("ContextManager[NativeQueue]", lock)

    def finish(self, timeout: float | None = None) -> None:
        """Waits until the work so far has finished. Raises DeviceTimeoutError after `timeout` seconds."""
        held = len(self._held)
        self._core.finish(nanoseconds(timeout))
        del self._held[:held]

    def wait_array(self, array: Array) -> None:
        """Makes work that is submitted later run after the array is ready. Does not hold the array: see `use()`."""
        self._core.wait_array(array._core)

    def release_after(self, array: Array) -> None:
        """Holds the memory of the array until the work so far has finished, even if the array is released before."""
        self._core.release_after(array._core)

    @contextmanager
    def use(self, *arrays: Array) -> Iterator[Queue]:
        """Orders the work of a `with` block with arrays.

        Work that is submitted in the block runs after the arrays are ready. Their memory is not reused before that work
        has finished, even if the arrays are released. If the block cannot end because another thread or a stream uses the queue,
        the memory is held until `finish()` succeeds, also if the program forgets the queue.
        """
        for array in arrays:
            self.wait_array(array)
        held = [array.slice(0) for array in arrays]
        try:
            yield self
        finally:
            self._held += held  # until finish(), if a call below fails
            for array in held:
                self.release_after(array)
                self._held.remove(array)

    def __del__(self) -> None:
        if getattr(self, "_held", None):
            _forgotten.extend(self._held)

    def close(self) -> None:
        """Ends the queue. Its work continues. The library no longer uses a queue that it wraps."""
        if self._held:
            self.finish()
        self._core.close()

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<arrowdevice.Queue of {self._device.name}>"


class Pool:
    """A pool of a device's memory.

    :param max_cached_bytes: Bytes that the pool keeps for reuse. 0 means a part of the device's memory. A negative
        number means none.
    :param max_bytes: Limit of the bytes in use and cached. 0 means no limit. Beyond it, OutOfMemoryError.
    :param shareable: Other processes can open the memory without a copy (see `Array.ipc_handle()`). They see whole
        allocations, which may contain other arrays of the pool.

    >>> import arrowdevice, pyarrow
    >>> pool = arrowdevice.Pool("cpu", max_bytes=1 << 20)
    >>> array = arrowdevice.to_device(pyarrow.array([1, 2]), "cpu", copy=True, pool=pool)
    >>> pool.stats().allocations
    1
    """

    __slots__ = ("_core", "_device")

    def __init__(
        self, device: DeviceLike, *, max_cached_bytes: int = 0, max_bytes: int = 0, shareable: bool = False
    ) -> None:
        self._device = find_device(device)
        self._core = _core.Pool(self._device._core, max_cached_bytes, max_bytes, shareable)

    @property
    def device(self) -> Device:
        """The device of the pool."""
        return self._device

    def stats(self) -> PoolStats:
        """Returns the statistics of the pool."""
        return PoolStats(*self._core.stats())

    def trim(self) -> None:
        """Returns the cached memory to the driver."""
        self._core.trim()

    def set_default(self) -> None:
        """Makes this the default pool of its device."""
        self._device._core.set_pool(self._core)

    def __repr__(self) -> str:
        return f"<arrowdevice.Pool of {self._device.name}>"


class Memory:
    """Memory of a device, for the result of a kernel. `Array.from_buffers()` makes an array of it.

    The memory is freed with the last object that refers to it. If it has a queue, it is not reused before the work of
    the queue so far has finished.

    >>> import arrowdevice
    >>> arrowdevice.Memory("cpu", 64).size
    64
    """

    __slots__ = ("_core", "_device")

    def __init__(
        self, device: DeviceLike, size: int, *, queue: Queue | None = None, pool: Pool | None = None
    ) -> None:
        self._device = find_device(device)
        core_queue = None if queue is None else queue._core
        core_pool = None if pool is None else pool._core
        self._core = _core.Memory(self._device._core, size, core_queue, core_pool)

    @property
    def device(self) -> Device:
        """The device of the memory."""
        return self._device

    @property
    def address(self) -> int:
        """The address, or the handle if the device has handles."""
        return self._core.address

    @property
    def size(self) -> int:
        """Bytes."""
        return self._core.size

    def __repr__(self) -> str:
        return f"<arrowdevice.Memory of {self.size} bytes on {self._device.name}>"
