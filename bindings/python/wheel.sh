#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package into FOLDER/wheel, installs it into an environment in FOLDER/python, beside what a file
# of requirements lists, and prints that environment's interpreter. What has not changed is not made again.
#
#   python=$(bindings/python/wheel.sh FOLDER [REQUIREMENTS])
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:?usage: wheel.sh FOLDER [REQUIREMENTS]}
case ${2:-} in
  "" | /*) wanted=${2:-} ;;
  *) wanted=$here/$2 ;;
esac
mkdir -p "$work"
work=$(cd "$work" && pwd)
python=$work/python/bin/python

# The environment also builds: it is made once, with all that either needs.
lines=$(cat "$here/requirements-build.txt" ${wanted:+"$wanted"})
if [ "$lines" != "$(cat "$work/python/requirements.txt" 2>/dev/null)" ]; then
  echo "Making a Python environment in $work/python" >&2
  python3 -m venv --clear "$work/python" >&2
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --use-pep517 \
    -r "$here/requirements-build.txt" ${wanted:+-r "$wanted"} >&2
  # Last, so that an environment that was cut short is made again.
  echo "$lines" >"$work/python/requirements.txt"
fi

# Where Meson finds ccache: nothing is preprocessed twice for it.
export CCACHE_DEPEND="${CCACHE_DEPEND-true}"
PATH=$work/python/bin:$PATH
set -- "-Cbuild-dir=$work/wheel-build"
for option in ${ARROWDEVICE_WHEEL_OPTIONS:-}; do set -- "$@" "-Csetup-args=$option"; done

# A build that is up to date is left alone: what pip does around it takes longer than looking.
# A source that is new is told to Meson by a file that changes, so ninja knows of everything.
build=$work/wheel-build
made=$work/wheel/made.txt
if [ -f "$made" ] && [ "$*" = "$(cat "$made")" ] && ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do' &&
  [ -z "$(find "$here/arrowdevice" "$here/README.md" "$root/pyproject.toml" -newer "$made" -type f ! -name '*.pyc' -print -quit)" ]; then
  echo "$python"
  exit 0
fi

echo "Building a wheel in $build" >&2
rm -rf "$work/wheel"
if ! "$python" -m pip wheel --verbose --no-deps --no-build-isolation --disable-pip-version-check --wheel-dir "$work/wheel" "$@" "$root" \
  </dev/null >"$work/wheel.log" 2>&1; then
  tail -n 60 "$work/wheel.log" >&2
  echo "wheel.sh: the wheel could not be built; $work/wheel.log has everything" >&2
  exit 1
fi
"$python" -m pip install --quiet --no-deps --disable-pip-version-check --no-input --force-reinstall "$work/wheel"/arrowdevice-*.whl >&2
echo "$*" >"$made"
echo "$python"
