#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads the C sources of nanoarrow into a folder, once, and prints the folder of their
# meson.build. They are part of the Python package's source distribution.
#
#   sources=$(scripts/nanoarrow-sources.sh PYTHON FOLDER)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
python=${1:?usage: nanoarrow-sources.sh PYTHON FOLDER}
folder=${2:?usage: nanoarrow-sources.sh PYTHON FOLDER}
wanted="$here/requirements-nanoarrow.txt"
mark="$folder/requirements.txt"

if ! cmp -s "$wanted" "$mark"; then
  echo "Downloading the sources of nanoarrow to $folder" >&2
  rm -rf "$folder"
  mkdir -p "$folder/backend"
  # pip asks the build backend of a source distribution for its metadata. nanoarrow's own backend
  # compiles the whole package for that, which takes minutes. This one copies the metadata.
  cat >"$folder/backend/mesonpy.py" <<'END'
import os
import re
import shutil


def prepare_metadata_for_build_wheel(to, config_settings=None):
    with open("PKG-INFO", encoding="utf-8") as file:
        text = file.read()
    name, version = (re.search(rf"^{key}: (.*)$", text, re.M)[1] for key in ("Name", "Version"))
    folder = f"{name}-{version}.dist-info"
    os.mkdir(os.path.join(to, folder))
    shutil.copy("PKG-INFO", os.path.join(to, folder, "METADATA"))
    return folder
END
  PYTHONPATH="$folder/backend" "$python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --no-binary :all: --dest "$folder" -r "$wanted" >&2
  tar -xzf "$folder"/nanoarrow-*.tar.gz -C "$folder" --strip-components=1
  # Last, so that a folder that was cut short is made again.
  cp "$wanted" "$mark"
fi
echo "$folder/subprojects/arrow-nanoarrow"
