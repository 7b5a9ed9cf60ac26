# SPDX-License-Identifier: Apache-2.0
"""An empty project builds the library from its sources, and its program finds the plugins in the build folder.

    embedded_test.py WAY SOURCE_ROOT BUILD_ROOT LIBDIR VERSION

WAY is meson, or cmake. CMake gets the sources from the archive that `meson dist` makes of the last commit. The same
build then also makes the tool and is installed, which shows that the archive lacks nothing. CC and CXX are the
compilers. The program is that of examples/consumer.
"""

import os
import shutil
import sys
import tempfile

from installed import Installation, files_in, public_headers, run

way, source, repository_build, libdir, version = sys.argv[1:]

# The file subprojects/libarrowdevice.wrap, as docs/packaging.md shows it.
WRAP = """
# [wrap]
[wrap-git]
url = REPOSITORY
revision = main
depth = 1

[provide]
dependency_names = arrowdevice
# [end]
"""

MESON_PROJECT = """
project('empty', 'c', default_options: ['c_std=c11'])
executable('accept', 'accept.c', dependencies: dependency('arrowdevice', version: '>=0.1'))
"""

CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(empty LANGUAGES C)
set(CMAKE_C_STANDARD 11)
add_executable(accept accept.c)

# [fetch]
include(FetchContent)
FetchContent_Declare(libarrowdevice GIT_REPOSITORY REPOSITORY GIT_TAG main)
FetchContent_MakeAvailable(libarrowdevice)
target_link_libraries(accept PRIVATE arrowdevice::arrowdevice)
# [end]
"""

# One backend and no optimization, to take little time, and no downloads.
COMPILATION = ["--wrap-mode=nodownload", "-Doptimization=0", "-Ddebug=false", "-Db_ndebug=true", "-Db_pch=false", "-Dunity=on", "-Dunity_size=6"]
BACKENDS = {"sim": "enabled"} | dict.fromkeys(["cuda", "hip", "opencl", "vulkan", "level_zero"], "disabled")
# No library and no plugins are installed here, so those of the build must be found.
PREFIX = "/opt/arrowdevice-embedded"
PLUGIN = f"{libdir}/arrowdevice-1/libarrowdevice-sim.so"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.lstrip())


def unpack_archive(folder):
    """Returns the unpacked source archive. Sources that are no clone are used as they are."""
    if not os.path.exists(os.path.join(source, ".git")) or shutil.which("git") is None:
        print("not from the source archive: that is made of a commit, and this is no clone, or git is not installed")
        if os.environ.get("CI"):
            sys.exit(1)
        return source
    # Uncommitted changes are not in the archive and do not fail the test.
    run("meson", "dist", "-C", repository_build, "--no-tests", "--allow-dirty", "--formats", "gztar")
    archive = os.path.join(repository_build, "meson-dist", f"libarrowdevice-{version}.tar.gz")
    shutil.unpack_archive(archive, folder)
    os.remove(archive)
    return os.path.join(folder, f"libarrowdevice-{version}")


def with_meson(project, build):
    """The sources are where Meson puts a clone, so it does not use the address."""
    write(os.path.join(project, "meson.build"), MESON_PROJECT)
    write(os.path.join(project, "subprojects", "libarrowdevice.wrap"), WRAP)
    os.symlink(source, os.path.join(project, "subprojects", "libarrowdevice"))
    backends = [f"-Dlibarrowdevice:{name}={value}" for name, value in BACKENDS.items()]
    run("meson", "setup", "--force-fallback-for=arrowdevice", f"-Dprefix={PREFIX}", f"-Dlibdir={libdir}", *COMPILATION, *backends,
        build, project)
    run("ninja", "-C", build, "accept")  # with what the program needs, plugins included


def with_cmake(project, build):
    if shutil.which("cmake") is None:
        print("cmake is not installed (Debian and Ubuntu: cmake)")
        sys.exit(1 if os.environ.get("CI") else 77)
    write(os.path.join(project, "CMakeLists.txt"), CMAKE_PROJECT)
    options = COMPILATION + [f"-D{name}={value}" for name, value in BACKENDS.items()]
    sources = unpack_archive(os.path.dirname(project))
    run("cmake", "-S", project, "-B", build, f"-DFETCHCONTENT_SOURCE_DIR_LIBARROWDEVICE={sources}", f"-DCMAKE_INSTALL_PREFIX={PREFIX}",
        f"-DCMAKE_INSTALL_LIBDIR={libdir}", f"-DARROWDEVICE_MESON_OPTIONS={';'.join(options)}")
    run("cmake", "--build", build)


def check_programs(build):
    program = os.path.join(build, "accept")
    for device in ("cpu", "ext_dev:0"):
        out = run(program, device, ARROWDEVICE_SIM_DEVICES="addresses")
        if out != f"the sum on {device} is 4321\n":
            sys.exit(f"{program} {device} printed:\n{out}")


def check_installed(root, folder):
    """The project installs the library and its plugins as the library itself does. None of the files names the build."""
    installed = files_in(root)
    shared = {f"{libdir}/libarrowdevice.so.0", PLUGIN}
    if lacks := (shared | public_headers(source)) - installed:
        sys.exit(f"not installed: {sorted(lacks)}")
    if others := [name for name in installed if name.startswith(("bin/", "share/"))]:
        sys.exit(f"tools, examples or their files are installed too: {sorted(others)}")
    for name in shared:
        with open(os.path.join(root, name), "rb") as file:
            content = file.read()
        if found := [path for path in (folder, source) if path.encode() in content]:
            sys.exit(f"{name} contains {found}")


def check_tool(build, folder):
    """The tool is built too, and the installed tool and library are used as a user does."""
    run("meson", "configure", build, "-Dtools=enabled")
    run("ninja", "-C", build, "tools/arrowdevice/arrowdevice")
    installation = Installation(build, PREFIX, libdir, folder)
    if run(installation.tool, "--version") != f"arrowdevice {version}\n":
        sys.exit("the installed tool is of another version")
    simulated = {"ARROWDEVICE_SIM_DEVICES": "addresses"}
    if "ext_dev" not in run(installation.tool, "list", **simulated):
        sys.exit("the installed tool lists no simulated device")
    program = os.path.join(folder, "accept")
    flags = run("pkg-config", "--cflags", "--libs", "arrowdevice", **installation.pkg_config).split()
    run(*os.environ["CC"].split(), "-std=c11", os.path.join(source, "examples", "consumer", "accept.c"), "-o", program, *flags)
    out = run(program, "ext_dev:0", LD_LIBRARY_PATH=installation.libraries, **simulated)
    if out != "the sum on ext_dev:0 is 4321\n":
        sys.exit(f"the program printed:\n{out}")


with tempfile.TemporaryDirectory() as folder:
    folder = os.path.realpath(folder)
    project, build, destination = (os.path.join(folder, name) for name in ("project", "build", "destination"))
    os.mkdir(project)
    shutil.copy(os.path.join(source, "examples", "consumer", "accept.c"), project)
    {"meson": with_meson, "cmake": with_cmake}[way](project, build)
    check_programs(build)
    install = ["meson", "install", "-C"] if way == "meson" else ["cmake", "--install"]
    run(*install, build, DESTDIR=destination)
    check_installed(destination + PREFIX, folder)
    if way == "cmake":
        check_tool(os.path.join(build, "_deps", "libarrowdevice-build", "meson"), folder)
