#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a namespace in which the kernel runs programs of AArch64 by qemu-user:
#
#   scripts/emulate-aarch64.sh COMMAND...
#
# Linux 6.7 and newer keep a list of binary formats for each user namespace, so this machine's own list stays as it is. The
# namespace has this machine's users. A root folder in which the command runs needs no qemu, because the kernel opens this
# machine's. Needs root.
set -eu

qemu=/usr/bin/qemu-aarch64-static
users='0 0 65536'
case ${1:-} in
  --wait)
    # Root of the namespace has its rights only after another exec.
    shift
    until grep -q 65536 /proc/self/uid_map && grep -q 65536 /proc/self/gid_map; do sleep 0.05; done
    exec "$0" --register "$@"
    ;;
  --register)
    shift
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    # The magic number is ELF's, for 64 bits, little endian, programs and libraries, and AArch64.
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":aarch64:M::$magic:$mask:$qemu:POCF" >/proc/sys/fs/binfmt_misc/register
    exec "$@"
    ;;
esac

unshare --user --mount --propagation private "$0" --wait "$@" &
child=$!
for map in uid_map gid_map; do
  # The first write succeeds when the namespace is there.
  until echo "$users" 2>/dev/null >"/proc/$child/$map"; do
    kill -0 "$child" 2>/dev/null || exit 1
    sleep 0.05
  done 2>/dev/null
done
code=0
wait "$child" || code=$?
exit "$code"
