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
# Needs root on Debian or Ubuntu, and the right to mount. The system's mounts are in their own mount
# namespace. The kernel removes them with the last process in it, even if this script is killed.
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

fail() {
  echo "minimal.sh: $1" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can make a system and change its root: run it as root"
need() { command -v "$1" >/dev/null 2>&1; }

# apart COMMAND...: runs a command in new namespaces. Their processes and mounts end with it. A
# shell makes its background processes ignore interrupts, unlike processes on a newcomer's machine.
child=
apart() {
  env --default-signal=INT,QUIT unshare --mount --propagation private --pid --fork --kill-child --mount-proc -- "$@" &
  child=$!
  code=0
  wait "$child" || code=$?
  child=
  return "$code"
}

# All processes in the namespaces die with their parent, and the kernel removes the mounts.
stop() {
  trap - EXIT
  if [ -n "$child" ]; then kill -KILL "$child"; fi
  rm -f "$log"
  exit "$1"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 143' TERM

apart mount -t tmpfs none /mnt ||
  fail "this environment lets root make no namespaces or mount nothing in them, and a minimal system needs both"

need apt-get || fail "the mirror and debootstrap come by apt-get, which is not here: run it on Debian or Ubuntu"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
missing=
need debootstrap || missing="$missing debootstrap"
need git || missing="$missing git"
need gpgv || missing="$missing gpgv"
# Without the suite's own keys debootstrap would refuse it. An update of Debian 12 has brought those of trixie.
[ -f "/usr/share/keyrings/debian-archive-$suite-stable.gpg" ] || missing="$missing debian-archive-keyring"
if [ -n "$missing" ]; then
  echo "Installing:$missing" >&2
  # shellcheck disable=SC2086  # one word a package
  { apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 ||
    {
      cat "$log" >&2
      fail "cannot install$missing"
    }
fi
[ -f "/usr/share/keyrings/debian-archive-$suite-stable.gpg" ] ||
  fail "the newest debian-archive-keyring that apt-get finds has no keys of $suite"

mkdir -p "$work/minimal"
work=$(cd "$work/minimal" && pwd -P)
base=$work/$suite.tar
system=$work/$suite
# One run at a time: the next one deletes the system of the one before.
exec 9>"$work/$suite.lock"
flock --nonblock 9 || fail "another run uses $system"

# delete FOLDER: deletes the folder, but no content of a mount below it.
delete() {
  # Blanks are octal in the table.
  if grep -qF " $(printf '%s' "$1" | sed 's/ /\\040/g')/" /proc/self/mountinfo; then
    fail "something is mounted in $1: unmount it first"
  fi
  rm -rf --one-file-system -- "$1"
}

# Copies the certificates that this machine trusts, such as those of a proxy, if a variable names
# them.
certificates=
for name in PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE; do
  file=$(printenv "$name" || true)
  if [ -z "$certificates" ] && [ -f "$file" ]; then certificates=$file; fi
done

# The mirror from which this machine has its own Debian packages: Debian's by its label, which apt-get knows after an update,
# or by its path. Without one, as on Ubuntu, debootstrap knows one.
repositories() { apt-get indextargets --format "$1" 'Created-By: Packages'; }
mirror=$(repositories '$(LABEL) $(COMPONENT) $(REPO_URI)' | sed -n 's/^Debian main //p' | head -n 1)
if [ -z "$mirror" ]; then
  mirror=$(repositories '$(COMPONENT) $(REPO_URI)' | sed -n 's!^main \(.*/debian/*\)$!\1!p' | head -n 1)
fi

# Copies this machine's settings of apt-get, such as proxies and time limits.
copy_apt_settings() {
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if [ -f "$file" ] && grep -q '^ *Acquire' "$file"; then
      mkdir -p "$1/etc/apt/apt.conf.d"
      grep '^ *Acquire' "$file" >"$1/etc/apt/apt.conf.d/50-host-$(basename "$file")"
    fi
  done
  if [ -n "$certificates" ]; then
    cp "$certificates" "$1/etc/host-certificates.pem"
    echo 'Acquire::https::CAInfo "/etc/host-certificates.pem";' >"$1/etc/apt/apt.conf.d/50-host-certificates"
  fi
}

# How this machine reaches names.
copy_network_settings() {
  for file in /etc/resolv.conf /etc/hosts; do
    if [ -f "$file" ]; then
      rm -f "$1$file"
      cp -L "$file" "$1$file"
    fi
  done
}

# Copies this machine's settings of pip, which name the index of packages.
copy_pip_settings() {
  if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$1/etc/pip.conf"; fi
  for file in "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    if [ -f "$file" ]; then
      mkdir -p "$1/root/.config/pip"
      cp "$file" "$1/root/.config/pip/pip.conf"
      break
    fi
  done
}

# Makes $base, unless it is newer than a week.
make_base() {
  if [ -n "$(find "$base" -mtime -7 2>/dev/null)" ]; then return; fi
  echo "Making a minimal $suite with debootstrap" >&2
  rm -f "$base"
  delete "$work/$suite.new"
  # shellcheck disable=SC2086  # a mirror or none
  apart debootstrap --variant=minbase --keyring="$keyring" "$suite" "$work/$suite.new" $mirror >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    fail "debootstrap could not make $suite"
  }
  rm -f "$work/$suite.new"/var/cache/apt/archives/*.deb
  tar --numeric-owner --xattrs -C "$work/$suite.new" -cf "$base.new" .
  mv "$base.new" "$base"
  delete "$work/$suite.new"
}

make_system() {
  make_base
  delete "$system"
  mkdir -p "$system"
  tar --numeric-owner --xattrs -C "$system" -xpf "$base"
  copy_network_settings "$system"
  copy_apt_settings "$system"
  copy_pip_settings "$system"
  git clone --quiet --no-hardlinks "$root" "$clone"
  golden=$("$root/scripts/golden-data.sh")
  if [ -n "$golden" ] && [ -d "$golden" ]; then
    mkdir -p "$system/root/shared/data"
    cp -RL "$golden" "$system/root/shared/data/arrow-ipc-stream"
  elif [ -n "${CI:-}" ] && [ "$*" != demo ]; then
    fail "ARROWDEVICE_GOLDEN_DATA names no folder, and golden files are part of a CI run"
  fi
}

if [ -n "$(git -C "$root" status --porcelain)" ]; then
  echo "What is not committed is not tried: only $(git -C "$root" rev-parse --short HEAD) is" >&2
fi
clone=$system/root/libarrowdevice
if [ "$again" = true ]; then
  [ -d "$clone" ] || fail "there is no $clone to go on in"
  git -C "$clone" fetch --quiet "$root" HEAD
  git -C "$clone" reset --quiet --hard FETCH_HEAD
else
  make_system "$@"
fi

# run_inside COMMAND...: in the clone, with an environment that has nothing of this one but what leads to packages.
run_inside() {
  # shellcheck disable=SC2046  # no such variable has a blank
  apart sh -eu -c '
    system=$1
    shift
    mount -t proc proc "$system/proc"
    mount -t sysfs -o ro sysfs "$system/sys"
    mount -t tmpfs -o mode=1777 shm "$system/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"
    code=0
    chroot "$system" "$@" || code=$?
    exit "$code"
  ' sh "$system" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    $(env | grep -E '^((http|https|ftp|all|no)_proxy|(HTTP|HTTPS|FTP|ALL|NO)_PROXY)=[^ ]*$') \
    $(env | grep -E '^PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|DEFAULT_TIMEOUT|TIMEOUT|RETRIES)=[^ ]*$') \
    ${certificates:+PIP_CERT=/etc/host-certificates.pem} \
    sh -c 'cd /root/libarrowdevice && exec "$@"' sh "$@"
}

for part in "$@"; do
  echo "In a minimal Debian $(cat "$system/etc/debian_version") ($suite): scripts/$part.sh" >&2
  begin=$(date +%s)
  run_inside "scripts/$part.sh" || fail "scripts/$part.sh failed in a minimal $suite, which is kept in $system"
  echo "scripts/$part.sh passed in a minimal $suite after $(($(date +%s) - begin)) s" >&2
done
delete "$system"
