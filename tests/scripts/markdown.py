# SPDX-License-Identifier: Apache-2.0
"""Finds the written pages and their blocks of code, for tests."""

import os
import re
import textwrap

FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\S*).*$")
# Folders of others: environments, crates and modules that a build has fetched.
OTHERS = ("subprojects", "node_modules", "target", "vendor", "carry-gpu-check")


def pages(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build")) and name not in OTHERS)
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(files) if name.endswith(".md"))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """(line, language, code, the line above) of every block of code."""
    above, begin, opening, code = "", 0, None, []
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                begin, opening, code = number, fence, []
            elif line.strip():
                above = line.strip()
        elif fence and fence[1].startswith(opening[1]) and not fence[2]:
            yield begin, opening[2].lower(), textwrap.dedent("\n".join(code)), above
            above, opening = "", None
        else:
            code.append(line)
