#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does random operations with faults on every device of this machine for a time. Checks every
# result, and prints a table of the operations. docs/verification.md describes it.
#
#   scripts/soak.sh [--docs] [--minutes=N] [--threads=N] [--faults=PERCENT] [--seed=N] [OPTION...]
#
# The defaults are half an hour, 16 threads, 5 percent and the time of day as the seed. Ends with 0
# only if nothing was wrong; --docs then writes the table to docs/verification.md. Builds are kept
# in build-scripts/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/soak
page=$root/docs/verification.md
docs=false
if [ "${1:-}" = --docs ]; then
  docs=true
  shift
fi

"$root/scripts/install-deps.sh"
mkdir -p "$work"

echo "Building a release with debug information in $build" >&2
if ! [ -f "$build/build.ninja" ]; then
  meson setup "$build" "$root" --buildtype=debugoptimized -Dtests=enabled -Dsim=enabled </dev/null >&2
fi
# The program and the plugins: the other tests are not needed.
plugins=$(sed -n 's/^build \(backends\/[a-z_0-9]*\/libarrowdevice-[a-z_0-9]*\.so\):.*/\1/p' "$build/build.ninja")
# shellcheck disable=SC2086  # one word for each plugin
ninja -C "$build" tests/soak/soak $plugins </dev/null >&2

folders=
for plugin in $plugins; do folders=$folders${folders:+:}$build/${plugin%/*}; done
export ARROWDEVICE_BACKEND_PATH="${ARROWDEVICE_BACKEND_PATH-$folders}"

result=0
"$build/tests/soak/soak" --minutes=30 "--seed=$(date +%s)" "$@" </dev/null >"$work/soak.md" || result=$?
cat "$work/soak.md"
if [ "$docs" = true ] && [ "$result" = 0 ]; then
  awk -v table="$work/soak.md" '
    /^<!-- end -->/ { skip = 0 }
    !skip { print }
    /^<!-- soak -->/ { skip = 1; while ((getline line < table) > 0) print line }' "$page" >"$work/verification.md"
  cp "$work/verification.md" "$page"
fi
exit "$result"
