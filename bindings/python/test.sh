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

# PyTorch of Debian is small enough for every run of the checks. Only these modules of Debian are visible, and only to a
# Python of the same version.
debian=/usr/lib/python3/dist-packages
if [ -d $debian/torch ] && ! "$python" -c 'import torch' 2>/dev/null; then
  mkdir -p "$work/debian"
  for module in torch torchgen functorch; do ln -sfn "$debian/$module" "$work/debian/$module"; done
  if PYTHONPATH=$work/debian "$python" -c 'import torch' 2>/dev/null; then path=$work/debian; fi
fi

# The tests use the installed package with its own plugins, not the sources.
cd "$work"
unset ARROWDEVICE_BACKEND_PATH PYTHONPATH
[ -z "${path:-}" ] || export PYTHONPATH="$path"
export PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -rfEs -n auto -p no:cacheprovider "--rootdir=$root" "--junitxml=$work/python.xml" "$@" "$here/tests"
