#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a release and runs the benchmarks. Prints the time of each and its ratio to the driver's
# own call on the same bytes, or to memcpy, nanoarrow and Arrow C++. Marks each ratio above its
# bound. Then prints the instructions of single calls.
#
#   scripts/bench.sh [--docs | --quick] [OPTION...]
#
# --docs writes the figures and plots of docs/performance.md. --quick only shows that the benchmarks
# run and copy correct bytes. It runs each for a moment, skips those that take minutes, and checks
# no bound. Other options are Google Benchmark's: --benchmark_filter=REGEX, for instance. Results
# are kept in build-scripts/bench-results/, or below $ARROWDEVICE_BUILD, a JSON file for each
# program.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/release
results=$work/bench-results
mode=
case ${1:-} in
  --docs | --quick)
    mode=${1#--}
    shift
    ;;
esac

"$root/scripts/bench-build.sh"
mkdir -p "$results"

plugins=
for folder in "$build"/backends/*/; do plugins=$plugins${plugins:+:}${folder%/}; done
export ARROWDEVICE_BACKEND_PATH="${ARROWDEVICE_BACKEND_PATH-$plugins}"
[ "$mode" != quick ] || set -- --benchmark_min_time=0.01 '--benchmark_filter=-overlap|1000000|1073741824|4294967296' "$@"
# Prints the ticks that the processors have worked, and the ticks that other machines on the host
# have taken.
ticks() {
  awk '/^cpu /{ print $2 + $3 + $4 + $7 + $8, $9 }' /proc/stat
}

rm -f "$results"/*.json
ticks_before=$(ticks)
for program in "$build"/bench/bench-*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=${program##*/bench-}
  case $name in cost | links | peers) continue ;; esac # these have other options, below
  echo "Running $name" >&2
  "$program" "--benchmark_out=$results/$name.json" --benchmark_out_format=json "$@" </dev/null >/dev/null
done
if [ "$mode" = quick ]; then quick=--quick; else quick=; fi
echo "Running links" >&2
"$build/bench/bench-links" $quick </dev/null >"$results/links.json"
if [ -x "$build/bench/bench-peers" ]; then
  echo "Running peers" >&2
  "$build/bench/bench-peers" $quick "--json=$results/peers.json" </dev/null >/dev/null
fi
if [ "$mode" = quick ]; then
  python3 "$root/scripts/bench_table.py" --without-bounds "$results"/*.json
  exit
fi

stolen=$(echo "$ticks_before $(ticks)" | awk '{ used = $3 - $1; stolen = $4 - $2; if (used > 0) print stolen / (used + stolen) }')
kept=true
python3 "$root/scripts/bench_table.py" "$results"/*.json || kept=false

costs=$work/bench-costs.json
rm -f "$costs"
if command -v valgrind >/dev/null; then
  echo "Counting instructions" >&2
  python3 "$root/scripts/costs.py" "$build/bench/bench-cost" "--json=$costs" || kept=false
else
  echo "Instructions are not counted: there is no valgrind." >&2
fi
[ "$mode" != docs ] || "$work/python-bench/bin/python" "$root/scripts/performance_docs.py" "$root/docs" "$stolen" "$costs" "$results"/*.json
$kept
