"""The files of the repository, for the checks in this folder."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def tracked_files(root=ROOT):
    """Paths relative to `root` of the files that git tracks; in a tree without git, of all files."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.decode().split("\0") if name]
        # A tracked file may be deleted in the work tree.
        return sorted(name for name in names if (root / name).is_file())
    names = []
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [s for s in subfolders if not s.startswith((".", "build", "__pycache__"))]
        names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(names)


def is_cpp(name):
    return name.endswith((".h", ".cc"))


def report(check):
    """Prints the findings of check(root), one line each; returns the exit status. An argument may name the root."""
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    findings = check(root)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0
