#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Moves a real table to every device of this machine and back, and compares every column. See demo.py --help for options.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}

"$root/scripts/install-deps.sh"
mkdir -p "$work"
# Only the table goes to standard output. The package carries the library and its plugins.
python=$("$root/scripts/python-env.sh" "$work/python")
"$root/bindings/python/wheel.sh" "$work/package" "$python"

# Two simulated accelerators take part beside whatever else this machine has.
unset ARROWDEVICE_BACKEND_PATH # of a build, which would go before the package's own plugins
export ARROWDEVICE_SIM_DEVICES="${ARROWDEVICE_SIM_DEVICES-addresses,handles}"
exec "$python" "$root/scripts/demo.py" "$@"
