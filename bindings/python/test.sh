#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package, installs it with its peers, and runs its tests:
#
#   bindings/python/test.sh BUILD_FOLDER
#
# Everything is kept in BUILD_FOLDER, the wheel in BUILD_FOLDER/wheel: what has not changed is not made again. The results are in
# BUILD_FOLDER/python.xml. $ARROWDEVICE_WHEEL_OPTIONS has more options for Meson, such as -Dunity=on.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:?usage: test.sh BUILD_FOLDER}
mkdir -p "$work"
work=$(cd "$work" && pwd)

python=$("$here/wheel.sh" "$work" requirements-test.txt)

# Where the sources are is the installed package not: it is what is tested. Its plugins are found beside it.
cd "$work"
unset ARROWDEVICE_BACKEND_PATH PYTHONPATH
exec "$python" -m pytest -q -n "${ARROWDEVICE_TEST_JOBS:-2}" --dist worksteal -p no:cacheprovider "--rootdir=$here/tests" \
  "--junitxml=$work/python.xml" "$here/tests"
