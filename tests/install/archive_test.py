# SPDX-License-Identifier: Apache-2.0
"""The source archive builds by itself: archive_test.py SOURCE_ROOT BUILD_ROOT VERSION

`meson dist` makes it of the last commit. The library, the simulated device and the tool are built from it in an empty
folder, installed, and used as a user does.
"""

import os
import shutil
import sys

from installed import Installation, run

source, build, version = sys.argv[1:]

if not os.path.exists(os.path.join(source, ".git")) or shutil.which("git") is None:
    print("an archive is made of a commit, and this is no clone, or git is not installed")
    sys.exit(1 if os.environ.get("CI") else 77)

# Always the same folder, so that ccache knows what it has compiled before.
folder = os.path.join(build, "archive-test")
shutil.rmtree(folder, ignore_errors=True)
os.mkdir(folder)
try:
    # Uncommitted changes are not in the archive and do not fail the test.
    run("meson", "dist", "-C", build, "--no-tests", "--allow-dirty", "--formats", "gztar")
    archive = os.path.join(build, "meson-dist", f"libarrowdevice-{version}.tar.gz")
    shutil.unpack_archive(archive, folder)
    os.remove(archive)
    root = os.path.join(folder, f"libarrowdevice-{version}")

    # The build downloads no files and leaves out the parts that the test does not need.
    left_out = [f"-D{part}=disabled" for part in
                ("tests", "bench", "examples", "cuda", "hip", "opencl", "vulkan", "level_zero")]
    unpacked_build = os.path.join(folder, "build")
    run("meson", "setup", "--wrap-mode=nodownload", "-Dunity=on", "-Dunity_size=6", "-Db_pch=false", "-Doptimization=0",
        "-Dprefix=/usr/local", "-Dlibdir=lib", "-Dtools=enabled", "-Dsim=enabled", *left_out, unpacked_build, root)
    # The installed parts, without the parts for tests and benchmarks.
    run("ninja", "-C", unpacked_build, f"src/libarrowdevice.so.{version}", "backends/sim/libarrowdevice-sim.so",
        "tools/arrowdevice/arrowdevice")
    installation = Installation(unpacked_build, "/usr/local", "lib", folder)

    simulated = {"ARROWDEVICE_SIM_DEVICES": "addresses"}
    if run(installation.tool, "--version") != f"arrowdevice {version}\n":
        sys.exit("the installed tool is of another version")
    if "ext_dev" not in run(installation.tool, "list", **simulated):
        sys.exit("the installed tool lists no simulated device")
    program = os.path.join(folder, "accept")
    flags = run("pkg-config", "--cflags", "--libs", "arrowdevice", **installation.pkg_config).split()
    run(*os.environ["CC"].split(), "-std=c11", os.path.join(root, "examples", "consumer", "accept.c"), "-o", program, *flags)
    out = run(program, "ext_dev:0", LD_LIBRARY_PATH=installation.libraries, **simulated)
    if out != "the sum on ext_dev:0 is 4321\n":
        sys.exit(f"the program printed:\n{out}")
finally:
    shutil.rmtree(folder, ignore_errors=True)
