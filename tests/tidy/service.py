#!/usr/bin/env python3
"""Checks that systemd accepts the unit: `service.py UNIT PROGRAM...`. Built programs replace the installed ones."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIP_STATUS = 77


def complaints(unit: str) -> str:
    with tempfile.TemporaryDirectory(prefix="satrelay-service-") as folder:
        path = pathlib.Path(folder) / "satrelayd.service"
        path.write_text(unit, encoding="utf-8")
        result = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
    return result.stdout + result.stderr + ("" if result.returncode == 0 else "it is refused")


def main() -> int:
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not installed")
        return SKIP_STATUS
    unit, *programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    text = unit.read_text(encoding="utf-8")
    for program in programs:
        text = text.replace(f"/usr/local/bin/{program.name} ", f"{program} ")
    if "/usr/local/bin" in text:
        print("the unit runs what is not installed")
        return 1
    found = complaints(text)
    print(found, end="")
    if not complaints(text.replace("ExecStart=", "ExecStrat=")):
        print("a misspelt key goes unnoticed")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
