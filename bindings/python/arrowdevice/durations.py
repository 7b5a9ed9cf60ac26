# SPDX-License-Identifier: Apache-2.0
"""Seconds, as Python counts them, in the library's nanoseconds."""

from __future__ import annotations

_MOST = 2**63 - 1


def nanoseconds(seconds: float | None, *, none: int) -> int:
    """`none` is what the function that is called takes for waiting for ever."""
    if seconds is None:
        return none
    if not seconds >= 0:
        raise ValueError(f"a timeout is a number of seconds, at least 0, or None; not {seconds!r}")
    return _MOST if seconds >= _MOST / 1e9 else round(seconds * 1e9)


def option_nanoseconds(seconds: float | None) -> int:
    """For options, in which 0 is for ever: what is given is at least a nanosecond."""
    return 0 if seconds is None else max(nanoseconds(seconds, none=0), 1)
