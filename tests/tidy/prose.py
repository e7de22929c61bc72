#!/usr/bin/env python3
"""Checks how comments, docs and texts are written: who does what, in that order (docs/style.md).

Usage: prose.py [ROOT | --table | --sentences FOLDER]

A sentence ends at a full stop, a colon or a semicolon. Counted are sentences that begin with "Of", "What" or "Who"
(questions aside), and the words below. Each kind of text (comments, docs, strings) and each room has the same
limits. `--table` prints the counts, and `--sentences` the sentences that count in a folder, with their places. Exit
status 1 if a limit is passed.
"""

import collections
import io
import math
import re
import sys
import tokenize

import repository

Limit = collections.namedtuple("Limit", "name pattern share")

# Shares of all sentences. The words of the third row stand in place of an actor's name. The words of the fourth row
# often replace them, so their share may not exceed the one that was measured before the tree was rewritten.
LIMITS = [
    Limit("begin with Of", re.compile(r"^Of\b"), 0.003),
    Limit("begin with What or Who", re.compile(r"^Wh(at|o|oever|om|ose)\b"), 0.005),
    Limit("who, whose, nobody, somebody", re.compile(
        r"\b(who|whoever|whom|whose|nobody|somebody|everybody)\b", re.IGNORECASE), 0.008),
    Limit("those that, one which, that of", re.compile(
        r"\b(those (that|which|who)|ones? (that|which)|that of)\b", re.IGNORECASE), None),
]
# The shares of the fourth row, by kind, at the commit before the rewriting began.
SUBSTITUTES = {"comments": 0.0215, "docs": 0.0136, "strings": 0.0045}

KINDS = ("comments", "docs", "strings")
# Code of these lines is no sentence.
FENCE = re.compile(r"^\s*(```|~~~)")
RULER = re.compile(r"^[\s\-=*/#|:+]*$|^-+ .* -+$")
LETTERS = re.compile(r"[A-Za-z]{2}")

Text = collections.namedtuple("Text", "path line kind text")


def sentences(text):
    """The sentences of a text, without the marks at their ends. A question keeps its mark."""
    flat = re.sub(r"`[^`]*`", "X", " ".join(text.split()))
    for part in re.split(r"(?<=[.:;?!])[\"')*_]*\s+", flat):
        part = part.strip().strip("*_\"'(")
        if len(LETTERS.findall(part)) >= 2:
            yield part


def cpp_texts(path, text):
    """Comments, as blocks of adjacent lines, and strings of several words."""
    block, first, block_trails = [], 0, False
    lines = text.splitlines()
    for number, line in enumerate(lines + [""], 1):
        bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
        at = bare.find("//")
        if at >= 0:
            alone = not bare[:at].strip()
            comment = bare[at:].lstrip("/").strip()
            joins = alone or (block and block_trails)
            if block and (not joins or block_trails and alone and len(line) - len(line.lstrip()) < 8):
                yield Text(path, first, "comments", " ".join(block))
                block = []
            if not block:
                first, block_trails = number, not alone
            if not RULER.match(comment):
                block.append(comment)
            if not alone and number <= len(lines) and not continues(lines, number):
                yield Text(path, first, "comments", " ".join(block))
                block = []
        elif block:
            yield Text(path, first, "comments", " ".join(block))
            block = []
    if path.startswith("tests/"):
        return
    without = re.sub(r"^\s*//.*$|^\s*#\s*include.*$", "", text, flags=re.MULTILINE)
    for match in re.finditer(r'(?:"(?:\\.|[^"\\\n])*"\s*)+', without):
        value = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0)))
        if len(value.split()) >= 3:
            yield Text(path, without.count("\n", 0, match.start()) + 1, "strings", value.replace("\\n", " "))


def continues(lines, number):
    """Whether the line after line `number` goes on with a comment behind code."""
    return number < len(lines) and bool(re.match(r"^\s{12,}//", lines[number]))


def python_texts(path, text):
    block, first, last = [], 0, -1
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return
    before = None
    for token in tokens:
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            if block and token.start[0] != last + 1:
                yield Text(path, first, "comments", " ".join(block))
                block = []
            if not block:
                first = token.start[0]
            block.append(token.string.lstrip("# "))
            last = token.start[0]
        if token.type == tokenize.STRING:
            is_doc = before in (None, tokenize.INDENT, tokenize.NEWLINE, tokenize.NL, tokenize.ENCODING)
            value = token.string.strip("rbfuRBFU").strip("\"'")
            if is_doc and "\"\"\"" in token.string:
                yield Text(path, token.start[0], "comments", value)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    if block:
        yield Text(path, first, "comments", " ".join(block))


def hash_texts(path, text, mark):
    block, first = [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        bare = line.strip()
        if bare.startswith(mark) and not bare.startswith("#!"):
            if not block:
                first = number
            comment = bare.lstrip(mark[0]).strip()
            if not RULER.match(comment):
                block.append(comment)
        elif block:
            yield Text(path, first, "comments", " ".join(block))
            block = []


def markdown_texts(path, text):
    paragraph, first, fenced = [], 0, False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if FENCE.match(line):
            fenced = not fenced
            line = ""
        if fenced:
            continue
        bare = line.strip()
        if bare.startswith("|"):
            for cell in bare.strip("|").split("|"):
                if len(cell.split()) >= 3:
                    yield Text(path, number, "docs", cell)
            bare = ""
        starts = re.match(r"^([-*+]|\d+\.|#+|>)\s+", bare)
        if paragraph and (not bare or starts):
            yield Text(path, first, "docs", " ".join(paragraph))
            paragraph = []
        if bare:
            if not paragraph:
                first = number
            paragraph.append(re.sub(r"^([-*+]|\d+\.|#+|>)\s+", "", bare))


def texts(path, text):
    if path.endswith((".h", ".cc")):
        return cpp_texts(path, text)
    if path.endswith(".py"):
        return python_texts(path, text)
    if path.endswith(".js"):
        return hash_texts(path, text, "//")
    if path.endswith(".sh") or path.rpartition("/")[2] == "meson.build" or text.startswith("#!/usr/bin/env bash"):
        return hash_texts(path, text, "#")
    if path.endswith(".md"):
        return markdown_texts(path, text)
    return iter(())


def room_of(path):
    """The folder that counts by itself."""
    parts = path.split("/")[:-1]
    if not parts:
        return "."
    depth = {"pep": 2, "relay": 3 if parts[1:2] == ["gateway"] else 2, "tests": 2}.get(parts[0], 1)
    return "/".join(parts[:depth])


class Count:
    def __init__(self):
        self.sentences = 0
        self.found = collections.Counter()

    def allowed(self, limit, kind):
        share = SUBSTITUTES[kind] if limit.share is None else limit.share
        return math.ceil(share * self.sentences)


def measure(root):
    """Counts by (kind, room) and by (kind, None), and every sentence that was counted."""
    counts = collections.defaultdict(Count)
    places = []
    for path in repository.tracked_files(root):
        data = (root / path).read_bytes()
        if b"\0" in data or path in ("LICENSE",):
            continue
        for part in texts(path, data.decode("utf-8", errors="replace")):
            for sentence in sentences(part.text):
                keys = [counts[part.kind, None], counts[part.kind, room_of(path)]]
                for count in keys:
                    count.sentences += 1
                if sentence.endswith("?"):
                    continue
                for limit in LIMITS:
                    hits = len(limit.pattern.findall(sentence))
                    for count in keys:
                        count.found[limit.name] += hits
                    if hits and limit.share is not None:
                        places.append(f"{part.path}:{part.line}: {limit.name}: {sentence[:120]}")
    return counts, places


def check(root):
    counts, _ = measure(root)
    findings = []
    for (kind, room), count in sorted(counts.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        for limit in LIMITS:
            found, allowed = count.found[limit.name], count.allowed(limit, kind)
            if limit.share is None and room is not None:
                continue
            if found > allowed:
                findings.append(f"{kind} in {room or 'all rooms'}: {found} of {count.sentences} sentences "
                                f"{limit.name}; at most {allowed}")
    return findings


def main():
    if "--sentences" in sys.argv:
        folder = sys.argv[sys.argv.index("--sentences") + 1]
        _, places = measure(repository.ROOT)
        for place in places:
            if place.startswith(folder):
                print(place)
        return 0
    if "--table" in sys.argv:
        counts, _ = measure(repository.ROOT)
        for (kind, room), count in sorted(counts.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            shown = ", ".join(f"{count.found[limit.name]} {limit.name}" for limit in LIMITS)
            print(f"{kind:9} {room or 'all':24} {count.sentences:6} sentences: {shown}")
        return 0
    return repository.report(check)


if __name__ == "__main__":
    sys.exit(main())
