# SPDX-License-Identifier: Apache-2.0
"""A build without the headers of a vendor says so: missing_headers_test.py SOURCES

Meson looks for Vulkan with pkg-config. Newer versions then look in VK_SDK_PATH, or in the compiler's folders without it.
The variables of both name an empty folder here."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sources = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    build = pathlib.Path(folder) / "build"
    environment = os.environ | {"PKG_CONFIG_LIBDIR": folder, "PKG_CONFIG_PATH": "", "VK_SDK_PATH": folder,
                                "CMAKE": "/nonexistent", "CC": "cc", "CXX": "c++"}
    done = subprocess.run(["meson", "setup", build, sources, "-Dtests=disabled", "-Dbench=disabled", "-Dopencl=disabled",
                           "-Dlevel_zero=disabled", "--wrap-mode=nofallback"],
                          env=environment, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert re.search(r"WARNING: the backend vulkan is not built: no headers of Vulkan\. Install libvulkan-dev", text), text
    assert "opencl is not built: no headers" not in text, text
    ninja = (build / "build.ninja").read_text()
    assert "vulkan=no headers of Vulkan" in ninja.replace("$ ", " ").replace("\\", ""), "the tool does not know why"
    tool = build / "tools" / "arrowdevice" / "arrowdevice"
    if "--run" in sys.argv:  # compiles the tool
        subprocess.run(["ninja", "-C", build, tool.relative_to(build)], check=True, capture_output=True)
        for name in ("vulkan", "vulkan:0"):
            said = " ".join(subprocess.run([tool, "explain", name], capture_output=True, text=True).stdout.split())
            assert "The backend vulkan is not built: no headers of Vulkan (Debian and Ubuntu: libvulkan-dev)." in said, said
