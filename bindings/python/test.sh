#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package, installs it with its peers, and runs its tests:
#
#   bindings/python/test.sh FOLDER [OPTION OF PYTEST]...
#
# FOLDER keeps the build for the next run. The results are in FOLDER/python.xml. $ARROWDEVICE_WHEEL_OPTIONS has options for
# Meson, see wheel.sh. $ARROWDEVICE_TEST_PEERS names the file of the peers, requirements-test.txt by default.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:?usage: test.sh FOLDER}
shift
mkdir -p "$work"
work=$(cd "$work" && pwd)

python=$("$root/scripts/python-env.sh" "$work/test-env" "../bindings/python/${ARROWDEVICE_TEST_PEERS:-requirements-test.txt}")
"$here/wheel.sh" "$work" "$python"

# The tests use the installed package with its own plugins, not the sources.
cd "$work"
unset ARROWDEVICE_BACKEND_PATH PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -rfEs -n auto -p no:cacheprovider "--rootdir=$root" "--junitxml=$work/python.xml" "$@" "$here/tests"
