#!/usr/bin/env python3
"""One order of run_test.py with the real Meson: a build is killed once it compiles, and then the tests run.

It compiles everything, in a copy of the working tree. So it is in suite long.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "tidy"))
import repository  # noqa: E402
sys.path.insert(0, HERE)
import temporary  # noqa: E402


class Really(unittest.TestCase):
    def test_tests_run_after_an_interrupted_build(self):
        with temporary.folder_of_programs("satrelay-run-") as folder:
            root = pathlib.Path(folder)
            for name in repository.tracked_files():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(repository.ROOT / name, root / name, follow_symlinks=False)
            self.interrupt(root)
            done = self.run_tests(root, "--suite", "tidy", "--filter", "tidy-structure-self")
            self.assertTrue(done.endswith("\n1 passed, 0 failed, 0 skipped\n"), done)
            listed = self.run_tests(root, "--suite", "unit", "--suite", "sim", "--list")
            self.assertIn("unit     unit-pep-base\n", listed)
            self.assertIn("sim      sim-churn\n", listed)

    def interrupt(self, root):
        """Leaves a build folder that is configured and trained, but not compiled."""
        process = subprocess.Popen([root / "deploy/build.sh", "--programs"], stdout=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        with process:
            told = []
            for line in process.stdout:
                told.append(line)
                if line.startswith("compiling into"):
                    os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL, "".join(told))

    def run_tests(self, root, *words):
        done = subprocess.run([root / "tests/run.sh", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
