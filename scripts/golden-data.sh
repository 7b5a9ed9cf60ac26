#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the folder with Arrow's golden files, if there is one: $ARROWDEVICE_GOLDEN_DATA, or shared/data/arrow-ipc-stream
# beside the clone.
set -eu

beside=$(dirname "$0")/../../shared/data/arrow-ipc-stream
if [ -n "${ARROWDEVICE_GOLDEN_DATA:-}" ]; then
  echo "$ARROWDEVICE_GOLDEN_DATA"
elif [ -d "$beside" ]; then
  (cd "$beside" && pwd)
fi
