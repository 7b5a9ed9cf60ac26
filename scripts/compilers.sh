#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles everything, tests included, with each compiler that Debian 12 and 13 have. Every warning is an error.
#
#   scripts/compilers.sh [COMPILER]...
#
#   gcc-14, clang-19                           build everything, and run the unit tests
#   gcc-13                                     compile every file, and link nothing
#   clang-16, clang-17, clang-18               check every file, and build nothing
#   clang-19-libc++                            the same, with LLVM's standard library
#
# Each compiler runs in a Debian of its own (scripts/in-debian.sh says what that needs). Builds are kept in build-scripts/,
# or in $ARROWDEVICE_BUILD.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
work=${ARROWDEVICE_BUILD:-$root/build-scripts}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)
export ARROWDEVICE_BUILD="$work"

[ $# -gt 0 ] || set -- gcc-13 gcc-14 clang-16 clang-17 clang-18 clang-19 clang-19-libc++
for compiler in "$@"; do
  case $compiler in
    gcc-13 | gcc-14 | clang-16 | clang-17 | clang-18 | clang-19 | clang-19-libc++) ;;
    *)
      echo "compilers.sh: there is no compiler $compiler; see the first lines of $0" >&2
      exit 2
      ;;
  esac
done

# A build with these packages compiles every backend and all tests and benchmarks.
packages='ca-certificates catch2 git libbenchmark-dev libflatbuffers-dev libvulkan-dev libze-dev libze1 meson ninja-build
  ocl-icd-libopencl1 opencl-headers pkg-config python3 python3-dev'

# compile COMPILER: configures a build in the Debian that has the compiler, and builds or checks it.
compile() {
  compiler=$1
  version=${compiler#*-}
  suite=trixie
  action=check
  case $compiler in
    gcc-*)
      own="gcc-$version g++-$version"
      cc=gcc-$version
      cxx=g++-$version
      action=build
      # The Catch2 of Debian 13 was built with GCC 14, whose library GCC 13 does not link.
      [ "$version" != 13 ] || action=compile
      ;;
    clang-19-libc++)
      own='clang-19 g++ libc++-19-dev libc++abi-19-dev'
      cc=clang-19
      cxx='clang++-19 -stdlib=libc++'
      ;;
    clang-*)
      own="clang-$version g++" # g++ brings the standard library
      cc=clang-$version
      cxx=clang++-$version
      case $version in
        16) suite=bookworm ;;
        19) action=build ;;
      esac
      ;;
  esac
  # shellcheck disable=SC2086  # one word a package
  "$root/scripts/in-debian.sh" "$suite" $packages $own -- env CC="$cc" CXX="$cxx" sh -euc '
    build=$1
    again=
    [ ! -f "$build/build.ninja" ] || again=--reconfigure
    meson setup $again -Dbuildtype=debugoptimized -Db_ndebug=false -Db_pch=false -Dunity=on -Dunity_size=6 -Dwerror=true \
      -Db_colorout=never -Dtests=enabled -Dsim=enabled -Dbench=enabled -Dopencl=enabled -Dvulkan=enabled -Dlevel_zero=enabled \
      -Darrow_cpp=disabled "$build" >"$build.log" || { cat "$build.log"; exit 1; }
    grep "compiler for the host machine" "$build.log"
    case $2 in
      build)
        meson compile -C "$build"
        meson test -C "$build" --no-rebuild --suite=unit --print-errorlogs
        ;;
      compile) ninja -C "$build" $(ninja -C "$build" -t targets all | sed -n "s/\\(.*\\.o\\): .*/\\1/p") ;;
      check) python3 scripts/check_files.py "$build" ;;
    esac
  ' sh "$work/$compiler" "$action"
}

for compiler in "$@"; do
  begin=$(date +%s)
  compile "$compiler"
  echo "$compiler: no warning, $(($(date +%s) - begin)) s"
done
