# SPDX-License-Identifier: Apache-2.0
"""Converts time-outs in seconds to the nanoseconds of the library."""

from __future__ import annotations

_LONGEST = 2**63 - 1
_NO_TIMEOUT = 0
_POLL = -1


def nanoseconds(seconds: float | None) -> int:
    """Returns the nanoseconds. None waits without limit. A time of 0, or below half a nanosecond, polls."""
    if seconds is None:
        return _NO_TIMEOUT
    if not seconds >= 0:
        raise ValueError(f"invalid timeout {seconds!r} (expected None or a number of seconds of at least 0)")
    return _LONGEST if seconds >= _LONGEST / 1e9 else round(seconds * 1e9) or _POLL
