#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the checks that take too long for every change. They take hours. Each part prints its outcome
# when it ends. The last line is `N passed, N failed`. The exit code is 0 only if nothing failed.
# The output of the parts is kept beside the builds.
#
#   scripts/check-all.sh [PART...]
#
#   fuzz       five million inputs for each fuzz target
#   soak       half an hour of random operations with faults
#   mutations  a thousand mutations of each golden file
#   threads    every suite that has threads, and those that are too slow for every change, under the thread sanitizer
#   starved    programs that use threads, under the thread sanitizer while threads starve at random; as root
#   valgrind   the unit tests under memcheck
#   coverage   which lines of src/ the tests reach
#   minimal    the demo and all tests in a minimal Debian 12 and a minimal Debian 13; as root
#   debian     the Debian packages in a minimal Debian 12 and a minimal Debian 13, lintian, a program against them; as root
#   compilers  everything compiled with GCC 13 and 14 and Clang 16 to 19, with both standard libraries; as root
#   aarch64    the unit, loader, conformance and fault suites, and the wheel, for AArch64 under qemu-user; as root
#   tensors    the Python package's tests of tensors with PyTorch and JAX on the CPU
#   rust       the Rust crate's tests with the oldest arrow crates and those of DataFusion, and the DataFusion example
#   pgo        the library built with a profile of the benchmarks, compared with a release
#   analyzer   Clang's static analyser over the library, the backends and the tool
#   clang, lto, hardened
#              a build of that kind, warnings as errors, and most tests; checks that the hardening took effect
#
# Builds are kept in build-scripts/, or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
export ARROWDEVICE_BUILD="$work"
logs=$work/check-all
exec </dev/null

fuzz() { "$root/scripts/fuzz.sh" --runs=5000000; }
soak() { "$root/scripts/soak.sh"; }
coverage() { "$root/scripts/coverage.sh"; }
pgo() { "$root/scripts/pgo.sh" --rounds=1; }
analyzer() { "$root/scripts/check-tidy.sh" --analyzer; }

mutations() {
  python=$("$root/scripts/python-env.sh" "$work/python")
  "$root/scripts/test.sh" --build-only >&2
  # As in a continuous integration, files that are not there are a failure.
  ARROWDEVICE_GOLDEN_DATA=$("$root/scripts/golden-data.sh") CI=true \
    ARROWDEVICE_TEST_MUTATIONS=1000 python3 "$root/scripts/run_tests.py" --python="$python" --no-meson \
    --pytest="$root/tests/interop/test_mutated_golden.py" "$work/test"
}

# Runs the tests of scripts/test.sh --sanitize=thread, and tests that are too slow for it. Vendors
# do not build their drivers for this sanitizer. Under it `arrowdevice check` exceeds its time
# limit.
threads() {
  "$root/scripts/test.sh" --sanitize=thread --build-only >&2
  meson test -C "$work/test-thread" --suite=unit --suite=stress --suite=soak --suite=threads --suite=loader --suite=cpp \
    --suite=fuzz --suite=abi --suite=faults --suite=examples --suite=driverless --timeout-multiplier=4 --print-errorlogs
}

starved() {
  "$root/scripts/test.sh" --sanitize=thread --build-only >&2
  python3 "$root/scripts/starve.py" meson test -C "$work/test-thread" --suite=unit --suite=stress --suite=soak --suite=threads \
    --suite=loader --suite=cpp --suite=fuzz --suite=abi --timeout-multiplier=10 --print-errorlogs
}

# The library keeps reachable memory on purpose. Drivers keep more than that.
valgrind() {
  "$root/scripts/install-deps.sh" valgrind
  "$root/scripts/test.sh" --build-only >&2
  meson test -C "$work/test" --suite=unit --timeout-multiplier=30 \
    --wrapper="valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
      --show-leak-kinds=definite --num-callers=30 --suppressions='$root/tests/valgrind.supp'"
}

# Missing golden files are a failure, as in continuous integration.
minimal() {
  CI=true "$root/scripts/minimal.sh" bookworm demo test
  CI=true "$root/scripts/minimal.sh" trixie demo test
}

debian() {
  "$root/scripts/debian-package.sh" bookworm
  "$root/scripts/debian-package.sh" trixie
}

rust() {
  "$root/scripts/test.sh" --build-only >&2
  "$root/bindings/rust/test.sh" "$work/test" --arrow
  "$root/bindings/rust/test.sh" "$work/test" --datafusion
}

tensors() {
  ARROWDEVICE_TEST_PEERS=requirements-tensors.txt "$root/bindings/python/test.sh" "$work/package-tensors" \
    -k "peers or docs or exchange or dlpack"
  # Without them the tests are skipped.
  "$work/package-tensors/test-env/bin/python" -c 'import jax, torch'
}

compilers() { "$root/scripts/compilers.sh"; }
aarch64() { "$root/scripts/aarch64.sh"; }

# variant NAME [MESON OPTION...]: leaves out the tests for sanitizers and measurements.
variant() {
  build=$work/$1
  shift
  if ! [ -f "$build/build.ninja" ]; then
    meson setup "$build" "$root" -Dbuildtype=debugoptimized -Db_ndebug=false -Dwerror=true -Dtests=enabled -Dsim=enabled \
      -Darrow_cpp=disabled "$@"
  fi
  meson compile -C "$build"
  meson test -C "$build" --suite=unit --suite=loader --suite=faults --suite=drivers --suite=abi --suite=stress \
    --suite=fuzz --suite=tool --print-errorlogs
}

clang() {
  "$root/scripts/install-deps.sh" clang
  CC=clang CXX=clang++ variant clang
}
lto() { variant lto -Db_lto=true -Db_pch=false; }
hardened() {
  flags='-D_GLIBCXX_ASSERTIONS -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fcf-protection'
  variant hardened "-Dcpp_args=$flags" "-Dc_args=$flags" -Dcpp_link_args=-Wl,-z,relro,-z,now -Dc_link_args=-Wl,-z,relro,-z,now
  check_hardened "$work/hardened/src/libarrowdevice.so"
  check_hardened "$work/hardened/backends/sim/libarrowdevice-sim.so"
}

# check_hardened LIBRARY: fails if the library lacks the hardening of its build.
check_hardened() {
  { readelf -lW "$1" && readelf -dW "$1" && readelf -W --dyn-syms "$1"; } >"$logs/hardened.readelf"
  for mark in 'RELRO: ^  GNU_RELRO ' 'BIND_NOW: (FLAGS).* BIND_NOW' 'the stack protector: __stack_chk_fail'; do
    grep -q -e "${mark#*: }" "$logs/hardened.readelf" || {
      echo "FAILED: $1 is without ${mark%%: *}" >&2
      return 1
    }
  done
  echo "$1 has RELRO, BIND_NOW and the stack protector"
}

"$root/scripts/install-deps.sh"
mkdir -p "$logs"
[ $# -gt 0 ] || set -- minimal debian compilers aarch64 rust tensors pgo analyzer clang lto hardened threads starved valgrind coverage mutations soak fuzz
passed=0
failed=0
for part in "$@"; do
  case $part in
    fuzz | soak | mutations | threads | starved | valgrind | coverage | minimal | debian | compilers | aarch64 | rust | tensors | analyzer | clang | lto | hardened) ;;
    *)
      echo "check-all.sh: there is no part $part; see the first lines of $0" >&2
      exit 2
      ;;
  esac
done
for part in "$@"; do
  begin=$(date +%s)
  # Each part runs in its own shell, in which the first failed command ends the part.
  code=0
  (set -e; "$part") >"$logs/$part.log" 2>&1 & wait $! || code=$?
  if [ "$code" = 0 ]; then
    passed=$((passed + 1))
    word=passed
  else
    failed=$((failed + 1))
    word=FAILED
    tail -n 40 "$logs/$part.log"
  fi
  echo "$word: $part, $(($(date +%s) - begin)) s, $logs/$part.log"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
