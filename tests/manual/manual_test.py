#!/usr/bin/env python3
"""The manual pages have all that the programs say, readers accept them, and bash completes from the scripts.

Usage: manual_test.py BUILD PAGE-OR-SCRIPT... The pages and scripts are those that the build has made.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKERS = ROOT / "deploy" / "man"
BUILD = pathlib.Path()
MADE: dict[str, str] = {}
PROGRAMS = {
    "satrelayd": "satrelayd/satrelayd",
    "satrelay-supervise": "supervise/satrelay-supervise",
    "satrelayctl": "satrelayctl/satrelayctl",
    "satpanel": "satpanel/satpanel",
    "satlink": "satlink/satlink",
    "satperf": "satperf/satperf",
    "satlab": "satlab/satlab",
}
FILES = {"satrelay.yaml.5": "satrelayd", "satlink.yaml.5": "satlink"}
PAGE = re.compile(r".*\.[1-8]")
# Each reader prints its warnings; only one that is silent accepts the page.
READERS = {
    "man": ["man", "--warnings", "--local-file"],
    "groff": ["groff", "-man", "-ww", "-Tutf8"],
    "mandoc": ["mandoc", "-T", "lint", "-W", "warning"],
}


def say(name: str, *words: str) -> str:
    program = BUILD / "relay" / PROGRAMS[name]
    return subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=20).stdout


def make(maker: str, folder: str, **environment: str) -> dict[str, str]:
    subprocess.run(
        [sys.executable, "-B", MAKERS / maker, "--programs", BUILD, "--output", folder],
        check=True, timeout=60, env={**os.environ, **environment},
    )
    return {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).iterdir()}


def plain(page: str) -> str:
    """The page without fonts and escapes."""
    page = re.sub(r"\\f[BIR]|\\&", "", page)
    escapes = {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\(ti": "~", r"\(ha": "^", r"\(ga": "`"}
    for escape, character in escapes.items():
        page = page.replace(escape, character)
    return page.replace(r"\e", "\\")


def options_of(text: str) -> set[str]:
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE))


def commands_of(text: str) -> list[str]:
    """The commands in the lists of a --help: each list has a title, and its names are single words."""
    found = []
    title = ""
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            title = line
        elif title not in ("", "Positionals:", "Options:", "Examples:"):
            found += re.findall(r"^  ([a-z][a-z-]*) {2,}\S", line)
    return found


def missing(page: str, name: str, words: tuple[str, ...] = ()) -> list[str]:
    """Options and commands that --help has, and the page has not at their place."""
    text = say(name, *words, "--help")
    command = " ".join([name, *words])
    nested = commands_of(text)
    place = page.partition("\n.SH \"OPTIONS\"")[2].partition("\n.SH")[0]
    if words:
        place = page.partition(f"\n.TP\n{command} ")[2].partition("\n.RE")[0]
    found = []
    # A command with commands of its own has only --help, which the page names once for all.
    for option in options_of(text) - ({"--help"} if words else set()):
        if not re.search(rf"^\.T[PQ]\n(?:-\w[^,\n]*, )?{option}(?![\w-])", place, re.MULTILINE):
            found.append(f"{command} {option}")
    for each in nested:
        found += missing(page, name, (*words, each))
    if words and not nested and not place:
        found.append(command)
    return found


def keys_of(name: str) -> list[str]:
    return re.findall(r"^(\S+): ", say(name, "--keys"), re.MULTILINE)


class Pages(unittest.TestCase):
    def page(self, name: str) -> str:
        (found,) = (each for each in MADE if re.fullmatch(rf"{name}\.[18]", each))
        return plain(MADE[found])

    def test_readers_accept_them(self):
        for reader, command in READERS.items():
            self.assertIsNotNone(
                shutil.which(command[0]), f"{reader} is missing, so it has checked no page; "
                "run deploy/setup.sh --test-programs")
        with tempfile.TemporaryDirectory() as folder:
            pages = make("make_pages.py", folder, SOURCE_DATE_EPOCH="0")
            self.assertEqual(sorted(pages), sorted(each for each in MADE if PAGE.fullmatch(each)))
            broken = os.path.join(folder, "broken.1")
            with open(broken, "w", encoding="utf-8") as file:
                file.write('.TH broken 1 "1970-01-01"\n.SH NAME\nbroken \\- a page\n.XY\n\\fZtext\n')
            for reader, command in READERS.items():
                self.assertNotEqual(self.complaints(command, broken), "", f"{reader} takes everything")
                for name in pages:
                    self.assertEqual(self.complaints(command, os.path.join(folder, name)), "", f"{reader} {name}")

    @staticmethod
    def complaints(command: list[str], path: str) -> str:
        done = subprocess.run(
            [*command, path], capture_output=True, text=True, check=False, timeout=20,
            env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"},
        )
        text = done.stdout if command[0] == "mandoc" else ""
        return text + done.stderr + ("" if done.returncode == 0 else f"status {done.returncode}")

    def test_are_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            pages = make("make_pages.py", first, SOURCE_DATE_EPOCH="86400")
            self.assertEqual(pages, make("make_pages.py", second, SOURCE_DATE_EPOCH="86400"))
        for page in pages.values():
            self.assertIn('"1970-01-02"', page.splitlines()[1])

    def test_have_all_options_and_commands(self):
        for name in PROGRAMS:
            self.assertEqual(missing(self.page(name), name), [])

    def test_an_option_that_is_left_out_is_noticed(self):
        page = self.page("satperf")
        self.assertEqual(missing(page.replace("--crc-interval", "--interval"), "satperf"),
                         ["satperf client --crc-interval"])
        self.assertIn("satpanel user list",
                      missing(self.page("satpanel").replace("satpanel user list", "x"), "satpanel"))
        self.assertEqual(sorted(commands_of(say("satperf", "--help"))), ["client", "server"])

    def test_have_all_keys(self):
        for file, program in FILES.items():
            page = plain(MADE[file])
            keys = keys_of(program)
            self.assertGreater(len(keys), 50)
            heads = set(re.findall(r"^\.T[PQ]\n(\S+)$", page, re.MULTILINE))
            self.assertEqual(set(keys) - heads, set())

    def test_have_their_sections(self):
        sections = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO")
        for name in PROGRAMS:
            for section in sections:
                self.assertIn(f'\n.SH "{section}"\n', self.page(name), name)

    def test_name_only_pages_that_exist(self):
        for name, page in MADE.items():
            if PAGE.fullmatch(name):
                for other, section in re.findall(r"\b(sat[a-z.-]+)\((\d)\)", plain(page)):
                    self.assertIn(f"{other}.{section}", MADE, name)


# Words before TAB with the words that bash then offers: all of them, and some that it must not offer.
COMPLETED = [
    ("satpanel", "", {"user", "token"}, {"add"}),
    ("satpanel", "--tr", {"--traps"}, {"--listen"}),
    ("satpanel", "--traps ", {"alarms", "events"}, set()),
    ("satpanel", "user ", {"add", "remove", "list"}, {"token"}),
    ("satpanel", "user add --", {"--users", "--role"}, {"--traps"}),
    ("satpanel", "user add --users users.json --role ", {"viewer", "operator"}, {"add"}),
    ("satpanel", "user add --role = o", {"operator"}, {"viewer"}),
    ("satpanel", "user add --role = ", {"operator", "viewer"}, set()),
    ("satrelay-supervise", "", {"run", "join", "part"}, set()),
    ("satrelay-supervise", "run --f", {"--force"}, {"--config"}),
    ("satrelay-supervise", "join -c ga", {"gateway.yaml"}, {"run"}),
    ("satperf", "client --controller ", {"fixed_rate", "hpfp", "find"}, set()),
    ("satperf", "client --overhead ", {"ip", "ethernet"}, {"N"}),
    ("satperf", "client --json --output ga", {"gateway.yaml"}, set()),
    ("satperf", "server --on", {"--once"}, {"--output"}),
    ("satlab", "paper ", {"hpfp", "winds"}, set()),
    ("satlab", "paper hpfp --controller ", {"tps"}, {"winds"}),
    ("satlab", "soak --profile hostile", {"hostile-peer", "hostile-lan"}, {"mixed"}),
    ("satlab", "run ga", {"gateway.yaml"}, {"run"}),
    ("satlink", "--c", {"--config", "--check", "--control"}, {"--keys"}),
    ("satlink", "-c ga", {"gateway.yaml"}, set()),
    ("satlink", "--keys both.d", {"both.delay"}, {"both.rate"}),
    ("satlink", "--keys ", {"both.delay", "changes[].at"}, {"gateway.yaml"}),
]
OFFER = """
source "$1"
program=$2
shift 2
COMP_WORDS=("$program" "$@")
COMP_CWORD=$#
function=$(complete -p "$program" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function" "$program" "${!#}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(unittest.TestCase):
    def test_bash_offers_the_words(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in PROGRAMS:
                pathlib.Path(folder, f"script-{name}").write_text(MADE[name], encoding="utf-8")
            pathlib.Path(folder, "gateway.yaml").touch()
            for program, line, wanted, unwanted in COMPLETED:
                done = subprocess.run(
                    ["bash", "--norc", "--noprofile", "-c", OFFER, "-", f"./script-{program}", program,
                     *line.split(" ")],
                    cwd=folder, capture_output=True, text=True, check=False, timeout=20,
                )
                offered = set(done.stdout.split())
                self.assertEqual(done.stderr, "", line)
                self.assertLessEqual(wanted, offered, f"{program} {line}")
                self.assertFalse(unwanted & offered, f"{program} {line}: {offered}")

    def test_all_options_are_offered(self):
        def of(name: str, words: tuple[str, ...]) -> None:
            text = say(name, *words, "--help")
            row = re.search(rf"^    '{' '.join(words)} options'\) (.*) ;;$", MADE[name], re.MULTILINE)
            self.assertIsNotNone(row, f"{name} {words}")
            self.assertLessEqual(options_of(text), set(row[1].split()))
            for each in commands_of(text):
                of(name, (*words, each))

        for name in PROGRAMS.keys() - {"satrelayctl", "satrelayd"}:
            of(name, ())

    def test_satrelayctl_prints_its_own(self):
        for name in ("satrelayctl", "satrelayd"):
            self.assertEqual(MADE[name], say("satrelayctl", "completion", "bash"))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1])
    for made in sys.argv[2:]:
        MADE[pathlib.Path(made).name] = pathlib.Path(made).read_text(encoding="utf-8")
    unittest.main(argv=sys.argv[:1], verbosity=1)
