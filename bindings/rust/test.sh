#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that a change of the Rust crates must pass: test.sh BUILD, a Meson build folder of the library. Needs Rust 1.88 or newer with
# rustfmt and clippy; without it exits with 77. Without libclang (Debian and Ubuntu: libclang-dev) the declarations are not compared with the
# headers. Where CI is set either is a failure. What cargo builds lies in BUILD/rust.
set -eu

[ $# -eq 1 ] && [ -f "$1/build.ninja" ] || { echo "usage: test.sh BUILD, a Meson build folder of the library" >&2; exit 2; }
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"

missing() {
  echo "$1: install Rust 1.88 or newer, as by rustup, with rustfmt and clippy." >&2
  [ -z "${CI:-}" ] || exit 1
  exit 77
}
for program in rustc cargo rustfmt cargo-clippy; do
  command -v "$program" >/dev/null 2>&1 || missing "There is no $program"
done
minor=$(rustc --version | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 88 ] || missing "$(rustc --version) is too old"

# What reads the headers, to compare the declarations with them.
has_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] || /sbin/ldconfig -p 2>/dev/null | grep -qE 'libclang(-[0-9]+)?\.so' ||
    ls /usr/lib/llvm-*/lib/libclang.so* >/dev/null 2>&1
}
left_out=
if ! has_libclang; then
  [ -z "${CI:-}" ] || { echo "There is no libclang: install it, as by libclang-dev." >&2; exit 1; }
  left_out="--exclude declarations"
  echo "test the declarations are those of the headers ... ignored, there is no libclang"
fi

# The library as built.
export PKG_CONFIG_PATH="$build/meson-uninstalled${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset ARROWDEVICE_LIB_DIR DOCS_RS
backends=
for folder in "$build"/backends/*/; do
  if ls "$folder"libarrowdevice-*.so >/dev/null 2>&1; then backends="$backends${backends:+:}${folder%/}"; fi
done
export ARROWDEVICE_BACKEND_PATH="$backends"

# The devices that tests are run on, which all must be there, and two more that are slow and small.
export ARROWDEVICE_TEST_DEVICES="${ARROWDEVICE_TEST_DEVICES:-cpu,ext_dev:0,ext_dev:1,opencl:0,vulkan:0}"
export ARROWDEVICE_SIM_DEVICES="addresses,handles,addresses:latency_us=2000000,handles:memory=1m"

export CARGO_TARGET_DIR="$build/rust"
export CARGO_TERM_COLOR=never
export RUSTDOCFLAGS="-D warnings"

# How the library is found: the folder that is named, what is said where there is none, and documentation without it.
finding() { env CARGO_TARGET_DIR="$build/rust/finding" "$@" cargo check --locked --quiet --package arrowdevice-sys; }
refused() {
  expected=$1
  shift
  if said=$(finding "$@" 2>&1); then
    echo "a build passed without the library: $*" >&2
    exit 1
  fi
  case $said in *"$expected"*) ;; *) echo "not \"$expected\" but: $said" >&2; exit 1 ;; esac
}
nowhere="PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH=/nonexistent"
# shellcheck disable=SC2086  # several words
{
  finding $nowhere "ARROWDEVICE_LIB_DIR=$build/src"
  refused "libarrowdevice was not found. Install it" $nowhere
  refused "there is no libarrowdevice.so in it" $nowhere "ARROWDEVICE_LIB_DIR=$build/backends"
  finding $nowhere DOCS_RS=1
}

cargo fmt --all --check
# shellcheck disable=SC2086  # two words or none
cargo clippy --locked --workspace $left_out --all-targets -- -D warnings
cargo clippy --locked --package arrowdevice --no-default-features -- -D warnings
cargo doc --locked --no-deps
cargo run --locked --quiet --example first_batch
# shellcheck disable=SC2086
cargo test --locked --workspace $left_out --no-fail-fast
