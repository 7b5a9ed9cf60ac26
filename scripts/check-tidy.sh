#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy, as .clang-tidy says, over the library, the backends and the tool as a build compiles them:
#
#   scripts/check-tidy.sh BUILD
set -eu

build=$(cd "${1:?usage: check-tidy.sh BUILD}" && pwd)
cd "$(dirname "$0")/.."
# Clang does not know every warning of the compiler that the build is for.
find backends src tools -name '*.cc' | LC_ALL=C sort |
  xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2>&1 |
  grep -v 'warnings\? generated\.$\|warnings\? treated as errors\?$' >"$build/tidy.log" || true
cat "$build/tidy.log"
# xargs hides nothing: whatever clang-tidy has to say is a failure.
[ ! -s "$build/tidy.log" ]
