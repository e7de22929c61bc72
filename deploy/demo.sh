#!/usr/bin/env bash
# Real files over an emulated satellite link, without satrelay and with it, on this one machine.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/demo.sh [options]

Downloads and uploads a file between two hosts of a lab of network namespaces
(client - gateway A - satellite link - gateway B - server), once directly and once relayed by
satrelay, checks every SHA-256 and ends with a table. Installs and builds what is missing.

  --rate 50Mbit       rate of the link, each direction
  --rtt 550ms         its round-trip time
  --loss 1            its loss, percent of frames
  --size 20MB         size of the file
  --driver af_packet  how gateways and link drive their ports: af_packet or af_xdp
  --security none     psk: the gateways encrypt what they send each other
  --runs LIST         only some runs, out of: relayed,direct,download,upload,cubic,bbr
  --json FILE         writes the results to FILE
  --keep              leaves the lab up, and says how to use it and how to take it down
  --panel             the same, with satpanel beside gateway A, on an address that is printed
  --down TAG          takes a lab down that --keep or --panel left up
  --help              this text

A direct run stops after 30 s and reports what arrived: the runs take two minutes. A first start takes
some minutes more, as it installs and compiles what it runs.
TEXT
}

for argument in "$@"; do
  if [ "$argument" = --help ] || [ "$argument" = -h ]; then
    usage
    exit 0
  fi
done

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/progress.sh"
export PYTHONDONTWRITEBYTECODE=1

# Reports a typing mistake before the password prompt and the build.
check_arguments() { python3 "$here/lab/demo.py" --check-arguments "$@"; }
if command -v python3 >/dev/null; then check_arguments "$@"; fi
elevate "the demo uses network namespaces" "$here/demo.sh" "$@"

case " $* " in
*" --down "*) ;; # needs nothing new
*)
  run "$here/setup.sh"
  check_arguments "$@"
  case " $* " in
  *" --panel "*) run "$here/build.sh" --lab --panel ;;
  *) run "$here/build.sh" --lab ;;
  esac
  ;;
esac
exec python3 "$here/lab/demo.py" "$@"
