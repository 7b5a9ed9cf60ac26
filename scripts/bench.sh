#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a release and runs the benchmarks; prints a table of what each took and its ratio to the driver's own call on the
# same bytes, and says where a bound is not kept. Options are Google Benchmark's: --benchmark_filter=REGEX, for instance.
# Results are kept in build-scripts/bench-results/, or below $ARROWDEVICE_BUILD, a JSON file for each program.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/bench
results=$work/bench-results

"$root/scripts/install-deps.sh"
mkdir -p "$results"

echo "Building a release in $build" >&2
if ! [ -f "$build/build.ninja" ]; then
  meson setup "$build" "$root" --buildtype=release -Db_ndebug=true -Dtests=disabled -Dsim=enabled -Dbench=enabled </dev/null >&2
fi
ninja -C "$build" </dev/null >&2

plugins=
for folder in "$build"/backends/*/; do plugins=$plugins${plugins:+:}${folder%/}; done
export ARROWDEVICE_BACKEND_PATH="${ARROWDEVICE_BACKEND_PATH-$plugins}"
rm -f "$results"/*.json
for program in "$build"/bench/bench-*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  [ "${program##*/}" != bench-cost ] || continue # for scripts/costs.py
  name=${program##*/bench-}
  echo "Running $name" >&2
  "$program" "--benchmark_out=$results/$name.json" --benchmark_out_format=json "$@" </dev/null >/dev/null
done
exec python3 "$root/scripts/bench_table.py" "$results"/*.json
