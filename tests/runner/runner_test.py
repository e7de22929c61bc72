#!/usr/bin/env python3
"""The runner tells a pass from a failure, a crash, a hang and a skip."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

from discovery import Test
from execution import run
from main import print_disturbed
from outcome import FAIL, PASS, SKIP

REPORT = """<?xml version="1.0"?><testsuites><testsuite name="A">
<testcase name="One" status="run" result="completed" classname="A"/>
<testcase name="Two" status="run" result="skipped" classname="A"><skipped message="x.cc:1&#x0A;no device"/></testcase>
<testcase name="Three" status="notrun" result="suppressed" classname="A"/>
{more}</testsuite></testsuites>"""
FAILED_CASE = '<testcase name="Four" status="run" classname="A"><failure message="1 is 2"/></testcase>'


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="satrelay-runner-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def outcome(self, script: str, timeout: float = 20):
        test = Test("unit-x", "unit", ["/bin/sh", "-c", script], self.folder, timeout)
        return run(test, self.folder)

    def counts(self, outcome) -> list[int]:
        return [outcome.count(result) for result in (PASS, FAIL, SKIP)]

    def test_a_program_without_cases_is_one(self):
        self.assertEqual(self.counts(self.outcome("exit 0")), [1, 0, 0])
        outcome = self.outcome("exit 3")
        self.assertEqual(self.counts(outcome), [0, 1, 0])
        self.assertEqual(outcome.note, "exit status 3")

    def test_a_skip_tells_its_reason(self):
        outcome = self.outcome("echo starting; echo needs af_xdp; exit 77")
        self.assertEqual(self.counts(outcome), [0, 0, 1])
        self.assertEqual(outcome.note, "needs af_xdp")
        self.assertEqual(self.outcome("exit 77").note, "it gave no reason")

    def test_a_crash_is_a_failure(self):
        outcome = self.outcome("kill -SEGV $$")
        self.assertEqual(self.counts(outcome), [0, 1, 0])
        self.assertEqual(outcome.note, "ended by SIGSEGV")

    def test_a_hang_is_ended_and_may_clean_up(self):
        outcome = self.outcome("trap 'echo cleaned; exit 0' TERM; sleep 60 & wait", timeout=0.5)
        self.assertEqual(self.counts(outcome), [0, 1, 0])
        self.assertEqual(outcome.note, "took longer than 0.5 s")
        with open(outcome.log, encoding="ascii") as log:
            self.assertEqual(log.read(), "cleaned\n")

    def test_checks_that_were_not_judged_are_counted_and_named(self):
        line = "skipped check: 9 of 10: in these 2.0 s other processes took 1.9 of 2 CPUs"
        outcome = self.outcome(f"echo one; echo '{line}'; echo two; exit 0")
        self.assertEqual(self.counts(outcome), [1, 0, 1])
        told = line.removeprefix("skipped check: ")
        self.assertEqual(outcome.disturbed, [told])
        self.assertEqual(outcome.cases[1].reason, told)
        outcome = self.outcome(f"echo '{line}'; exit 1")
        self.assertEqual(self.counts(outcome), [0, 1, 1])
        outcome = self.outcome("echo skipped: the machine was busy: not within 3 s; exit 77")
        self.assertEqual(self.counts(outcome), [0, 0, 1])
        self.assertEqual(outcome.disturbed, ["not within 3 s"])
        self.assertEqual(self.outcome("exit 0").disturbed, [])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print_disturbed([self.outcome(f"echo '{line}'"), self.outcome("exit 0")])
        self.assertEqual(
            out.getvalue(),
            f"not judged: unit-x: {told}\n"
            "1 not judged, as others kept the machine busy: run these again when it is idle\n",
        )

    def script_with_report(self, report: str, status: int) -> str:
        path = os.path.join(self.folder, "report.xml")
        with open(path, "w", encoding="ascii") as file:
            file.write(report)
        return f'cp {path} "${{GTEST_OUTPUT#xml:}}"; exit {status}'

    def test_cases_are_counted(self):
        outcome = self.outcome(self.script_with_report(REPORT.format(more=""), 0))
        self.assertEqual(self.counts(outcome), [1, 0, 1])
        self.assertEqual([case.reason for case in outcome.cases], ["", "no device"])
        outcome = self.outcome(self.script_with_report(REPORT.format(more=FAILED_CASE), 1))
        self.assertEqual(self.counts(outcome), [1, 1, 1])

    def test_a_failure_outside_any_case_counts(self):
        outcome = self.outcome(self.script_with_report(REPORT.format(more=""), 1))
        self.assertEqual(self.counts(outcome), [1, 1, 1])

    def test_an_old_report_is_not_taken_for_a_new_one(self):
        self.outcome(self.script_with_report(REPORT.format(more=""), 0))
        self.assertEqual(self.counts(self.outcome("exit 1")), [0, 1, 0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
