# SPDX-License-Identifier: Apache-2.0
"""The C code in README.md is what the tests compile and run: readme_test.py ROOT"""

import os
import re
import sys

root = sys.argv[1]
with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
    readme = file.read()
with open(os.path.join(root, "examples", "move_to_device.c"), encoding="utf-8") as file:
    example = re.search(r"/\* README begins \*/\n(.*?)/\* README ends \*/\n", file.read(), re.S)
blocks = re.findall(r"```c\n(.*?)```", readme, re.S)
if example is None or blocks != [example.group(1)]:
    sys.exit("README.md must show, as its only C code, what stands between the README marks of examples/move_to_device.c")
links = [link for link in re.findall(r"\]\(([^)#:]+)\)", readme) if not os.path.exists(os.path.join(root, link))]
if links:
    sys.exit(f"README.md links to what is not there: {links}")
