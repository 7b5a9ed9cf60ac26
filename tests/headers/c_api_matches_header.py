# SPDX-License-Identifier: Apache-2.0
"""Compares the structs and constants of tests/support/c_api.py with the C headers: sizes, offsets and values.

    c_api_matches_header.py INCLUDE_DIR SUPPORT_DIR COMPILER...
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile

include, support, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path.insert(0, support)
import c_api  # noqa: E402


def c_name(python_name):
    if python_name.startswith("Arrow"):
        return "struct " + python_name
    return "struct arrowdevice" + re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), python_name)


structs = [(name, kind) for name, kind in vars(c_api).items()
           if isinstance(kind, type) and issubclass(kind, ctypes.Structure)]
checks = ["#include <stddef.h>", "#include <arrowdevice/arrowdevice.h>"]
for name, kind in structs:
    checks.append(f'_Static_assert(sizeof({c_name(name)}) == {ctypes.sizeof(kind)}, "size of {name}");')
    for field, *_ in kind._fields_:
        place = getattr(kind, field)
        checks.append(f'_Static_assert(offsetof({c_name(name)}, {field}) == {place.offset}, "{name}.{field}");')
        checks.append(f'_Static_assert(sizeof((({c_name(name)}*)0)->{field}) == {place.size}, "size of {name}.{field}");')
constants = {name: value for name, value in vars(c_api).items() if name.isupper() and isinstance(value, int)}
for name, value in constants.items():
    prefix = "ARROW_" if name.startswith("DEVICE_") else "ARROWDEVICE_"
    checks.append(f'_Static_assert({prefix}{name} == {value}, "{name}");')
with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "one.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(checks) + "\n")
    compiled = subprocess.run(compiler + ["-std=c11", "-fsyntax-only", "-I", include, source]).returncode
print(f"{len(structs)} structs, {len(constants)} constants, {len(checks) - 2} assertions")
sys.exit(1 if compiled or len(structs) < 7 or len(constants) < 8 else 0)
