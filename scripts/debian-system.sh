# SPDX-License-Identifier: Apache-2.0
# Functions that make a Debian in a folder and run commands in it. A script sets these variables and then sources this file:
#
#   suite     bookworm or trixie
#   work      the folder for builds
#   root      the folder of the clone
#   binds     folders of this machine that commands in the system see at the same path, or empty
#   emulates  1 if commands in the system may run programs of AArch64, or empty
#
# The script calls unpack with a folder in $systems, and then run_inside. These need root on Debian or Ubuntu, and the right
# to mount. A system's mounts are in their own mount namespace, so the kernel removes them with the last process in it.

fail() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}
need() { command -v "$1" >/dev/null 2>&1; }

[ "$(id -u)" -eq 0 ] || fail "only root can make a system and change its root: run it as root"

# apart COMMAND...: runs a command in new namespaces. Their processes and mounts end with it. A shell makes its
# background processes ignore interrupts, unlike processes on a newcomer's machine.
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
  fail "this environment lets root make no namespaces or mount nothing in them, and a Debian in a folder needs both"

need apt-get || fail "the mirror and debootstrap come by apt-get, which is not here: run it on Debian or Ubuntu"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
missing=
need debootstrap || missing="$missing debootstrap"
need git || missing="$missing git"
need gpgv || missing="$missing gpgv"
[ "$emulates" != 1 ] || [ -x /usr/bin/qemu-aarch64-static ] || missing="$missing qemu-user-static"
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

# delete FOLDER: deletes the folder, but no content of a mount below it.
delete() {
  # Blanks are octal in the table.
  if grep -qF " $(printf '%s' "$1" | sed 's/ /\\040/g')/" /proc/self/mountinfo; then
    fail "something is mounted in $1: unmount it first"
  fi
  rm -rf --one-file-system -- "$1"
}

# The file with the certificates that this machine trusts, such as those of a proxy, if a variable names one.
certificates=
for name in PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE; do
  file=$(printenv "$name" || true)
  if [ -z "$certificates" ] && [ -f "$file" ]; then certificates=$file; fi
done

# Without a mirror, debootstrap uses its own.
mirror=$("$root/scripts/debian-mirror.sh")

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

# Copies this machine's settings of the name service.
copy_network_settings() {
  for file in /etc/resolv.conf /etc/hosts; do
    if [ -f "$file" ]; then
      rm -f "$1$file"
      cp -L "$file" "$1$file"
    fi
  done
}

# The home of the system's only user.
inner_home=/root

# Copies this machine's settings of pip, which name the index of packages.
copy_pip_settings() {
  if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$1/etc/pip.conf"; fi
  for file in "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    if [ -f "$file" ]; then
      mkdir -p "$1$inner_home/.config/pip"
      cp "$file" "$1$inner_home/.config/pip/pip.conf"
      break
    fi
  done
}

copy_settings() {
  copy_network_settings "$1"
  copy_apt_settings "$1"
  copy_pip_settings "$1"
}

mkdir -p "$work/minimal"
systems=$(cd "$work/minimal" && pwd -P)
base=$systems/$suite.tar

# Makes $base, unless it is newer than a week. Another script may be making it.
make_base() {
  exec 8>"$base.lock"
  flock 8
  if [ -n "$(find "$base" -mtime -7 2>/dev/null)" ]; then
    exec 8>&-
    return
  fi
  echo "Making a minimal $suite with debootstrap" >&2
  rm -f "$base"
  delete "$systems/$suite.new"
  # shellcheck disable=SC2086  # a mirror or none
  apart debootstrap --variant=minbase --keyring="$keyring" "$suite" "$systems/$suite.new" $mirror >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    fail "debootstrap could not make $suite"
  }
  rm -f "$systems/$suite.new"/var/cache/apt/archives/*.deb
  tar --numeric-owner --xattrs -C "$systems/$suite.new" -cf "$base.new" .
  mv "$base.new" "$base"
  delete "$systems/$suite.new"
  exec 8>&-
}

# unpack FOLDER: makes it a system.
unpack() {
  make_base
  delete "$1"
  mkdir -p "$1"
  tar --numeric-owner --xattrs -C "$1" -xpf "$base"
  copy_settings "$1"
}

[ "$emulates" != 1 ] || apart "$root/scripts/emulate-aarch64.sh" true ||
  fail "this kernel keeps no list of binary formats for a user namespace: it needs Linux 6.7"

# run_inside SYSTEM FOLDER COMMAND...: in a folder of the system. The environment has nothing of this machine's but what
# leads to packages, ARROWDEVICE_WHEEL_OPTIONS, and ARROWDEVICE_BUILD if $binds has the folder for builds.
run_inside() {
  emulate=
  [ "$emulates" != 1 ] || emulate=$root/scripts/emulate-aarch64.sh
  # shellcheck disable=SC2046,SC2086  # no such variable has a blank
  apart sh -eu -c '
    system=$1
    binds=$2
    emulate=$3
    shift 3
    mount -t proc proc "$system/proc"
    mount -t sysfs -o ro sysfs "$system/sys"
    mount -t tmpfs -o mode=1777 shm "$system/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"
    for folder in $binds; do
      mkdir -p "$system$folder"
      mount --rbind "$folder" "$system$folder"
    done
    code=0
    $emulate chroot "$system" "$@" || code=$?
    exit "$code"
  ' sh "$1" "$binds" "$emulate" \
    env -i HOME=$inner_home PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    $(env | grep -E '^((http|https|ftp|all|no)_proxy|(HTTP|HTTPS|FTP|ALL|NO)_PROXY)=[^ ]*$') \
    $(env | grep -E '^PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|DEFAULT_TIMEOUT|TIMEOUT|RETRIES)=[^ ]*$') \
    ${certificates:+PIP_CERT=/etc/host-certificates.pem} \
    ${binds:+ARROWDEVICE_BUILD="$work"} \
    ${ARROWDEVICE_WHEEL_OPTIONS:+"ARROWDEVICE_WHEEL_OPTIONS=$ARROWDEVICE_WHEEL_OPTIONS"} \
    sh -c 'cd "$2" && shift 2 && exec "$@"' sh "$@"
}
