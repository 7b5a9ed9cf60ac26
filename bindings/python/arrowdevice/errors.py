# SPDX-License-Identifier: Apache-2.0
"""Errors of the library as exceptions.

Each class derives from `Error`, and from the builtin exception that fits, if there is one:

>>> import arrowdevice
>>> try:
...     arrowdevice.device("opencl:99")
... except arrowdevice.Error as error:
...     print(error.code_name)
ENODEV
>>> try:
...     arrowdevice.device("unknown")
... except ValueError as error:
...     print(type(error).__name__)
InvalidError
"""

from __future__ import annotations

import errno

__all__ = [
    "BusyError",
    "CanceledError",
    "DeviceError",
    "DeviceNotFoundError",
    "DeviceTimeoutError",
    "Error",
    "ExistsError",
    "InvalidError",
    "NotFoundError",
    "NotShareableError",
    "NotSupportedError",
    "OutOfMemoryError",
]


class Error(OSError):
    """A function of the library failed.

    `errno` is the code and `strerror` the message, as in every OSError.
    """

    backend: str
    """The backend that failed, such as "opencl". "" if the library itself failed."""
    native_code: int
    """The vendor's code, 0 if there is none."""

    def __init__(self, code: int, message: str, backend: str = "", native_code: int = 0) -> None:
        super().__init__(code, message)
        self.backend = backend
        self.native_code = native_code

    @property
    def code_name(self) -> str:
        """The name of the code in errno.h: "ENODEV"."""
        return errno.errorcode.get(self.errno or 0, str(self.errno))

    def __str__(self) -> str:
        where = f"{self.backend}: " if self.backend else ""
        return f"{where}{self.strerror} ({self.code_name})"

    def __reduce__(self) -> tuple[type[Error], tuple[int | None, str | None, str, int]]:
        return type(self), (self.errno, self.strerror, self.backend, self.native_code)


class InvalidError(Error, ValueError):
    """EINVAL: the input is invalid."""


class NotSupportedError(Error, NotImplementedError):
    """ENOTSUP: the type, layout or device type is not supported."""


class NotShareableError(NotSupportedError, BufferError):
    """ENOTSUP with `copy=False`: the device cannot share the memory, and a copy is forbidden.

    A BufferError, as the array API and DLPack require.
    """


class OutOfMemoryError(Error, MemoryError):
    """ENOMEM: memory of the host or of a device is exhausted. The message names it."""


class DeviceTimeoutError(Error, TimeoutError):
    """ETIMEDOUT: the time-out has passed."""


class DeviceNotFoundError(Error, LookupError):
    """ENODEV: there is no such driver or device. `arrowdevice.explain()` lists the searched places."""


class DeviceError(Error):
    """EIO: the device failed, now or in earlier work."""


class CanceledError(Error):
    """ECANCELED: the stream was canceled."""


class BusyError(Error):
    """EBUSY: the object is in use."""


class NotFoundError(Error, FileNotFoundError):
    """ENOENT: there is no such file."""


class ExistsError(Error, FileExistsError):
    """EEXIST: the object exists already."""


_CLASSES: dict[int, type[Error]] = {
    errno.EINVAL: InvalidError,
    errno.ENOTSUP: NotSupportedError,
    errno.ENOMEM: OutOfMemoryError,
    errno.ETIMEDOUT: DeviceTimeoutError,
    errno.ENODEV: DeviceNotFoundError,
    errno.EIO: DeviceError,
    errno.ECANCELED: CanceledError,
    errno.EBUSY: BusyError,
    errno.ENOENT: NotFoundError,
    errno.EEXIST: ExistsError,
}


def from_library(code: int, message: str, backend: str, native_code: int) -> Error:
    """Returns the exception for a code. A producer may return any errno value."""
    return _CLASSES.get(code, Error)(code, message, backend, native_code)
