# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder, builds the examples against that alone by way of pkg-config, and runs them.

    install_test.py SOURCE_ROOT BUILD_ROOT PREFIX LIBDIR COMPILER...
"""

import os
import subprocess
import sys
import tempfile

source, build, prefix, libdir, *compiler = sys.argv[1:]


def run(*command, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ARROWDEVICE_", "PKG_CONFIG"))}
    clean.pop("LD_LIBRARY_PATH", None)
    done = subprocess.run(command, env=clean | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as destination:
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", destination)
    root = destination + prefix
    libraries = os.path.join(root, libdir)

    pkg_config = {"PKG_CONFIG_LIBDIR": os.path.join(libraries, "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": destination}
    flags = run("pkg-config", "--cflags", "--libs", "arrowdevice", **pkg_config).split()
    plugins = run("pkg-config", "--variable=plugindir", "arrowdevice", **pkg_config).strip()
    if not plugins.endswith(os.path.join(libdir, "arrowdevice-1")):
        sys.exit(f"arrowdevice.pc has plugindir={plugins}")
    program = os.path.join(destination, "program")
    run(*compiler, "-std=c11", os.path.join(source, "examples", "move_to_device.c"), "-o", program, *flags)

    # The plugin is found beside the library, without any help but the device being asked for.
    simulated = {"ARROWDEVICE_SIM_DEVICES": "addresses"}
    out = run(program, "ext_dev:0", LD_LIBRARY_PATH=libraries, **simulated)
    if "and back: the same" not in out:
        sys.exit(f"the program printed:\n{out}")
    # The tool finds the library by itself, wherever the prefix was put.
    if "ext_dev" not in run(os.path.join(root, "bin", "arrowdevice"), "list", **simulated):
        sys.exit("the installed tool lists no simulated device")

    # A backend needs the headers only.
    headers = run("pkg-config", "--cflags", "arrowdevice", **pkg_config).split()
    backend = os.path.join(destination, "libarrowdevice-skeleton.so")
    run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
        os.path.join(source, "examples", "backend", "skeleton.c"), "-o", backend, *headers)
    checked = run(os.path.join(root, "bin", "arrowdevice"), "check", "--require-device", backend).splitlines()
    os.remove(backend)
    if not checked or " 0 failed" not in checked[-1] or checked[-1].startswith("0 passed"):
        sys.exit(f"the skeleton of a backend was not found to be right: {checked}")

    installed = {os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names}
    allowed = {"include/arrowdevice/" + name for name in ("abi.h", "arrowdevice.h", "arrowdevice.hpp", "backend.h")}
    allowed |= {"bin/arrowdevice", f"{libdir}/pkgconfig/arrowdevice.pc"}
    allowed |= {f"{libdir}/arrowdevice-1/libarrowdevice-{name}.so" for name in os.listdir(os.path.join(build, "backends"))
                if os.path.exists(os.path.join(build, "backends", name, f"libarrowdevice-{name}.so"))}
    allowed |= {f"{libdir}/libarrowdevice.so{end}" for end in ("", ".0", ".0.1.0")}
    if installed != allowed:
        sys.exit(f"installed by accident: {sorted(installed - allowed)}; not installed: {sorted(allowed - installed)}")
