#!/usr/bin/env python3
"""Checks that systemd accepts the unit, and how much it leaves open: `service.py UNIT PROGRAM...`.

Built programs replace the installed ones.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP_STATUS = 77
# The exposure level of `systemd-analyze security`, times ten.
MOST_EXPOSED = 30


def complaints(name: str, unit: str) -> str:
    with tempfile.TemporaryDirectory(prefix="satrelay-service-") as folder:
        path = pathlib.Path(folder) / name.replace("@.", "@gateway.")
        path.write_text(unit, encoding="utf-8")
        verify = ["systemd-analyze", "verify", "--man=no", str(path)]
        security = ["systemd-analyze", "security", "--offline=yes", "--no-pager"]
        verified = subprocess.run(verify, capture_output=True, text=True, check=False)
        secured = subprocess.run(
            [*security, f"--threshold={MOST_EXPOSED}", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
    found = verified.stdout + verified.stderr + ("" if verified.returncode == 0 else "it is refused")
    return found + ("" if secured.returncode == 0 else secured.stdout)


def main() -> int:
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not installed")
        return SKIP_STATUS
    unit, *programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    text = unit.read_text(encoding="utf-8")
    for program in programs:
        quoted = str(program).replace("%", "%%")
        text, count = re.subn(rf"=/\S+/{re.escape(program.name)} ", lambda _, to=quoted: f'="{to}" ', text)
        if count == 0:
            print(f"the unit does not run {program.name}")
            return 1
    if re.search("^Exec[A-Za-z]*=/", text, re.MULTILINE):
        print("the unit runs what is not built")
        return 1
    found = complaints(unit.name, text)
    print(found, end="")
    if not complaints(unit.name, text.replace("ExecStart=", "ExecStrat=")):
        print("a misspelt key goes unnoticed")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
