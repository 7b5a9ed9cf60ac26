#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the Julia package against a Meson build of the library: bindings/julia/test.sh BUILD
#
# If julia is not installed, exits with 77, which marks a skipped test for Meson and Automake.
set -eu

build=$(cd "${1:?usage: test.sh BUILD}" && pwd)
cd "$(dirname "$0")"

if ! command -v julia >/dev/null; then
  echo "SKIP: julia is not installed"
  exit 77
fi
if [ ! -f "$build/src/libarrowdevice.so.0" ]; then
  echo "test.sh: $build/src has no libarrowdevice.so.0 (expected a build folder of the library)" >&2
  exit 2
fi
plugins=
for folder in "$build"/backends/*/; do
  plugins=$plugins${plugins:+:}${folder%/}
done
ARROWDEVICE_LIBRARY=$build/src/libarrowdevice.so.0
ARROWDEVICE_BACKEND_PATH=$plugins
ARROWDEVICE_SIM_DEVICES=addresses,handles
ARROWDEVICE_TEST_DEVICES=${ARROWDEVICE_TEST_DEVICES-cpu,opencl:0,vulkan:0,ext_dev:0,ext_dev:1}
export ARROWDEVICE_LIBRARY ARROWDEVICE_BACKEND_PATH ARROWDEVICE_SIM_DEVICES ARROWDEVICE_TEST_DEVICES
exec julia --startup-file=no "--project=$PWD" test/runtests.jl
