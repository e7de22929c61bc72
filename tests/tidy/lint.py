#!/usr/bin/env python3
"""Linters over all scripts of one language. They are Debian 12's, and their settings are the tree's.

Usage: lint.py shell|python|javascript [ROOT]. Prints the findings, and exits 1 if there is any or if a tool is missing.

shell: shellcheck (.shellcheckrc) and shfmt (.editorconfig)
python: flake8 (.flake8)
javascript: tsc (relay/satpanel/jsconfig.json), which finds names and members that do not exist, and what is never used
"""

import pathlib
import re
import shutil
import subprocess
import sys

import repository

PANEL = "relay/satpanel/jsconfig.json"
# Commands, and whether the names of the files follow.
TOOLS = {
    "shell": [(["shellcheck"], True), (["shfmt", "--diff"], True)],
    "python": [(["flake8"], True)],
    "javascript": [(["tsc", "--project", PANEL], False)],
}
ENDINGS = {"shell": (".sh",), "python": (".py",), "javascript": (".js",)}
INTERPRETERS = {
    "shell": re.compile(rb"#!.*\b(ba|da)?sh\b"),
    "python": re.compile(rb"#!.*\bpython3?\b"),
    "javascript": re.compile(rb"#!.*\bnode\b"),
}


def scripts(root, language):
    """Files with the language's ending, and those without any ending that name its interpreter."""
    for name in repository.tracked_files(root):
        path = root / name
        if name.endswith(ENDINGS[language]):
            yield name
        elif not path.suffix and INTERPRETERS[language].match(path.read_bytes().partition(b"\n")[0]):
            yield name


def check(root, language):
    """The output of the tools, as lines."""
    names = list(scripts(root, language))
    if not names:
        return [f"{root} has no {language}"]
    findings = []
    for command, takes_names in TOOLS[language]:
        tool = command[0]
        if shutil.which(tool) is None:
            findings.append(f"{tool} is missing, so it has checked no {language}; run deploy/setup.sh --test-programs")
            continue
        done = subprocess.run(command + names * takes_names, cwd=root, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        findings += done.stdout.splitlines()
        if done.returncode != 0:
            findings.append(f"{tool} ended with status {done.returncode}")
    return findings


def main():
    language = sys.argv[1]
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else repository.ROOT
    findings = check(root, language)
    print("\n".join(findings or [f"{language}: nothing found"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
