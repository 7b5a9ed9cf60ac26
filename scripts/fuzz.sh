#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes with libFuzzer under the address and undefined sanitizers, one target for each processor. Prints
# the number of inputs of each target. A run begins with the inputs of tests/fuzz/corpus and of earlier
# runs, which are kept beside the build. An input that finds a mistake is kept in the build folder, and
# the exit code is 1.
#
#   scripts/fuzz.sh [--seconds=N | --runs=N] [--longest=BYTES] [--minimize] [--counts-to=FILE] [TARGET...]
#
# Without either of the first two a target takes a minute. --longest keeps inputs short. An input of 40
# bytes is a tree or a stream of a few parts. It runs two or three times as fast as the later inputs of
# libFuzzer. --minimize writes the committed corpus anew: the fewest inputs of earlier runs that cover as
# much. --counts-to writes the outcomes for scripts/run_tests.py, each target as one test.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/fuzz
limit=-max_total_time=60
longest=
minimize=false
counts=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds=*) limit=-max_total_time=${1#*=} ;;
    --runs=*) limit=-runs=${1#*=} ;;
    --longest=*) longest=-max_len=${1#*=} ;;
    --minimize) minimize=true ;;
    --counts-to=*) counts=${1#*=} ;;
    -*)
      echo "fuzz.sh: there is no option $1; see the first lines of $0" >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done

"$root/scripts/install-deps.sh" clang
"$root/scripts/install-deps.sh" "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
mkdir -p "$work"
echo "Building the fuzz targets in $build" >&2
if ! [ -f "$build/build.ninja" ]; then
  CC=clang CXX=clang++ meson setup "$build" "$root" -Dfuzzers=true -Db_sanitize=address,undefined -Db_lundef=false \
    -Dbuildtype=debugoptimized -Db_ndebug=false -Dcpp_args=-g1 -Dc_args=-g1 -Dtests=enabled -Dsim=enabled -Dbench=disabled \
    -Dtools=disabled -Dexamples=disabled -Dcuda=disabled -Dhip=disabled -Dopencl=disabled -Dvulkan=disabled \
    -Dlevel_zero=disabled -Darrow_cpp=disabled -Dunity=on -Dunity_size=6 </dev/null >&2
fi
programs=
[ $# -gt 0 ] || set -- arrays formats ipc_handles ipc_messages links metadata plugin_tables slices streams texts
for target in "$@"; do programs="$programs tests/fuzz/fuzz-$target"; done
# shellcheck disable=SC2086  # one word a program
if ! ninja -C "$build" $programs </dev/null >&2; then
  # Clang 14 crashed once on a file that it compiles in a hundred other tries. A real error comes again.
  echo "The build failed, and is tried once more." >&2
  # shellcheck disable=SC2086
  ninja -C "$build" $programs </dev/null >&2
fi

export UBSAN_OPTIONS="${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}"
# Limits the sanitizer's quarantine of freed memory to about one input. Otherwise its bookkeeping
# would take most of the time.
export ASAN_OPTIONS="${ASAN_OPTIONS-malloc_context_size=2:quarantine_size_mb=1:thread_local_quarantine_size_kb=64}"

# A thread's stack is marked anew for each thread, which takes longer the larger it is.
ulimit -s 1024

# fuzz TARGET: leaves a line about it in the build folder.
fuzz() {
  program=$build/tests/fuzz/fuzz-$1
  found=$work/fuzz-corpus/$1
  committed=$root/tests/fuzz/corpus/$1
  mkdir -p "$found" "$committed"
  if $minimize; then
    fewest=$(mktemp -d)
    "$program" -merge=1 "$fewest" "$found" "$committed" >"$build/$1.log" 2>&1
    rm -rf "$committed"
    mv "$fewest" "$committed"
    chmod 755 "$committed"
    echo "$1: $(find "$committed" -type f | wc -l) inputs" >"$build/$1.outcome"
  # Without entropic schedules, which take three quarters of the time. The sanitizer searches leaks
  # at the end instead of after each input, because one report is enough.
  # shellcheck disable=SC2086  # no word where there is no longest
  elif "$program" "$limit" $longest -entropic=0 -detect_leaks=0 -use_cmp=0 -reduce_inputs=0 -timeout=60 -rss_limit_mb=4096 \
    -print_final_stats=1 "-artifact_prefix=$build/$1-" "$found" "$committed" >"$build/$1.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")
    echo "$1: $runs inputs, nothing found" >"$build/$1.outcome"
  else
    tail -n 60 "$build/$1.log"
    echo "FAILED: $1" >"$build/$1.outcome"
  fi
}

# As many at once as there are processors.
at_once=$(nproc)
running=0
for target in "$@"; do
  echo "FAILED: $target" >"$build/$target.outcome"
  fuzz "$target" </dev/null &
  running=$((running + 1))
  if [ "$running" = "$at_once" ]; then
    wait
    running=0
  fi
done
wait
passed=
failed=
for target in "$@"; do
  cat "$build/$target.outcome"
  if grep -q ^FAILED "$build/$target.outcome"; then
    failed="$failed${failed:+, }\"libFuzzer / $target\""
  else
    passed="$passed${passed:+, }\"libFuzzer / $target\""
  fi
done
[ -z "$counts" ] || printf '{"passed": [%s], "failed": [%s], "skipped": []}\n' "$passed" "$failed" >"$counts"
[ -z "$failed" ]
