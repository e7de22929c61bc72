#!/usr/bin/env python3
"""Files of tests run side by side, are reported together, and take down what they have set up."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
# Each test waits until the other runs, too.
MEETS = """
import os, time
def test_meets():
    open({own!r}, "w").close()
    deadline = time.monotonic() + 20
    while not os.path.exists({other!r}):
        assert time.monotonic() < deadline
        time.sleep(0.01)
"""
HANGS = """
import os, pytest, signal, time
signal.signal(signal.SIGTERM, signal.default_int_handler)
@pytest.fixture
def lab():
    open({up!r}, "w").close()
    yield
    time.sleep(1)
    os.unlink({up!r})
def test_hangs(lab):
    time.sleep(60)
"""


class SideBySide(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="satrelay-side-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = self.path("report.xml")

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, text: str):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, *options: str) -> subprocess.Popen:
        return subprocess.Popen(
            ["/usr/bin/python3", "-B", os.path.join(HERE, "side_by_side.py"), "--jobs", "2"]
            + ["--report", self.report, "--folder", self.folder, "--", "-p", "no:cacheprovider", "--verbose", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run_all(self, *options: str):
        process = self.start(*options)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def results(self):
        return sorted(
            (case.get("name"), "failed" if case.find("failure") is not None else "passed")
            for case in ElementTree.parse(self.report).getroot().iter("testcase")
        )

    def test_two_files_meet(self):
        for own, other in (("a", "b"), ("b", "a")):
            self.write(f"test_{own}.py", MEETS.format(own=self.path(own), other=self.path(other)))
        status, output = self.run_all()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.results(), [("test_meets", "passed")] * 2)

    def test_files_of_rooms_meet(self):
        for own, other in (("a", "b"), ("b", "a")):
            self.write(f"{own}/test_{own}.py", MEETS.format(own=self.path(own + ".up"), other=self.path(other + ".up")))
        status, output = self.run_all()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.results(), [("test_meets", "passed")] * 2)

    def test_a_failure_is_one(self):
        self.write("test_a.py", "def test_good(): pass\n")
        self.write("test_b.py", "def test_bad(): assert 1 == 2\n")
        self.write("test_c.py", "def test_good_too(): pass\n")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertEqual(self.results(), [("test_bad", "failed"), ("test_good", "passed"), ("test_good_too", "passed")])
        self.assertIn("assert 1 == 2", output)

    def test_a_crash_is_none_that_passed(self):
        self.write("test_a.py", "import os\ndef test_good(): pass\ndef test_crash(): os.kill(os.getpid(), 9)\n")
        self.write("test_b.py", "def test_good(): pass\n")
        status, output = self.run_all()
        self.assertEqual(status, 3, output)

    def test_without_a_test(self):
        self.write("test_a.py", "def test_good(): pass\n")
        self.assertEqual(self.run_all("-k", "nonsense")[0], 5)

    def test_an_error_of_a_file_is_told(self):
        self.write("test_a.py", "import nothing_of_this_name\n")
        status, output = self.run_all()
        self.assertEqual(status, 2, output)
        self.assertIn("nothing_of_this_name", output)

    def test_what_is_interrupted_is_taken_down(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for name in ("a", "b"):
                self.write(f"test_{name}.py", HANGS.format(up=self.path(f"{name}.up")))
            process = self.start()
            deadline = time.monotonic() + 20
            while not all(os.path.exists(self.path(f"{name}.up")) for name in ("a", "b")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            process.send_signal(number)
            time.sleep(0.2)
            process.send_signal(number)  # a second signal changes nothing
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, 130)
            self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".up")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
