#!/usr/bin/env bash
# Sets up what is missing, builds, and runs every test. The last line: N passed, N failed, N skipped
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/../deploy/progress.sh"

usage() {
  cat <<'END'
usage: tests/run.sh [--suite NAME]... [--filter TEXT] [--list] [--sanitize] [--help]

  --suite NAME   only this suite: unit, sim, tidy or e2e; may be repeated
  --filter TEXT  only tests whose name contains TEXT
  --list         print the tests instead of running them
  --sanitize     build with AddressSanitizer and UBSan, and run unit and sim

Logs are kept in build/test-logs/ (build-sanitize/test-logs/).
END
}

arguments=() suites=() build_options=() build=build root=needed
while (($# > 0)); do
  case $1 in
  --suite | --filter)
    (($# >= 2)) || die "$1 needs a value; see --help"
    arguments+=("$1" "$2")
    if [ "$1" = --suite ]; then suites+=("$2"); fi
    shift
    ;;
  --list)
    arguments+=(--list)
    root=useless
    ;;
  --sanitize)
    arguments+=(--sanitize)
    root=useless
    build_options+=(--sanitize)
    build=build-sanitize
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

# Network namespaces and raw ports are root's; the other suites need no privilege.
if ((${#suites[@]} > 0)) && [[ " ${suites[*]} " != *" e2e "* ]]; then root=useless; fi
if [ "$root" = needed ]; then
  elevate "end-to-end tests use network namespaces" "$here/run.sh" "${arguments[@]}"
fi
"$here/../deploy/setup.sh" --test-programs
"$here/../deploy/build.sh" "${build_options[@]}"
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/runner/main.py" --build "$here/../$build" "${arguments[@]}"
