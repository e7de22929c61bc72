#!/usr/bin/env python3
"""Checks that systemd accepts the unit, and how much it leaves open: `service.py UNIT [DROPIN.conf] PROGRAM...`.

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


def complaints(name: str, unit: str, drop_in: str = "") -> str:
    with tempfile.TemporaryDirectory(prefix="satrelay-service-") as folder:
        path = pathlib.Path(folder) / name.replace("@.", "@gateway.")
        path.write_text(unit, encoding="utf-8")
        if drop_in:
            beside = path.with_name(f"{path.name}.d")
            beside.mkdir()
            (beside / "drop-in.conf").write_text(drop_in, encoding="utf-8")
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
    unit, *others = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    texts = [path.read_text(encoding="utf-8") for path in (unit, *others) if path.suffix in (unit.suffix, ".conf")]
    for program in (path for path in others if path.suffix != ".conf"):
        quoted = str(program).replace("%", "%%")
        own = re.compile(rf"=/\S+/{re.escape(program.name)} ")
        if not any(own.search(text) for text in texts):
            print(f"the unit does not run {program.name}")
            return 1
        texts = [own.sub(lambda _, to=quoted: f'="{to}" ', text) for text in texts]
    if any(re.search("^Exec[A-Za-z]*=/", text, re.MULTILINE) for text in texts):
        print("the unit runs what is not built")
        return 1
    found = complaints(unit.name, *texts)
    print(found, end="")
    if not complaints(unit.name, *texts[:-1], texts[-1].replace("ExecStart=", "ExecStrat=")):
        print("a misspelt key goes unnoticed")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
