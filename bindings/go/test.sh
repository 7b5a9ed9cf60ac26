#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks and tests the Go package against a Meson build of the library:
#
#   bindings/go/test.sh BUILD [go test's options]
#   bindings/go/test.sh BUILD --peer FILE
#
# The second form only builds the peer of tests/interop/test_processes.py.
#
# The tests run on the devices of ARROWDEVICE_TEST_DEVICES, and a missing device fails them. The
# default is all devices that need no hardware. The examples need glslangValidator (Debian and
# Ubuntu: glslang-tools). Without go, the script exits with 77, or with 1 if CI is set.
set -eu

missing() {
  echo "SKIP: $1: install Go 1.25 or newer" >&2
  [ -z "${CI:-}" ] || exit 1
  exit 77
}
command -v go >/dev/null || missing "go is not installed"
minor=$(GOTOOLCHAIN=local go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
[ "${minor:-0}" -ge 25 ] || missing "go 1.${minor:-?} is too old"
build=$(cd "${1:?usage: test.sh BUILD [go test\'s options]}" && pwd)
shift
cd "$(dirname "$0")"

if [ ! -f "$build/meson-uninstalled/arrowdevice-uninstalled.pc" ] || [ ! -f "$build/src/libarrowdevice.so" ]; then
  echo "test.sh: $build is not a build folder of the library" >&2
  exit 2
fi
# Go does not notice changed headers, but it recompiles if flags change. So a flag has their hash.
flags=$(mktemp -d)
trap 'rm -rf "$flags"' EXIT
headers=$(cat ../../include/arrowdevice/*.h ../../examples/sum_vulkan.h | sha256sum | cut -c 1-16)
sed "s/^Cflags:/& -DARROWDEVICE_HEADERS_$headers/" "$build/meson-uninstalled/arrowdevice-uninstalled.pc" \
  >"$flags/arrowdevice-uninstalled.pc"
PKG_CONFIG_PATH=$flags${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
plugins=
for folder in "$build"/backends/*/; do
  plugins=$plugins${plugins:+:}${folder%/}
done
ARROWDEVICE_BACKEND_PATH=$plugins
# ext_dev:2 is so slow that work on it stays pending. Tests use it to end waits.
ARROWDEVICE_SIM_DEVICES=addresses,handles,addresses:latency_us=600000000
ARROWDEVICE_TEST_DEVICES=${ARROWDEVICE_TEST_DEVICES-cpu,ext_dev:0,ext_dev:1,opencl:0,vulkan:0}
ARROWDEVICE_TEST_PENDING=ext_dev:2
# The shader of an example.
ARROWDEVICE_TEST_SHADER=$flags/sum.spv
# Uses only the modules that go.sum names.
GOFLAGS="-mod=readonly${GOFLAGS:+ $GOFLAGS}"
export PKG_CONFIG_PATH LD_LIBRARY_PATH ARROWDEVICE_BACKEND_PATH ARROWDEVICE_SIM_DEVICES ARROWDEVICE_TEST_DEVICES \
  ARROWDEVICE_TEST_PENDING ARROWDEVICE_TEST_SHADER GOFLAGS

# Built like the tests, so that Go compiles the package once.
if [ "${1:-}" = --peer ]; then
  go build -race -o "${2:?usage: test.sh BUILD --peer FILE}" ./internal/peer
  exit
fi
glslangValidator -V --quiet -o "$ARROWDEVICE_TEST_SHADER" ../../examples/sum_vulkan.comp

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "gofmt would change:" >&2
  echo "$unformatted" >&2
  exit 1
fi
# Both use the same kind of build, so that Go compiles everything once. -count=1 ignores cached
# results, because Go does not notice that the library has changed.
go vet -race ./...
go test -race -vet=off -count=1 -v "$@" ./...
# The example gives a column to itself, and to the example in C, and the other way round.
handle=$flags/handle
in_c=$build/examples/handle
[ -x "$in_c" ] || { echo "test.sh: there is no $in_c (configure the build with -Dexamples=enabled)" >&2; exit 1; }
go build -race -o "$handle" ./examples/handle
for taker in "$handle" "$in_c"; do python3 ../../tests/examples/handle_test.py "$handle" "$taker"; done
python3 ../../tests/examples/handle_test.py "$in_c" "$handle"
