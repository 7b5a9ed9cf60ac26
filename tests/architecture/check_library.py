# SPDX-License-Identifier: Apache-2.0
"""Checks the promises of the built library to programs: check_library.py exports|needs|size LIBRARY [INCLUDE]

exports  only arrowdevice_* is exported, and exactly the functions that the headers in INCLUDE declare
needs    it needs the C and C++ runtimes, nothing else, and looks for them in no folder of its own
size     it is smaller than 1 MiB without its symbols
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import c_api  # noqa: E402

RUNTIME = re.compile(r"^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[-\w]*|libpthread|libdl)\.so(\.\d+)+$")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exports(library, include):
    names = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines() if line}
    declared = {f"arrowdevice_{name}" for name in c_api.declared(c_api.header_text(include))}
    assert len(declared) > 60, "the headers were not understood"
    broken = [f"exported: {name}" for name in sorted(names) if not name.startswith("arrowdevice_")]
    broken += [f"declared but not exported: {name}" for name in sorted(declared - names)]
    broken += [f"exported but declared nowhere: {name}" for name in sorted(names - declared) if name.startswith("arrowdevice_")]
    return broken


def needs(library):
    entries = re.findall(r"\((NEEDED|RPATH|RUNPATH|SONAME)\)[^\[]*\[([^\]]*)\]", run("readelf", "-dW", library))
    broken = [f"needs {name}" for kind, name in entries if kind == "NEEDED" and not RUNTIME.match(name)]
    broken += [f"{kind} {name}" for kind, name in entries if kind in ("RPATH", "RUNPATH")]
    if not any(kind == "NEEDED" for kind, _ in entries):
        broken.append("needs nothing at all: readelf was not understood")
    if [name for kind, name in entries if kind == "SONAME"] != ["libarrowdevice.so.0"]:
        broken.append("its soname is not libarrowdevice.so.0")
    flags = run("readelf", "-dW", library)
    if "NODELETE" not in flags:
        broken.append("is not linked nodelete: release callbacks are its code")
    return broken


def size(library):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        run("strip", "-o", stripped, library)
        found = os.path.getsize(stripped)
    print(f"{found} bytes without symbols")
    return [f"{found} bytes, not less than 1 MiB"] if found >= 1 << 20 else []


what, library, *more = sys.argv[1:]
broken = {"exports": exports, "needs": needs, "size": size}[what](library, *more)
print("\n".join(broken))
print(f"{what}: {len(broken)} places that break the rule")
sys.exit(1 if broken else 0)
