#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks the headers of HIP that newer versions of Debian have, and prints their folders, one per line:
#
#   scripts/hip-headers.sh FOLDER
#
# The headers are those of Debian 13 and of Debian testing, from the mirror of this machine's own packages. The script does
# not install them. It downloads them again after a week.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fail() {
  echo "hip-headers.sh: $1" >&2
  exit 1
}
[ $# -eq 1 ] || fail "usage: hip-headers.sh FOLDER"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$("$here/debian-mirror.sh")
[ -n "$mirror" ] || fail "this machine has no mirror of Debian"
[ -f "$keyring" ] || fail "Debian's keys are not installed: install debian-archive-keyring"

mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
log=$folder/log
for suite in trixie testing; do
  place=$folder/$suite
  if [ -z "$(find "$place/done" -mtime -7 2>/dev/null)" ]; then
    echo "Downloading the headers of HIP in Debian $suite" >&2
    rm -rf "$place"
    mkdir -p "$place/lists/partial" "$place/archives/partial" "$place/parts" "$place/packages"
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$place/sources.list"
    # The lists of this machine's own packages stay as they are.
    set -- -o "Dir::Etc::SourceList=$place/sources.list" -o "Dir::Etc::SourceParts=$place/parts" \
      -o "Dir::State::Lists=$place/lists" -o "Dir::Cache=$place" -o "Dir::Cache::Archives=$place/archives" \
      -o APT::Sandbox::User=root -o Acquire::Languages=none
    if ! { apt-get "$@" update && cd "$place/packages" && apt-get "$@" download libamdhip64-dev; } >"$log" 2>&1; then
      cat "$log" >&2
      fail "the headers of HIP in Debian $suite cannot be downloaded"
    fi
    dpkg-deb -x "$place"/packages/libamdhip64-dev_*.deb "$place/root"
    rm -rf "$place/lists" "$place/archives" "$place"/*.bin
    touch "$place/done"
  fi
  [ -f "$place/root/usr/include/hip/hip_runtime_api.h" ] ||
    fail "the package of Debian $suite has no hip/hip_runtime_api.h"
  echo "$place/root/usr/include"
done
