#!/usr/bin/env python3
"""Each program says its name, the version of the project, and the commit if it is built from a clone.

Usage: programs.py VERSION PROGRAM...
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]


def complaint(program: pathlib.Path, version: str) -> str:
    """What is wrong with its answer; nothing if it is right."""
    # Commits are only compared by their form: one may have been made since the build.
    commit = r" \([0-9a-f]{8,40}(, changed)?\)" if (ROOT / ".git").exists() else ""
    wanted = re.escape(f"{program.name} {version}") + commit + r"\n"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if done.returncode == 0 and re.fullmatch(wanted, done.stdout) and not done.stderr:
        return ""
    return f"{program.name} --version ends with status {done.returncode} and prints: {done.stdout}{done.stderr}"


def main() -> int:
    version, *programs = sys.argv[1:]
    found = [complaint(pathlib.Path(program), version) for program in programs]
    print("\n".join(filter(None, found)) or f"{len(programs)} programs")
    return 1 if any(found) or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
