#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the ABI of a library, which needs debug information, with
# tests/abi/libarrowdevice.abixml:
#
#   scripts/check-abi.sh [LIBRARY]           fails if a function or a type has changed
#   scripts/check-abi.sh --update [LIBRARY]  writes the file anew from the library
#   scripts/check-abi.sh --against=FILE [LIBRARY]  compares it with another such file
#   scripts/check-abi.sh --freeze            copies the C headers to tests/abi/first, without comments
#
# --freeze is for the time before the first release. Afterwards the frozen headers do not change.
#
# The default for LIBRARY is the build of scripts/test.sh. The script prints new functions and does
# not fail. An update adds them to the file. A struct that has grown at its end, as
# docs/reference.md allows, needs an update too. Check the difference of an update.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
baseline=$root/tests/abi/libarrowdevice.abixml
update=false
case ${1:-} in
  --update)
    update=true
    shift
    ;;
  --freeze)
    exec python3 "$root/scripts/c_api.py" freeze "$root/include" "$root/tests/abi/first/include"
    ;;
  --against=*)
    baseline=${1#*=}
    shift
    ;;
esac
library=${1:-${ARROWDEVICE_BUILD:-$root/build-scripts}/test/src/libarrowdevice.so}

fail() {
  echo "check-abi.sh: $1" >&2
  exit 1
}

for tool in abidw abidiff; do
  command -v "$tool" >/dev/null 2>&1 || fail "$tool is not here: install abigail-tools, the name of Debian's package"
done
[ -f "$baseline" ] || fail "there is no $baseline"
[ -f "$library" ] || fail "there is no $library: run scripts/test.sh first, or name a library"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ignores the types of the C++ code behind the functions, and the folder of the build.
cat >"$work/internal" <<'EOF'
[suppress_type]
  name_regexp = ^(std|__gnu_cxx|arrowdevice)::
  drop = yes
EOF
abidw --suppressions "$work/internal" --headers-dir "$root/include" --drop-private-types --exported-interfaces-only \
  --no-show-locs --no-comp-dir-path --no-corpus-path --no-elf-needed --no-parameter-names --type-id-style hash \
  --out-file "$work/full" "$library"
sed "s|path='[^']*/src/|path='src/|" "$work/full" >"$work/now"

symbols() { sed -n "s/.*<elf-symbol name='\([^']*\)'.*/\1/p" "$1" | LC_ALL=C sort; }
symbols "$work/now" >"$work/symbols-now"
sed -n "s/.* elf-symbol-id='\([^'@]*\).*/\1/p" "$work/now" | LC_ALL=C sort -u >"$work/described"

# abidiff compares only the name of a function without debug information.
LC_ALL=C comm -23 "$work/symbols-now" "$work/described" >"$work/unknown"
if [ -s "$work/unknown" ]; then
  cat "$work/unknown" >&2
  fail "nothing is known of these but their names: build $library with -Ddebug=true -Dcpp_args=-fno-ipa-icf"
fi
# The version script lists the exported functions.
listed=$(sed -n 's/^ *global: *\(.*\);/\1/p' "$root/src/libarrowdevice.map")
while read -r symbol; do
  # shellcheck disable=SC2254  # a pattern
  case $symbol in
    $listed) ;;
    *) fail "$symbol is exported, and src/libarrowdevice.map does not list it" ;;
  esac
done <"$work/symbols-now"

if "$update"; then
  cp "$work/now" "$baseline"
  echo "$(wc -l <"$work/symbols-now") functions are written down in $baseline"
  exit 0
fi

symbols "$baseline" >"$work/symbols-then"
# Bits 4 and 8 mean a change of the ABI. Other bits mean that abidiff itself has failed.
code=0
abidiff --no-added-syms "$baseline" "$work/now" >"$work/report" 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
  cat "$work/report"
  fail "this is not the ABI of ${baseline#"$root/"}; docs/reference.md says what may change"
fi
LC_ALL=C comm -13 "$work/symbols-then" "$work/symbols-now" | sed 's/^/new: /'
echo "$(wc -l <"$work/symbols-then") functions are what they were"
