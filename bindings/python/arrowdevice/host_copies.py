# SPDX-License-Identifier: Apache-2.0
"""Copies to the CPU that run while the program goes on."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, Generator, TypeVar

from . import _core

__all__ = ["HostCopy"]

T = TypeVar("T")


class HostCopy(concurrent.futures.Future[T]):
    """The future of an array on the CPU: `copy.result()`, or `await copy` in a coroutine.

    A copy that has begun cannot be cancelled. If the program drops this object, the result is released.
    """

    def __init__(self, wrap: Callable[[_core.Array], T]) -> None:
        super().__init__()
        self._wrap = wrap
        self.set_running_or_notify_cancel()

    def _finish(self, core: _core.Array | None, error: Exception | None) -> None:
        """Sets the result. A thread of the library calls it."""
        if core is None:
            self.set_exception(error)
        else:
            self.set_result(self._wrap(core))

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self).__await__()
