#!/usr/bin/env bash
# Sets up what is missing, builds, and runs every test. The last line: N passed, N failed, N skipped
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/../deploy/progress.sh"

usage() {
  cat <<'END'
usage: tests/run.sh [--suite NAME]... [--all] [--within N] [--filter TEXT] [--list] [--slowest N] [--help]

  --suite NAME   only this suite; may be repeated. The usual ones: unit, sim, tidy, e2e;
                 those that take long: lint (clang-tidy) and sanitize (a build of its own with
                 AddressSanitizer and UBSan, which runs unit and a third of sim);
                 that of a release: long (tests that build again, build another revision, boot QEMU or
                 compare the gateways with a bridge)
  --sanitize     the same as --suite sanitize
  --all          the usual suites, lint and sanitize, each whole
  --rotation N   lint checks what has changed and an eighth of all other files, sanitize runs a third of
                 sim: the N-th, instead of that of today, which is printed
  --within N     sanitize, which comes last, begins nothing more once N minutes have passed since the start,
                 and names what it has left out, which it begins with on another day
  --base REV     changed since REV (tests/tidy/clang_tidy.py says what it is otherwise)
  --filter TEXT  only tests whose name contains TEXT
  --list         print the tests instead of running them
  --slowest N    print the N tests that took longest, too

A suite that has no test is an error, and so is a filter that leaves none.
Logs are kept in build/meson-logs/: tests-python3.txt of all programs, e2e.xml of the end-to-end tests, e2e-alone.xml of
those that measure (of sanitize: build-sanitize/meson-logs/).
END
}

arguments=() suites=() filter="" list=no whole=no slowest="" base="" within=""
rotation=$(($(date +%s) / 86400)) # another one each day
while (($# > 0)); do
  case $1 in
  --suite | --filter | --rotation | --base | --slowest | --within)
    (($# >= 2)) || misused "$1 needs a value; see --help"
    case $1 in
    --suite) suites+=("$2") ;;
    --filter) filter=$2 ;;
    --base) base=$2 ;;
    *)
      [[ $2 =~ ^[0-9]{1,9}$ ]] || misused "$1 needs a number, not: $2"
      number=$((10#$2))
      case $1 in
      --rotation) rotation=$number ;;
      --slowest) slowest=$number ;;
      --within) within=$number ;;
      esac
      ;;
    esac
    shift
    ;;
  --sanitize) suites+=(sanitize) ;;
  --all)
    suites+=(unit sim tidy e2e lint sanitize)
    whole=yes
    ;;
  --list) list=yes ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    misused "unknown option: $1"
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
  *) misused "there is no suite $suite; see --help" ;;
  esac
  arguments+=(--suite "$suite")
done
has() { [[ " ${suites[*]} " == *" $1 "* ]]; }
if [ $whole = yes ]; then arguments+=(--all); fi
if [ -n "$base" ]; then arguments+=(--base "$base"); fi
if [ -n "$slowest" ]; then arguments+=(--slowest "$slowest"); fi
if [ -n "$within" ]; then arguments+=(--within "$within"); fi
marks=() # of end-to-end tests, as pytest selects them
if has e2e; then marks+=("not long"); fi
if has long; then marks+=("long"); fi

# Network namespaces and raw ports need root; the other suites need no privilege.
if ((${#marks[@]} > 0)) && [ "$list" = no ]; then
  elevate "end-to-end tests use network namespaces" "$here/run.sh" "${arguments[@]}" --filter "$filter" \
    --rotation "$rotation"
fi
run "$here/../deploy/setup.sh" --test-programs
build=$(readlink -f -- "$here/..")/build
sanitized=$build-sanitize
if [ "${suites[*]}" != sanitize ]; then run "$here/../deploy/build.sh"; fi
if has sanitize; then run "$here/../deploy/build.sh" --sanitize; fi

export PYTHONDONTWRITEBYTECODE=1 SATRELAY_BUILD=$build
# Otherwise Meson would make malloc() fill every block with a byte of its choice. That takes twice the time, and no two
# runs would be alike.
export MALLOC_PERTURB_=0
# For clang_tidy.py; if empty, it checks all files.
export SATRELAY_ROTATION=$rotation SATRELAY_BASE=$base
if [ $whole = yes ]; then SATRELAY_ROTATION=""; fi
pytest_options=(-c "$here/../pytest.ini" --rootdir "$here/..")
pytest=(/usr/bin/python3 -m pytest "${pytest_options[@]}" "$here/e2e")

# list_meson BUILD SUITE...: prints "SUITE NAME" for each test that the filter leaves. A suite without a test is an
# error: the build folder is wrong, and a run of no tests would pass.
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

# third: passes on lines of list_meson: the part of sim that is due, and all other suites.
third() {
  if [ $whole = yes ]; then cat; else awk -v turn="$rotation" '$1 != "sim" || n++ % 3 == turn % 3'; fi
}

# list_pytest MARK: the same for end-to-end tests.
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
  if has sanitize; then listed+=$(list_meson "$sanitized" unit sim | third | sed 's/^[^ ]*/sanitize/')$'\n'; fi
  grep -q . <<<"$listed" || die "no test matches"
  awk 'NF {printf "%-8s %s\n", $1, $2}' <<<"$listed"
  exit 0
fi

reports=()
# run_meson BUILD FACTOR LISTED [PART]: runs the tests that list_meson has listed. Meson's time limits are for an idle
# machine, so FACTOR multiplies them. Meson splits the wrapper's command line as a shell does, and names its logs after
# the program in it: tests-python3.
run_meson() {
  local folder=$1 names suite options=() base=tests${4-}
  local log=$1/meson-logs/$base-python3
  if [ -z "$3" ]; then return; fi
  mapfile -t names < <(cut -d' ' -f2 <<<"$3")
  while read -r suite; do options+=(--suite "$suite"); done < <(cut -d' ' -f1 <<<"$3" | sort -u)
  rm -f "$log".*
  local status=0
  run "${invoker[@]}" meson test -C "$folder" --no-rebuild --logbase "$base" --print-errorlogs \
    --wrapper "/usr/bin/python3 -SE \"$here/processor_time.py\"" --timeout-multiplier "$2" "${options[@]}" "${names[@]}" \
    </dev/null || status=$?
  [ -s "$log.json" ] || die "meson test ended with status $status and without $log.json"
  reports+=("$log.json")
}

# run_sanitized LISTED: the same with sanitizers, some at a time while there is time. At the end of each part a processor
# may wait for the other, so the parts are large. The first test rotates, so that a slow machine leaves out others on
# another day.
run_sanitized() {
  local -a lines
  local at=0 count first few=24
  if [ -z "$within" ]; then
    run_meson "$sanitized" 20 "$1"
    return
  fi
  mapfile -t lines < <(printf '%s' "$1")
  count=${#lines[@]}
  if ((count == 0)); then return; fi
  first=$((rotation * few % count))
  lines=("${lines[@]:first}" "${lines[@]:0:first}")
  while ((at < count && SECONDS < within * 60)); do
    run_meson "$sanitized" 20 "$(printf '%s\n' "${lines[@]:at:few}")" "-$at"
    at=$((at + few))
  done
  if ((at < count)); then
    warn "sanitize: $((count - at)) of $count programs are left out, as $within minutes have passed:" \
      "$(printf '%s\n' "${lines[@]:at}" | cut -d' ' -f2 | paste -sd' ')"
  fi
}

# run_pytest REPORT COMMAND...: runs the command, which writes REPORT.
run_pytest() {
  local status=0
  rm -f "$1"
  run "${@:2}" --filter "$filter" --verbose --tb=short </dev/null || status=$?
  # 1: tests failed, 5: no test was selected.
  ((status <= 1 || status == 5)) || die "pytest ended with status $status"
  ((status != 5)) || [ -n "$filter" ] || die "no end-to-end test was run for ${1##*/}"
  reports+=("$1")
}

started=$SECONDS
if { has lint || has sanitize; } && [ $whole = no ]; then
  say "lint and sanitize check a part: --rotation $rotation does so again, --all checks all"
fi
if ((${#own[@]} > 0)); then
  listed=$(list_meson "$build" "${own[@]}")
  run_meson "$build" 4 "$listed"
fi
logs=$build/meson-logs
if has e2e; then
  # Most tests wait for most of their time. Tests that measure come afterwards, one after another. With them run again
  # the tests that others have kept from being judged.
  run_pytest "$logs/e2e.xml" /usr/bin/python3 "$here/e2e/side_by_side.py" --jobs $((3 * $(nproc))) \
    --report "$logs/e2e.xml" -- "${pytest_options[@]}" -m "not long and not alone"
  run_pytest "$logs/e2e-alone.xml" "${pytest[@]}" --junit-xml="$logs/e2e-alone.xml" -m "not long" --alone "$logs/e2e.xml"
fi
if has long; then run_pytest "$logs/long.xml" "${pytest[@]}" --junit-xml="$logs/long.xml" -m long; fi
if has sanitize; then
  reports+=(--sanitized)
  listed=$(list_meson "$sanitized" unit sim)
  run_sanitized "$(third <<<"$listed")"
fi
say "took $((SECONDS - started)) s; logs: $logs"
if [ -n "$slowest" ]; then reports=(--slowest "$slowest" "${reports[@]}"); fi
exec /usr/bin/python3 "$here/summary.py" "${reports[@]}"
