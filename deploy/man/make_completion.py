#!/usr/bin/env python3
"""Makes the completions of all programs for bash.

Usage: make_completion.py --programs FOLDER --output FOLDER. FOLDER is a build folder, or a folder with the programs.

satrelayctl prints its own script, which also completes satrelayd: it asks the running gateway for names. The scripts of
the other programs are made from --help. They start no program.
"""

import argparse
import pathlib
import re
import shlex
import sys

from help_text import PROGRAMS, Argument, Command, Programs, Unreadable

HAVE_OWN = ("satrelayctl", "satrelayd")
FILES = re.compile(r"FILE|PATH|DIR|SOCKET")

TEMPLATE = r"""# Completion of @PROGRAM@ for bash, made from its --help by deploy/man/make_completion.py.

# Prints what may follow a command ($1): its commands, its options, the value of an option, the word in a place. Fails
# for an option that takes no value.
_@NAME@_table() {
  case "$1 $2" in
@TABLE@    *) return 1 ;;
  esac
}

_@NAME@() {
  local current=${COMP_WORDS[COMP_CWORD]} command='' place=1 expects='' word candidates
  local -a before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  # bash divides --option=value at '='.
  if [[ $current == '=' ]]; then current=''; fi
  for word in "${before[@]}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ $word == -* ]]; then
      expects=''
      if _@NAME@_table "$command" "$word" >/dev/null; then expects=$word; fi
    elif [[ -n $expects ]]; then
      expects=''
    elif [[ " $(_@NAME@_table "$command" commands | tr '\n' ' ')" == *" $word "* ]]; then
      command="${command:+$command }$word"
    else
      place=$((place + 1))
    fi
  done
  if [[ $current == -* ]]; then
    candidates=$(_@NAME@_table "$command" options)
  elif [[ -n $expects ]]; then
    candidates=$(_@NAME@_table "$command" "$expects")
  else
    candidates=$(_@NAME@_table "$command" commands; _@NAME@_table "$command" "$place")
  fi
  case $candidates in
    *'<gateways>'* | *'<files>'*)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(
        compgen -f -- "$current"
        if [[ -z $current && $candidates == *'<gateways>'* ]]; then compgen -G '/etc/satrelay/*.yaml'; fi
      )
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current") ;;
  esac
}
complete -F _@NAME@ @PROGRAM@
"""


def printing(words: list[str]) -> str:
    return "printf '%s\\n' " + " ".join(map(shlex.quote, words))


def action(argument: Argument) -> str:
    """The command that prints the values of an argument; "" if only the user knows them."""
    if argument.choices:
        return printing(argument.choices)
    is_file = FILES.search(argument.value if argument.is_option else argument.names[0])
    # Some texts name the kind of the value instead.
    if not is_file and not re.search(r"\b(file|folder|socket|scenario)\b", argument.help.lower()):
        return ""
    return "echo '<gateways>'" if "gateway.yaml" in argument.help else "echo '<files>'"


def rows(command: Command):
    """Patterns of the table with their actions."""
    path = " ".join(command.path[1:])

    def row(key: str, text: str) -> tuple[str, str]:
        return shlex.quote(f"{path} {key}"), text

    if command.subcommands:
        yield row("commands", printing([each.path[-1] for each in command.subcommands]))
    yield row("options", printing([option.names[-1] for option in command.options]))
    for option in command.options:
        for name in option.names:
            if option.value:
                yield row(name, action(option))
    for place, positional in enumerate(command.positionals, 1):
        if action(positional):
            yield row(str(place), action(positional))
    for each in command.subcommands:
        yield from rows(each)


def script(command: Command) -> str:
    program = command.path[0]
    table = "".join(f"    {pattern}) {text}{' ' if text else ''};;\n" for pattern, text in rows(command))
    return (
        TEMPLATE.replace("@TABLE@", table).replace("@PROGRAM@", program).replace("@NAME@", program.replace("-", "_"))
    )


def make_completions(programs: Programs) -> dict[str, str]:
    """The scripts by the names of their programs, as bash-completion looks for them."""
    own = programs.say("satrelayctl", "completion", "bash")
    scripts = {}
    for name in PROGRAMS:
        command = programs.command(name)
        for option in command.options:
            if option.names == ["--keys"]:
                option.choices = [key.path for key in programs.keys(name)]
        scripts[name] = own if name in HAVE_OWN else script(command)
    return scripts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the programs, or of a build")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder of the scripts")
    arguments = parser.parse_args()
    try:
        scripts = make_completions(Programs(arguments.programs))
    except Unreadable as error:
        print(f"make_completion.py: {error}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in scripts.items():
        (arguments.output / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
