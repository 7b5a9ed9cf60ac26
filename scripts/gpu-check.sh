#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library and runs it on the GPUs of this machine, which needs no network. The last line is
# `N passed, N failed`.
#
#   scripts/gpu-check.sh             on this machine's GPUs; appends the results to docs/verification.md
#   scripts/gpu-check.sh --stand-in  the same on a stand-in for the CUDA driver, to try this script; writes nothing down
#   scripts/gpu-check.sh --carry     on a machine with a network: puts Meson, Catch2's header and the Python package into
#                                    carry-gpu-check/, which git ignores, for a bare machine
#
# Checks that need a missing nvcc, CuPy or pyarrow are listed and not counted. Builds are kept in
# build-gpu-check/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
carried=$root/carry-gpu-check
build=${ARROWDEVICE_BUILD:-$root/build-gpu-check}
mode=hardware
case ${1:-} in
  '') ;;
  --stand-in) mode=stand-in ;;
  --carry) mode=carry ;;
  *)
    echo "gpu-check.sh: there is no option $1; see the first lines of $0" >&2
    exit 2
    ;;
esac
exec </dev/null

need() { command -v "$1" >/dev/null 2>&1; }

if [ "$mode" = carry ]; then
  mkdir -p "$carried/include/catch2"
  header=
  for folder in /usr/include /usr/local/include; do
    [ -f "$folder/catch2/catch.hpp" ] && header=$folder/catch2/catch.hpp
  done
  [ -n "$header" ] || {
    echo "gpu-check.sh: there is no catch2/catch.hpp here: install Catch2 2.13 (Debian: catch2)" >&2
    exit 1
  }
  cp "$header" "$carried/include/catch2/catch.hpp"
  "$root/bindings/python/wheel.sh" "$build/package"
  rm -rf "$carried/python"
  "$build/package/build-env/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$carried/python" meson "$build"/package/wheel/*.whl
  echo "In $carried: Catch2's header, Meson and the Python package."
  exit 0
fi

passed=0
failed=0
missing=
log=$build/gpu-check.log

# Ends the script with a last line that shows the failure.
fail() {
  echo "FAILED: $1"
  echo "$passed passed, $((failed + 1)) failed"
  exit 1
}

# leave_out WHAT WHY
leave_out() {
  echo "not run: $1: $2"
  missing="$missing
- $1: $2"
}

# check NAME COMMAND...: one check.
check() {
  name=$1
  shift
  if "$@" >"$build/step.log" 2>&1; then
    passed=$((passed + 1))
    echo "passed: $name"
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    tail -40 "$build/step.log"
  fi
  cat "$build/step.log" >>"$log"
}

# counted NAME COMMAND...: runs a program that prints `N passed, N failed`.
counted() {
  name=$1
  shift
  code=0
  "$@" >"$build/step.log" 2>&1 || code=$?
  cat "$build/step.log" >>"$log"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$build/step.log" | tail -1)
  ours=$(echo "$line" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p')
  if [ -z "$ours" ]; then
    ours="0 1"
  elif [ "$code" -ne 0 ] && [ "${ours#* }" -eq 0 ]; then
    ours="${ours% *} 1"
  fi
  passed=$((passed + ${ours% *}))
  failed=$((failed + ${ours#* }))
  echo "$name: ${ours% *} passed, ${ours#* } failed"
  if [ "${ours#* }" -ne 0 ]; then grep -E 'FAILED|rror' "$build/step.log" | head -40 || tail -20 "$build/step.log"; fi
}

# cases NAME COMMAND...: a Catch2 program, which writes a line for each of its cases.
cases() {
  name=$1
  shift
  report=$build/cases.report
  rm -f "$report"
  code=0
  ARROWDEVICE_TEST_REPORT=$report "$@" >"$build/step.log" 2>&1 || code=$?
  cat "$build/step.log" >>"$log"
  good=$(grep -c '^passed ' "$report" 2>/dev/null) || good=0
  bad=$(grep -c '^failed ' "$report" 2>/dev/null) || bad=0
  if { [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; } || [ $((good + bad)) -eq 0 ]; then bad=$((bad + 1)); fi
  passed=$((passed + good))
  failed=$((failed + bad))
  echo "$name: $good passed, $bad failed"
  if [ "$bad" -ne 0 ]; then
    grep '^failed ' "$report" 2>/dev/null | head -20 || true
    tail -20 "$build/step.log"
  fi
}

# -- what it takes

mkdir -p "$build"
: >"$log"
need c++ || fail "there is no C++ compiler"
need ninja || fail "there is no ninja"
if need meson; then
  :
elif [ -d "$carried/python/mesonbuild" ]; then
  # A program, which others start too; what it writes for ninja starts Python by itself.
  mkdir -p "$build/bin"
  printf '#!/bin/sh\nexec python3 -m mesonbuild.mesonmain "$@"\n' >"$build/bin/meson"
  chmod +x "$build/bin/meson"
  PATH=$build/bin:$PATH
  PYTHONPATH=$carried/python${PYTHONPATH:+:$PYTHONPATH}
  export PATH PYTHONPATH
else
  fail "there is no Meson here and none in $carried: run scripts/gpu-check.sh --carry where there is a network"
fi
if ! { need pkg-config && pkg-config --exists catch2; }; then
  [ -f "$carried/include/catch2/catch.hpp" ] ||
    fail "there is no Catch2 here and none in $carried: run scripts/gpu-check.sh --carry where there is a network"
  # Answers Meson's questions to pkg-config for the one package that the archive carries.
  cat >"$build/pkg-config" <<END
#!/bin/sh
case "\$*" in
  --version) echo 0.29 ;;
  *--modversion*catch2*) echo 2.13.10 ;;
  *--cflags*catch2*) echo "-I$carried/include" ;;
  *--libs*catch2* | *--variable=*catch2*) echo ;;
  *--exists*catch2* | *--print-*catch2*) ;;
  *) exit 1 ;;
esac
END
  chmod +x "$build/pkg-config"
  PKG_CONFIG=$build/pkg-config
  export PKG_CONFIG
fi

# -- the build

echo "Building in $build" >&2
if ! [ -f "$build/release/build.ninja" ]; then
  meson setup "$build/release" "$root" --buildtype=release -Dtests=enabled >>"$log" 2>&1 || {
    tail -20 "$log"
    fail "configuring"
  }
fi
# Builds only the parts that need a stand-in, or all.
targets=
[ "$mode" = hardware ] || targets="tests/conformance/runs/conformance-test tests/drivers/cuda/libcuda.so.1 tests/drivers/cuda-speed
  examples/wrap_cuda tools/arrowdevice/arrowdevice backends/cuda/libarrowdevice-cuda.so"
# shellcheck disable=SC2086  # one word a target
ninja -C "$build/release" $targets >>"$log" 2>&1 || {
  grep -E 'error|FAILED' "$log" | head -20
  fail "building"
}
release=$build/release
tool=$release/tools/arrowdevice/arrowdevice
ARROWDEVICE_LIBRARY=$release/src/libarrowdevice.so
ARROWDEVICE_BACKEND_PATH=$(find "$release/backends" -name 'libarrowdevice-*.so' -exec dirname {} \; | sort -u | tr '\n' ':' | sed 's/:$//')
export ARROWDEVICE_LIBRARY ARROWDEVICE_BACKEND_PATH
unset ARROWDEVICE_SIM_DEVICES
if [ "$mode" = stand-in ]; then
  LD_LIBRARY_PATH=$release/tests/drivers/cuda
  export LD_LIBRARY_PATH
fi

# -- the GPUs

"$tool" list || true
devices=$("$tool" list --json | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    if device["type"] not in ("cpu", "ext_dev"):
        print("%s:%d" % (device["type"], device["id"]), "readable" if device["cpu_access"] else "hidden")')
case $devices in
  *cuda:0*) ;;
  *)
    "$tool" explain cuda || true
    fail "there is no CUDA device"
    ;;
esac
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1) || gpu=
[ -n "$gpu" ] || gpu=$("$tool" explain cuda:0 | tail -1)

of_type() { echo "$devices" | grep -c "^$1:" || true; }

echo "$devices" >"$build/devices"
while read -r device access; do
  lacks=
  [ "$access" = readable ] && lacks=discrete
  [ "$(of_type "${device%:*}")" -gt 1 ] || lacks=${lacks:+$lacks,}peer
  case $device in cuda*|rocm*) lacks=${lacks:+$lacks,}bounds ;; esac  # the driver alone knows where a buffer ends
  export ARROWDEVICE_TEST_DEVICES="$device" ARROWDEVICE_TEST_LACKS="$lacks"
  cases "conformance of $device" "$release/tests/conformance/runs/conformance-test"
  unset ARROWDEVICE_TEST_DEVICES ARROWDEVICE_TEST_LACKS
done <"$build/devices"
case $devices in *"cuda:1"*) ;; *) leave_out "copies between CUDA GPUs" "there is one GPU only" ;; esac

declarations=$release/tests/drivers/cuda-declarations
if [ -x "$declarations" ]; then
  check "declarations are those of the toolkit's cuda.h" "$declarations"
else
  leave_out "the comparison of declarations with cuda.h" "there is no cudaTypedefs.h"
fi

if [ "$mode" = stand-in ]; then
  leave_out "the unit tests" "scripts/test.sh runs them"
else
  counted "unit tests" python3 "$root/scripts/run_tests.py" --suite unit "$release"
fi

# -- exchange with programs that know the header only

check "a program's own CUDA context is wrapped" "$release/examples/wrap_cuda"

if [ "$mode" = stand-in ]; then
  leave_out "a CUDA program's kernels wait for our events, and we for theirs" "a stand-in runs no kernels"
elif need nvcc || [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH=$PATH:/usr/local/cuda/bin
  if nvcc -std=c++17 -o "$build/exchange" "$root/tests/drivers/cuda/exchange.cu" "-I$root/include" "-L$release/src" -larrowdevice \
    -Xlinker "-rpath=$release/src" >"$build/step.log" 2>&1; then
    counted "a CUDA program's kernels wait for our events, and we for theirs" "$build/exchange"
  else
    failed=$((failed + 1))
    echo "FAILED: nvcc does not compile tests/drivers/cuda/exchange.cu"
    tail -20 "$build/step.log"
  fi
else
  leave_out "a CUDA program's kernels wait for our events, and we for theirs" "there is no nvcc"
fi
if [ "$mode" = stand-in ]; then
  leave_out "exchange with CuPy" "a stand-in runs no kernels"
elif python3 -c 'import cupy, pyarrow' 2>/dev/null; then
  counted "exchange with CuPy" python3 "$root/tests/drivers/cuda/cupy_exchange.py"
else
  leave_out "exchange with CuPy" "cupy or pyarrow is not installed"
fi

# -- the demo, with whatever pyarrow there is, and the package with the plugins that it carries

if [ -d "$carried/python/arrowdevice" ]; then
  PYTHONPATH=$carried/python${PYTHONPATH:+:$PYTHONPATH}
  export PYTHONPATH
fi
if python3 -c 'import arrowdevice, pyarrow' 2>/dev/null; then
  python3 - "$build/table.parquet" <<'END'
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

random.seed(1)
rows = 300_000
pq.write_table(pa.table({
    "number": pa.array([random.randrange(1 << 40) if i % 7 else None for i in range(rows)], pa.int64()),
    "fraction": pa.array([random.random() for _ in range(rows)], pa.float64()),
    "text": pa.array(["row %d" % (i * i) if i % 11 else None for i in range(rows)]),
    "late": pa.array([i % 3 == 0 for i in range(rows)]),
}), sys.argv[1])
END
  check "the demo verifies every device" env -u ARROWDEVICE_BACKEND_PATH python3 "$root/scripts/demo.py" --data "$build/table.parquet"
else
  leave_out "the demo" "arrowdevice or pyarrow is not installed"
fi

# -- speed, which is neither right nor wrong

speed=$(STANDIN_VENDOR=cuda "$release/tests/drivers/cuda-speed" 2>&1) || speed="the benchmark failed: $speed"
echo "$speed"

if [ "$mode" = hardware ]; then
  {
    echo
    echo "### $(date -u +%Y-%m-%d): $gpu"
    echo
    echo "\`scripts/gpu-check.sh\` at $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo "a copy without history"): $passed passed, $failed failed."
    echo "Devices: $(echo "$devices" | cut -d' ' -f1 | tr '\n' ' ')"
    if [ -n "$missing" ]; then printf '\nNot run:\n%s\n' "$missing"; fi
    printf '\n```\n%s\n```\n' "$speed"
  } >"$build/verification.md"
  cat "$build/verification.md" >>"$root/docs/verification.md"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
