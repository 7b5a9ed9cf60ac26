#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site with Sphinx, from every written page and from the references of C, C++, Python, Rust, Go, Julia
# and the tool. A warning is an error, and so is a link that leads nowhere. The site is in build-scripts/docs/html, or in
# docs/html of the folder that ARROWDEVICE_BUILD names. It begins with index.html. Its search needs no server.
#
# The reference of Rust needs Rust 1.88, and that of Go needs Go 1.25. Without them the site says how to show these
# references. If CI is set, both must be there.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
begin=$(date +%s)
"$root/scripts/install-deps.sh" doxygen mandoc
build=${ARROWDEVICE_BUILD:-$root/build-scripts}
mkdir -p "$build"
build=$(cd "$build" && pwd)
python=$("$root/scripts/python-env.sh" "$build/docs-python" requirements-docs.txt)

output=$build/docs
rm -rf "$output"
mkdir -p "$output/input"
cd "$root"
tar --exclude=target --exclude=__pycache__ -cf - ./*.md LICENSE meson.build backends bench bindings docs examples include tests tools |
  tar -xf - -C "$output/input"
cd "$output"

# left_out LANGUAGE: says that a reference is left out.
left_out() {
  [ -z "${CI:-}" ] || { echo "the reference of $1 could not be made" >&2; exit 1; }
  echo "without the reference of $1"
}
# at_least MINIMUM VERSION: compares the minor numbers of versions 1.x.
at_least() { minor=${2#1.} && minor=${minor%%.*} && [ "${minor:-0}" -ge "$1" ]; }

if at_least 88 "$(rustc --version 2>/dev/null | cut -d' ' -f2)"; then
  # The variable tells the build script that nothing is linked.
  DOCS_RS=1 RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --target-dir "$build/docs-rust" \
    --manifest-path "$root/bindings/rust/Cargo.toml"
  mkdir html
  cp -R "$build/docs-rust/doc" html/rust
else
  left_out Rust
fi
if at_least 25 "$(go version 2>/dev/null | sed -n 's/.* go\(1[0-9.]*\).*/\1/p')"; then
  (cd "$root/bindings/go" && go doc -all .) >go.txt
else
  left_out Go
fi

# check PROGRAM ARGUMENT...: runs it, and shows its warnings with the paths of the repository if it fails.
check() {
  if ! "$@" </dev/null >warnings 2>&1; then
    sed "s|$PWD/input/||" warnings >&2
    exit 1
  fi
}
check doxygen input/docs/site/Doxyfile
check env ARROWDEVICE_DOCS="$output" "$python" -m sphinx --quiet --fail-on-warning --keep-going --builder html \
  --conf-dir input/docs/site --doctree-dir doctrees input html
echo '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">libarrowdevice</a>' >html/index.html
echo "$output/html/index.html, built in $(($(date +%s) - begin)) s"
