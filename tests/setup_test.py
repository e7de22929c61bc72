#!/usr/bin/env python3
"""deploy/setup.sh names the cause and the cure if apt-get fails, and lets apt-get end in order if it is interrupted.

apt-get and dpkg-query are stubs: dpkg-query knows no package, and apt-get prints what the real one printed.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import heeded_signals
import temporary

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAILURES = {
    "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.":
        "dpkg --configure -a; then run this script again",
    "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution).":
        "apt-get --fix-broken install",
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (apt-get)":
        "Wait until it has ended, then run this script again",
    "E: You don't have enough free space in /var/cache/apt/archives/.": "The disk is full",
    "E: Unable to locate package gnuplot-nox": "Is the network reachable",
    "E: Failed to fetch http://deb.debian.org/x.deb  Temporary failure resolving 'deb.debian.org'":
        "The network is needed to download these packages: g++",
    "E: Sub-process /usr/bin/dpkg returned an error code (1)": "The log above says why",
}
ENDS_IN_ORDER = """
[ "$1" = update ] && exit 0
trap 'echo in order >"$ENDED"; exit 100' INT
trap 'echo broken >"$ENDED"; exit 1' TERM
echo >"$STARTED"
while :; do sleep 0.05; done
"""


@unittest.skipIf(os.geteuid() != 0, "deploy/setup.sh becomes root to install packages")
class Setup(unittest.TestCase):
    def setUp(self):
        folder = temporary.folder_of_programs("satrelay-setup-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("stubs"))
        os.mkdir(self.path("tmp"))
        for name in ("setup.sh", "progress.sh"):
            shutil.copy(os.path.join(ROOT, "deploy", name), self.path(name))
        self.stub("dpkg-query", "exit 1")

    def path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def stub(self, name: str, text: str) -> None:
        with open(self.path("stubs", name), "w", encoding="utf-8") as file:
            # The options of setup.sh come before the command of apt-get.
            file.write(f'#!/bin/bash\nwhile [[ ${{1:-}} == -* ]]; do [ "$1" = -o ] && shift; shift; done\n{text}\n')
        os.chmod(self.path("stubs", name), 0o755)

    def start(self) -> subprocess.Popen:
        process = subprocess.Popen(
            [self.path("setup.sh"), "--no-hugepages"],
            env=os.environ | {
                "PATH": f"{self.path('stubs')}:{os.environ['PATH']}",
                "TMPDIR": self.path("tmp"),
                "STARTED": self.path("started"),
                "ENDED": self.path("ended"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heeded_signals.heed,
        )
        self.addCleanup(process.stdout.close)
        return process

    def test_a_failure_is_explained(self):
        for told, cure in FAILURES.items():
            with self.subTest(told=told):
                self.stub("apt-get", f'[ "$1" = update ] || {{ echo "{told}"; exit 100; }}')
                process = self.start()
                output, _ = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 1, output)
                self.assertIn(cure, output)
                self.assertIn(told, output)

    def test_a_signal_lets_apt_end_in_order(self):
        self.stub("apt-get", ENDS_IN_ORDER)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                process = self.start()
                deadline = time.monotonic() + 20
                while not os.path.exists(self.path("started")):
                    self.assertLess(time.monotonic(), deadline, "apt-get install is not called")
                    time.sleep(0.01)
                process.send_signal(number)
                output, _ = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 128 + number, output)
                with open(self.path("ended"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), "in order\n")
                self.assertEqual(os.listdir(self.path("tmp")), [], "a file is left")
                os.unlink(self.path("started"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
