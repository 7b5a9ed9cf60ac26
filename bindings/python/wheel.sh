#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package in FOLDER/wheel. If PYTHON is given, installs the wheel for it, without peers. Does not
# rebuild an unchanged wheel. $ARROWDEVICE_WHEEL_OPTIONS has options for Meson. The default is a unity build, which takes two
# thirds of the time.
#
# The wheel has the tag of the oldest systems that have every symbol that it needs. On Debian 12 that is manylinux_2_34.
#
#   bindings/python/wheel.sh FOLDER [PYTHON]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:?usage: wheel.sh FOLDER [PYTHON]}
target=${2:-}
mkdir -p "$work"
work=$(cd "$work" && pwd)

# Installs the build requirements once. pip would install them for each build.
python=$("$root/scripts/python-env.sh" "$work/build-env" ../bindings/python/requirements-build.txt)
PATH=$work/build-env/bin:$PATH
# Avoids a second preprocessor run if Meson finds ccache.
export CCACHE_DEPEND="${CCACHE_DEPEND-true}"

set -- "-Cbuild-dir=$work/wheel-build"
for option in ${ARROWDEVICE_WHEEL_OPTIONS--Dunity=on -Dunity_size=6 -Db_pch=false}; do set -- "$@" "-Csetup-args=$option"; done

# Returns success if the wheel matches the sources and options. Ninja checks compiled files and Meson's files, find checks the
# copied files.
made=$work/wheel.options
up_to_date() {
  [ -f "$made" ] && [ "$*" = "$(cat "$made")" ] && ls "$work"/wheel/*.whl >/dev/null 2>&1 &&
    ninja -C "$work/wheel-build" -n | grep -q 'no work to do' &&
    [ -z "$(find "$here" "$root/pyproject.toml" "$root/LICENSE" -newer "$made" -type f ! -path "$here/tests/*" ! -name '*.pyc' -print -quit)" ]
}

if ! up_to_date "$@"; then
  echo "Building a wheel in $work/wheel-build" >&2
  rm -rf "$work/wheel" "$work/wheel-linux" "$made"
  echo "$*" >"$made.begun" # files that change from here on are newer
  if ! "$python" -m pip wheel --verbose --no-deps --no-build-isolation --disable-pip-version-check --no-input \
    --wheel-dir "$work/wheel-linux" "$@" "$root" </dev/null >"$work/wheel.log" 2>&1; then
    tail -n 60 "$work/wheel.log" >&2
    echo "wheel.sh: the build of the wheel failed (the log is $work/wheel.log)" >&2
    exit 1
  fi
  # meson-python names the Python that it runs on, but the module needs the stable ABI of 3.11 only: see limited_api in meson.build.
  case $(echo "$work"/wheel-linux/*.whl) in
    *-cp311-abi3-*) ;;
    *) "$python" -m wheel tags --remove --python-tag=cp311 "$work"/wheel-linux/*.whl >>"$work/wheel.log" ;;
  esac
  # auditwheel replaces the tag linux, which no index accepts. The wheel needs no library that it would have to add. Without a
  # patcher, auditwheel fails if that changes. It also fails if symbols are newer than all that it knows.
  if ! "$python" -m auditwheel repair --patcher=none --wheel-dir "$work/wheel" "$work"/wheel-linux/*.whl >>"$work/wheel.log" 2>&1; then
    tail -n 5 "$work/wheel.log" >&2
    echo "wheel.sh: the wheel is for this system only, because auditwheel refuses it (the log is $work/wheel.log)" >&2
    mkdir -p "$work/wheel"
    cp "$work"/wheel-linux/*.whl "$work/wheel"
  fi
  mv "$made.begun" "$made"
fi

if [ -n "$target" ]; then
  installed=$(dirname "$(dirname "$target")")/arrowdevice.installed
  if ! cmp -s "$work"/wheel/*.whl "$installed"; then
    "$target" -m pip install --quiet --no-deps --disable-pip-version-check --no-input --force-reinstall "$work"/wheel/*.whl >&2
    cp "$work"/wheel/*.whl "$installed"
  fi
fi
