#!/usr/bin/env bash
# Builds the programs, and their tests. Under sudo it builds as the user that typed sudo.
set -euo pipefail
# shellcheck source=deploy/progress.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/progress.sh"

usage() {
  cat <<'END'
usage: deploy/build.sh [--lab [--panel] | --programs | --sanitize] [--trained | --untrained]

Configures and compiles programs and tests into build/, without the benchmarks.

  --lab       only what the lab and the demo run: satrelayd, satlink and satrelayctl, into build-lab/,
              without link-time optimization
  --panel     with --lab: satpanel, too
  --programs  only what is installed: satrelayd, satlink, satrelayctl, satpanel, satlab and satperf;
              trained, unless --untrained is given
  --sanitize  programs, tests and benchmarks with AddressSanitizer and UBSan, into build-sanitize/
  --trained   trains the compiler before (deploy/train.sh), unless it has been for this folder: a minute
              more, everything is compiled anew, and a frame takes a seventh less time
  --untrained the default for all others: compiles at once. A folder that is trained stays so

A call does not compile again what an earlier call has compiled in build/, unless it trains. A
folder that an interrupted call has left is completed, or begun anew.
END
}

cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
build=build
needed=256 # MiB that the folder takes; 0: not measured
# Files of a library are compiled together, in less than half of the time (docs/contributing.md).
options=(--unity on --unity-size 8 -Dbenchmarks=false)
# Meson uses ccache if it is installed. ccache also finds objects that were compiled in another clone: no object has the
# path of its folder in it, and ccache checks neither that path nor the times of headers.
paths="'-ffile-prefix-map=$PWD/='"
arguments=$paths
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS='-ffile-prefix-map=*'
export CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime,time_macros
targets=()
trained="" panel=no
for argument in "$@"; do
  case $argument in
  --lab)
    build="build-lab"
    needed=32
    targets=(lab)
    options+=(-Dlto=false)
    ;;
  --panel) panel=yes ;;
  --programs) targets=(programs) ;;
  --trained) trained=yes ;;
  --untrained) trained=no ;;
  --sanitize)
    build="build-sanitize"
    needed=0
    # Slightly optimized and with line numbers only: both halve the time to compile, and the runs take no longer. Half
    # of UBSan's cost was its checks of each pointer for null and for alignment. AddressSanitizer finds null pointers
    # where they are used (docs/testing.md). The benchmarks are built, too. Here they are not optimized as a whole, and
    # their quick runs are tests.
    options+=('-Db_sanitize=address,undefined' -Db_lundef=false -Ddebug=false -Doptimization=1
      -Dbenchmarks=true)
    arguments="'-g1', '-fno-sanitize=null,alignment', $paths"
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    misused "unknown option: $argument"
    ;;
  esac
done

if [ $panel = yes ]; then
  [ $build = build-lab ] || die "--panel goes with --lab; the others build satpanel anyway"
  targets+=(panel)
fi
if [ "$trained" = yes ] && [ $build = build-sanitize ]; then
  die "sanitizers and training do not go together: leave out --trained"
fi
# Installed programs are worth a minute of training. A developer builds too often for that, and needs warnings to be
# errors, which they are in an untrained folder only.
if [ -z "$trained" ]; then
  if [ "${targets[*]}" = programs ]; then trained=yes; else trained=no; fi
fi
options+=("-Dcpp_args=[$arguments]")

for tool in meson ninja g++; do
  command -v "$tool" >/dev/null || die "$tool is missing; run deploy/setup.sh first"
done
if ((${#targets[@]} > 0)); then
  # Has an effect in a new build folder only: a folder that has the tests keeps them.
  options+=(-Dtests=false)
elif [ ! -e /usr/include/gtest/gtest.h ]; then
  die "GoogleTest is missing; run deploy/setup.sh --test-programs first, or build with --programs"
fi

builder=$(as_invoker id -un) owner=$(stat -c %U .)
if ((EUID == 0)) && [ "$builder" = root ] && [ "$owner" != root ] && [ ! -e "$build" ]; then
  say "$PWD belongs to $owner, and $build/ will belong to root, so $owner cannot build in it"
fi
if ! { as_invoker mkdir -p "$build" && as_invoker test -w "$build"; } 2>/dev/null; then
  if [ -e "$build" ]; then owner=$(stat -c %U "$build"); fi
  if [ "$owner" = "$builder" ]; then die "$PWD/$build cannot be written to: is its disk read-only?"; fi
  die "$builder may not write to $PWD/$build, which belongs to $owner: build as $owner, or give it to $builder (chown -R)"
fi
# Two of ninja at a time would spoil the folder.
exec 9<"$build"
if ! flock --nonblock 9; then
  say "another build uses $build/; waiting until it ends"
  until flock --nonblock 9; do sleep 1; done
fi
has=$(du -sm "$build/" | cut -f1) free=$(df --output=avail -m "$build" | tail -n 1)
if ((has + free < needed)); then
  die "$build/ takes some $needed MiB, and its disk has only $((free)) MiB free: $(df --output=target "$build" | tail -n 1)"
fi
log=$(mktemp --tmpdir satrelay-build.XXXXXX.log)
temporary+=("$log")
# Meson knows what a folder is for. Its files say little: the training leaves build/tests without a test in it, and a
# call may have been interrupted anywhere.
training=$(meson_option "$build" b_pgo)
if [ -f "$build/build.ninja" ] && [ "$training" = generate ]; then
  say "$build/: its training was interrupted; starting it again"
  as_invoker find "$build/" -mindepth 1 -delete
fi
if [ ! -f "$build/build.ninja" ]; then
  say "configuring $build/"
  # Meson would take the remains of an interrupted set-up for a configured folder.
  as_invoker rm -rf -- "$build/meson-private" "$build/meson-info"
  run_with_progress "$log" "${invoker[@]}" meson setup "${options[@]}" "$build" .
  training=off
fi
if [ "$training" = use ] && [ $trained = no ]; then
  say "$build/ is trained and stays so; in it warnings are no errors"
elif [ "$training" != use ] && [ $trained = yes ]; then
  say "training the compiler"
  # If this fails or is interrupted, the folder is left untrained, and the next call trains it.
  status=0
  run "${invoker[@]}" deploy/train.sh "$build" || status=$?
  if ((status >= 128)); then exit "$status"; fi # interrupted
  ((status == 0)) || die "the training failed; deploy/build.sh --untrained builds without it"
fi
if ((${#targets[@]} == 0)) && [ "$(meson_option "$build" tests)" != true ]; then
  say "adding the tests to $build/"
  run_with_progress "$log" "${invoker[@]}" meson configure -Dtests=true "$build"
fi
say "compiling into $build/"
run_with_progress "$log" "${invoker[@]}" ninja -C "$build" "${targets[@]}"
rm -f "$log"
