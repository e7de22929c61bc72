#!/usr/bin/env bash
# Compares the speed of this working tree with the speed of another revision.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/../../deploy/progress.sh"
root=$(readlink -f -- "$here/../..")

usage() {
  cat <<'END'
usage: tests/bench/compare.sh [option]... REV

Builds REV and the working tree as they are released, and runs bench_gateway of both in turn, and
bench_flows once each. Prints medians, and the ratio after / before, of each row. Both builds have
the benchmarks of the working tree, unless --own says otherwise.

  --runs N      of each, in turn; 9 unless told otherwise
  --only TEXT   only the row of bench_gateway with this name, or all whose names contain it
  --quick       short runs, 3 of each: whether it works, and not how fast it is
  --own         builds REV with its own benchmarks: for a REV whose interfaces those of the working
                tree do not fit. Only rows that both have are compared: see that they measure the same
  --keep        leaves REV's build, so that the next comparison begins at once
  --help        this

Both builds are trained and in build-compare/. That of the working tree is always left there: remove
build-compare/build to train it anew by its present code.

All rows take some two minutes a run. On a machine with other work only ratios mean something.
END
}

runs="" only="" quick=no own=no keep=no rev=""
while (($# > 0)); do
  case $1 in
  --runs | --only)
    (($# >= 2)) || misused "$1 needs a value; see --help"
    if [ "$1" = --runs ]; then runs=$2; else only=$2; fi
    shift
    ;;
  --quick) quick=yes ;;
  --own) own=yes ;;
  --keep) keep=yes ;;
  -h | --help)
    usage
    exit 0
    ;;
  -*)
    usage >&2
    misused "unknown option: $1"
    ;;
  *)
    [ -z "$rev" ] || misused "only one revision: $rev or $1?"
    rev=$1
    ;;
  esac
  shift
done
[ -n "$rev" ] || misused "which revision? see --help"
if [ -z "$runs" ]; then if [ $quick = yes ]; then runs=3; else runs=9; fi; fi
[[ $runs =~ ^[1-9][0-9]*$ ]] || misused "--runs needs a number from 1 on, not: $runs"
for tool in git meson ninja g++ python3; do
  command -v "$tool" >/dev/null || die "$tool is missing; run deploy/setup.sh first"
done
cd "$root"
commit=$(git rev-parse --verify --quiet "$rev^{commit}") || die "there is no revision $rev"
short=$(git rev-parse --short "$commit")

folder=$root/build-compare
before=$folder/$short
figures=$(mktemp --directory --tmpdir satrelay-compare.XXXXXX)
clean() {
  rm -rf -- "$figures"
  if [ $keep = no ] && [ -d "$before" ]; then
    git worktree remove --force "$before"
  fi
}
trap clean EXIT

targets=(tests/bench/bench_gateway tests/bench/bench_flows)
# build SOURCES BUILD: builds them as they are released.
build() {
  local sources=$1 build=$2
  if [ ! -f "$build/build.ninja" ]; then
    run_with_progress "$figures/setup.log" meson setup -Dbuildtype=release "$build" "$sources" || return 1
  fi
  # An interrupted training leaves the folder untrained. Old revisions cannot be trained.
  if [ -x "$sources/deploy/train.sh" ] && [ "$(meson_option "$build" b_pgo)" != use ]; then
    run_with_progress "$figures/train.log" "$sources/deploy/train.sh" "$build" || return 1
  fi
  run_with_progress "$figures/build.log" ninja -C "$build" "${targets[@]}"
}

mkdir -p "$folder"
if [ ! -d "$before" ]; then
  git worktree prune
  git worktree add --quiet --detach "$before" "$commit"
fi
if [ $own = no ]; then
  for part in bench support; do
    rm -rf -- "$before/tests/$part"
    cp -r -- "$root/tests/$part" "$before/tests/$part"
  done
fi
say "building $short"
build "$before" "$before/build" || die "$short does not build with these benchmarks; --own takes its own"
say "building the working tree"
build "$root" "$folder/build" || die "the working tree does not build"

options=()
flow_options=()
if [ $quick = yes ]; then
  options+=(--quick)
  flow_options+=(--quick)
fi
if [ -n "$only" ]; then options+=(--only "$only"); fi
# measure SIDE NUMBER BUILD
measure() {
  run "$3/tests/bench/bench_gateway" "${options[@]}" --json "$figures/$1-$2.json" \
    >"$figures/output" || die "bench_gateway of $3 failed: $(tail -n 3 "$figures/output")"
}
for ((i = 1; i <= runs; ++i)); do
  say "run $i of $runs"
  # Each side is first as often as second, so that neither gains from a machine that is warmed up.
  if ((i % 2 == 1)); then
    measure before "$i" "$before/build"
    measure after "$i" "$folder/build"
  else
    measure after "$i" "$folder/build"
    measure before "$i" "$before/build"
  fi
done
if [ -z "$only" ]; then
  for side in before after; do
    if [ $side = before ]; then build=$before/build; else build=$folder/build; fi
    run "$build/tests/bench/bench_flows" "${flow_options[@]}" --json "$figures/flows-$side.json" \
      >/dev/null
  done
fi
python3 "$here/compare_table.py" "$figures" "$short" "$runs"
