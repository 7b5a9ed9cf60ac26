#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library with a profile of the benchmarks (PGO) and compares it with a release. Prints the
# median time of each benchmark on the CPU with both libraries, which take turns.
#
#   scripts/pgo.sh [--rounds=N]
#
# The default is 5 rounds. Needs GCC. Builds are kept in build-scripts/, or in $ARROWDEVICE_BUILD: the
# library with the profile is pgo/src/libarrowdevice.so, and the other one is in release.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
rounds=5
for option in "$@"; do
  case $option in
    --rounds=[1-9]*) rounds=${option#*=} ;;
    *)
      echo "pgo.sh: unknown option $option; see the first lines of $0" >&2
      exit 2
      ;;
  esac
done

mkdir -p "$work"
work=$(cd "$work" && pwd)
profiled=$work/pgo
plain=$work/release
results=$work/pgo-results

"$root/scripts/bench-build.sh"
# The profile begins anew, because GCC refuses that of other sources.
rm -rf "$profiled"
meson setup "$profiled" "$root" --buildtype=release -Dauto_features=disabled -Db_pgo=generate </dev/null >&2
ninja -C "$profiled" </dev/null >&2

# run FOLDER NAME: runs the benchmarks that need no plugin, with the library of a build.
run() {
  LD_LIBRARY_PATH=$1/src "$plain/bench/bench-host" --benchmark_min_time=0.1 "--benchmark_out=$results/$2-host.json" \
    --benchmark_out_format=json </dev/null >/dev/null
  LD_LIBRARY_PATH=$1/src "$plain/bench/bench-peers" --quick "--json=$results/$2-peers.json" </dev/null >/dev/null
}
rm -rf "$results"
mkdir "$results"
echo "Making the profile" >&2
run "$profiled" training
rm "$results"/training-*.json
if [ -z "$(find "$profiled" -name '*.gcda' -print -quit)" ]; then
  echo "pgo.sh: the benchmarks have written no profile to $profiled: the compiler is not GCC" >&2
  exit 1
fi
meson configure "$profiled" -Db_pgo=use </dev/null >&2
ninja -C "$profiled" </dev/null >&2

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  echo "Round $round of $rounds" >&2
  run "$plain" "release-$round"
  run "$profiled" "profile-$round"
done
python3 "$root/scripts/pgo_table.py" "$results"
