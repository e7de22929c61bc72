"""Reads what the programs say about themselves: --help of each command, --version, and --keys.

CLI11 writes the help. Text that this module does not understand is an error, so that no option is left out silently.
"""

import dataclasses
import os
import pathlib
import re
import subprocess

# The programs and their sections of the manual. All but the measuring programs are for the administrator.
PROGRAMS = {
    "satrelayd": 8,
    "satrelay-supervise": 8,
    "satrelayctl": 8,
    "satpanel": 8,
    "satlink": 1,
    "satperf": 1,
    "satlab": 1,
}

# CLI11 begins the texts of a list in this column.
_COLUMN = 30
_VALUE = re.compile(
    r"(?P<type>(?:[^\s:=]|:(?!\{|\[|\w+ in |POSITIVE|value in ))*)"  # "unix:PATH" is a type
    r"(:(\{(?P<words>[^}]*)\}|(?:\w+ in )?\[(?P<least>\S+) - (?P<most>\S+)\]|(?P<positive>POSITIVE)"
    r"|value in \{(?P<pairs>[^}]*)\} OR \{[^}]*\}))?"
    r"(=(?P<default>.*)| \[(?P<bracketed>.*)\])?"  # CLI11 2.1, and from 2.4 on
)
_NUMBERS = ("UINT", "INT", "FLOAT")


class Unreadable(Exception):
    """A program's text is not as expected."""


@dataclasses.dataclass
class Argument:
    """An option, or the word in a place (a positional)."""

    names: list[str]  # ["-c", "--config"]; ["LINK"]
    help: str
    value: str = ""  # "FILE", "lan|wan"; "" for a flag, and for a positional without further words
    choices: list[str] = dataclasses.field(default_factory=list)
    default: str = ""
    bounds: str = ""
    optional_value: str = ""  # if the value may be left out, the text for that: "[=SECONDS]", "[PATH]"
    repeats: bool = False
    count: int = 1
    required: bool = False
    needs: list[str] = dataclasses.field(default_factory=list)
    excludes: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_option(self) -> bool:
        return self.names[0].startswith("-")


@dataclasses.dataclass
class Command:
    path: list[str]  # ["satpanel", "user", "add"]
    about: str
    usage: str
    arguments: list[Argument]
    groups: list[tuple[str, list["Command"]]]  # groups of subcommands with their titles
    footer: str

    @property
    def options(self) -> list[Argument]:
        return [each for each in self.arguments if each.is_option]

    @property
    def positionals(self) -> list[Argument]:
        return [each for each in self.arguments if not each.is_option]

    @property
    def subcommands(self) -> list["Command"]:
        return [each for _, commands in self.groups for each in commands]

    def walk(self):
        yield self
        for each in self.subcommands:
            yield from each.walk()


@dataclasses.dataclass
class Key:
    path: str
    values: str
    help: str


def _take_suffix(label: str, word: str) -> tuple[str, list[str]]:
    """Takes "Excludes: --a --b" from the end of a label."""
    before, found, after = label.partition(f" {word}: ")
    return before, after.split() if found else []


def _argument(label: str, text: str) -> Argument:
    label, excludes = _take_suffix(label, "Excludes")
    label, needs = _take_suffix(label, "Needs")
    name, _, rest = label.partition(" ")
    # CLI11 shows the value of a flag that is given without one, as in "--watch{2}".
    name = re.sub(r"\{[^}]*\}", "", name)
    argument = Argument(names=name.split(","), help=text, needs=needs, excludes=excludes)
    rest = " " + rest.strip()
    if rest.endswith(" REQUIRED"):
        argument.required, rest = True, rest.removesuffix(" REQUIRED")
    if times := re.search(r" x (\d+)$", rest):
        argument.count, rest = int(times[1]), rest[: times.start()]
    if rest.endswith(" ..."):
        argument.repeats, rest = True, rest.removesuffix(" ...")
    _read_value(argument, rest.strip())
    return argument


def _read_value(argument: Argument, text: str) -> None:
    if text.startswith("[") and text.endswith("]"):
        argument.optional_value = text
        argument.value = text.strip("[=]")
        return
    read = _VALUE.fullmatch(text)
    if read is None:
        raise Unreadable(f"{argument.names[0]}: {text!r}")
    argument.default = read["default"] or read["bracketed"] or ""
    argument.value = read["type"]
    if read["words"]:
        argument.choices = read["words"].split(",")
        argument.value = "|".join(argument.choices)
    elif argument.value in _NUMBERS:
        argument.value = "N"
    if "|" in argument.value:
        argument.choices = [each for each in argument.value.split("|") if each.islower()]
    if not argument.is_option and argument.value in ("TEXT", "N"):
        argument.value = ""  # its name says more
    if read["least"]:
        argument.bounds = f"{read['least']} to {read['most']}"
    elif read["positive"]:
        argument.bounds = "more than 0"


def _entries(lines: list[str]) -> list[tuple[str, str]] | None:
    """Names and texts of the lines of a list; None if the lines are no such list."""
    margin = " " * _COLUMN
    found: list[tuple[str, str]] = []
    for line, after in zip(lines, [*lines[1:], ""]):
        if line.startswith(margin) and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
            continue
        if not re.match(r"  \S", line):
            return None
        label, text = line[2:_COLUMN], line[_COLUMN:]
        # A long label has its text in the next line, and may have a blank in the column before the text.
        if not label.endswith(" " if not after.startswith(margin) else "  "):
            label, text = line[2:], ""
        found.append((label.strip(), text.strip()))
    return found if found and all(text for _, text in found) else None


def _without_controls(text: str) -> str:
    """CLI11 writes the numbers of an enumeration as characters."""
    return re.sub(r"[\x00-\x09\x0b-\x1f]", "", text)


def parse(path: list[str], text: str) -> tuple[Command, list[tuple[str, list[tuple[str, str]]]]]:
    """The command, and the groups of its subcommands as lists of names and texts."""
    head, found, body = _without_controls(text).partition("Usage: ")
    if not found:
        raise Unreadable(f"{' '.join(path)} --help: there is no Usage")
    usage, _, body = body.partition("\n")
    command = Command(path, " ".join(head.split()), usage.strip(), [], [], "")
    groups = []
    blocks = re.split(r"\n\n+", body.strip("\n"))  # a group without shown options leaves an empty line
    while blocks:
        title, *lines = blocks[0].split("\n")
        entries = _entries(lines) if re.fullmatch(r"\S.*:", title) else None
        if entries is None:
            break
        if title == "Positionals:" or entries[0][0].startswith("-"):
            command.arguments += [_argument(*entry) for entry in entries]
        else:
            groups.append((title.removesuffix(":"), entries))
        blocks.pop(0)
    command.footer = "\n\n".join(blocks).strip("\n")
    if "SUBCOMMAND" in command.usage and not groups:
        raise Unreadable(f"{' '.join(path)} --help: there is no list of subcommands")
    return command, groups


class Programs:
    """The programs of a build folder, or of a folder where they are installed."""

    def __init__(self, folder: pathlib.Path):
        self._found = {name: self._find(folder, name) for name in PROGRAMS}

    @staticmethod
    def _find(folder: pathlib.Path, name: str) -> pathlib.Path:
        inner = name.removeprefix("satrelay-")
        for path in (folder / name, folder / "bin" / name, folder / "relay" / inner / name):
            if path.is_file() and os.access(path, os.X_OK):
                return path.resolve()
        raise Unreadable(f"{folder} has no program {name}; build all programs first (ninja programs)")

    def say(self, name: str, *words: str) -> str:
        path = self._found[name]
        done = subprocess.run(
            [path, *words], capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0 or done.stderr:
            raise Unreadable(f"{path} {' '.join(words)}: status {done.returncode}: {done.stderr.strip()}")
        # A program without a name of its own calls itself as it was called.
        return done.stdout.replace(str(path), name)

    def command(self, name: str, *words: str) -> Command:
        command, groups = parse([name, *words], self.say(name, *words, "--help"))
        for title, entries in groups:
            command.groups.append((title, [self.command(name, *words, entry) for entry, _ in entries]))
        return command

    def version(self, name: str) -> str:
        """The version without the commit, so that a commit which changes no text changes no page."""
        read = re.fullmatch(rf"{re.escape(name)} (\S+)(?: \(.*\))?\n", self.say(name, "--version"))
        if read is None:
            raise Unreadable(f"{name} --version")
        return read[1]

    def keys(self, name: str) -> list[Key]:
        lines = self.say(name, "--keys").splitlines()
        keys = []
        for head, text in zip(lines[::2], lines[1::2], strict=True):
            path, found, values = head.partition(": ")
            if not found or not text.startswith("    "):
                raise Unreadable(f"{name} --keys: {head!r}, {text!r}")
            keys.append(Key(path, values, text.strip()))
        return keys
