"""How much other programs used this machine while something was measured in real time.

A measured rate or delay says something about the programs under test only if these had the processors. An Interference
begins when it is made. Later reason() says how others used the machine. It counts the processor time of all processes
except this one, its descendants and kernel threads. It also counts what a hypervisor has taken (steal). Where the
kernel reports pressure (/proc/pressure/cpu), tasks must have waited, too: a process on a processor that no other task
wants disturbs nothing. That pressure alone proves nothing, as the programs under test wait for each other, too.
"""

import ctypes
import os
import time
from dataclasses import dataclass

# Share of one processor, over the whole time. An idle machine's own services take a few thousandths.
LEAST_SHARE = 0.05
# Less could be an error of counting in clock ticks.
LEAST_SECONDS = 0.1
# Share of all time of all processors.
LEAST_STOLEN = 0.01
# Share of the time in which some task waited.
LEAST_PRESSURE = 0.02

_TICKS = os.sysconf("SC_CLK_TCK")
_KTHREADD = 2
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of orphaned descendants, so that they still count as its own."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@dataclass
class _Sample:
    at: float
    busy: float  # seconds of user and system time, of all processes
    stolen: float
    own: float  # part of `busy`: this process and its descendants, also ended ones
    kernel: float  # part of `busy`: kernel threads
    waited: float | None  # seconds in which some task waited for a processor; None: not reported


class Interference:
    def __init__(self, proc: str = "/proc", own: int | None = None, clock=time.monotonic):
        """`own` is the root of the measured tree, this process by default. Other values are for tests."""
        self._proc = proc
        self._own = own or os.getpid()
        self._clock = clock
        self._began = self._sample()

    def reason(self) -> str | None:
        """Why a measurement since the beginning says little; None if the machine was quiet."""
        before, now = self._began, self._sample()
        seconds = now.at - before.at
        processors = self._processors()
        if seconds <= 0:
            return None

        def passed(name: str) -> float:
            return getattr(now, name) - getattr(before, name)

        others = max(0.0, passed("busy") - passed("own") - passed("kernel"))
        stolen = passed("stolen") / (seconds * processors)
        told = now.waited is not None and before.waited is not None
        pressure = passed("waited") / seconds if told else None
        busy = others >= LEAST_SECONDS and others / seconds >= LEAST_SHARE
        if busy and pressure is not None and pressure < LEAST_PRESSURE:
            busy = False
        if not busy and stolen < LEAST_STOLEN:
            return None
        text = f"in these {seconds:.1f} s other processes took {others / seconds:.2f} of {processors} CPUs"
        if pressure is not None:
            text += f", tasks waited for one {pressure:.0%} of the time"
        return text + f", {stolen:.0%} was stolen"

    def own_seconds(self) -> float:
        """Processor time of this process and its descendants since the beginning."""
        return self._times()[0] - self._began.own

    # --- what the kernel tells ---------------------------------------------------------------------

    def _read(self, *names: str) -> str:
        with open(os.path.join(self._proc, *names), encoding="ascii", errors="replace") as file:
            return file.read()

    def _processors(self) -> int:
        lines = self._read("stat").splitlines()
        return max(1, sum(line.startswith("cpu") and line[3].isdigit() for line in lines))

    def _sample(self) -> _Sample:
        # The total is read first. Work in between then counts as work of others a little later.
        fields = [int(field) for field in self._read("stat").split("\n", 1)[0].split()[1:]]
        user, nice, system = fields[:3]
        stolen = fields[7] if len(fields) > 7 else 0
        own, kernel = self._times()
        return _Sample(
            at=self._clock(),
            busy=(user + nice + system) / _TICKS,
            stolen=stolen / _TICKS,
            own=own,
            kernel=kernel,
            waited=self._waited(),
        )

    def _waited(self) -> float | None:
        try:
            some = self._read("pressure", "cpu").splitlines()[0]
        except (OSError, IndexError):
            return None
        return int(some.rpartition("total=")[2]) / 1e6

    def _times(self) -> tuple[float, float]:
        """Seconds of this process and its descendants, and of kernel threads."""
        parents, times = {}, {}
        for entry in os.listdir(self._proc):
            if not entry.isdigit():
                continue
            try:
                # The fields behind the name, which may hold any characters: state, parent, ...
                fields = self._read(entry, "stat").rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            pid = int(entry)
            parents[pid] = int(fields[1])
            # utime, stime, and the same of children that have ended and were waited for.
            times[pid] = (sum(map(int, fields[11:13])), sum(map(int, fields[13:15])))

        def descends(pid: int) -> bool:
            seen = set()
            while pid in parents and pid != self._own and pid not in seen:
                seen.add(pid)
                pid = parents[pid]
            return pid == self._own

        own = sum(sum(times[pid]) for pid in parents if descends(pid))
        kernel = sum(
            times[pid][0] for pid in parents if pid == _KTHREADD or parents[pid] == _KTHREADD
        )
        return own / _TICKS, kernel / _TICKS
