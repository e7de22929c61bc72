#!/usr/bin/env python3
"""Checks that every relative link in the documents leads to a file, and every #anchor to a heading.

A string of a program, such as "guide.md#reload", is a link from docs/, too.

Usage: links.py [ROOT]. Prints one line for each finding, and exits 1 if there is any.
"""

import pathlib
import posixpath
import re
import sys

import repository

LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
PAGE = re.compile(r'"([\w-]+\.md(?:#[\w-]+)?)"')
CODE = re.compile(r"`[^`]*`")
HEADING = re.compile(r"#{1,6} +(.*)")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:


def prose(text):
    """The lines that are not code, with their numbers."""
    is_list = False  # indented lines below a list item are its text, or code if they are indented further
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*([-*]|\d+\.) ", line):
            is_list = True
        elif line and not line.startswith(" "):
            is_list = False
        if not line.startswith("      " if is_list else "    "):
            yield number, CODE.sub("", line)


def anchor(heading):
    """The name by which links reach a heading, as GitHub makes it."""
    heading = LINK.sub(lambda link: link.group(0)[1:link.group(0).index("]")], heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    found = set()
    for line in text.splitlines():
        heading = HEADING.fullmatch(line)
        if heading is None:
            continue
        name = anchor(heading.group(1))
        count = 0
        while (name if count == 0 else f"{name}-{count}") in found:
            count += 1
        found.add(name if count == 0 else f"{name}-{count}")
    return found


def links(name, text):
    """The links of a document or a source file: number of the line, target, and folder in which the target begins."""
    if name.endswith(".md"):
        for number, line in prose(text):
            for target in LINK.findall(line):
                if not ELSEWHERE.match(target):
                    yield number, target, posixpath.dirname(name)
    else:
        for number, line in enumerate(text.splitlines(), 1):
            for target in PAGE.findall(line):
                yield number, target, "docs"


def check(root):
    """All findings, as lines."""
    files = set(repository.tracked_files(root))
    folders = {str(folder) for name in files for folder in pathlib.PurePosixPath(name).parents}
    texts = {name: (root / name).read_text() for name in files if name.endswith(".md")}
    known = {name: anchors(text) for name, text in texts.items()}
    texts |= {name: (root / name).read_text() for name in files
              if name.startswith("relay/") and repository.is_cpp(name)}
    findings = []
    for name, text in sorted(texts.items()):
        for number, target, folder in links(name, text):
            path, _, fragment = target.partition("#")
            path = posixpath.normpath(posixpath.join(folder, path)) if path else name
            if path not in files and path not in folders:
                findings.append(f"{name}:{number}: {target} leads to no file of this repository")
            elif fragment and fragment not in known.get(path, set()):
                findings.append(f"{name}:{number}: {target} leads to no heading of {path}")
    return findings


if __name__ == "__main__":
    sys.exit(repository.report(check))
