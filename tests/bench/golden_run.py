#!/usr/bin/env python3
"""Compares two builds of satlab in random scenarios, frame by frame.

    golden_run.py BEFORE AFTER [--seeds N] [--first N] [--profile NAME]... [--jobs N] [--images N]

BEFORE and AFTER are programs `satlab`. Each runs `satlab soak --trace` with the same seeds of each profile, in virtual
time. Their output is compared byte by byte. A seed that differs is named, with the first line that differs. Build both
with the same options: another level of optimization rounds floating-point numbers differently, which moved a packet by
1 ns in one of 150 runs.
With --images, AFTER takes a flow apart before every N-th call of a gateway, and makes it anew from its image
(docs/flow-image.md). BEFORE and AFTER may be the same program then.
Exit status: 0 if all are the same, 1 if one differs, 2 if a program could not be run, 130 if interrupted.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import subprocess
import sys
import threading

PROFILES = ("usual", "memory", "hostile-peer", "hostile-lan", "mixed", "workers")
SHOWN = 160  # characters of a line
MOST_SHOWN = 10  # seeds that differ

Difference = collections.namedtuple("Difference", "line before after")


class NotRun(Exception):
    """A program has ended in a way in which no run of a scenario ends."""


class Trace:
    """The output of one program for one seed, line by line."""

    def __init__(self, satlab, profile, seed, options=()):
        self.command = [satlab, "soak", "--profile", profile, "--seed", str(seed), "--trace", *options]
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.diagnostics = b""
        # Read beside the trace: a full pipe would block the program.
        self.reader = threading.Thread(target=self.read_diagnostics)
        self.reader.start()

    def read_diagnostics(self):
        self.diagnostics = self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends the program, even if it has more to print."""
        self.process.kill()
        self.process.stdout.close()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()

    def end(self):
        """Returns the exit status. 1, a broken promise, is a result like any other."""
        status = self.process.wait()
        self.reader.join()
        if status not in (0, 1) or self.diagnostics:
            text = self.diagnostics.decode(errors="replace").strip()
            raise NotRun(f"{' '.join(self.command)}: exit status {status}: {text}")
        return f"exit status {status}".encode()


def compare(before, after, profile, seed, options=()):
    """The first difference, or None. `options` are for the second program."""
    with Trace(before, profile, seed) as old, Trace(after, profile, seed, options) as new:
        pairs = itertools.zip_longest(old.process.stdout, new.process.stdout)
        number = 0
        for number, (old_line, new_line) in enumerate(pairs, 1):
            if old_line != new_line:
                return Difference(number, old_line, new_line)
        if number == 0:
            raise NotRun(f"{' '.join(old.command)}: prints nothing")
        old_end, new_end = old.end(), new.end()
    return Difference(number + 1, old_end, new_end) if old_end != new_end else None


def shown(line):
    return "(nothing)" if line is None else line.decode(errors="replace").rstrip()[:SHOWN]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--seeds", type=int, default=500, help="of each profile (500)")
    parser.add_argument("--first", type=int, default=1, help="the first of them (1)")
    parser.add_argument("--profile", action="append", choices=PROFILES,
                        help="all unless told otherwise; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="seeds at a time")
    parser.add_argument("--images", type=int, help="calls of a gateway between two flows that AFTER rewrites")
    given = parser.parse_args(arguments)
    if given.seeds < 1 or given.jobs < 1 or (given.images or 1) < 1:
        parser.error("--seeds, --jobs and --images begin at 1")
    for satlab in (given.before, given.after):
        if not os.access(satlab, os.X_OK):
            parser.error(f"{satlab} is no program")
    return given


def main(arguments):
    given = parse(arguments)
    differ = 0
    options = ("--images", str(given.images)) if given.images else ()
    for profile in given.profile or PROFILES:
        seeds = range(given.first, given.first + given.seeds)
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            results = pool.map(lambda seed, profile=profile:
                               compare(given.before, given.after, profile, seed, options), seeds)
            try:
                found = [(seed, difference) for seed, difference in zip(seeds, results) if difference]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        print(f"{profile}: {len(seeds)} seeds, {len(found)} differ", flush=True)
        for seed, difference in found[:MOST_SHOWN]:
            print(f"  seed {seed}, line {difference.line}\n    before: {shown(difference.before)}"
                  f"\n    after:  {shown(difference.after)}")
        differ += len(found)
    return 1 if differ else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except NotRun as problem:
        print(f"golden_run.py: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
