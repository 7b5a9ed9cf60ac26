# SPDX-License-Identifier: Apache-2.0
"""Reads what the C headers declare, for tools that compare something with them.

arrowdevice.h includes the other headers of the C API. These functions read them all, without comments. As a program it
copies the headers without comments: c_api.py freeze INCLUDE OUTPUT
"""

import glob
import os
import re
import sys

FUNCTION = re.compile(r"ARROWDEVICE_API\s[^;({]*?\barrowdevice_(\w+)\(")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def header_paths(include):
    return sorted(glob.glob(os.path.join(include, "arrowdevice", "*.h")))


def header_text(include):
    """Returns the text of all C headers in INCLUDE/arrowdevice, without comments, in the order of their names."""
    return "\n".join(without_comments(read(path)) for path in header_paths(include))


def declared(text):
    """Returns the names of the functions that a header text declares, without "arrowdevice_"."""
    return set(FUNCTION.findall(text))


def defined(root):
    """Returns the names of the functions that the sources define and the library exports, without "arrowdevice_"."""
    names = set()
    for path in glob.glob(os.path.join(root, "src", "api", "*.cc")):
        names |= set(FUNCTION.findall(re.sub(r"//[^\n]*", "", read(path))))
    return names


def check_declared(text, root):
    """Returns one line for each function that the library exports and the text does not declare, or the reverse."""
    headers, sources = declared(text), defined(root)
    wrong = [f"arrowdevice_{name}: exported, but no header declares it" for name in sorted(sources - headers)]
    wrong += [f"arrowdevice_{name}: declared, but not defined in src/api" for name in sorted(headers - sources)]
    if not sources:
        wrong.append("no function was found in src/api")
    return wrong


def freeze(include, output):
    """Copies the headers to OUTPUT/arrowdevice without comments. Other files there are removed."""
    folder = os.path.join(output, "arrowdevice")
    os.makedirs(folder, exist_ok=True)
    paths = header_paths(include)
    for name in set(os.listdir(folder)) - {os.path.basename(path) for path in paths}:
        os.remove(os.path.join(folder, name))
    for path in paths:
        lines = [line.rstrip() for line in without_comments(read(path)).split("\n")]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
        with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(f"/* SPDX-License-Identifier: Apache-2.0 */\n{text}\n")
    print(f"{len(paths)} headers are frozen in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "freeze":
        sys.exit(__doc__)
    freeze(*sys.argv[2:])
