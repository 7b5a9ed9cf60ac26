# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder: a program and a backend are built against that alone, and nothing is there by accident.

    install_test.py SOURCE_ROOT BUILD_ROOT PREFIX LIBDIR MANDIR VERSION PYTHON_PACKAGE COMPILER...
"""

import os
import sys
import tempfile

from installed import COMPLETIONS, Installation, public_headers, python_package, run

source, build, prefix, libdir, mandir, version, package, *compiler = sys.argv[1:]

with tempfile.TemporaryDirectory() as folder:
    installation = Installation(build, prefix, libdir, folder)

    # In place, as a package's own tests see it in a root of their own; consumer_test.py moves it.
    flags = run("pkg-config", "--cflags", "--libs", "arrowdevice", **installation.pkg_config).split()
    plugins = run("pkg-config", "--variable=plugindir", "arrowdevice", **installation.pkg_config).strip()
    if not os.path.exists(os.path.join(plugins, "libarrowdevice-sim.so")):
        sys.exit(f"arrowdevice.pc has plugindir={plugins}")
    program = os.path.join(folder, "program")
    run(*compiler, "-std=c11", os.path.join(source, "examples", "move_to_device.c"), "-o", program, *flags)

    # The library finds the plugin beside itself when the program asks for a device.
    simulated = {"ARROWDEVICE_SIM_DEVICES": "addresses"}
    out = run(program, "ext_dev:0", LD_LIBRARY_PATH=installation.libraries, **simulated)
    if "and back: the same" not in out:
        sys.exit(f"the program printed:\n{out}")
    # The tool finds the library by itself, wherever the prefix was put.
    if "ext_dev" not in run(installation.tool, "list", **simulated):
        sys.exit("the installed tool lists no simulated device")

    # A backend needs the headers only.
    headers = run("pkg-config", "--cflags", "arrowdevice", **installation.pkg_config).split()
    backend = os.path.join(folder, "libarrowdevice-skeleton.so")
    run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
        os.path.join(source, "examples", "backend", "skeleton.c"), "-o", backend, *headers)
    checked = run(installation.tool, "check", "--require-device", backend).splitlines()
    if not checked or " 0 failed" not in checked[-1] or checked[-1].startswith("0 passed"):
        sys.exit(f"the skeleton of a backend was not found to be right: {checked}")

    installed = installation.files()
    allowed = public_headers(source)
    allowed |= COMPLETIONS | {"bin/arrowdevice", f"{mandir}/man1/arrowdevice.1", f"{libdir}/pkgconfig/arrowdevice.pc"}
    allowed |= {f"{libdir}/cmake/arrowdevice/arrowdevice-config{end}.cmake" for end in ("", "-version")}
    allowed |= {f"{libdir}/arrowdevice-1/libarrowdevice-{name}.so" for name in os.listdir(os.path.join(build, "backends"))
                if os.path.exists(os.path.join(build, "backends", name, f"libarrowdevice-{name}.so"))}
    allowed |= {f"{libdir}/libarrowdevice.so{end}" for end in ("", ".0", f".{version}")}
    allowed |= python_package(source, prefix, package)
    if installed != allowed:
        sys.exit(f"installed by accident: {sorted(installed - allowed)}; not installed: {sorted(allowed - installed)}")
