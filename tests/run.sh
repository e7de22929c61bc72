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
                 AddressSanitizer and UBSan, which runs unit and sim);
                 that of a release: long (tests that build again, build another revision or boot QEMU)
  --sanitize     the same as --suite sanitize
  --all          the usual suites, lint and sanitize
  --filter TEXT  only tests whose name contains TEXT
  --list         print the tests instead of running them

A suite that has no test is an error, and so is a filter that leaves none.
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
own=() # those that Meson has in the build folder
for suite in "${suites[@]}"; do
  case $suite in
  unit | sim | tidy | lint | long) own+=("$suite") ;;
  e2e | sanitize) ;;
  *) die "there is no suite $suite; see --help" ;;
  esac
  arguments+=(--suite "$suite")
done
has() { [[ " ${suites[*]} " == *" $1 "* ]]; }
marks=() # of end-to-end tests, as pytest selects them
if has e2e; then marks+=("not long"); fi
if has long; then marks+=("long"); fi

# Network namespaces and raw ports are root's; the other suites need no privilege.
if ((${#marks[@]} > 0)) && [ "$list" = no ]; then
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
pytest=(/usr/bin/python3 -m pytest -c "$here/../pytest.ini" --rootdir "$here/.." "$here/e2e")

# list_meson BUILD SUITE...: "SUITE NAME" of each test that the filter leaves. A suite without a test is an
# error: the build folder is not what it should be, and a run of nothing would pass.
list_meson() {
  local folder=$1 suite listed
  shift
  for suite in "$@"; do
    listed=$(as_invoker meson test -C "$folder" --no-rebuild --list --suite "$suite" 2>/dev/null |
      sed -n 's#^satrelay:[^ ]* / ##p') || true
    [ -n "$listed" ] || die "$folder has no test of suite $suite; remove the folder and start again"
    awk -v suite="$suite" -v text="$filter" 'index($0, text) {print suite, $0}' <<<"$listed"
  done
}

# list_pytest MARK: the same of end-to-end tests.
list_pytest() {
  local suite=e2e listed
  if [ "$1" = long ]; then suite=long; fi
  listed=$("${pytest[@]}" -m "$1" --collect-only -q | sed -n 's#^tests/e2e/\(.*::.*\)#\1#p') || true
  [ -n "$listed" ] || die "tests/e2e has no test of suite $suite"
  "${pytest[@]}" -m "$1" --filter "$filter" --collect-only -q | sed -n "s#^tests/e2e/\(.*::.*\)#$suite \1#p" || true
}

if [ "$list" = yes ]; then
  listed=""
  if ((${#own[@]} > 0)); then listed+=$(list_meson "$build" "${own[@]}")$'\n'; fi
  for mark in "${marks[@]}"; do listed+=$(list_pytest "$mark")$'\n'; done
  if has sanitize; then listed+=$(list_meson "$sanitized" unit sim | sed 's/^[^ ]*/sanitize/')$'\n'; fi
  grep -q . <<<"$listed" || die "no test matches"
  awk 'NF {printf "%-8s %s\n", $1, $2}' <<<"$listed"
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
# run_meson BUILD FACTOR SUITE...: Meson's limits of time are for an idle machine, so they are multiplied.
run_meson() {
  local folder=$1 factor=$2 listed names suite options=()
  shift 2
  listed=$(list_meson "$folder" "$@")
  if [ -z "$listed" ]; then return; fi
  mapfile -t names < <(cut -d' ' -f2 <<<"$listed")
  for suite in "$@"; do options+=(--suite "$suite"); done
  rm -f "$folder"/meson-logs/tests.*
  run "${invoker[@]}" meson test -C "$folder" --no-rebuild --logbase tests --print-errorlogs \
    --timeout-multiplier "$factor" "${options[@]}" "${names[@]}"
  [ -s "$folder/meson-logs/tests.json" ] || die "meson test ended with status $status"
  reports+=("$folder/meson-logs/tests.json")
}

# run_pytest MARK NAME: its report is called NAME.xml.
run_pytest() {
  local report=$build/meson-logs/$2.xml
  rm -f "$report"
  run "${pytest[@]}" -m "$1" --filter "$filter" --verbose --tb=short --durations=10 --junit-xml="$report"
  # 1: tests failed, 5: none is left.
  ((status <= 1 || status == 5)) || die "pytest ended with status $status"
  ((status != 5)) || [ -n "$filter" ] || die "tests/e2e has no test that is \"$1\""
  reports+=("$report")
}

started=$SECONDS
if ((${#own[@]} > 0)); then run_meson "$build" 4 "${own[@]}"; fi
if has e2e; then run_pytest "not long" e2e; fi
if has long; then run_pytest long long; fi
if has sanitize; then
  reports+=(--sanitized)
  run_meson "$sanitized" 20 unit sim
fi
say "took $((SECONDS - started)) s; logs: $build/meson-logs"
exec /usr/bin/python3 "$here/summary.py" "${reports[@]}"
