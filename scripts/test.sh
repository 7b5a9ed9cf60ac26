#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs every test. The last line is `N passed, N failed`, with `, N skipped`
# if any.
#
#   scripts/test.sh [--werror] [--sanitize=address,undefined | --sanitize=thread] [--counts-to=FILE | --build-only]
#   scripts/test.sh --quick
#
# --quick installs nothing and needs neither root nor Python packages. It runs the unit tests, the loader tests and the
# conformance suite on the CPU and on simulated devices. It uses the build of an earlier run if there is one.
#
# With a sanitizer it runs the C++ tests and the tool, and leaves out Python's. With the thread
# sanitizer it runs the unit tests, the tests of loading, and the programs that use threads. Builds
# are kept in build-scripts/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
werror=false
sanitize=none
counts=
build_only=false
quick=false
[ "${1:-}" != --quick ] || { quick=true; shift; }
[ "$quick" = false ] || [ $# -eq 0 ] || { echo "test.sh: --quick takes no other option" >&2; exit 2; }
for option in "$@"; do
  case $option in
    --werror) werror=true ;;
    --sanitize=*) sanitize=${option#*=} ;;
    --counts-to=*) counts=$option ;;
    --build-only) build_only=true ;;
    *)
      echo "test.sh: there is no option $option; see the first lines of $0" >&2
      exit 2
      ;;
  esac
done

# A failed build is a failure like any other. The last line must show it.
fail() {
  echo "$1"
  echo "0 passed, 1 failed"
  exit 1
}

if [ "$quick" = true ]; then
  build=$work/test
  if ! [ -f "$build/build.ninja" ]; then
    mkdir -p "$work"
    meson setup -Ddebug=true -Doptimization=1 -Dc_args=-g1 -Dcpp_args=-g1 -Dunity=on -Dunity_size=6 \
      -Db_ndebug=false -Dtests=enabled -Dsim=enabled -Dbench=disabled -Darrow_cpp=disabled "$build" "$root" </dev/null ||
      fail "FAILED: configuring $build; scripts/install-deps.sh installs what the build needs"
  fi
  echo "Runs the suites unit, loader and driverless. Leaves out drivers and their stand-ins, faults, stress," \
    "soak, fuzzing, the ABI, pages, installations, examples, the tool, pytest and the bindings." >&2
  exec python3 "$root/scripts/run_tests.py" --suite=unit --suite=loader --suite=driverless "$build"
fi

"$root/scripts/install-deps.sh" || fail "FAILED: installing what the build needs"
mkdir -p "$work"

# Arrow's own files are required in continuous integration. Elsewhere their absence is a listed
# skip.
ARROWDEVICE_GOLDEN_DATA=$("$root/scripts/golden-data.sh")
export ARROWDEVICE_GOLDEN_DATA
if [ -n "${CI:-}" ] && [ ! -d "$ARROWDEVICE_GOLDEN_DATA" ]; then
  fail "FAILED: ARROWDEVICE_GOLDEN_DATA names no folder, and golden files are part of a CI run"
fi

if [ "$sanitize" = none ]; then
  build=$work/test
  # Compiles in half the time of a release. scripts/demo.sh and scripts/bench.sh build, test and
  # measure a release.
  optimization=1
  debug_info=-g1
  arrow_cpp=enabled
  cuda_folders=
  hip_folders=
  python=$("$root/scripts/python-env.sh" "$work/python") || fail "FAILED: making the Python environment"
  # NVIDIA offers its headers for these machines only.
  case $(uname -m) in x86_64 | aarch64)
    for name in cuda cuda-12.4; do
      "$root/scripts/python-env.sh" "$work/$name-headers" "requirements-$name.txt" >/dev/null ||
        fail "FAILED: installing the headers of CUDA"
    done
    for header in "$work"/cuda*-headers/lib/python3.*/site-packages/nvidia/*/include/cudaTypedefs.h; do
      [ -f "$header" ] || fail "FAILED: the headers of CUDA are not where they were"
      cuda_folders=${cuda_folders:+$cuda_folders,}$(dirname "$header")
    done
    ;;
  esac
  # Continuous integration also compares with the headers of HIP that newer versions of Debian have.
  if [ -n "${CI:-}" ]; then
    hip_folders=$("$root/scripts/hip-headers.sh" "$work/hip-headers") || fail "FAILED: downloading the headers of HIP"
    hip_folders=$(echo "$hip_folders" | paste -sd ,)
  fi
  # The demo is a program that uses the package.
  "$root/bindings/python/wheel.sh" "$work/package" "$python" || fail "FAILED: building the Python package"
  # libclang reads the headers for the comparison with the Rust declarations.
  ! command -v cargo >/dev/null || "$root/scripts/install-deps.sh" libclang-dev || [ -z "${CI:-}" ] ||
    fail "FAILED: installing libclang"
  set -- "--python=$python" "--pytest=$root/tests/demo" "--pytest=$root/tests/interop" \
    "--binding=$root/bindings/python=$work/package" "--binding=$root/bindings/rust" "--binding=$root/bindings/go" \
    "--binding=$root/bindings/julia"
else
  build=$work/test-$(echo "$sanitize" | tr ',' '-')
  arrow_cpp=disabled
  # Further optimisation and full debug information of a sanitizer's code take long. Its reports
  # need only lines. The standard library also checks its arguments.
  optimization=g
  debug_info='-g1 -D_GLIBCXX_ASSERTIONS'
  if [ "$sanitize" = thread ]; then
    set -- --suite=unit --suite=stress --suite=soak --suite=threads --suite=loader
  else
    set -- --no-suite=headers --no-suite=architecture --no-suite=scripts --no-suite=install
  fi
  export UBSAN_OPTIONS="${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}"
fi

# If Meson finds ccache, the compiler preprocesses nothing twice for it.
export CCACHE_DEPEND="${CCACHE_DEPEND-true}"

echo "Building in $build" >&2
# Arrow C++ comes with pyarrow, for builds without a sanitizer. Several files are compiled as one, in two thirds of the
# time: that each of the library's includes what it uses is shown by the release that .ci/run has built. A build of before
# arrowdevice.pc could be moved keeps Meson's own default for that.
set_options() {
  meson setup "$@" "-Dwerror=$werror" "-Db_sanitize=$sanitize" -Dunity=on -Dunity_size=6 \
    "-Darrow_cpp=$arrow_cpp" "-Darrow_cpp_python=${python:-}" -Dpkgconfig.relocatable=true \
    "-Dheaders_of_cuda=${cuda_folders:-}" "-Dheaders_of_hip=${hip_folders:-}" "$build" "$root" </dev/null || fail "FAILED: configuring $build"
}
if [ -f "$build/build.ninja" ]; then
  set_options --reconfigure # which also knows options that are newer than the build
else
  set_options -Ddebug=true "-Doptimization=$optimization" "-Dc_args=$debug_info" "-Dcpp_args=$debug_info" \
    -Db_ndebug=false -Dtests=enabled -Dsim=enabled -Dbench=disabled
fi
# With a sanitizer, what the tests need is built as they begin.
if [ "$sanitize" = none ] || [ "$build_only" = true ]; then
  meson compile -C "$build" </dev/null || fail "FAILED: building in $build"
fi
[ "$build_only" = false ] || exit 0

exec python3 "$root/scripts/run_tests.py" "$@" ${counts:+"$counts"} "$build"
