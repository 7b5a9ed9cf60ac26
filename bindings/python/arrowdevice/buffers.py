# SPDX-License-Identifier: Apache-2.0
"""Buffers of arrays, and arrays of buffers."""

from __future__ import annotations

import sys
from types import NoneType
from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from .devices import Device, DeviceLike, DeviceType
from .devices import device as find_device
from .queues import Memory, Queue
from .schema import Schema

if TYPE_CHECKING:
    from .arrays import Array

__all__ = ["Buffer"]

_ROLES = {
    1: "validity", 2: "data", 3: "offsets", 4: "sizes", 5: "type_ids", 6: "views", 7: "variadic", 8: "variadic_sizes",
}  # fmt: skip


class Buffer:
    """A buffer of an array, which it keeps alive.

    It is a tensor for consumers of DLPack, such as `numpy.from_dlpack`, of `__array_interface__` if the CPU reads the
    memory, and of `__cuda_array_interface__` on CUDA devices. The elements have the type of the values or offsets.
    Bits, views and values of other widths are bytes. The tensor begins at the start of the buffer: the first row is
    `Array.offset` elements behind it.

    The array interfaces wait for the array, and say that the memory is read-only, which PyTorch refuses: it takes
    DLPack. They do not tell when the consumer's work has finished: submit that work in
    `Queue.use()`, or keep the array until the work has finished.

    >>> import arrowdevice, numpy, pyarrow
    >>> offsets = arrowdevice.Array(pyarrow.array(["a", None, "bc"])).buffers()[1]
    >>> offsets.role, numpy.from_dlpack(offsets).tolist()
    ('offsets', [0, 1, 1, 3])
    """

    __slots__ = ("_array", "_element", "_index", "_is_on_host", "_owner", "_size", "address", "path", "role")

    _TYPES = {
        "c": "i1", "C": "u1", "s": "i2", "S": "u2", "e": "f2", "i": "i4", "I": "u4", "f": "f4", "l": "i8", "L": "u8",
        "g": "f8",
    }  # fmt: skip

    path: str
    """The names of the fields that contain the buffer, such as "prices.item". "" for the array itself."""
    role: str
    """The role in the layout, such as "validity", "data" or "offsets"."""
    address: int
    """The address, or the handle if the device has handles. 0 if the array has no such buffer."""

    def __init__(self, array: Array, index: int, fields: tuple[str, int, int, int | None, str, bool]) -> None:
        self._array = array
        self._index = index
        self._owner: Array | None = None  # of the memory, after the program has released the array too
        self.path, role, self.address, self._size, self._element, self._is_on_host = fields
        self.role = _ROLES.get(role, str(role))

    @property
    def size(self) -> int | None:
        """Bytes that the array uses. None if the size is on the device and was not read back."""
        return self._size

    @property
    def device(self) -> Device:
        """The device of the buffer. Sizes of variadic buffers may be in host memory."""
        if self._is_on_host and not self._array.device.is_host_readable:
            return find_device("cpu")
        return self._array.device

    def _length(self) -> int:
        if self.address == 0:
            raise BufferError(f"the array has no {self.role} buffer")
        size = self._size
        if size is None:
            size = self._array.buffers(sizes=True)[self._index].size or 0
        return size // int(self._TYPES[self._element][1])

    def _tensor(self) -> Array:
        from .arrays import Array

        length = self._length()
        schema = _core.Schema.primitive(self._element)
        device = self.device
        on_host = device != self._array.device
        if on_host:
            self._array.wait()
        return Array._wrap(self._array._core.bytes_of(schema, self.address, length, on_host), device)

    def _interface(self) -> dict[str, Any]:
        self._array.wait()
        if self._owner is None:
            self._owner = self._array.slice(0)
        order = "|" if self._TYPES[self._element].endswith("1") else "<" if sys.byteorder == "little" else ">"
        return {
            "shape": (self._length(),), "typestr": order + self._TYPES[self._element], "data": (self.address, True),
            "strides": None, "version": 3,
        }  # fmt: skip

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not self.device.is_host_readable:
            raise AttributeError(f"the CPU cannot read {self.device.name}")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device.device_type not in (DeviceType.CUDA, DeviceType.CUDA_HOST, DeviceType.CUDA_MANAGED):
            raise AttributeError(f"{self.device.name} is no CUDA device")
        return self._interface() | {"stream": None}

    def __dlpack__(self, **arguments: Any) -> object:
        return self._tensor().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.device.device_type == DeviceType.CPU else self._array.__dlpack_device__()

    def __repr__(self) -> str:
        where = f" of {self.path}" if self.path else ""
        return f"<arrowdevice.Buffer {self.role}{where}, {self._size} bytes on {self.device.name}>"


def array_of_buffers(
    type: Any,
    length: int,
    buffers: Sequence[Buffer | Memory | int | None],
    device: DeviceLike | None,
    null_count: int,
    offset: int,
    children: Sequence[Array],
    queue: Queue | None,
    owner: object,
) -> Array:
    """Returns the array of `Array.from_buffers()`."""
    from .batches import wrapped

    found = find_device(device) if device is not None else next(
        (part.device for part in (*buffers, *children) if not isinstance(part, (int, NoneType))), None
    )  # fmt: skip
    if found is None:
        raise TypeError("device is missing (no buffer or child has a device)")
    if any(isinstance(buffer, int) for buffer in buffers) and owner is None:
        raise TypeError("owner is missing (an address does not keep its memory alive)")
    for part in (*buffers, *children):
        if isinstance(part, (int, NoneType)) or part.device == found:
            continue
        if not (isinstance(part, Buffer) and part._is_on_host) and not found.can_access(part.device):
            raise ValueError(f"a buffer or child is on {part.device.name} (expected {found.name})")
    addresses = [buffer if isinstance(buffer, int) else buffer.address if buffer else 0 for buffer in buffers]
    schema = type if isinstance(type, Schema) else Schema(type)
    # Shared owners, because the program may release the arrays themselves.
    sources = [array.slice(0) for array in {buffer._array for buffer in buffers if isinstance(buffer, Buffer)}]
    for source in (*sources, *children):
        if queue is None:
            source.wait()
        else:
            queue.wait_array(source)
    if null_count == -1 and (not addresses or addresses[0] == 0):
        null_count = 0
    core = _core.Array.from_parts(
        schema._core, found._core, length, null_count, offset, addresses, [child._core for child in children],
        (tuple(buffers), sources, owner), None if queue is None else queue._core,
    )  # fmt: skip
    for part, (_, _, _, needed, _, _) in zip(buffers, core.buffers(False)):
        given = None if isinstance(part, (int, NoneType)) else part.size
        if needed is not None and given is not None and given < needed:
            raise ValueError(f"a buffer has {given} bytes (expected at least {needed})")
    return wrapped(core, found)
