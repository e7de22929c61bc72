#!/usr/bin/env python3
"""Runs the tests in this folder, *.test.mjs, with node's test runner. They test what the panel's modules do outside of
a page."""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        print("node is missing, so no module of the panel was tested; run deploy/setup.sh --test-programs")
        return 1
    tests = sorted(str(path) for path in HERE.glob("*.test.mjs"))
    return subprocess.run([node, "--test", *tests], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
