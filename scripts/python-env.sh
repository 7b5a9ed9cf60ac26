#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment of the demo and the tests in a folder, once, and prints its interpreter.
#
#   python=$(scripts/python-env.sh FOLDER)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: python-env.sh FOLDER}
mark="$folder/requirements.txt"

if ! cmp -s "$here/requirements.txt" "$mark"; then
  echo "Making a Python environment in $folder" >&2
  python3 -m venv --clear "$folder" >&2
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --use-pep517 -r "$here/requirements.txt" >&2
  # Last, so that an environment that was cut short is made again.
  cp "$here/requirements.txt" "$mark"
fi
echo "$folder/bin/python"
