#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a Python environment in a folder, once, and prints its interpreter: that of the demo and the tests, or one with
# what another file beside this one lists.
#
#   python=$(scripts/python-env.sh FOLDER [requirements-NAME.txt])
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: python-env.sh FOLDER [requirements-NAME.txt]}
wanted="$here/${2:-requirements.txt}"
mark="$folder/requirements.txt"

if ! cmp -s "$wanted" "$mark"; then
  echo "Making a Python environment in $folder" >&2
  python3 -m venv --clear "$folder" >&2
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --use-pep517 -r "$wanted" >&2
  # Last, so that an environment that was cut short is made again.
  cp "$wanted" "$mark"
fi
echo "$folder/bin/python"
