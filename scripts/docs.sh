#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site, of the headers and of every written page, and checks that no link in it is dead.
# It is in build-scripts/docs/html, or in docs/html of the folder that ARROWDEVICE_BUILD names: begin with index.html.
# A warning is an error.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
begin=$(date +%s)
"$root/scripts/install-deps.sh" doxygen

ARROWDEVICE_DOCS=${ARROWDEVICE_BUILD:-$root/build-scripts}/docs
ARROWDEVICE_SITE=$root/docs/site
ARROWDEVICE_VERSION=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
export ARROWDEVICE_DOCS ARROWDEVICE_SITE ARROWDEVICE_VERSION

rm -rf "$ARROWDEVICE_DOCS"
mkdir -p "$ARROWDEVICE_DOCS"
python3 "$ARROWDEVICE_SITE/prepare.py" "$root" "$ARROWDEVICE_DOCS/input"
if ! doxygen "$ARROWDEVICE_SITE/Doxyfile" </dev/null >"$ARROWDEVICE_DOCS/warnings" 2>&1; then
  sed "s|$ARROWDEVICE_DOCS/input/||g" "$ARROWDEVICE_DOCS/warnings" >&2 # the lines of pages are those of the files
  exit 1
fi
python3 "$ARROWDEVICE_SITE/finish.py" "$ARROWDEVICE_DOCS"
python3 "$ARROWDEVICE_SITE/check_links.py" "$ARROWDEVICE_DOCS/html"
echo "$ARROWDEVICE_DOCS/html/index.html, built in $(($(date +%s) - begin)) s"
