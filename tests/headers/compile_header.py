# SPDX-License-Identifier: Apache-2.0
"""Compiles one public header as one language standard: alone, twice and, if one is named, before and after another copy of
the Arrow definitions.

    compile_header.py --include DIR [--foreign HEADER | --pyarrow] --standard c++17 HEADER -- COMPILER...

Whichever copy of the Arrow structs comes first is the one in force, so each order also asserts the sizes and offsets of the format.
"""

import argparse
import os
import subprocess
import sys
import tempfile

SKIPPED = 77

# Sizes and offsets that the format fixes on a 64-bit machine.
LAYOUTS = [
    ("sizeof(struct ArrowSchema)", 72), ("sizeof(struct ArrowArray)", 80), ("sizeof(struct ArrowDeviceArray)", 128),
    ("offsetof(struct ArrowDeviceArray, device_id)", 80), ("offsetof(struct ArrowDeviceArray, device_type)", 88),
    ("offsetof(struct ArrowDeviceArray, sync_event)", 96), ("offsetof(struct ArrowDeviceArray, reserved)", 104),
    ("sizeof(struct ArrowArrayStream)", 40), ("sizeof(struct ArrowDeviceArrayStream)", 48),
    ("sizeof(struct ArrowAsyncTask)", 16), ("sizeof(struct ArrowAsyncProducer)", 40),
    ("sizeof(struct ArrowAsyncDeviceStreamHandler)", 48), ("ARROW_DEVICE_EXT_DEV", 12), ("ARROW_DEVICE_HEXAGON", 16),
]

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def pyarrow_include():
    """The include folder of a pyarrow that some Python here has; None if there is none."""
    for python in filter(None, [os.environ.get("ARROWDEVICE_PYTHON"), sys.executable]):
        run = subprocess.run([python, "-c", "import pyarrow; print(pyarrow.get_include())"], capture_output=True, text=True)
        if run.returncode == 0:
            return run.stdout.strip()
    return None


def main():
    own, compiler = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--standard", required=True)
    parser.add_argument("--foreign")
    parser.add_argument("--pyarrow", action="store_true")
    parser.add_argument("header")
    arguments = parser.parse_args(own)

    cxx = arguments.standard.startswith("c++")
    header = f"#include <{arguments.header}>\n"
    foreign, extra = f'#include "{arguments.foreign}"\n', []
    if arguments.pyarrow:
        folder = pyarrow_include()
        if folder is None:
            print("pyarrow is not here: run scripts/python-env.sh, or name a Python that has it in ARROWDEVICE_PYTHON")
            return SKIPPED
        foreign, extra = "#include <arrow/c/abi.h>\n", ["-isystem", folder]
    orders = {"before the other copy": header + foreign, "after the other copy": foreign + header,
              "between": foreign + header + foreign}
    if not arguments.pyarrow and not arguments.foreign:
        orders = {"alone": header, "twice": header + header}
    elif not arguments.pyarrow:
        orders = {"alone": header, "twice": header + header} | orders

    check = "static_assert" if cxx else "_Static_assert"
    layouts = "#include <stddef.h>\n" + "".join(f'{check}({what} == {size}, "{what}");\n' for what, size in LAYOUTS)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "one.cc" if cxx else "one.c")
        for order, text in orders.items():
            with open(source, "w", encoding="utf-8") as file:
                file.write(text + layouts + "int main(void) { return 0; }\n")
            run = subprocess.run(compiler + [f"-std={arguments.standard}", "-fsyntax-only", *WARNINGS,
                                             "-I", arguments.include, *extra, source], text=True, capture_output=True)
            if run.returncode:
                failures += 1
                print(f"{arguments.header} as {arguments.standard}, {order}:\n{run.stderr}")
    print(f"{len(orders) - failures} orders compiled, {failures} failed")
    return 1 if failures or not orders else 0


sys.exit(main())
