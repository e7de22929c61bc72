#!/usr/bin/env python3
"""Prints how long a build folder took to compile and link, by target, as a table for a document.

Usage: build_times.py [--most N] [BUILD]: the last time of each step in ninja's log. Two steps at a time on two idle
processors take about as many seconds as they need of a processor. Steps that ccache had are short.
"""

import argparse
import collections
import os


def seconds_by_target(log: str) -> dict[str, tuple[float, int]]:
    """Seconds and steps of each target: to compile its objects, and to link it."""
    last = {}
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 5:
                last[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    found = collections.defaultdict(lambda: (0.0, 0))
    for output, seconds in last.items():
        target = output.partition(".p/")[0]
        found[target] = (found[target][0] + seconds, found[target][1] + 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("build", nargs="?", default="build")
    given = parser.parse_args()
    found = seconds_by_target(os.path.join(given.build, ".ninja_log"))
    print("| target | seconds | steps |\n|---|---|---|")
    for target, (seconds, steps) in sorted(found.items(), key=lambda item: -item[1][0])[: given.most]:
        print(f"| `{target}` | {seconds:.1f} | {steps} |")
    total = sum(seconds for seconds, _ in found.values())
    print(f"| all {len(found)} | {total:.0f} | {sum(steps for _, steps in found.values())} |")


if __name__ == "__main__":
    main()
