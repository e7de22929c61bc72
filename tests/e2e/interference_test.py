#!/usr/bin/env python3
"""A check in real time is judged on a quiet machine, and reported as skipped on a busy one."""

import contextlib
import io
import os
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Failed, RealTime, Skip, eventually  # noqa: E402
from interference import Interference  # noqa: E402

OWN, CHILD, STRANGER, KERNEL = 100, 101, 200, 30


class Machine:
    """A /proc of two processors, in which tests let time pass."""

    def __init__(self, folder: str):
        self.folder = folder
        self.seconds = 0.0
        self.total = {"user": 0, "nice": 0, "system": 0, "steal": 0}
        self.waited_us: int | None = 0
        self.processes: dict[int, list[int]] = {}  # parent, utime, stime, cutime, cstime
        for pid, parent in ((1, 0), (2, 0), (KERNEL, 2), (OWN, 1), (CHILD, OWN), (STRANGER, 1)):
            self.processes[pid] = [parent, 0, 0, 0, 0]
        self.write()

    def clock(self) -> float:
        return self.seconds

    def write(self) -> None:
        t = self.total
        line = f"{t['user']} {t['nice']} {t['system']} 9999 0 0 55 {t['steal']} 0 0"
        self._file(("stat",), f"cpu  {line}\ncpu0 {line}\ncpu1 {line}\nintr 5\n")
        if self.waited_us is not None:
            self._file(("pressure", "cpu"), f"some avg10=0.00 total={self.waited_us}\nfull x\n")
        for pid, (parent, *times) in self.processes.items():
            fields = " ".join(["S", str(parent), *["0"] * 9, *map(str, times), "0"])
            self._file((str(pid), "stat"), f"{pid} (a) b (c) {fields}\n")

    def _file(self, names: tuple, text: str) -> None:
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def work(self, pid: int, seconds: float, nice: bool = False) -> None:
        ticks = int(seconds * os.sysconf("SC_CLK_TCK"))
        self.processes[pid][2 if pid == KERNEL else 1] += ticks
        self.total["system" if pid == KERNEL else "nice" if nice else "user"] += ticks

    def end(self, pid: int) -> None:
        """Ends a process, for which its parent waits."""
        parent, *times = self.processes.pop(pid)
        self.processes[parent][3] += times[0] + times[2]
        self.processes[parent][4] += times[1] + times[3]
        os.remove(os.path.join(self.folder, str(pid), "stat"))

    def passes(self, seconds: float, waited: float = 0) -> None:
        self.seconds += seconds
        if self.waited_us is not None:
            self.waited_us += int(waited * seconds * 1e6)
        self.write()


class Accounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="satrelay-interference-")
        self.addCleanup(folder.cleanup)
        self.machine = Machine(folder.name)

    def watch(self) -> Interference:
        return Interference(self.machine.folder, OWN, self.machine.clock)

    def test_an_idle_machine_is_quiet(self):
        watch = self.watch()
        self.machine.passes(10)
        self.assertIsNone(watch.reason())

    def test_our_own_work_is_no_excuse_however_much_it_waits(self):
        watch = self.watch()
        self.machine.work(OWN, 4)
        self.machine.work(CHILD, 12)
        self.machine.work(KERNEL, 4)
        self.machine.passes(10, waited=0.99)
        self.assertIsNone(watch.reason())
        self.machine.end(CHILD)
        self.machine.passes(1)
        self.assertIsNone(watch.reason(), "what a child did is still ours")

    def test_work_of_others_is_told(self):
        for nice in (False, True):
            watch = self.watch()
            self.machine.work(CHILD, 5)
            self.machine.work(STRANGER, 8, nice)
            self.machine.passes(10, waited=0.5)
            self.assertEqual(
                watch.reason(),
                "in these 10.0 s other processes took 0.80 of 2 CPUs, tasks waited for one 50% of "
                "the time, 0% was stolen",
            )

    def test_work_that_makes_nobody_wait_is_none(self):
        watch = self.watch()
        self.machine.work(STRANGER, 8)
        self.machine.passes(10, waited=0.001)
        self.assertIsNone(watch.reason())

    def test_a_kernel_without_pressure_is_believed_without(self):
        self.machine.waited_us = None
        os.remove(os.path.join(self.machine.folder, "pressure", "cpu"))
        watch = self.watch()
        self.machine.work(STRANGER, 8)
        self.machine.passes(10)
        self.assertIn("0.80 of 2 CPUs", watch.reason())

    def test_little_is_nothing(self):
        watch = self.watch()
        self.machine.work(STRANGER, 0.4)
        self.machine.passes(10, waited=0.5)
        self.assertIsNone(watch.reason(), "4% of one processor")
        watch = self.watch()
        self.machine.work(STRANGER, 0.05)
        self.machine.passes(0.1, waited=0.5)
        self.assertIsNone(watch.reason(), "a few ticks")

    def test_what_a_hypervisor_takes_is_told(self):
        watch = self.watch()
        self.machine.total["steal"] += int(0.5 * os.sysconf("SC_CLK_TCK"))
        self.machine.passes(10)
        self.assertIn("2% was stolen", watch.reason())

    def check(self, work: float, condition: bool) -> tuple[bool, str]:
        measured = RealTime(self.watch())
        self.machine.work(STRANGER, work)
        self.machine.passes(10, waited=0.5)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            return measured.check(condition, "9 of 10 Mbit/s"), out.getvalue()

    def test_a_check_is_judged_on_a_quiet_machine(self):
        self.assertEqual(self.check(0, True), (True, ""))
        with self.assertRaisesRegex(Failed, "9 of 10 Mbit/s"):
            self.check(0, False)

    def test_a_check_on_a_busy_machine_is_told_as_skipped(self):
        self.assertEqual(self.check(9, True), (True, ""), "what is right is right")
        passed, told = self.check(9, False)
        self.assertFalse(passed)
        self.assertRegex(told, r"^skipped check: 9 of 10 Mbit/s: in these 10.0 s other .*\n$")


def work(seconds: float) -> bool:
    """Takes a processor for this time by the clock, so that on every machine some task waits for it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return False


class RealLoad(unittest.TestCase):
    """Tests with processes that are not descendants of this one."""

    def setUp(self):
        for _ in range(os.cpu_count()):
            self.addCleanup(os.kill, self.start_stranger(), signal.SIGKILL)

    @staticmethod
    def start_stranger() -> int:
        """Starts a process that works and is no longer a child of this one."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            grandchild = os.fork()
            if grandchild == 0:
                while True:
                    pass
            os.write(write, str(grandchild).encode())
            os._exit(0)
        os.waitpid(child, 0)
        pid = int(os.read(read, 20))
        os.close(read)
        os.close(write)
        return pid

    def test_a_check_beside_a_load_is_told_as_skipped(self):
        measured = RealTime()
        work(1)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertFalse(measured.check(False, "too slow"))
        self.assertIn("skipped check: too slow: in these 1.", out.getvalue())

    def test_waiting_in_vain_beside_a_load_skips_the_test(self):
        with self.assertRaisesRegex(Skip, "the machine was busy: not within 1 s: a miracle"):
            eventually(lambda: work(0.05), 1, "a miracle")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
