#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the README's two commands in a minimal Debian, the smallest variant of debootstrap:
#
#   scripts/minimal.sh [--again] bookworm|trixie demo|test...
#
# The system is made in build-scripts/minimal, or in $ARROWDEVICE_BUILD/minimal. It gets a clone of HEAD, which has no
# uncommitted change, and Arrow's golden files if this machine has them. Then scripts/demo.sh, scripts/test.sh, or both in
# the order of the arguments, run in it as root. They install what they need from Debian's mirror and from PyPI, which are
# those that this machine uses. The system is deleted if everything passed, and otherwise kept until the next run.
# debootstrap's result is cached for a week. With --again the run continues in the system that was
# kept. It sets the clone to HEAD and reuses the builds.
#
# Needs root on Debian or Ubuntu, and the right to mount.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}

usage() {
  echo "usage: minimal.sh [--again] bookworm|trixie demo|test...; see the first lines of $0" >&2
  exit 2
}
again=false
if [ "${1:-}" = --again ]; then
  again=true
  shift
fi
[ $# -ge 2 ] || usage
suite=$1
shift
case $suite in bookworm | trixie) ;; *) usage ;; esac
for part in "$@"; do
  case $part in demo | test) ;; *) usage ;; esac
done
exec </dev/null

binds=
emulates=
. "$root/scripts/debian-system.sh"

system=$systems/$suite
# One run at a time: the next one deletes the system of the one before.
exec 9>"$system.lock"
flock --nonblock 9 || fail "another run uses $system"

make_system() {
  unpack "$system"
  git clone --quiet --no-hardlinks "$root" "$clone"
  golden=$("$root/scripts/golden-data.sh")
  if [ -n "$golden" ] && [ -d "$golden" ]; then
    mkdir -p "$system$inner_home/shared/data"
    cp -RL "$golden" "$system$inner_home/shared/data/arrow-ipc-stream"
  elif [ -n "${CI:-}" ] && [ "$*" != demo ]; then
    fail "ARROWDEVICE_GOLDEN_DATA names no folder, and golden files are part of a CI run"
  fi
}

if [ -n "$(git -C "$root" status --porcelain)" ]; then
  echo "What is not committed is not tried: only $(git -C "$root" rev-parse --short HEAD) is" >&2
fi
clone=$system$inner_home/libarrowdevice
if [ "$again" = true ]; then
  [ -d "$clone" ] || fail "there is no $clone to go on in"
  git -C "$clone" fetch --quiet "$root" HEAD
  git -C "$clone" reset --quiet --hard FETCH_HEAD
else
  make_system "$@"
fi

for part in "$@"; do
  echo "In a minimal Debian $(cat "$system/etc/debian_version") ($suite): scripts/$part.sh" >&2
  begin=$(date +%s)
  run_inside "$system" "$inner_home/libarrowdevice" "scripts/$part.sh" ||
    fail "scripts/$part.sh failed in a minimal $suite, which is kept in $system"
  echo "scripts/$part.sh passed in a minimal $suite after $(($(date +%s) - begin)) s" >&2
done
delete "$system"
