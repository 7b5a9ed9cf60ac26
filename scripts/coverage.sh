#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the C++ tests in a build that counts, and prints which lines and branches of src/ they have
# reached. Fails if a line is not reached and tests/not-covered.txt has no reason.
#
#   scripts/coverage.sh [--report]   --report: of what the last run has left, without running anything
#
# Builds are kept in build-scripts/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/coverage

"$root/scripts/install-deps.sh"
mkdir -p "$work"
python=$("$root/scripts/python-env.sh" "$work/python-coverage" requirements-coverage.txt)

if [ "${1:-}" != --report ]; then
  echo "Building with counters in $build" >&2
  if ! [ -f "$build/build.ninja" ]; then
    # Threads count too. The tests with simulated devices must reach all of src/, except the code
    # for pinned memory. The stand-in for CUDA reaches that.
    meson setup "$build" "$root" -Db_coverage=true -Ddebug=true -Doptimization=0 -Db_ndebug=false -Dtests=enabled \
      -Dsim=enabled -Dcuda=enabled -Dhip=disabled -Dopencl=disabled -Dvulkan=disabled -Dlevel_zero=disabled \
      -Dbench=disabled -Dexamples=disabled -Darrow_cpp=disabled -Dcpp_args='-g1 -fprofile-update=atomic' \
      -Dc_args='-g1 -fprofile-update=atomic' </dev/null >&2
  fi
  meson compile -C "$build" </dev/null >&2
  find "$build" -name '*.gcda' -delete
  meson test -C "$build" --no-suite=headers --no-suite=architecture --no-suite=scripts --no-suite=install --no-suite=abi \
    --no-suite=conformance --timeout-multiplier=4 </dev/null >&2
fi

"$python" -m gcovr --root "$root" --object-directory "$build" --filter "$root/src/" --exclude-throw-branches \
  --gcov-ignore-parse-errors=negative_hits.warn_once_per_file --json "$build/coverage.json" "$build/src" >&2
"$python" "$root/scripts/coverage.py" "$build/coverage.json"
