# SPDX-License-Identifier: Apache-2.0
"""The packages of the bindings and of distributions have the version of the library: versions_test.py ROOT VERSION"""

import os
import re
import sys

root, version = sys.argv[1:]

# The first match in each file is its version.
PLACES = {
    "bindings/julia/Project.toml": r'^version = "(.*)"$',
    "bindings/rust/Cargo.toml": r'^version = "(.*)"$',
    "debian/changelog": r"^libarrowdevice \((.*)-\d+\)",
    "packaging/conda/recipe.yaml": r"^  version: (.*)$",
    "packaging/vcpkg/ports/libarrowdevice/vcpkg.json": r'^  "version": "(.*)",$',
}

failed = False
for path, pattern in PLACES.items():
    with open(os.path.join(root, path), encoding="utf-8") as file:
        found = re.search(pattern, file.read(), re.M)
    if found is None or found[1] != version:
        print(f"{path} has version {found and found[1]}; meson.build has {version}")
        failed = True
sys.exit(failed)
