#!/usr/bin/env python3
"""The summary tells a pass from a failure, a crash, a hang and a skip, in Meson's log and in pytest's report."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

from summary import FAIL, PASS, SKIP, main, of_meson, of_pytest

REPORT = """<?xml version="1.0"?><testsuites><testsuite name="A">
<testcase name="One" status="run" result="completed" classname="A"/>
<testcase name="Two" status="run" result="skipped" classname="A"><skipped message="x.cc:1&#x0A;no device"/></testcase>
<testcase name="Three" status="notrun" result="suppressed" classname="A"/>
{more}</testsuite></testsuites>"""
FAILED_CASE = '<testcase name="Four" status="run" classname="A"><failure message="x.cc:9&#x0A;1 is 2"/></testcase>'
TOLD = "9 of 10: in these 2.0 s other processes took 1.9 of 2 CPUs"


def counts(outcomes) -> list[int]:
    cases = [case for outcome in outcomes for case in outcome.all_cases()]
    return [sum(case.result == result for case in cases) for result in (PASS, FAIL, SKIP)]


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="satrelay-summary-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "meson-logs"))

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def meson(self, result: str, status: int = 0, text: str = "", started: float = 0):
        entry = {"name": "satrelay:unit / unit-x", "stdout": text, "result": result, "starttime": started}
        entry.update(duration=3.2, returncode=status)
        return of_meson(self.write("meson-logs/tests.json", json.dumps(entry) + "\n"))

    def pytest(self, inside: str):
        return of_pytest(self.write("e2e.xml", self.pytest_text(inside)))

    def pytest_text(self, inside: str) -> str:
        case = f'<testcase classname="tests.e2e.test_x" name="test_y">{inside}</testcase>'
        return f"<testsuites><testsuite>{case}</testsuite></testsuites>"

    def test_a_program_without_cases_is_one(self):
        self.assertEqual(counts(self.meson("OK")), [1, 0, 0])
        outcomes = self.meson("FAIL", 3)
        self.assertEqual(counts(outcomes), [0, 1, 0])
        self.assertEqual(outcomes[0].note, "exit status 3")

    def test_a_skip_tells_its_reason(self):
        outcomes = self.meson("SKIP", 77, "starting\nneeds af_xdp\n")
        self.assertEqual(counts(outcomes), [0, 0, 1])
        self.assertEqual(outcomes[0].note, "needs af_xdp")
        self.assertEqual(self.meson("SKIP", 77)[0].note, "it gave no reason")

    def test_a_crash_and_a_hang_are_failures(self):
        self.assertEqual(self.meson("FAIL", -11)[0].note, "ended by SIGSEGV")
        self.assertEqual(self.meson("TIMEOUT", -15)[0].note, "took longer than 3 s")
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT"):
            self.assertEqual(counts(self.meson(result, -6)), [0, 1, 0])

    def test_cases_are_counted(self):
        self.write("unit-x.xml", REPORT.format(more=""))
        outcomes = self.meson("OK")
        self.assertEqual(counts(outcomes), [1, 0, 1])
        self.assertEqual([case.note for case in outcomes[0].cases], ["", "no device"])
        self.write("unit-x.xml", REPORT.format(more=FAILED_CASE))
        outcomes = self.meson("FAIL", 1)
        self.assertEqual(counts(outcomes), [1, 1, 1])
        self.assertEqual(outcomes[0].cases[2].note, "x.cc:9 1 is 2")

    def test_a_failure_outside_any_case_counts(self):
        self.write("unit-x.xml", REPORT.format(more=""))
        self.assertEqual(counts(self.meson("FAIL", 1)), [1, 1, 1])

    def test_an_old_report_is_not_taken_for_a_new_one(self):
        path = self.write("unit-x.xml", REPORT.format(more=""))
        self.assertEqual(counts(self.meson("FAIL", 1, started=os.path.getmtime(path) + 1)), [0, 1, 0])

    def test_what_pytest_reports(self):
        self.assertEqual(counts(self.pytest("")), [1, 0, 0])
        outcomes = self.pytest('<failure message="harness.Failed: 1 is&#10;2"/>')
        self.assertEqual(counts(outcomes), [0, 1, 0])
        self.assertEqual((outcomes[0].name, outcomes[0].note), ("test_x.py::test_y", "1 is 2"))
        self.assertEqual(counts(self.pytest('<error message="no lab"/>')), [0, 1, 0])
        self.assertEqual(counts(self.pytest('<skipped message="no root"/>')), [0, 0, 1])

    def test_checks_that_were_not_judged_are_counted_and_named(self):
        told = f'<properties><property name="not judged" value="{TOLD}"/></properties>'
        self.assertEqual(counts(self.pytest(told)), [1, 0, 1])
        self.assertEqual(counts(self.pytest(told + '<failure message="x"/>')), [0, 1, 1])
        busy = '<skipped message="the machine was busy: not within 3 s"/>'
        self.assertEqual(
            self.told(told),
            (
                0,
                f"not judged: test_x.py::test_y: {TOLD}\n"
                "1 not judged, as others kept the machine busy: run these again when it is idle\n"
                "1 passed, 0 failed, 1 skipped\n",
            ),
        )
        self.assertIn("not judged: test_x.py::test_y: not within 3 s\n", self.told(busy)[1])

    def test_a_test_that_ran_once_more_counts_once(self):
        first = self.write("e2e.xml", self.pytest_text('<skipped message="the machine was busy: x"/>'))
        again = self.write("e2e-alone.xml", self.pytest_text(""))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main([first, again])
        self.assertEqual((status, out.getvalue()), (0, "1 passed, 0 failed, 0 skipped\n"))

    def test_the_slowest_are_first(self):
        entry = {"name": "satrelay:unit / unit-x", "stdout": "", "result": "OK", "starttime": 0, "returncode": 0}
        entry.update(duration=3.2, stderr="words\nprocessor time: 2.50 s\n")
        text = '<properties><property name="processor" value="0.25"/></properties>'
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            main(["--slowest", "1",
                  self.write("e2e.xml", self.pytest_text(text)),
                  self.write("meson-logs/tests.json", json.dumps(entry) + "\n")])
        self.assertIn("|---|---|---|\n| `unit-x` | 3.2 | 2.5 |\n| all 2 | 3 | 3 |\n", out.getvalue())

    def test_a_program_ends_as_it_would_without_its_time(self):
        here = os.path.dirname(os.path.abspath(__file__))
        for text, status in (("exit 77", 77), ("kill -SEGV $$", -11), ("exit 0", 0)):
            done = subprocess.run(
                ["/usr/bin/python3", "-SE", os.path.join(here, "processor_time.py"), "/bin/sh", "-c", text],
                stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stderr, r"^processor time: 0\.\d\d s$")

    def told(self, inside: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main([self.write("e2e.xml", self.pytest_text(inside))])
        return status, out.getvalue()

    def test_what_failed_is_named(self):
        status, text = self.told('<failure message="too slow"/>')
        self.assertEqual(status, 1)
        self.assertIn("failed: test_x.py::test_y: too slow\n", text)
        self.assertTrue(text.endswith("0 passed, 1 failed, 0 skipped\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
