#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a Debian of its own, which has the packages that are named and sees this clone at the same path:
#
#   scripts/in-debian.sh [--arm64] bookworm|trixie PACKAGE... -- COMMAND...
#
# The system is kept in build-scripts/minimal, or in $ARROWDEVICE_BUILD/minimal, and each run installs what it lacks. With
# --arm64 it also has packages named NAME:arm64, and programs of AArch64 run under qemu-user, also if other programs start
# them.
#
# Needs root on Debian or Ubuntu, and the right to mount. On another machine than AArch64, --arm64 needs Linux 6.7.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)

usage() {
  echo "usage: in-debian.sh [--arm64] bookworm|trixie PACKAGE... -- COMMAND...; see the first lines of $0" >&2
  exit 2
}
arm64=
emulates=
if [ "${1:-}" = --arm64 ]; then
  arm64=arm64
  [ "$(uname -m)" = aarch64 ] || emulates=1
  shift
fi
[ $# -ge 4 ] || usage
suite=$1
shift
case $suite in bookworm | trixie) ;; *) usage ;; esac
packages=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  packages="$packages $1"
  shift
done
[ $# -ge 2 ] || usage
shift

binds="$root $work"
. "$root/scripts/debian-system.sh"

system=$systems/$suite${arm64:+-$arm64}-with-packages
# One run at a time makes the system or installs in it.
exec 9>"$system.lock"
flock 9
if [ -f "$system/etc/host-complete" ]; then
  copy_settings "$system"
else
  unpack "$system"
  touch "$system/etc/host-complete"
fi
# The packages are installed without qemu: none of AArch64's runs a program of its own as it is installed.
emulates_command=$emulates
emulates=
# shellcheck disable=SC2016  # the shell in the system expands it
# shellcheck disable=SC2086  # one word a package
run_inside "$system" / sh -euc '
  [ -z "$1" ] || dpkg --add-architecture "$1"
  shift
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
' sh "$arm64" $packages >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  fail "cannot install$packages in $system"
}
emulates=$emulates_command
exec 9>&-
run_inside "$system" "$root" "$@"
