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

Logs are kept in build/test-logs/ (of sanitize alone: build-sanitize/test-logs/).
END
}

arguments=() suites=() root=needed
while (($# > 0)); do
  case $1 in
  --suite | --filter)
    (($# >= 2)) || die "$1 needs a value; see --help"
    if [ "$1" = --suite ]; then suites+=("$2"); else arguments+=("$1" "$2"); fi
    shift
    ;;
  --sanitize) suites+=(sanitize) ;;
  --all) suites+=(unit sim tidy e2e lint sanitize) ;;
  --list)
    arguments+=(--list)
    root=useless
    ;;
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
for suite in "${suites[@]}"; do arguments+=(--suite "$suite"); done

has() { [[ " ${suites[*]} " == *" $1 "* ]]; }

# Network namespaces and raw ports are root's; the other suites need no privilege.
if ! has e2e; then root=useless; fi
if [ "$root" = needed ]; then
  elevate "end-to-end tests use network namespaces" "$here/run.sh" "${arguments[@]}"
fi
"$here/../deploy/setup.sh" --test-programs
builds=()
if [ "${suites[*]}" != sanitize ]; then
  "$here/../deploy/build.sh"
  builds+=(--build "$here/../build")
fi
if has sanitize; then
  "$here/../deploy/build.sh" --sanitize
  builds+=(--sanitized-build "$here/../build-sanitize")
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/runner/main.py" "${builds[@]}" "${arguments[@]}"
