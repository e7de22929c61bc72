#!/usr/bin/env bash
# Shows the compiler which branches frames take, for a new build folder.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/progress.sh"

usage() {
  cat <<'END'
usage: deploy/train.sh BUILD

Compiles into the build folder BUILD, which Meson has configured, the engine as one that counts its
branches, and has it carry bulk data for some seconds. From then on BUILD is compiled by that
(-Db_pgo=use): a frame takes a seventh less time. Nothing else of BUILD is compiled yet.
END
}

case ${1:-} in
-h | --help)
  usage
  exit 0
  ;;
esac
if (($# != 1)) || [[ $1 == -* ]]; then
  usage >&2
  exit 2
fi
build=$1
[ -f "$build/build.ninja" ] || die "$build is not a build folder: run meson setup first"
cd "$build"

# Whatever happens, the folder stays usable.
log=$(mktemp --tmpdir satrelay-train.XXXXXX.log)
temporary+=("$log")
trap 'meson configure -Db_pgo=off . >/dev/null 2>&1' EXIT
meson configure -Db_pgo=generate .
run_with_progress "$log" ninja tests/bench/bench_gateway
run_with_progress "$log" tests/bench/bench_gateway --quick
[ -n "$(find . -name '*.gcda' -print -quit)" ] || die "nothing was counted: only GCC is trained"
meson configure -Db_pgo=use .
trap - EXIT
rm -f "$log"
