# SPDX-License-Identifier: Apache-2.0
"""The files of a wheel that are not for Python: the headers, the library and the tool."""

from __future__ import annotations

import errno
import os

__all__ = ["get_include", "get_libraries", "get_library_dirs"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def packaged(name: str) -> str:
    """Returns the path of a file or folder of the wheel. A package that was not installed from a wheel has none."""
    path = os.path.join(_FOLDER, name)
    if not os.path.exists(path):
        reason = "only wheels contain this; this package uses the installed library (`pkg-config arrowdevice`)"
        raise FileNotFoundError(errno.ENOENT, reason, path)
    return path


def get_include() -> str:
    """Returns the folder with `arrowdevice/arrowdevice.h` and `arrowdevice/arrowdevice.hpp`."""
    return packaged("include")


def get_libraries() -> list[str]:
    """Returns the names of the libraries that a program in C or C++ links: `["arrowdevice"]`."""
    return ["arrowdevice"]


def get_library_dirs() -> list[str]:
    """Returns the folders in which the linker, and later the program, finds these libraries."""
    return [packaged("lib")]
