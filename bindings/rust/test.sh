#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks and tests the Rust crates against a Meson build of the library:
#
#   bindings/rust/test.sh BUILD
#   bindings/rust/test.sh BUILD --arrow [VERSION...]
#   bindings/rust/test.sh BUILD --datafusion
#   bindings/rust/test.sh BUILD --peer
#
# The first form runs all checks with the `arrow` crates of Cargo.lock, and compiles the crate with
# the oldest ones that it accepts. The second form runs the crate's tests with each version. The
# default is the oldest version, that of the DataFusion example, and that of Cargo.lock. The third
# form tests the DataFusion example, which takes minutes to compile. The fourth form only builds the
# peer of tests/interop/test_processes.py, BUILD/rust/debug/examples/peer.
#
# The script needs Rust 1.88 or newer with rustfmt and clippy, and exits with 77 without them. Without
# libclang (Debian and Ubuntu: libclang-dev) it does not compare the declarations with the headers.
# If CI is set, both cases are failures. The examples need glslangValidator (glslang-tools). cargo
# builds in BUILD/rust.
set -eu

usage() {
  echo "usage: test.sh BUILD [--arrow [VERSION...] | --datafusion | --peer], BUILD a Meson build folder of the library" >&2
  exit 2
}
[ $# -ge 1 ] && [ -f "$1/build.ninja" ] || usage
build=$(cd "$1" && pwd)
shift
form=${1:-all}
[ $# -eq 0 ] || shift
case $form in
  all | --arrow) ;;
  --datafusion | --peer) [ $# -eq 0 ] || usage ;;
  *) usage ;;
esac
cd "$(dirname "$0")"

missing() {
  echo "$1: install Rust 1.88 or newer with rustfmt and clippy, for example by rustup." >&2
  [ -z "${CI:-}" ] || exit 1
  exit 77
}
for program in rustc cargo rustfmt cargo-clippy; do
  command -v "$program" >/dev/null 2>&1 || missing "$program is not installed"
done
minor=$(rustc --version | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 88 ] || missing "$(rustc --version) is too old"

# libclang reads the headers, to compare the declarations with them.
has_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] || /sbin/ldconfig -p 2>/dev/null | grep -qE 'libclang(-[0-9]+)?\.so' ||
    ls /usr/lib/llvm-*/lib/libclang.so* >/dev/null 2>&1
}
left_out=
if ! has_libclang; then
  [ -z "${CI:-}" ] || { echo "libclang is not installed: install it, for example by libclang-dev." >&2; exit 1; }
  left_out="--exclude declarations"
  echo "test declarations_match_the_header ... ignored, libclang is not installed"
fi

# The manual of the crate is also the page of this folder.
cmp -s README.md arrowdevice/README.md || { echo "README.md and arrowdevice/README.md differ" >&2; exit 1; }

# Uses the library in the build folder.
export PKG_CONFIG_PATH="$build/meson-uninstalled${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset ARROWDEVICE_LIB_DIR DOCS_RS
backends=
for folder in "$build"/backends/*/; do
  if ls "$folder"libarrowdevice-*.so >/dev/null 2>&1; then backends="$backends${backends:+:}${folder%/}"; fi
done
export ARROWDEVICE_BACKEND_PATH="$backends"

# All devices that the tests run on must exist. Two more simulated devices are slow and small.
export ARROWDEVICE_TEST_DEVICES="${ARROWDEVICE_TEST_DEVICES:-cpu,ext_dev:0,ext_dev:1,opencl:0,vulkan:0}"
export ARROWDEVICE_TEST_LIMITED_CALLS="$PWD/../../tests/support/limited_calls.txt"
export ARROWDEVICE_SIM_DEVICES="addresses,handles,addresses:latency_us=2000000,handles:memory=1m"

export CARGO_TARGET_DIR="$build/rust"
export CARGO_TERM_COLOR=never
export RUSTDOCFLAGS="-D warnings"

# Prints the oldest version of the `arrow` crates that the crate accepts.
oldest_arrow() { sed -n 's/^arrow-array = .*">=\([0-9]*\),.*/\1.0.0/p' arrowdevice/Cargo.toml; }

# Prints the version of the `arrow` crates in a lock file.
locked_arrow() { sed -n '/^name = "arrow-array"$/{n;s/^version = "\(.*\)"$/\1/p;}' "$1"; }

# with_arrow VERSION COMMAND OPTION: runs a command of cargo in a copy of the crates, with this
# version of the `arrow` crates. Other crates have the versions of Cargo.lock if possible.
with_arrow() {
  crates=$build/rust/arrow-$1
  rm -rf "$crates"
  mkdir -p "$crates"
  cp -R Cargo.toml Cargo.lock arrowdevice arrowdevice-sys declarations "$crates"
  sed -i "/^arrow-[a-z]* = /s/version = \"[^\"]*\"/version = \"=$1\"/" "$crates/arrowdevice/Cargo.toml"
  cargo update --quiet --manifest-path "$crates/Cargo.toml" --workspace
  [ "$(locked_arrow "$crates/Cargo.lock")" = "$1" ] || { echo "arrow-array $1 was not selected" >&2; exit 1; }
  cargo "$2" --locked --manifest-path "$crates/Cargo.toml" --package arrowdevice "$3"
}

case $form in
  --arrow)
    [ $# -gt 0 ] || set -- "$(oldest_arrow)" "$(locked_arrow examples-datafusion/Cargo.lock)" "$(locked_arrow Cargo.lock)"
    for version in "$@"; do
      echo "arrow $version"
      with_arrow "$version" test --no-fail-fast
    done
    exit
    ;;
  --datafusion)
    cargo clippy --locked --manifest-path examples-datafusion/Cargo.toml --all-targets -- -D warnings
    cargo test --locked --manifest-path examples-datafusion/Cargo.toml
    exit
    ;;
  --peer)
    cargo build --locked --quiet --example peer
    exit
    ;;
esac

# Checks how the build finds the library: by a named folder, with an error if it is missing, and
# not at all for documentation.
finding() { env CARGO_TARGET_DIR="$build/rust/finding" "$@" cargo check --locked --quiet --package arrowdevice-sys; }
refused() {
  expected=$1
  shift
  if said=$(finding "$@" 2>&1); then
    echo "a build passed without the library: $*" >&2
    exit 1
  fi
  case $said in *"$expected"*) ;; *) echo "expected \"$expected\", got: $said" >&2; exit 1 ;; esac
}
nowhere="PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH=/nonexistent"
# shellcheck disable=SC2086  # several words
{
  finding $nowhere "ARROWDEVICE_LIB_DIR=$build/src"
  refused "libarrowdevice was not found. Install it" $nowhere
  refused "the folder has no libarrowdevice.so" $nowhere "ARROWDEVICE_LIB_DIR=$build/backends"
  finding $nowhere DOCS_RS=1
}

cargo fmt --all --check
cargo fmt --manifest-path examples-datafusion/Cargo.toml --check
# shellcheck disable=SC2086  # two words or none
cargo clippy --locked --workspace $left_out --all-targets -- -D warnings
for features in "" arrow stream; do
  cargo clippy --locked --package arrowdevice --no-default-features --features "$features" -- -D warnings
done
with_arrow "$(oldest_arrow)" check --tests
cargo doc --locked --no-deps
cargo run --locked --quiet --example first_batch
# The shader is compiled here, so that the example runs the one in examples/.
glslangValidator -V --quiet -o "$build/rust/sum.spv" ../../examples/sum_vulkan.comp
prints() {
  expected=$1
  shift
  said=$(cargo run --locked --quiet --example "$@")
  [ "$said" = "$expected" ] || { echo "expected \"$expected\" of the example $1, got: $said" >&2; exit 1; }
}
prints "4 on opencl:0" sum_opencl
prints "4 on vulkan:0" sum_vulkan -- "$build/rust/sum.spv"
# Two examples give numbers to themselves, and to the example in C, and the other way round.
for example in handle link; do
  cargo build --locked --quiet --example "$example"
  in_rust=$build/rust/debug/examples/$example
  in_c=$build/examples/$example
  [ -x "$in_c" ] || { echo "there is no $in_c (configure the build with -Dexamples=enabled)" >&2; exit 1; }
  for other in "$in_rust" "$in_c"; do python3 "../../tests/examples/${example}_test.py" "$in_rust" "$other"; done
  python3 "../../tests/examples/${example}_test.py" "$in_c" "$in_rust"
done
# shellcheck disable=SC2086
cargo test --locked --workspace $left_out --no-fail-fast
