# SPDX-License-Identifier: Apache-2.0
"""Builds examples/consumer against an installation that was moved after it was made, and runs it.

    consumer_test.py WAY SOURCE_ROOT BUILD_ROOT PREFIX LIBDIR MANDIR VERSION PYTHON_PACKAGE

WAY is cc (by way of pkg-config), meson or cmake. CC and CXX are the compilers.
"""

import os
import shutil
import sys
import tempfile

from installed import Installation, run

way, source, build, prefix, libdir, _, version, _ = sys.argv[1:]
consumer = os.path.join(source, "examples", "consumer")

# Versions that find_package() accepts and refuses. Before 1.0 another minor version is another API.
major, minor, patch = map(int, version.split("."))
this, following = f"{major}.{minor}", f"{major}.{minor + 1}"
CMAKE_FINDS = ["", f"{major}", this, version, f"{this}...{major}.{minor + 8}", f"0.0.1...<{following}"]
CMAKE_FINDS_NOT = [f"{this}.{patch + 1}", following, f"{major + 1}", f"0.0...<{version}", f"{following}...{major + 1}", f"{version}.1"]
if major == 0 and minor > 0:
    CMAKE_FINDS_NOT.append(f"{major}.{minor - 1}")


def with_cc(installation, work):
    flags = run("pkg-config", "--cflags", "--libs", "arrowdevice", **installation.pkg_config).split()
    programs = []
    for compiler, standard, name in (("CC", "c11", "accept.c"), ("CXX", "c++17", "accept.cc")):
        programs.append(os.path.join(work, name + ".program"))
        run(*os.environ[compiler].split(), f"-std={standard}", "-Wall", "-Wextra", "-Werror", os.path.join(consumer, name),
            "-o", programs[-1], *flags)
    return programs, {"LD_LIBRARY_PATH": installation.libraries}


def with_meson(installation, work):
    run("meson", "setup", "-Dwerror=true", work, consumer, **installation.pkg_config)
    run("ninja", "-C", work)
    return [os.path.join(work, name) for name in ("accept", "accept_cpp")], {}


def with_cmake(installation, work):
    if shutil.which("cmake") is None:
        print("cmake is not installed (Debian and Ubuntu: cmake)")
        sys.exit(1 if os.environ.get("CI") else 77)
    where = f"-DCMAKE_PREFIX_PATH={installation.root}"
    run("cmake", "-S", consumer, "-B", work, where)
    run("cmake", "--build", work)

    versions = os.path.join(work, "versions")
    os.mkdir(versions)
    with open(os.path.join(versions, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.19)\nproject(versions LANGUAGES C)\n")
        for expected, wanted in [("TRUE", CMAKE_FINDS), ("FALSE", CMAKE_FINDS_NOT)]:
            for version in wanted:
                file.write(f"""
unset(arrowdevice_DIR CACHE)
find_package(arrowdevice {version} QUIET)
if(NOT "${{arrowdevice_FOUND}}" STREQUAL "{'1' if expected == 'TRUE' else '0'}")
  message(SEND_ERROR "find_package(arrowdevice {version}): found ${{arrowdevice_FOUND}}")
endif()
""")
        file.write("""
unset(arrowdevice_DIR CACHE)
find_package(arrowdevice QUIET COMPONENTS nonsense)
if(arrowdevice_FOUND)
  message(SEND_ERROR "a component that is not there was found")
endif()
find_package(arrowdevice REQUIRED)
if(NOT EXISTS "${arrowdevice_PLUGIN_DIR}/libarrowdevice-sim.so")
  message(SEND_ERROR "arrowdevice_PLUGIN_DIR is ${arrowdevice_PLUGIN_DIR}")
endif()
""")
    run("cmake", "-S", versions, "-B", os.path.join(versions, "build"), where)
    return [os.path.join(work, name) for name in ("accept", "accept_cpp")], {}


with tempfile.TemporaryDirectory() as folder:
    installation = Installation(build, prefix, libdir, folder)
    installation.move_to(os.path.join(folder, "moved elsewhere" if way == "cmake" else "moved-elsewhere"))
    work = os.path.join(folder, "work")
    os.mkdir(work)
    programs, environment = {"cc": with_cc, "meson": with_meson, "cmake": with_cmake}[way](installation, work)
    for program in programs:
        for device in ("cpu", "ext_dev:0", "ext_dev:1"):
            # The library finds its plugins beside itself when the program asks for a device.
            out = run(program, device, ARROWDEVICE_SIM_DEVICES="addresses,handles", **environment)
            if out != f"the sum on {device} is 4321\n":
                sys.exit(f"{program} {device} printed:\n{out}")
