# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md has the budgets of driver calls that the tests enforce: budgets_test.py ROOT [--update]

The tests of the drivers read tests/drivers/budgets.inc. --update writes the table.
"""

import os
import re
import sys

# The columns after the plain way.
BACKENDS = ["CUDA", "HIP", "OpenCL, commands", "OpenCL, native kernels", "Vulkan", "Vulkan, staging", "Level Zero"]
DIRECTIONS = ["to the device", "to the device, with empty pools", "to the host", "within the device", "to a peer"]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def table(root):
    text = read(root, "tests/drivers/budgets.inc")
    cells = {}
    for backend, name, direction, copies, submissions, objects in re.findall(
            r'^BUDGET\("(.*?)", "(.*?)", "(.*?)", (\d+), (\d+), \d+, (\d+), \d+, \d+\)$', text, re.MULTILINE):
        cells[backend, name, direction] = f"{copies} / {submissions} / {objects}"
    rows = [["copy", "plain", *BACKENDS], ["---"] + ["---:"] * (1 + len(BACKENDS))]
    for name, description, buffers in re.findall(r'^BUFFERS\("(.*?)", "(.*?)", (\d+)\)$', text, re.MULTILINE):
        for direction in DIRECTIONS:
            if not any((backend, name, direction) in cells for backend in BACKENDS):
                continue
            rows.append([f"{description}, {direction}", buffers,
                         *(cells.get((backend, name, direction), "") for backend in BACKENDS)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def main():
    root = sys.argv[1]
    page = read(root, "docs/performance.md")
    parts = re.split(r"(<!-- budgets -->\n)(.*?)(<!-- end -->)", page, maxsplit=1, flags=re.DOTALL)
    if len(parts) != 5:
        raise SystemExit("docs/performance.md has no place for the budgets")
    expected = table(root)
    if sys.argv[2:] == ["--update"]:
        parts[2] = expected
        with open(os.path.join(root, "docs/performance.md"), "w", encoding="utf-8") as file:
            file.write("".join(parts))
    elif parts[2] != expected:
        raise SystemExit(f"docs/performance.md differs from the budgets that the tests enforce. Run {sys.argv[0]} "
                         f"{root} --update. Expected:\n{expected}")


main()
