#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Moves a real table to every device of this machine and back, and compares every column. See demo.py --help for options.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
build=$work/release

"$root/scripts/install-deps.sh"
mkdir -p "$work"
python=$("$root/scripts/python-env.sh" "$work/python")

echo "Building a release in $build" >&2
# Nothing but the table goes to standard output.
if ! [ -f "$build/build.ninja" ]; then
  meson setup "$build" "$root" --buildtype=release -Dtests=disabled </dev/null >&2
fi
ninja -C "$build" </dev/null >&2

# Two simulated accelerators take part beside whatever else this machine has.
export ARROWDEVICE_SIM_DEVICES="${ARROWDEVICE_SIM_DEVICES-addresses,handles}"
plugins=
for folder in "$build"/backends/*/; do plugins=$plugins${plugins:+:}${folder%/}; done
export ARROWDEVICE_BACKEND_PATH="${ARROWDEVICE_BACKEND_PATH-$plugins}"
export ARROWDEVICE_LIBRARY="${ARROWDEVICE_LIBRARY-$build/src/libarrowdevice.so}"
exec "$python" "$root/scripts/demo.py" "$@"
