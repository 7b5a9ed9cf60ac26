# SPDX-License-Identifier: Apache-2.0
"""Runs the tool of this package: `python -m arrowdevice list` and the command `arrowdevice list`."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from .paths import packaged


def main() -> NoReturn:
    """Replaces this process by the tool, so that the tool receives the signals and its exit status is the process's."""
    tool = packaged("bin/arrowdevice")
    # Python ignores these signals, and the tool would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(tool, ["arrowdevice", *sys.argv[1:]])


if __name__ == "__main__":
    main()
