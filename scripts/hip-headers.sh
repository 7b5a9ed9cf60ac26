#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks the headers of HIP that newer versions of Debian have, and prints their folders, one per line:
#
#   scripts/hip-headers.sh FOLDER
#
# The headers are those of Debian 13 and of Debian testing, from the mirror of this machine's own packages. The script does
# not install them. It prints nothing on another system than Debian, and it downloads nothing if FOLDER is newer than a week.
set -eu

[ $# -eq 1 ] || {
  echo "usage: hip-headers.sh FOLDER" >&2
  exit 2
}
command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || exit 0
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(apt-get indextargets --format '$(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
  sed -n 's!^main \(.*/debian/*\)$!\1!p' | head -n 1)
[ -n "$mirror" ] && [ -f "$keyring" ] || exit 0

mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
log=$folder/log
for suite in trixie testing; do
  here=$folder/$suite
  if [ -z "$(find "$here/done" -mtime -7 2>/dev/null)" ]; then
    echo "Downloading the headers of HIP in Debian $suite" >&2
    rm -rf "$here"
    mkdir -p "$here/lists/partial" "$here/archives/partial" "$here/parts" "$here/packages"
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$here/sources.list"
    # The lists of this machine's own packages stay as they are.
    set -- -o "Dir::Etc::SourceList=$here/sources.list" -o "Dir::Etc::SourceParts=$here/parts" \
      -o "Dir::State::Lists=$here/lists" -o "Dir::Cache=$here" -o "Dir::Cache::Archives=$here/archives" \
      -o APT::Sandbox::User=root -o Acquire::Languages=none
    if ! { apt-get "$@" update && cd "$here/packages" && apt-get "$@" download libamdhip64-dev; } >"$log" 2>&1; then
      cat "$log" >&2
      echo "hip-headers.sh: the headers of HIP in Debian $suite cannot be downloaded" >&2
      exit 1
    fi
    dpkg-deb -x "$here"/packages/libamdhip64-dev_*.deb "$here/root"
    rm -rf "$here/lists" "$here/archives" "$here"/*.bin
    touch "$here/done"
  fi
  [ -f "$here/root/usr/include/hip/hip_runtime_api.h" ] || {
    echo "hip-headers.sh: the package of Debian $suite has no hip/hip_runtime_api.h" >&2
    exit 1
  }
  echo "$here/root/usr/include"
done
