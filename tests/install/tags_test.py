# SPDX-License-Identifier: Apache-2.0
"""Each part can be packaged on its own: `meson install --tags` installs that and nothing else.

    tags_test.py SOURCE_ROOT BUILD_ROOT PREFIX LIBDIR MANDIR VERSION PYTHON_PACKAGE BACKEND...
"""

import os
import sys
import tempfile

from installed import COMPLETIONS, Installation, public_headers, python_package, run

source, build, prefix, libdir, mandir, version, package, *backends = sys.argv[1:]

EXPECTED = {
    "runtime": {f"{libdir}/libarrowdevice.so{end}" for end in (".0", f".{version}")},
    "devel": public_headers(source)
    | {f"{libdir}/libarrowdevice.so", f"{libdir}/pkgconfig/arrowdevice.pc"}
    | {f"{libdir}/cmake/arrowdevice/arrowdevice-config{end}.cmake" for end in ("", "-version")},
    "tool": {"bin/arrowdevice"} | COMPLETIONS,
    "man": {f"{mandir}/man1/arrowdevice.1"},
} | {f"backend-{name}": {f"{libdir}/arrowdevice-1/libarrowdevice-{name}.so"} for name in backends}
if package:
    EXPECTED["python-runtime"] = python_package(source, prefix, package)


def without_spaces(text):
    """The tool folds long lines, in the middle of paths too."""
    return "".join(text.split())


with tempfile.TemporaryDirectory() as folder:
    def install(name, tags=None):
        return Installation(build, prefix, libdir, os.path.join(folder, name), tags)

    for tag, expected in EXPECTED.items():
        installed = install(tag, [tag]).files()
        if installed != expected:
            sys.exit(f"--tags {tag} installs {sorted(installed)}; expected {sorted(expected)}")
    everything = install("everything").files()
    tagged = set().union(*EXPECTED.values())
    if everything != tagged:
        sys.exit(f"without a tag of ours: {sorted(everything - tagged)}; in no installation: {sorted(tagged - everything)}")

    # The library alone serves the CPU. With a package of a backend beside it, that backend's devices are there.
    simulated = {"ARROWDEVICE_SIM_DEVICES": "addresses"}
    bare = install("bare", ["runtime", "tool"])
    plugin = os.path.join(bare.libraries, "arrowdevice-1", "libarrowdevice-sim.so")
    listed = run(bare.tool, "list", **simulated)
    if not any(line.startswith("cpu ") for line in listed.splitlines()):
        sys.exit(f"without a plugin the CPU is not listed:\n{listed}")
    run(bare.tool, "check", "--only=a copy", "cpu")
    # Checks the path, because the program would find an installation in the prefix too.
    if plugin in without_spaces(run(bare.tool, "explain", **simulated)):
        sys.exit(f"{plugin} is told of before it is installed")
    install("bare", ["backend-sim"])
    listed = run(bare.tool, "list", **simulated)
    if "ext_dev" not in listed:
        sys.exit(f"with the plugin installed its device is not listed:\n{listed}")
    told = run(bare.tool, "explain", "sim", **simulated)
    if f"loadedsim{plugin}" not in without_spaces(told):
        sys.exit(f"the simulated device is not that of {plugin}:\n{told}")
