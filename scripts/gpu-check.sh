#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library and checks it on the NVIDIA GPUs of this machine, in less than ten minutes and without a network. The
# last line is `N passed, N failed`.
#
#   scripts/gpu-check.sh             on this machine's GPUs
#   scripts/gpu-check.sh --stand-in  the same steps on a stand-in for the CUDA driver, with smaller copies
#   scripts/gpu-check.sh --carry     on a machine with a network: puts Meson, Ninja, headers of flatbuffers and
#                                    the Python package into carry-gpu-check/, which git ignores, for a machine without them
#
# It needs Python 3.11 or newer, a C++20 compiler, Meson and Ninja. Steps whose nvcc, compute-sanitizer, CuPy, PyTorch or
# pyarrow is missing are listed and not counted. Each step has a time limit; a step that exceeds its limit is killed and
# counts as failed.
#
# $ARROWDEVICE_GPU_CHECK_RESULTS names the folder for the results: log, results.json, and verification.md with a section for
# docs/verification.md. Without the variable the folder is results/ in the build folder, and the section is appended to the
# page. Builds are kept in build-gpu-check/, or in $ARROWDEVICE_BUILD.
set -eu

exec python3 "$(dirname "$0")/gpu_check.py" "$@" </dev/null
