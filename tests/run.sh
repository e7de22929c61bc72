#!/usr/bin/env bash
# Sets up what is missing, builds, and runs every test. The last line: N passed, N failed, N skipped
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/../deploy/progress.sh"

usage() {
  cat <<'END'
usage: tests/run.sh [--suite NAME]... [--all] [--filter TEXT] [--list] [--help]

  --suite NAME   only this suite; may be repeated. The usual ones: unit, sim, tidy, e2e;
                 those that take long: lint (clang-tidy) and sanitize (a build of its own with
                 AddressSanitizer and UBSan, which runs unit and sim)
  --sanitize     the same as --suite sanitize
  --all          the usual suites, lint and sanitize
  --filter TEXT  only tests whose name contains TEXT
  --list         print the tests instead of running them

Logs are kept in build/meson-logs/: tests.txt of all programs, e2e.xml of the end-to-end tests (of
sanitize: build-sanitize/meson-logs/).
END
}

arguments=() suites=() filter="" list=no
while (($# > 0)); do
  case $1 in
  --suite | --filter)
    (($# >= 2)) || die "$1 needs a value; see --help"
    if [ "$1" = --suite ]; then suites+=("$2"); else filter=$2; fi
    shift
    ;;
  --sanitize) suites+=(sanitize) ;;
  --all) suites+=(unit sim tidy e2e lint sanitize) ;;
  --list) list=yes ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    die "unknown option: $1"
    ;;
  esac
  shift
done

if ((${#suites[@]} == 0)); then suites=(unit sim tidy e2e); fi
own=() # those that the build folder itself has, as Meson's suites
for suite in "${suites[@]}"; do
  case $suite in
  unit | sim | tidy | lint) own+=(--suite "$suite") ;;
  e2e | sanitize) ;;
  *) die "there is no suite $suite; see --help" ;;
  esac
  arguments+=(--suite "$suite")
done
has() { [[ " ${suites[*]} " == *" $1 "* ]]; }

# Network namespaces and raw ports are root's; the other suites need no privilege.
if has e2e && [ "$list" = no ]; then
  elevate "end-to-end tests use network namespaces" "$here/run.sh" "${arguments[@]}" --filter "$filter"
fi
"$here/../deploy/setup.sh" --test-programs
build=$(readlink -f -- "$here/..")/build
sanitized=$build-sanitize
if [ "${suites[*]}" != sanitize ]; then "$here/../deploy/build.sh"; fi
if has sanitize; then "$here/../deploy/build.sh" --sanitize; fi

export PYTHONDONTWRITEBYTECODE=1 SATRELAY_BUILD=$build
# Meson would have malloc() fill every block with a byte of its choice: twice the time, and no two runs alike.
export MALLOC_PERTURB_=0
pytest=(/usr/bin/python3 -m pytest -c "$here/../pytest.ini" --rootdir "$here/.." --filter "$filter" "$here/e2e")

# meson_tests BUILD OPTION...: "SUITE NAME" of each test that the filter leaves.
meson_tests() {
  as_invoker meson test -C "$1" --no-rebuild --list "${@:2}" | sed -n 's#^satrelay:\([^ ]*\) / #\1 #p' |
    awk -v text="$filter" 'index($2, text)'
}

if [ "$list" = yes ]; then
  if ((${#own[@]} > 0)); then meson_tests "$build" "${own[@]}" | awk '{printf "%-8s %s\n", $1, $2}'; fi
  if has e2e; then
    "${pytest[@]}" --collect-only -q | sed -n 's#^tests/e2e/\(.*::.*\)#e2e      \1#p'
  fi
  if has sanitize; then
    meson_tests "$sanitized" --suite unit --suite sim | awk '{printf "sanitize %s\n", $2}'
  fi
  exit 0
fi

# run COMMAND...: its exit status is in `status`. Ctrl-C lets it take down what it has set up.
running=
trap 'if [ -n "$running" ]; then kill -TERM "$running" 2>/dev/null; wait "$running" || true; fi
  warn interrupted; exit 130' INT TERM
run() {
  "$@" </dev/null &
  running=$!
  status=0
  wait "$running" || status=$?
  running=
}

reports=()
# run_meson BUILD FACTOR OPTION...: Meson's limits of time are for an idle machine, so they are multiplied.
run_meson() {
  local names
  mapfile -t names < <(meson_tests "$1" "${@:3}" | cut -d' ' -f2)
  if ((${#names[@]} == 0)); then return; fi
  rm -f "$1"/meson-logs/tests.*
  run "${invoker[@]}" meson test -C "$1" --no-rebuild --logbase tests --print-errorlogs \
    --timeout-multiplier "$2" "${@:3}" "${names[@]}"
  [ -s "$1/meson-logs/tests.json" ] || die "meson test ended with status $status"
  reports+=("$1/meson-logs/tests.json")
}

started=$SECONDS
if ((${#own[@]} > 0)); then run_meson "$build" 4 "${own[@]}"; fi
if has e2e; then
  report=$build/meson-logs/e2e.xml
  rm -f "$report"
  run "${pytest[@]}" --verbose --tb=short --durations=10 --junit-xml="$report"
  # 1: tests failed, 5: none is left by the filter.
  ((status <= 1 || status == 5)) || die "pytest ended with status $status"
  reports+=("$report")
fi
if has sanitize; then
  reports+=(--sanitized)
  run_meson "$sanitized" 20 --suite unit --suite sim
fi
say "took $((SECONDS - started)) s; logs: $build/meson-logs"
exec /usr/bin/python3 "$here/summary.py" "${reports[@]}"
