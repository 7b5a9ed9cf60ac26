#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of HEAD in a minimal Debian, and fails if lintian has an error or a warning. Then installs the
# packages in another minimal Debian, and runs debian/tests there:
#
#   scripts/debian-package.sh bookworm|trixie
#
# The packages stay in build-scripts/debian/SUITE, or in $ARROWDEVICE_BUILD/debian/SUITE.
#
# Needs root on Debian or Ubuntu, and the right to mount.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)

case "$# ${1:-}" in
  "1 bookworm" | "1 trixie") ;;
  *)
    echo "usage: debian-package.sh bookworm|trixie; see the first lines of $0" >&2
    exit 2
    ;;
esac
suite=$1
exec </dev/null
# No bug of Debian asks for the package yet. Debian 12 knows an older policy than debian/control names.
ignored=initial-upload-closes-no-bugs
[ "$suite" != bookworm ] || ignored=$ignored,newer-standards-version

packages=$work/debian/$suite
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
sources=$packages/libarrowdevice-$version
rm -rf "$packages"
mkdir -p "$packages"
archive() { git -C "$root" archive --prefix="libarrowdevice-$version/" HEAD "$@"; }
archive . ':!debian' | gzip -n >"$packages/libarrowdevice_$version.orig.tar.gz"
archive | tar -C "$packages" -x

# dpkg-buildpackage fails if the version of debian/changelog is not the library's.
# shellcheck disable=SC2016  # the shell in the system expands it
ARROWDEVICE_BUILD=$work "$root/scripts/in-debian.sh" "$suite" build-essential lintian -- sh -euc '
  cd "$1"
  DEBIAN_FRONTEND=noninteractive apt-get build-dep -y --no-install-recommends .
  dpkg-buildpackage --no-sign
  lintian --allow-root --info --fail-on error,warning --suppress-tags "$2" ../*.changes
' sh "$sources" "$ignored"

binds=$work
emulates=
. "$root/scripts/debian-system.sh"
system=$systems/$suite-packages
exec 9>"$system.lock"
flock 9
unpack "$system"
# shellcheck disable=SC2016  # the shell in the system expands it
run_inside "$system" "$sources" sh -euc '
  apt-get update
  rm -f ../*-dbgsym_*.deb
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ../*.deb gcc libc6-dev pkgconf
  debian/tests/installed
'
delete "$system"
echo "The packages of Debian $suite are in $packages"
