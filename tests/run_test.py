#!/usr/bin/env python3
"""tests/run.sh runs its tests whatever was built before, in any order, even if a build was interrupted.

The name of the tree has a space and a letter that is not ASCII.

deploy/build.sh, deploy/train.sh and tests/run.sh are the real ones, in a tree of their own. Meson and ninja are a stub
(run_stub/tool.py). In one test the real Meson runs two programs that pass and fail. run_really_test.py tries one order
with the real programs.
"""

import glob
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import heeded_signals
import temporary

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
COPIED = (
    "deploy/build.sh",
    "deploy/demo.sh",
    "deploy/train.sh",
    "deploy/progress.sh",
    "tests/run.sh",
    "tests/processor_time.py",
    "tests/summary.py",
)
BUILDS = ((), ("--lab",), ("--programs",), ("--sanitize",))
TRAINED = (("--programs",), ("--trained",), ("--lab", "--trained"))
# Points where a build may be interrupted, and the builds that reach them.
POINTS = {
    "setup": BUILDS,
    "training": TRAINED,
    "compiling": BUILDS,
}
SUITES = ("--suite", "unit", "--suite", "sim", "--suite", "tidy")


class Run(unittest.TestCase):
    def setUp(self):
        folder = temporary.folder_of_programs("satrelay-run-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.stubs = os.path.join(folder.name, "stubs")
        os.mkdir(self.stubs)
        for name in ("meson", "ninja"):
            shutil.copy(os.path.join(HERE, "run_stub", "tool.py"), os.path.join(self.stubs, name))
        # Every 0.2 s the scripts check whether a command has ended.
        self.script(os.path.join(self.stubs, "sleep"), "exec /bin/sleep 0.01")
        self.new_tree()

    def new_tree(self):
        self.root = tempfile.mkdtemp(dir=self.folder, prefix="auf der Höhe ")
        for name in COPIED:
            copy = os.path.join(self.root, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), copy)
        self.script(os.path.join(self.root, "deploy/setup.sh"), "exit 0")

    def script(self, path: str, text: str):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def start(self, script: str, *words: str, **environment: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [os.path.join(self.root, script), *words],
            env=os.environ | {"PATH": f"{self.stubs}:{os.environ['PATH']}", "TMPDIR": self.folder} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=heeded_signals.heed,
        )
        self.addCleanup(process.stdout.close)
        return process

    def call(self, script: str, *words: str, **environment: str) -> subprocess.CompletedProcess:
        process = self.start(script, *words, **environment)
        output, _ = process.communicate(timeout=60)
        return subprocess.CompletedProcess(script, process.returncode, output)

    def build(self, words, stop: str = ""):
        done = self.call("deploy/build.sh", *words, STUB_STOP=stop)
        self.assertEqual(done.returncode, -9 if stop else 0, f"{words} {stop}: {done.stdout}")

    def all_tests_run(self, what):
        done = self.call("tests/run.sh", *SUITES)
        self.assertEqual(done.returncode, 0, f"{what}: {done.stdout}")
        self.assertTrue(done.stdout.endswith("\n6 passed, 0 failed, 0 skipped\n"), f"{what}: {done.stdout}")

    def test_after_any_builds(self):
        for first, second in itertools.permutations(BUILDS, 2):
            with self.subTest(first=first, second=second):
                self.new_tree()
                self.build(first)
                self.build(second)
                self.all_tests_run((first, second))

    def test_after_an_interrupted_build(self):
        for point, builds in POINTS.items():
            for words in builds:
                with self.subTest(point=point, words=words):
                    self.new_tree()
                    self.build(words, point)
                    self.all_tests_run((words, point))

    def test_after_a_build_that_completed_an_interrupted_one(self):
        for point, words in itertools.product(POINTS, ((), ("--programs",), ("--trained",))):
            if words == () and point == "training":
                continue
            with self.subTest(point=point, words=words):
                self.new_tree()
                self.build(words, point)
                self.build(("--programs",))
                self.all_tests_run((words, point))

    def test_after_an_interrupted_run(self):
        self.build(("--programs",))
        for point in ("adding", "compiling"):
            done = self.call("tests/run.sh", *SUITES, STUB_STOP=point)
            self.assertEqual(done.returncode, -9, done.stdout)
            self.all_tests_run(point)
            self.new_tree()
            self.build(("--programs",))

    def start_and_wait(self, point: str, script: str, *words: str) -> tuple[subprocess.Popen, int]:
        """Starts the script; returns it and the process number of the stub that waits at the point."""
        path = os.path.join(self.folder, "pid")
        process = self.start(script, *words, STUB_WAIT=point, STUB_PID=path)
        deadline = time.monotonic() + 20
        while not (os.path.exists(path) and os.path.getsize(path)):
            self.assertLess(time.monotonic(), deadline, f"{script} {words} does not come to {point}")
            time.sleep(0.01)
        with open(path, encoding="ascii") as file:
            pid = int(file.read())
        os.unlink(path)
        return process, pid

    def test_a_signal_ends_all(self):
        cases = [
            (signal.SIGTERM, "compiling", "deploy/build.sh", "--lab"),
            (signal.SIGINT, "compiling", "deploy/build.sh", "--lab"),
            (signal.SIGHUP, "training", "deploy/build.sh", "--programs"),
            (signal.SIGINT, "compiling", "tests/run.sh", *SUITES),
        ]
        if os.geteuid() == 0:  # Otherwise the demo becomes root first.
            os.makedirs(os.path.join(self.root, "deploy/lab"))
            self.script(os.path.join(self.root, "deploy/lab/demo.py"), "")
            cases.append((signal.SIGTERM, "compiling", "deploy/demo.sh"))
        for number, point, *words in cases:
            with self.subTest(number=number, words=words):
                process, pid = self.start_and_wait(point, *words)
                process.send_signal(number)
                output, _ = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 128 + number, output)
                self.assertIn("interrupted", output)
                self.assertFalse(os.path.exists(f"/proc/{pid}"), "a process is left")
                self.assertEqual(glob.glob(f"{self.folder}/satrelay-*"), [], "a file is left")
        self.all_tests_run("signals")

    def test_a_second_build_waits(self):
        first, pid = self.start_and_wait("compiling", "deploy/build.sh", "--lab")
        second = self.start("deploy/build.sh", "--lab")
        self.assertEqual(second.stdout.readline(), "another build uses build-lab/; waiting until it ends\n")
        os.kill(pid, signal.SIGTERM)
        first.communicate(timeout=20)
        output, _ = second.communicate(timeout=20)
        self.assertEqual(second.returncode, 0, output)

    def test_a_disk_that_is_too_small(self):
        self.script(os.path.join(self.stubs, "df"), "echo 12")
        done = self.call("deploy/build.sh", "--lab")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("build-lab/ takes some 32 MiB, and its disk has only 12 MiB free", done.stdout)

    def test_a_folder_that_may_not_be_written_to(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        os.chmod(self.root, 0o555)
        self.addCleanup(os.chmod, self.root, 0o755)
        done = self.call("deploy/build.sh", "--lab")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"{self.root}/build-lab cannot be written to", done.stdout)

    def folder_has(self, build: str, file: str):
        with open(os.path.join(self.root, build, file), encoding="utf-8") as text:
            return json.load(text)

    def training_of(self, build: str) -> str:
        return self.folder_has(build, "build.ninja")["b_pgo"]

    def test_only_what_is_installed_is_trained_by_default(self):
        for words, build, training in (
            ((), "build", "off"),
            (("--untrained",), "build", "off"),
            (("--trained",), "build", "use"),
            (("--programs",), "build", "use"),
            (("--programs", "--untrained"), "build", "off"),
            (("--lab",), "build-lab", "off"),
            (("--lab", "--trained"), "build-lab", "use"),
            (("--sanitize",), "build-sanitize", "off"),
        ):
            with self.subTest(words=words):
                self.new_tree()
                self.build(words)
                self.assertEqual(self.training_of(build), training)

    def test_a_folder_is_trained_later_and_stays_so(self):
        for words, training in ((), "off"), (("--programs",), "use"), ((), "use"), (("--untrained",), "use"):
            self.build(words)
            self.assertEqual(self.training_of("build"), training, words)
        self.all_tests_run("trained later")

    def test_training_that_fails_is_tried_again(self):
        for words in TRAINED[:2]:
            self.new_tree()
            done = self.call("deploy/build.sh", *words, STUB_UNCOUNTED="1")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("deploy/build.sh --untrained builds without it", done.stdout)
            self.build(words)
            self.assertEqual(self.training_of("build"), "use")

    def test_the_lab_has_what_the_demo_asks_for(self):
        self.build(("--lab",))
        self.assertEqual(self.folder_has("build-lab", "targets"), ["lab"])
        self.assertFalse(self.folder_has("build-lab", "build.ninja")["lto"])
        self.build(("--lab", "--panel"))
        self.assertEqual(self.folder_has("build-lab", "targets"), ["lab", "panel"])
        for words in ("--panel",), ("--programs", "--panel"), ("--sanitize", "--trained"):
            done = self.call("deploy/build.sh", *words)
            self.assertEqual(done.returncode, 1, f"{words}: {done.stdout}")

    def test_a_lab_and_tests_do_not_share_a_folder(self):
        self.build(("--lab",))
        self.assertEqual(self.folders(), ["build-lab"])
        self.all_tests_run("--lab")
        self.assertEqual(self.folders(), ["build", "build-lab"])

    def folders(self):
        return sorted(name for name in os.listdir(self.root) if name.startswith("build"))

    def test_sanitized(self):
        self.build(("--sanitize",), "setup")
        done = self.call("tests/run.sh", "--suite", "sanitize")
        self.assertIn("3 passed, 0 failed", done.stdout)

    def test_a_third_of_sim_with_sanitizers(self):
        seen = []
        for rotation in ("0", "1", "20000"):
            done = self.call("tests/run.sh", "--suite", "sanitize", "--rotation", rotation, "--list")
            self.assertEqual(done.returncode, 0, done.stdout)
            seen += [line.split()[1] for line in done.stdout.splitlines() if line.startswith("sanitize sim")]
            self.assertEqual(done.stdout.count("sanitize unit-"), 2, done.stdout)
        self.assertEqual(sorted(seen), ["sim-a", "sim-b", "sim-c"])
        # The printed rotation lets the run be repeated.
        done = self.call("tests/run.sh", "--suite", "sanitize")
        self.assertRegex(done.stdout, r"--rotation \d+ does so again")

    def test_sanitized_in_time(self):
        done = self.call("tests/run.sh", "--suite", "sanitize", "--within", "60")
        self.assertTrue(done.stdout.endswith("\n3 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.assertNotIn("left out", done.stdout)
        done = self.call("tests/run.sh", *SUITES, "--suite", "sanitize", "--within", "0", "--rotation", "0")
        self.assertTrue(done.stdout.endswith("\n6 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.assertIn("3 of 3 programs are left out, as 0 minutes have passed: unit-a unit-b sim-a", done.stdout)

    def test_lists(self):
        self.build(("--programs",))
        done = self.call("tests/run.sh", *SUITES, "--list")
        self.assertEqual(done.returncode, 0, done.stdout)
        for name in ("unit     unit-a\n", "unit     unit-b\n", "sim      sim-a\n", "tidy     tidy-a\n"):
            self.assertIn(name, done.stdout)

    def test_filters(self):
        done = self.call("tests/run.sh", *SUITES, "--filter", "m-a")
        self.assertTrue(done.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n"), done.stdout)
        for more in ((), ("--list",)):
            done = self.call("tests/run.sh", *SUITES, "--filter", "nonsense", *more)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn("no test matches", done.stdout)

    def test_a_suite_without_a_test_is_an_error(self):
        for more in ((), ("--list",), ("--filter", "unit-a")):
            done = self.call("tests/run.sh", *SUITES, *more, STUB_EMPTY="sim")
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn("has no test of suite sim", done.stdout)
        done = self.call("tests/run.sh", "--suite", "sanitize", STUB_EMPTY="sim")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("has no test of suite sim", done.stdout)

    def test_the_real_meson_leaves_what_is_counted(self):
        self.script(os.path.join(self.root, "deploy/build.sh"), 'cd "$(dirname "$0")/.." && exec meson setup build')
        with open(os.path.join(self.root, "meson.build"), "w", encoding="utf-8") as file:
            file.write("project('satrelay')\n"
                       "test('unit-good', find_program('true'), suite: 'unit')\n"
                       "test('unit-bad', find_program('false'), suite: 'unit')\n"
                       "test('sim-a', find_program('true'), suite: 'sim')\n")
        self.stubs = self.folder
        done = self.call("tests/run.sh", "--suite", "unit", "--slowest", "2")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertTrue(done.stdout.endswith("\n1 passed, 1 failed, 0 skipped\n"), done.stdout)

    def test_an_unknown_suite_is_an_error(self):
        done = self.call("tests/run.sh", "--suite", "units")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("there is no suite units", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
