#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site, of the headers and of every written page, and checks that no link in it is dead.
# The site is in build-scripts/docs/html, or in docs/html of the folder that ARROWDEVICE_BUILD
# names. It begins with index.html. A warning is an error.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
begin=$(date +%s)
"$root/scripts/install-deps.sh" doxygen

site=$root/docs/site
output=${ARROWDEVICE_BUILD:-$root/build-scripts}/docs
rm -rf "$output"
mkdir -p "$output"
cd "$output"

python3 "$site/prepare.py" "$root" input
docs_version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
export docs_version
if ! doxygen "$site/Doxyfile" </dev/null >warnings 2>&1; then
  sed "s|^$PWD/input/||" warnings >&2 # the lines of pages are those of the files
  exit 1
fi
python3 "$site/finish.py" .
python3 "$site/check_links.py" html
echo "$output/html/index.html, built in $(($(date +%s) - begin)) s"
