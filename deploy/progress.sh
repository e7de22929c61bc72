# Sourced by the set-up, build and test scripts. It shows progress, becomes root or the user that typed sudo, and asks a
# build folder for its options.
# shellcheck shell=bash

# A caller without any environment has no PATH. Bash has a default then, and does not pass it on.
export PATH

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
  warn "$*"
  exit 1
}
# The command line is wrong: the same exit status as of the programs (docs/guide.md, "Exit statuses").
misused() {
  warn "$*"
  exit 2
}

# Descriptor 9 is the lock of a script, and no command inherits it: a daemon of a compiler cache would keep it for ever.
#
# Bash runs a trap only between two commands. A command that takes long therefore runs in the background, and a signal
# ends the command before the script. The command must be a program and no function: a signal to the shell that runs a
# function does not reach the program in it.
running="" signal=TERM # of the command in the background, and the signal that ends it
temporary=()           # files that an interrupted script removes
interrupted() {
  trap '' HUP INT TERM
  warn "${0##*/}: interrupted; its commands end first" || true # the terminal may be closed
  if [ -n "$running" ]; then
    kill -"$signal" "$running" 2>/dev/null || true
    wait "$running" || true
  fi
  rm -rf -- "${temporary[@]}"
  exit "$1"
}
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM

# run COMMAND...: returns the exit status of the command.
run() {
  local status=0
  "$@" <&0 9<&- &
  running=$!
  wait "$running" || status=$?
  running=""
  return "$status"
}

# run_with_progress LOG COMMAND...: runs the command with its output in LOG. Shows the latest line every 15 seconds, and
# the end of the log if the command fails.
run_with_progress() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null 9<&- &
  running=$!
  local pid=$running started=$SECONDS shown=$SECONDS status=0
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - shown >= 15)); then
      shown=$SECONDS
      say "  ... $((SECONDS - started)) s: $(tail -c 400 "$log" | tr '\r' '\n' | grep -v '^ *$' |
        tail -n 1 | cut -c 1-100)"
    fi
  done
  wait "$pid" || status=$?
  running=""
  if ((status != 0)); then
    warn "failed with status $status: $*"
    tail -n 30 "$log" | sed 's/^/  | /' >&2
    warn "the whole log: $log"
    if ((${#invoker[@]} > 0)); then chown "$SUDO_UID" "$log"; fi
    tell_of_full_disks "$log"
  fi
  return "$status"
}

# tell_of_full_disks LOG: if a disk is full, shows the free space of those that builds write to. A log on a full disk is
# empty, so its disk is looked at, too.
tell_of_full_disks() {
  if grep -q 'No space left on device' "$1" || (($(df --output=avail -k "$1" | tail -n 1) < 64)); then
    warn "A disk is full. Make room there, or let TMPDIR name a folder on another disk; free are:"
    df -h --output=target,avail "$1" . ./build*/ 2>/dev/null | uniq >&2
  fi
}

# elevate REASON SCRIPT ARGUMENTS...: becomes root through sudo, or says plainly why that fails.
elevate() {
  local reason=$1
  shift
  if ((EUID == 0)); then return 0; fi
  if ! command -v sudo >/dev/null; then
    die "This needs root: $reason. There is no sudo here; run it as root: su -c '$*'"
  fi
  if ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
    die "This needs root: $reason. sudo wants a password and there is no terminal to ask for it; run it as root."
  fi
  say "becoming root through sudo: $reason"
  exec sudo --preserve-env=SATRELAY_HUGEPAGES -- "$@"
}

# as_invoker COMMAND...: runs the command as the user that typed sudo, so that no file of root's is left in that user's
# checkout. If root itself typed the command, or the checkout is not that user's, it runs as root. `invoker` is the prefix
# for that.
invoker=()
if ((EUID == 0)) && [ -n "${SUDO_UID:-}" ] && [ "$SUDO_UID" != 0 ]; then
  invoker=(setpriv --reuid "$SUDO_UID" --regid "$SUDO_GID" --init-groups --
    env HOME="$(getent passwd "$SUDO_UID" | cut -d: -f6)")
  if ! "${invoker[@]}" test -w "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"; then invoker=(); fi
fi
as_invoker() { "${invoker[@]}" "$@"; }

# meson_option BUILD NAME: prints the value of an option of a build folder by Meson; true or false for a switch. Prints
# nothing if Meson does not know the folder.
meson_option() {
  as_invoker meson introspect --buildoptions "$1" 2>/dev/null | python3 -c '
import json, sys
try:
    found = {option["name"]: option["value"] for option in json.load(sys.stdin)}
except ValueError:
    sys.exit()
print(json.dumps(found.get(sys.argv[1])).strip("\""))' "$2" || true
}
