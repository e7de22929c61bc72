#!/usr/bin/env python3
"""clang-tidy over the compile database, with results cached by content. See clang_tidy.sh.

With SATRELAY_ROTATION=N, as tests/run.sh sets it, only two sets of files are checked: files with code that has changed
since the base revision, and the N-th eighth of all other files. The base revision is the first of these that exists:

- SATRELAY_BASE;
- the commit at which the branch left its upstream, unless that is HEAD;
- the last tag, unless it is on HEAD;
- the last commit that is at least a day older than HEAD, among the commits of `git log --first-parent`.

Without git, or without such a revision, all files count as changed.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import repository

# A line of a file that Meson makes for a unity build. Such a file includes several source files.
UNITY_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# Options of a trained build (deploy/train.sh) that g++ knows and clang does not.
TRAINING = re.compile(r" -(?:fprofile-|mmemcpy-strategy=)\S*")
QUOTED_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# The database is made for g++, which treats warnings as errors. Clang's own warnings are not wanted here.
ARGUMENTS = [
    "--quiet",
    # Options of GCC's.
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-Wno-ignored-optimization-argument",
    "--extra-arg=-Wno-error",
]
PLUGIN = repository.ROOT / "tests/tidy/own_declarations.cc"


def tool_of_environment():
    return os.environ.get("CLANG_TIDY") or shutil.which("clang-tidy") or shutil.which("clang-tidy-14")


def plugin(tool, folder):
    """The options that load own_declarations.cc, compiled into `folder`. If this version of clang has no headers here,
    there are no options, and a line says so. The findings are then the same, but take three times as long."""
    headers = pathlib.Path(os.path.realpath(tool)).parent.parent / "include"
    if not (headers / "clang/Frontend/FrontendPluginRegistry.h").exists() or not (headers / "llvm").exists():
        print("without clang's headers (libclang-14-dev, llvm-14-dev) this takes three times as long", flush=True)
        return []
    version = hashlib.sha256(PLUGIN.read_bytes() + str(headers).encode()).hexdigest()[:16]
    built = folder / f"own_declarations-{version}.so"
    if not built.exists():
        made = built.with_suffix(f".{os.getpid()}")
        subprocess.run(["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-fno-rtti", "-isystem", str(headers),
                        str(PLUGIN), "-o", str(made)], check=True)
        made.rename(built)
    return ["-load", str(built)]


class Tidy:
    def __init__(self, build, tool, database):
        self.tool = tool
        self.cache = build / "clang-tidy-cache"
        self.cache.mkdir(exist_ok=True)
        (self.cache / "compile_commands.json").write_text(json.dumps(database))
        self.plugin = plugin(tool, self.cache)
        version = subprocess.run([tool, "--version"], capture_output=True, check=True).stdout
        self.base = (version + (repository.ROOT / ".clang-tidy").read_bytes()
                     + " ".join(ARGUMENTS).encode() + (PLUGIN.read_bytes() if self.plugin else b""))
        self.contents = {}

    def content(self, path):
        if path not in self.contents:
            self.contents[path] = path.read_bytes() if path.is_file() else None
        return self.contents[path]

    def inputs(self, path):
        """`path` and the headers of this repository that it includes, directly or not."""
        found = {}
        open_paths = [path]
        while open_paths:
            at = open_paths.pop()
            data = self.content(at)
            if data is None or at in found:
                continue
            found[at] = data
            open_paths += [repository.ROOT / name.decode() for name in QUOTED_INCLUDE.findall(data)]
        return found

    def key(self, path, command):
        digest = hashlib.sha256(self.base)
        digest.update(command.encode())
        for name, data in sorted(self.inputs(path).items()):
            digest.update(str(name).encode() + b"\0" + data + b"\0")
        return digest.hexdigest()

    def run(self, path, command):
        """Returns (path, output, whether it is clean, whether that was known before)."""
        mark = self.cache / self.key(path, command)
        if mark.exists():
            return path, "", True, True
        done = subprocess.run([self.tool, *self.plugin, "-p", str(self.cache)] + ARGUMENTS + [str(path)],
                              capture_output=True, text=True, check=False)
        clean = done.returncode == 0
        if clean:
            mark.touch()
        # The count of suppressed warnings in system headers is useless.
        errors = [] if clean else [line for line in done.stderr.splitlines()
                                   if "warnings generated" not in line and "warnings treated" not in line]
        return path, done.stdout + "\n".join(errors), clean, False


def untrained(database):
    """The database without the options that train code for g++. The findings are the same."""
    return [entry | {"command": TRAINING.sub("", entry["command"])} for entry in database]


def one_by_one(database):
    """The database with an entry for each of the files that are compiled together. A file that is read alone lacks the
    declarations that it uses from the other files."""
    entries = []
    for entry in database:
        path = pathlib.Path(entry["directory"], entry["file"])
        if not re.search(r"-unity\d+\.cpp$", entry["file"]):
            entries.append(entry)
            continue
        for name in UNITY_INCLUDE.findall(path.read_text()):
            command = entry["command"].replace(entry["file"], shlex.quote(name))
            entries.append(entry | {"file": name, "command": command})
    return entries


def selected(database, names):
    """The commands by file: for the product, for everything with --all, or for `names`. A header has no command of its
    own; a file that includes it is checked instead."""
    commands = {}
    for entry in database:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(repository.ROOT):
            commands.setdefault(path, entry["command"])
    if names == ["--all"]:
        return commands
    if not names:
        tests = repository.ROOT / "tests"
        return {path: command for path, command in commands.items()
                if not path.is_relative_to(tests)}
    wanted = [pathlib.Path(name).resolve() for name in names]
    for path in wanted:
        if path not in commands:
            print(f"{path}: not in the compile database, left out", file=sys.stderr)
    return {path: commands[path] for path in wanted if path in commands}


PARTS = 8
DAY = 86400  # seconds


def git(root, *words):
    """The output of git for these words; None if it fails."""
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(root), *words],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def base_revision(root, named):
    """A commit, or None."""
    if named:
        return git(root, "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
    head = git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if head is None:
        return None
    tag = git(root, "describe", "--tags", "--abbrev=0")
    for found in (git(root, "merge-base", "HEAD", "@{upstream}"),
                  tag and git(root, "rev-parse", f"{tag}^{{commit}}")):
        if found and found != head:
            return found
    before = int(git(root, "log", "-1", "--format=%ct")) - DAY
    return git(root, "rev-list", "--first-parent", "-1", f"--before={before}", "HEAD") or None


# Comments that clang-tidy does not read, and includes, because their paths change when a file is moved.
UNREAD = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')|//(?![^\n]*NOLINT)[^\n]*|^\s*#\s*include\s*"[^"]*"',
                    re.MULTILINE)


def code_of(text):
    """The text without comments, includes of this repository and white space: equal code has equal findings."""
    return re.sub(r"\s+", "", UNREAD.sub(lambda match: match.group(1) or "", text))


def same_code(root, base, before, after):
    old = git(root, "show", f"{base}:{before}")
    return old is not None and code_of(old) == code_of((root / after).read_text(errors="replace"))


def changed_files(root, base):
    """Paths below `root` with code that differs from `base`: committed, not yet committed, or unknown to git."""
    names = git(root, "diff", "--name-status", "-z", "-M", "-l0", base).split("\0")
    changed = set()
    at = 0
    while at + 1 < len(names):
        moved = names[at][0] in "RC"
        before, after = names[at + 1], names[at + 2 if moved else at + 1]
        at += 3 if moved else 2
        is_code = repository.is_cpp(after) and (root / after).is_file()
        if not is_code or not same_code(root, base, before, after):
            changed.add(root / after)
    untracked = git(root, "ls-files", "--others", "--exclude-standard", "-z")
    changed |= {root / name for name in untracked.split("\0") if name}
    return changed


def compiled_with(path, inputs):
    """A file that reads `path` when it is compiled: itself, the .cc of the same name, or any that includes it."""
    if path in inputs:
        return path
    twin = path.with_suffix(".cc")
    if path in inputs.get(twin, ()):
        return twin
    return min((file for file, read in inputs.items() if path in read), default=None)


def turn_of(path, root):
    """The part of the files that `path` is in. Adding or removing other files does not change it."""
    return int(hashlib.sha256(str(path.relative_to(root)).encode()).hexdigest(), 16) % PARTS


def part(commands, inputs, root, rotation, named):
    """The commands of changed files and of the part that is due, and a line with the number of both."""
    base = base_revision(root, named)
    if base is None:
        if named:
            raise SystemExit(f"SATRELAY_BASE: there is no revision {named}")
        return commands, "all files, as there is no base revision"
    changed = {compiled_with(path, inputs) for path in changed_files(root, base)} & commands.keys()
    turn = {path for path in commands if turn_of(path, root) == rotation % PARTS}
    told = (f"{len(changed)} files for what has changed since {base[:7]}, and part {rotation % PARTS} of {PARTS} of "
            f"all: {len(turn)}")
    return {path: command for path, command in commands.items() if path in changed | turn}, told


def main():
    if len(sys.argv) < 2:
        print(__doc__ + "\nUsage: clang_tidy.sh BUILD_DIR [--all | FILE...]", file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    tool = tool_of_environment()
    if tool is None:
        print("clang-tidy is not installed", file=sys.stderr)
        return 2
    database = one_by_one(untrained(json.loads((build / "compile_commands.json").read_text())))
    commands = selected(database, sys.argv[2:])
    if not commands:
        print("no file to check", file=sys.stderr)
        return 2
    tidy = Tidy(build, tool, database)
    if os.environ.get("SATRELAY_ROTATION") and not sys.argv[2:]:
        inputs = {path: tidy.inputs(path).keys() for path in commands}
        commands, told = part(commands, inputs, repository.ROOT, int(os.environ["SATRELAY_ROTATION"]),
                              os.environ.get("SATRELAY_BASE"))
        print(told, flush=True)
    failed = known = 0
    jobs = int(os.environ.get("JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(tidy.run, path, command) for path, command in commands.items()]):
            path, output, clean, cached = done.result()
            known += cached
            if not clean:
                failed += 1
                print(f"--- {path.relative_to(repository.ROOT)}\n{output.strip()}", flush=True)
    print(f"{len(commands)} files, {known} of them known to be clean, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
