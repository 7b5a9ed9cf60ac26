#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a release that the compiler optimizes for the calls that it has seen (profile-guided
# optimization). It builds the library, runs the benchmarks of the CPU for a moment, and builds the
# library again with the recorded profile.
#
#   scripts/pgo.sh FOLDER [MESON_OPTION...]
#
# FOLDER receives the build, from which `meson install -C FOLDER` installs. No bound and no promise
# of the project needs such a build.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { echo "pgo.sh: name the folder of the build; see the first lines of $0" >&2; exit 2; }
build=$1
shift
if [ -e "$build" ]; then
  echo "pgo.sh: $build is there already. A profile belongs to one build, so name a new folder." >&2
  exit 2
fi

"$root/scripts/install-deps.sh"
echo "Building for the profile in $build" >&2
meson setup "$build" "$root" --buildtype=release -Dtests=disabled -Dsim=enabled -Dbench=enabled -Db_pgo=generate \
  "$@" </dev/null >&2
ninja -C "$build" </dev/null >&2

export ARROWDEVICE_BACKEND_PATH="$build/backends/sim"
export LLVM_PROFILE_FILE="$build/profile/%m.profraw"
for program in host streams; do
  echo "Recording $program" >&2
  # Cases of more than some MiB would only show the profile of memcpy.
  "$build/bench/bench-$program" --benchmark_min_time=0.05 \
    '--benchmark_filter=-overlap|depth|1000000|4000000|10000000|16000000|cold' </dev/null >/dev/null
done
if [ -d "$build/profile" ]; then # Clang, which reads one file
  llvm-profdata merge -output="$build/default.profdata" "$build"/profile/*.profraw
fi

echo "Building with the profile" >&2
meson configure "$build" -Db_pgo=use </dev/null >&2
ninja -C "$build" </dev/null >&2
echo "The library is $build/src/libarrowdevice.so"
