#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the missing packages for building and testing. If none is missing, it prints nothing and
# does nothing. On Debian and Ubuntu it uses apt-get, through sudo unless it runs as root. Elsewhere
# it names the packages and fails.
#
#   scripts/install-deps.sh [PACKAGE]...
#
# The arguments are further packages of Debian that the caller needs.
set -eu

need() { command -v "$1" >/dev/null 2>&1; }

missing=
want() { missing="$missing $1"; }

need cc || want gcc
need c++ || want g++
need meson || want meson
need ninja || want ninja-build
need pkg-config || want pkg-config
need readelf || want binutils
need python3 || want python3
# Debian splits Python, so `venv` can be present without the `ensurepip` that it needs.
need python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || want python3-venv
# To build the Python package.
need python3 && [ -f "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || want python3-dev
[ -f /usr/include/flatbuffers/flatbuffers.h ] || want libflatbuffers-dev
if ! { need pkg-config && pkg-config --exists catch2; }; then
  # Catch2 2.13 of Debian 12 ships a pkg-config file too; without pkg-config, ask the package database.
  { need dpkg-query && dpkg-query -W -f '${Status}' catch2 2>/dev/null | grep -q 'install ok installed'; } || want catch2
fi
# Packages that only some distributions have.
optional=
# The runtime of HIP, which the backend opens at run time. A test shows its error without a GPU. The
# name has the newest version that the backend knows and the distribution has.
/sbin/ldconfig -p 2>/dev/null | grep -q libamdhip64 || optional="$optional libamdhip64-7|libamdhip64-6|libamdhip64-5"
# OpenCL: the headers to build the backend, the loader and PoCL to run it on the CPU; Google Benchmark for bench/.
installed() { need dpkg-query && dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
[ -f /usr/include/CL/cl.h ] || want opencl-headers
installed ocl-icd-libopencl1 || ! need dpkg-query || want ocl-icd-libopencl1
installed pocl-opencl-icd || ! need dpkg-query || want pocl-opencl-icd
{ need pkg-config && pkg-config --exists benchmark; } || want libbenchmark-dev
# Vulkan: headers to build, a driver on the CPU, and the layer that watches what the tests do.
has_library() { /sbin/ldconfig -p 2>/dev/null | grep -q "$1"; }
{ need pkg-config && pkg-config --exists vulkan; } || want libvulkan-dev
ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1 || want mesa-vulkan-drivers
command -v glslangValidator >/dev/null || want glslang-tools
has_library libVkLayer_khronos_validation || want vulkan-validationlayers
# Level Zero: headers to build, and the loader, which loads the driver of the tests. Not every distribution has them;
# where a change is checked, they must be there.
level_zero=
[ -f /usr/include/level_zero/ze_api.h ] || level_zero="$level_zero libze-dev"
has_library libze_loader.so.1 || level_zero="$level_zero libze1"
[ -n "${CI:-}" ] || { optional="$optional$level_zero"; level_zero=; }
for package in $level_zero; do want "$package"; done
# Continuous integration also checks the formatting, clang-tidy, the costs of calls, the builds of
# programs, the manual page, and the completion in shells.
if [ -n "${CI:-}" ]; then
  need clang-format || want clang-format
  need clang-tidy || want clang-tidy
  need valgrind || want valgrind
  need abidiff || want abigail-tools
  need cmake || want cmake
  # Both check the manual page, and mandoc makes a page of the site of it.
  need groff || want groff-base
  need mandoc || want mandoc
  # The shells in which the completion of the tool is tested.
  need zsh || want zsh
  need fish || want fish
  # Its headers are compared with what the backend declares of them.
  [ -f /usr/include/hip/hip_runtime_api.h ] || [ -d /opt/rocm/include/hip ] || optional="$optional libamdhip64-dev"
  need doxygen || want doxygen # the documentation is built
  [ -d /usr/lib/python3/dist-packages/torch ] || optional="$optional python3-torch" # takes tensors of the Python package
fi

for package in "$@"; do installed "$package" || ! need dpkg-query || want "$package"; done

# Prints the first alternative of each optional package that the distribution has.
available() {
  for alternatives in $optional; do
    for package in $(echo "$alternatives" | tr '|' ' '); do
      if apt-cache show "$package" >/dev/null 2>&1; then
        echo "$package"
        break
      fi
    done
  done
}

if [ -z "$missing" ]; then
  # A missing package for tests does not prevent a build.
  [ -n "$optional" ] && need apt-cache && { [ "$(id -u)" -eq 0 ] || need sudo; } || exit 0
  [ -n "$(available)" ] || exit 0
fi

if ! need apt-get; then
  echo "Missing:$missing (these are the names of Debian's packages)." >&2
  echo "Install a C11 and a C++20 compiler, Meson 1.0 or newer, Ninja, pkg-config, binutils, Python 3 with venv, the headers" >&2
  echo "of flatbuffers, and Catch2;" >&2
  echo "for OpenCL its headers, a loader and PoCL; for Vulkan its headers and loader, Mesa's lavapipe and the validation layers;" >&2
  echo "for Level Zero its headers and loader; for the benchmarks Google Benchmark." >&2
  exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! need sudo; then
    echo "Missing:$missing. Run as root: apt-get install$missing" >&2
    exit 1
  fi
  as_root=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
get() {
  if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}
get update || [ -z "$missing" ] || exit 1
if [ -n "$missing" ]; then
  echo "Installing:$missing" >&2
  # shellcheck disable=SC2086  # one word a package
  get install -y --no-install-recommends $missing || exit 1
fi
for package in $(available); do
  echo "Installing: $package" >&2
  get install -y --no-install-recommends "$package" || echo "Going on without $package" >&2
done
