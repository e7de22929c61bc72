#!/usr/bin/env python3
"""Counts the results that `meson test` and pytest have reported, and names failed and skipped tests.

Usage: summary.py [--slowest N] [--sanitized] REPORT... Each REPORT is a JSON log of Meson's or a JUnit report of
pytest's. Those behind --sanitized are of a build with sanitizers. If a test is in a second report of pytest's, it was
run once more, and the second result counts. With --slowest a table of the slowest tests comes first, for a document.
The last line: N passed, N failed, N skipped.
"""

import json
import os
import re
import signal
import sys
from dataclasses import dataclass, field
from xml.etree import ElementTree

PASS, FAIL, SKIP = "pass", "fail", "skip"
# How end-to-end tests mark checks that they did not judge (tests/e2e/harness.py).
BUSY = "the machine was busy: "
NOT_JUDGED = "not judged"
# How tests/processor_time.py reports a program's processor time.
PROCESSOR = re.compile(r"^processor time: ([0-9.]+) s$", re.MULTILINE)


@dataclass
class Case:
    name: str
    result: str
    note: str = ""  # of a failure or a skip: one line


@dataclass
class Outcome:
    """One test. It may hold many cases (GoogleTest), or be its own only case."""

    name: str
    result: str
    note: str = ""
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0
    processor: float | None = None  # seconds, of all its processes; None: not reported
    # Checks in real time that were not judged, as other programs kept the machine busy.
    disturbed: list[str] = field(default_factory=list)

    def all_cases(self) -> list[Case]:
        told = [Case(self.name, SKIP, f"{BUSY}{reason}") for reason in self.disturbed]
        failed = any(case.result == FAIL for case in self.cases)
        if not self.cases or (self.result == FAIL and not failed):
            # Also if the program crashed after the last case: it failed, though no case did.
            told.append(Case(self.name, self.result, self.note))
        return self.cases + told


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def gtest_cases(report: str, since: float) -> list[Case]:
    """The cases in GoogleTest's XML report; empty without a report, or if it is of an earlier run."""
    try:
        if os.path.getmtime(report) < since:
            return []
        entries = ElementTree.parse(report).getroot().iter("testcase")
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for entry in entries:
        name = f"{entry.get('classname')}.{entry.get('name')}"
        skipped, failure = entry.find("skipped"), entry.find("failure")
        if failure is not None:
            # "FILE:LINE", and what was wrong.
            cases.append(Case(name, FAIL, " ".join(failure.get("message", "").split())[:200]))
        elif skipped is not None:
            cases.append(Case(name, SKIP, last_line(skipped.get("message", ""))))
        elif entry.get("status") == "run":
            cases.append(Case(name, PASS))
    return cases


def how_it_ended(entry: dict) -> str:
    if entry["result"] == "TIMEOUT":
        return f"took longer than {entry['duration']:.0f} s"
    status = entry["returncode"]
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def of_meson(log: str) -> list[Outcome]:
    build = os.path.dirname(os.path.dirname(os.path.abspath(log)))
    outcomes = []
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            # "satrelay:unit / unit-config"
            name = entry["name"].rpartition(" / ")[2]
            outcome = Outcome(name, {"OK": PASS, "SKIP": SKIP}.get(entry["result"], FAIL))
            if outcome.result == SKIP:
                outcome.note = last_line(entry.get("stdout") or "")
            else:
                report = os.path.join(build, f"{name}.xml")
                outcome.cases = gtest_cases(report, entry["starttime"])
            if outcome.result == FAIL:
                outcome.note = how_it_ended(entry)
            outcome.seconds = entry["duration"]
            for told in PROCESSOR.findall(entry.get("stderr") or ""):
                outcome.processor = float(told)
            outcomes.append(outcome)
    return outcomes


def of_pytest(report: str) -> list[Outcome]:
    outcomes = []
    for entry in ElementTree.parse(report).getroot().iter("testcase"):
        file = (entry.get("classname") or "").rpartition(".")[2]
        outcome = Outcome(f"{file}.py::{entry.get('name')}" if file else entry.get("name"), PASS)
        for result, kind in ((SKIP, "skipped"), (FAIL, "error"), (FAIL, "failure")):
            found = entry.find(kind)
            if found is not None:
                outcome.result = result
                note = " ".join(found.get("message", "").split())
                outcome.note = note.removeprefix("harness.Failed: ")
        outcome.seconds = float(entry.get("time") or 0)
        for told in entry.iter("property"):
            if told.get("name") == NOT_JUDGED:
                outcome.disturbed.append(told.get("value"))
            elif told.get("name") == "processor":
                outcome.processor = float(told.get("value"))
        outcomes.append(outcome)
    return outcomes


def print_slowest(outcomes: list[Outcome], most: int) -> None:
    print("| test | seconds | processor |\n|---|---|---|")
    for each in sorted(outcomes, key=lambda outcome: -outcome.seconds)[:most]:
        processor = "" if each.processor is None else f"{each.processor:.1f}"
        print(f"| `{each.name}` | {each.seconds:.1f} | {processor} |")
    seconds = sum(each.seconds for each in outcomes)
    processor = sum(each.processor or 0 for each in outcomes)
    print(f"| all {len(outcomes)} | {seconds:.0f} | {processor:.0f} |\n")


def print_summary(outcomes: list[Outcome]) -> int:
    """Prints the counts; returns the exit status."""
    cases = [(outcome.name, case) for outcome in outcomes for case in outcome.all_cases()]
    for word, result in (("skipped", SKIP), ("failed", FAIL)):
        for name, case in cases:
            if case.result != result or case.note.startswith(BUSY):
                continue
            note = f": {case.note}" if case.note else ""
            print(f"{word}: {name}{'' if case.name == name else ' ' + case.name}{note}")
    disturbed = [(name, case) for name, case in cases if case.note.startswith(BUSY)]
    for name, case in disturbed:
        print(f"not judged: {name}: {case.note.removeprefix(BUSY)}")
    if disturbed:
        print(
            f"{len(disturbed)} not judged, as others kept the machine busy: "
            "run these again when it is idle"
        )
    count = {result: sum(case.result == result for _, case in cases) for result in (PASS, FAIL, SKIP)}
    print(f"{count[PASS]} passed, {count[FAIL]} failed, {count[SKIP]} skipped")
    return 1 if count[FAIL] else 0


def main(arguments: list[str]) -> int:
    outcomes = []
    prefix, slowest = "", 0
    if arguments[:1] == ["--slowest"]:
        slowest, arguments = int(arguments[1]), arguments[2:]
    for argument in arguments:
        if argument == "--sanitized":
            prefix = "sanitize-"
            continue
        read = of_pytest(argument) if argument.endswith(".xml") else of_meson(argument)
        for outcome in read:
            outcome.name = prefix + outcome.name
        again = {outcome.name for outcome in read}
        outcomes = [outcome for outcome in outcomes if outcome.name not in again] + read
    if not outcomes:
        print("no test matches", file=sys.stderr)
        return 2
    if slowest:
        print_slowest(outcomes, slowest)
    return print_summary(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
