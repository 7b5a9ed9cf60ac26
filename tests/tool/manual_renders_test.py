# SPDX-License-Identifier: Apache-2.0
"""The manual page is shown without warnings by whatever shows such pages here: manual_renders_test.py PAGE"""

import os
import re
import shutil
import subprocess
import sys

page = sys.argv[1]
shown_by = [command for command in (["groff", "-ww", "-man", "-Tutf8", page], ["mandoc", "-Tlint", "-Wwarning", page])
            if shutil.which(command[0])]
if not shown_by:
    print("neither groff nor mandoc is installed (Debian and Ubuntu: groff-base)")
    sys.exit(1 if os.environ.get("CI") else 77)
for command in shown_by:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    complaints = done.stderr + (done.stdout if command[0] == "mandoc" else "")
    if done.returncode or complaints:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{complaints}")
    shown = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)  # bold, by colours or by typing over
    if command[0] == "groff" and "--require-device" not in shown:
        sys.exit(f"groff does not show --require-device:\n{shown}")
