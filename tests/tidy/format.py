#!/usr/bin/env python3
"""clang-format over all tracked C++ files, without changing any."""

import shutil
import subprocess
import sys

import repository


def main():
    tool = shutil.which("clang-format") or shutil.which("clang-format-14")
    if tool is None:
        print("clang-format is missing, so no C++ was checked; run deploy/setup.sh --test-programs")
        return 1
    files = [name for name in repository.tracked_files() if repository.is_cpp(name)]
    failed = 0
    for first in range(0, len(files), 50):
        batch = files[first:first + 50]
        done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file"] + batch,
                              cwd=repository.ROOT, check=False)
        failed |= done.returncode
    print(f"{len(files)} files")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
