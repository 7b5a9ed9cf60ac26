#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks and tests the Go package against a Meson build of the library:
#
#   bindings/go/test.sh BUILD [go test's options]
#
# The devices are those of ARROWDEVICE_TEST_DEVICES, each of which must be there; by default all that need no hardware.
set -eu

build=$(cd "${1:?usage: test.sh BUILD [go test\'s options]}" && pwd)
shift
cd "$(dirname "$0")"

if [ ! -f "$build/meson-uninstalled/arrowdevice-uninstalled.pc" ] || [ ! -f "$build/src/libarrowdevice.so" ]; then
  echo "test.sh: $build is no build folder of the library" >&2
  exit 2
fi
PKG_CONFIG_PATH=$build/meson-uninstalled${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
plugins=
for folder in "$build"/backends/*/; do
  plugins=$plugins${plugins:+:}${folder%/}
done
ARROWDEVICE_BACKEND_PATH=$plugins
# ext_dev:2 is so slow that what is submitted to it stays pending: that waits end is tested with it.
ARROWDEVICE_SIM_DEVICES=addresses,handles,addresses:latency_us=600000000
ARROWDEVICE_TEST_DEVICES=${ARROWDEVICE_TEST_DEVICES-cpu,ext_dev:0,ext_dev:1,opencl:0,vulkan:0}
ARROWDEVICE_TEST_PENDING=ext_dev:2
# No other toolchain than the one that is here, and what go.sum names.
GOFLAGS="-mod=readonly${GOFLAGS:+ $GOFLAGS}"
export PKG_CONFIG_PATH LD_LIBRARY_PATH ARROWDEVICE_BACKEND_PATH ARROWDEVICE_SIM_DEVICES ARROWDEVICE_TEST_DEVICES \
  ARROWDEVICE_TEST_PENDING GOFLAGS

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "gofmt would change:" >&2
  echo "$unformatted" >&2
  exit 1
fi
# vet runs with the tests, on the packages that they are built from: -race ones, so that nothing is compiled twice.
go vet -race ./...
exec go test -race "$@" ./...
