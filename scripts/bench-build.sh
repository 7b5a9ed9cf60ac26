#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a release with the benchmarks, in build-scripts/release or below $ARROWDEVICE_BUILD. The
# benchmark of peers is left out if pyarrow or the sources of nanoarrow cannot be installed. If CI is
# set, that is an error.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/release

"$root/scripts/install-deps.sh"
mkdir -p "$work"

# nanoarrow and Arrow C++ come from packages of Python.
sources=
if ! python=$("$root/scripts/python-env.sh" "$work/python-bench" requirements-bench.txt) ||
  ! sources=$("$root/scripts/nanoarrow-sources.sh" "$python" "$work/nanoarrow"); then
  echo "Peers are not measured: pyarrow or the sources of nanoarrow could not be installed." >&2
  [ -z "${CI:-}" ] || exit 1
fi
if [ -n "$sources" ]; then arrow_cpp=enabled; else arrow_cpp=disabled; fi

echo "Building a release in $build" >&2
set_options() {
  meson setup "$@" "-Dnanoarrow_sources=$sources" "-Darrow_cpp=$arrow_cpp" "-Darrow_cpp_python=$python" \
    "$build" "$root" </dev/null >&2
}
if [ -f "$build/build.ninja" ]; then
  set_options --reconfigure
else
  set_options --buildtype=release -Dtests=disabled
fi
ninja -C "$build" </dev/null >&2
if ! [ -x "$build/bench/bench-host" ]; then
  echo "There are no benchmarks in $build: Google Benchmark was not found." >&2
  exit 1
fi
