#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy, as .clang-tidy says, over the library, the backends and the tool:
#
#   scripts/check-tidy.sh [--analyzer]
#
# With --analyzer it runs Clang's static analyser instead, which follows paths through the code,
# file by file, for many minutes. Otherwise it reads several files of one target as one, because
# most of the time goes into the headers of the standard library. It compiles no file. Builds are
# kept in build-scripts/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
if [ "${1:-}" = --analyzer ]; then
  unity=off
  # Leaves out two checks. One is about the order of members, the other reports every va_list as
  # uninitialised.
  checks='-*,clang-analyzer-*,-clang-analyzer-optin.performance.Padding,-clang-analyzer-valist.Uninitialized'
else
  unity=on
  # A file that joins others includes them.
  checks=-bugprone-suspicious-include
fi
"$root/scripts/install-deps.sh" clang-tidy
build=$work/tidy-unity-$unity
mkdir -p "$work"

# Reconfigured each time: files that join others are written then.
again=
[ ! -f "$build/build.ninja" ] || again=--reconfigure
# shellcheck disable=SC2086  # no word, if there is no build
meson setup $again "-Dunity=$unity" -Dunity_size=6 -Db_pch=false -Db_ndebug=false -Dtests=enabled -Dsim=enabled \
  -Darrow_cpp=disabled -Dbench=disabled "$build" "$root" </dev/null >"$build.log" || {
  cat "$build.log"
  exit 1
}

cd "$build"
python3 -c '
import json
ours = [command["file"] for command in json.load(open("compile_commands.json"))
        if command["output"].startswith(("src/", "backends/", "tools/")) and not command["file"].endswith(".c")]
print(*sorted(set(ours)), sep="\n")' |
  # Clang does not know every warning of the compiler that the build is for.
  xargs -P "$(nproc)" -n 2 clang-tidy --quiet -p . "--config-file=$root/.clang-tidy" "--checks=$checks" \
    --extra-arg=-Wno-unknown-warning-option 2>&1 |
  grep -v 'warnings\? generated\.$\|warnings\? treated as errors\?$' >tidy.log || true
cat tidy.log
# xargs hides no result. Every finding of clang-tidy is a failure.
[ ! -s tidy.log ]
