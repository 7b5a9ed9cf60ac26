# SPDX-License-Identifier: Apache-2.0
"""What the library answers, as exceptions.

Each is an `Error`, and the builtin exception that fits it, where there is one:

>>> import arrowdevice
>>> try:
...     arrowdevice.device("opencl:99")
... except arrowdevice.Error as error:
...     print(error.code_name)
ENODEV
>>> try:
...     arrowdevice.device("nothing")
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
    "NotSupportedError",
    "OutOfMemoryError",
]


class Error(OSError):
    """A function of the library failed.

    `errno` is its code and `strerror` its message, as in every OSError.
    """

    backend: str
    """The backend that failed, "opencl"; "" when the library itself did."""
    native_code: int
    """The vendor's own code, 0 if there is none."""

    def __init__(self, code: int, message: str, backend: str = "", native_code: int = 0) -> None:
        super().__init__(code, message)
        self.backend = backend
        self.native_code = native_code

    @property
    def code_name(self) -> str:
        """The code as errno.h calls it: "ENODEV"."""
        return errno.errorcode.get(self.errno or 0, str(self.errno))

    def __str__(self) -> str:
        where = f"{self.backend}: " if self.backend else ""
        return f"{where}{self.strerror} ({self.code_name})"

    def __reduce__(self) -> tuple[type[Error], tuple[int | None, str | None, str, int]]:
        return type(self), (self.errno, self.strerror, self.backend, self.native_code)


class InvalidError(Error, ValueError):
    """EINVAL: the input is wrong."""


class NotSupportedError(Error, NotImplementedError):
    """ENOTSUP: the type, layout or device type is not supported."""


class OutOfMemoryError(Error, MemoryError):
    """ENOMEM: memory of the host or of a device is exhausted; the message says which."""


class DeviceTimeoutError(Error, TimeoutError):
    """ETIMEDOUT: not done in time."""


class DeviceNotFoundError(Error, LookupError):
    """ENODEV: no such driver or device; `arrowdevice.explain()` says what was looked at."""


class DeviceError(Error):
    """EIO: the device failed, now or in earlier work."""


class CanceledError(Error):
    """ECANCELED: the stream was cancelled."""


class BusyError(Error):
    """EBUSY: it is in use."""


class NotFoundError(Error, FileNotFoundError):
    """ENOENT: there is no such file."""


class ExistsError(Error, FileExistsError):
    """EEXIST: it is there already."""


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
    """The exception for a code; a producer's own may be any errno value."""
    return _CLASSES.get(code, Error)(code, message, backend, native_code)
