#!/usr/bin/env python3
"""Runs the tests of a build that is up to date; tests/run.sh is the way to call it."""

import argparse
import concurrent.futures
import os
import signal
import sys
import time

from discovery import SUITES, USUAL_SUITES, Test, all_tests
from execution import run, stop_all
from outcome import FAIL, PASS, SKIP, Outcome


class Progress:
    def __init__(self, total: int):
        self.total = total
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        word = {PASS: "ok  ", FAIL: "FAIL", SKIP: "skip"}[outcome.result]
        cases = f"{len(outcome.cases)} cases, " if outcome.cases else ""
        note = f": {outcome.note}" if outcome.note else ""
        print(
            f"[{len(self.outcomes):3}/{self.total}] {word} {outcome.name}"
            f" ({cases}{outcome.seconds:.1f} s){note}",
            flush=True,
        )
        for case in outcome.cases:
            if case.result == SKIP:
                print(f"          skip {case.name}: {case.reason or 'it gave no reason'}")
            elif case.result == FAIL:
                print(f"          FAIL {case.name}")
        if outcome.result == FAIL:
            with open(outcome.log, encoding="utf-8", errors="replace") as log:
                lines = log.read().splitlines()[-40:]
            print("\n".join("          | " + line for line in lines))
            print(f"          the whole log: {outcome.log}", flush=True)

    def count(self, result: str) -> int:
        return sum(outcome.count(result) for outcome in self.outcomes)


def execute(tests: list[Test], logs: str) -> Progress:
    progress = Progress(len(tests))
    for suite in SUITES:
        chosen = [test for test in tests if test.suite == suite]
        if not chosen:
            continue
        print(f"--- {suite}: {len(chosen)} programs", flush=True)
        side_by_side = [test for test in chosen if test.parallel]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            running = [pool.submit(run, test, logs) for test in side_by_side]
            try:
                for done in concurrent.futures.as_completed(running):
                    progress.add(done.result())
                for test in chosen:
                    if not test.parallel:
                        progress.add(run(test, logs))
            except BaseException:
                # Tests sit in sessions of their own, out of Ctrl-C's reach: let each take down what
                # it has set up.
                pool.shutdown(wait=False, cancel_futures=True)
                stop_all()
                raise
    return progress


def print_disturbed(outcomes: list[Outcome]) -> None:
    """What a machine with other work on it could not tell."""
    told = [(outcome.name, each) for outcome in outcomes for each in outcome.disturbed]
    for name, each in told:
        print(f"not judged: {name}: {each}")
    if told:
        print(f"{len(told)} not judged, as others kept the machine busy: run these again when it is idle")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build")
    parser.add_argument("--sanitized-build")
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    builds = [path and os.path.abspath(path) for path in (options.build, options.sanitized_build)]
    if not any(builds):
        parser.error("no build is given")

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    suites = options.suite or USUAL_SUITES
    tests = [
        test
        for test in all_tests(root, *builds)
        if test.suite in suites and options.filter in test.name
    ]
    if options.list:
        for test in tests:
            print(f"{test.suite:8} {test.name}")
        return 0
    if not tests:
        print("no test matches", file=sys.stderr)
        return 2

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logs = os.path.join(builds[0] or builds[1], "test-logs")
    started = time.monotonic()
    try:
        progress = execute(tests, logs)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    for outcome in progress.outcomes:
        if outcome.result == FAIL:
            print(f"failed: {outcome.name}: {outcome.note}")
    print_disturbed(progress.outcomes)
    print(f"took {time.monotonic() - started:.0f} s; logs: {logs}")
    failed = progress.count(FAIL)
    print(f"{progress.count(PASS)} passed, {failed} failed, {progress.count(SKIP)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
