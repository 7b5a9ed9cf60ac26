#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if a C or C++ file does not follow .clang-format. `scripts/check-format.sh --fix` formats
# the files.
set -eu

cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || scripts/install-deps.sh clang-format
mode="--dry-run -Werror"
[ "${1:-}" = --fix ] && mode=-i
# shellcheck disable=SC2086  # two words
find backends bench bindings examples include src tests tools -name '*.[ch]' -o -name '*.cc' -o -name '*.hpp' |
  LC_ALL=C sort | xargs clang-format $mode
