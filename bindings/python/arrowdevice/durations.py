# SPDX-License-Identifier: Apache-2.0
"""Converts time-outs in seconds to the nanoseconds of the library."""

from __future__ import annotations

_LONGEST = 2**63 - 1


def nanoseconds(seconds: float | None, *, none: int) -> int:
    """Returns the nanoseconds. Returns `none` for None, which must mean "wait without limit" to the called function."""
    if seconds is None:
        return none
    if not seconds >= 0:
        raise ValueError(f"invalid timeout {seconds!r} (expected None or a number of seconds of at least 0)")
    return _LONGEST if seconds >= _LONGEST / 1e9 else round(seconds * 1e9)


def option_nanoseconds(seconds: float | None) -> int:
    """Returns the nanoseconds for options. A zero there waits without limit, so that any number becomes at least 1."""
    return 0 if seconds is None else max(nanoseconds(seconds, none=0), 1)
