# SPDX-License-Identifier: Apache-2.0
"""Holds the ctypes declarations of scripts/arrowdevice_ffi.py against the C headers: sizes, offsets, constants and numbers of parameters.

    ffi_matches_header.py INCLUDE_DIR SCRIPTS_DIR COMPILER...
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile

include, scripts, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path.insert(0, scripts)
import arrowdevice_ffi as ffi  # noqa: E402
import c_api  # noqa: E402


def c_name(python_name):
    if python_name.startswith("Arrow"):
        return "struct " + python_name
    return "struct arrowdevice" + re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), python_name)


structs = [(name, kind) for name, kind in vars(ffi).items()
           if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and not name.startswith("_")
           and kind is not ctypes.Structure]
assert len(structs) >= 17, "the declarations have lost structs"
checks = ["#include <arrowdevice/arrowdevice.h>"]
for name, kind in structs:
    checks.append(f'_Static_assert(sizeof({c_name(name)}) == {ctypes.sizeof(kind)}, "size of {name}");')
    for field, *_ in kind._fields_:
        place, member = getattr(kind, field), field.rstrip("_")
        checks.append(f'_Static_assert(offsetof({c_name(name)}, {member}) == {place.offset}, "{name}.{field}");')
        checks.append(f'_Static_assert(sizeof((({c_name(name)}*)0)->{member}) == {place.size}, "size of {name}.{field}");')
for name, value in vars(ffi).items():
    if re.match(r"(DEVICE|PEER|COPY|IMPORT|STREAM|VALIDATE)_[A-Z]+", name) and isinstance(value, int):
        prefix = "ARROW_" if name in ("DEVICE_CPU", "DEVICE_EXT_DEV") else "ARROWDEVICE_"
        checks.append(f'_Static_assert({prefix}{name} == {value}, "{name}");')
with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "one.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(checks) + "\n")
    compiled = subprocess.run(compiler + ["-std=c11", "-fsyntax-only", "-I", include, source]).returncode

text = c_api.header_text(include)
prototypes = {}
for match in re.finditer(r"ARROWDEVICE_API\s[^;]*?\barrowdevice_(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*;", text):
    parameters = re.sub(r"\([^()]*\)", "", match.group(2))
    prototypes[match.group(1)] = 0 if parameters.strip() == "void" else parameters.count(",") + 1
declared = {name: len(parameters) + 1 for name, parameters in ffi._CHECKED.items()}
declared |= {name: len(parameters) for name, (_, parameters) in ffi._PLAIN.items()}
wrong = [f"{name}: {count} parameters, the header has {prototypes.get(name, 'no such function')}"
         for name, count in declared.items() if prototypes.get(name) != count]
# A log handler is called from any thread; no script here wants one.
wrong += [f"{name}: not declared" for name in prototypes.keys() - declared.keys() - {"log_set_handler"}]
wrong += c_api.check_declared(text, os.path.dirname(scripts))
wrong += [f"{name}: this test does not understand its declaration" for name in c_api.declared(text) - prototypes.keys()]
print("\n".join(wrong))
print(f"{len(structs)} structs, {len(declared)} functions, {len(wrong)} differ")
sys.exit(1 if compiled or wrong else 0)
