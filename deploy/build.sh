#!/usr/bin/env bash
# Builds everything. Under sudo it builds as the person who typed it.
set -euo pipefail
# shellcheck source=deploy/progress.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/progress.sh"

usage() {
  cat <<'END'
usage: deploy/build.sh [--sanitize]

Configures and compiles into build/ (or, with AddressSanitizer and UBSan, build-sanitize/).
END
}

cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
build=build
options=()
for argument in "$@"; do
  case $argument in
  --sanitize)
    build=build-sanitize
    # Slightly optimised and with line numbers only: both halve the time to compile, and the runs
    # take no longer.
    options=(-Db_sanitize=address,undefined -Db_lundef=false -Ddebug=false -Doptimization=1
      -Dcpp_args=-g1 -Dbenchmarks=false)
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    die "unknown option: $argument"
    ;;
  esac
done

for tool in meson ninja g++; do
  command -v "$tool" >/dev/null || die "$tool is missing; run deploy/setup.sh first"
done

as_invoker mkdir -p "$build" || die "$PWD cannot be written to by ${SUDO_USER:-$USER}"
log=$(as_invoker mktemp --tmpdir satrelay-build.XXXXXX.log)
if [ ! -f "$build/build.ninja" ]; then
  say "configuring $build/"
  run_with_progress "$log" as_invoker meson setup "${options[@]}" "$build" .
fi
say "compiling into $build/"
run_with_progress "$log" as_invoker ninja -C "$build"
rm -f "$log"
