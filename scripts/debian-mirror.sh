#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the mirror of this machine's own Debian packages. Prints nothing if there is none, as on Ubuntu.
#
# apt-get knows a mirror's label after an update, and its path always.
set -eu

command -v apt-get >/dev/null 2>&1 || exit 0
repositories() { apt-get indextargets --format "$1" 'Created-By: Packages'; }
mirror=$(repositories '$(LABEL) $(COMPONENT) $(REPO_URI)' | sed -n 's/^Debian main //p' | head -n 1)
if [ -z "$mirror" ]; then
  mirror=$(repositories '$(COMPONENT) $(REPO_URI)' | sed -n 's!^main \(.*/debian/*\)$!\1!p' | head -n 1)
fi
[ -z "$mirror" ] || echo "$mirror"
