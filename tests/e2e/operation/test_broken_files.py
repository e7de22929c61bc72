"""`satrelayd --check` tells all mistakes of a file, each with its line, its path and a cure.

`python3 tests/e2e/operation/test_broken_files.py --table` prints the broken files and the answers as a table.
"""

import os
import re
import subprocess
import sys
import tempfile

import pytest

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from broken_files import GOOD, KEY, ROWS, Row, make_files
from harness import check, needs_root, programs

PLACED = re.compile(r"^(?:satrelayd: error: )?gateway\.yaml(?::(\d+):\d+)?: (.*)$")
OF_MACHINE = re.compile(r"^warning: (port \w+|[a-z.]+): (.*)$")


def checked(row: Row, folder: str) -> tuple[int, list[str]]:
    """The status of the check, and the lines that it prints."""
    with open(os.path.join(folder, "gateway.yaml"), "wb") as file:
        file.write(row.octets(row.text.replace("FOLDER", folder).encode()))
    argv = [programs().satrelayd, "-c", "gateway.yaml", "--check"]
    if row.network:
        script = " && ".join((*row.network, 'exec "$@"'))
        argv = ["unshare", "--net", "sh", "-c", script, "sh", *argv]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, (done.stderr + done.stdout).splitlines()


def told_in(lines: list[str]) -> list[tuple[int, str]]:
    """The line and the rest of each message about the file, and of each warning about the machine."""
    told = []
    for text in lines:
        if placed := PLACED.match(text):
            told.append((int(placed[1] or 0), placed[2]))
        elif of_machine := OF_MACHINE.match(text):
            told.append((0, f"{of_machine[1]}: {of_machine[2]}"))
    return [each for each in told if each[1] != "valid"]


def check_row(row: Row, folder: str) -> list[tuple[int, str]]:
    status, lines = checked(row, folder)
    shown = f"{row.name}: status {status}\n" + "\n".join(lines)
    check(status == row.status, shown)
    told = told_in(lines)
    if status == 0:
        # The ports are not on this machine, which is told beside the fault of the row.
        told = [each for each in told if any(each[1].startswith(path + ": ") for _, path, _ in row.told)]
    check(len(told) == len(row.told), shown)
    for (line, path, words), (told_line, message) in zip(row.told, told):
        check(line == told_line and words in message, f"{line}: {path}: ... {words} is not in\n{shown}")
        check(message.startswith(path + ": " if path else ""), f"{path} is not named in\n{shown}")
    count = [text for text in lines if text.endswith(" mistakes")]
    check(count == ([f"satrelayd: error: {len(told)} mistakes"] if len(told) > 1 else []), shown)
    check(KEY not in shown and KEY[:16] not in shown, "the secret is shown")
    return told


def test_each_mistake_is_told_with_its_place_and_a_cure() -> None:
    check(len(ROWS) >= 60, "fewer than 60 files")
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        good = Row("good", GOOD, [], status=0)
        check(check_row(good, folder) == [], "the good file is not good")
        for row in ROWS:
            if not row.network:
                check_row(row, folder)


@needs_root
@pytest.mark.parametrize("row", [row for row in ROWS if row.network], ids=lambda row: row.name)
def test_a_fault_of_the_machine_is_told(row: Row) -> None:
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        check_row(row, folder)


def print_table() -> None:
    print("| file | line | told |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for row in ROWS:
            if row.network and os.geteuid() != 0:
                continue
            for line, message in check_row(row, folder):
                text = message.replace(folder, "FOLDER").replace("|", "\\|")
                print(f"| {row.name} | {line or ''} | {text} |")


if __name__ == "__main__":
    check(sys.argv[1:] == ["--table"], __doc__)
    print_table()
