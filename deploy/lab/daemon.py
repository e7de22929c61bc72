"""A program of the lab that runs until it is told to stop."""

import contextlib
import os
import signal
import subprocess
import time

from .kernel import Namespace

_TICKS = os.sysconf("SC_CLK_TCK")


class DaemonFailed(RuntimeError):
    """A daemon ended, or was not ready in time."""


class Daemon:
    """Runs inside a namespace. Its stderr and stdout go to one log file."""

    def __init__(self, name: str, space: Namespace, argv: list[str], log_path: str):
        self.name = name
        self.space = space
        self.argv = argv
        self.log_path = log_path
        self._process: subprocess.Popen | None = None
        self._asked = False

    def start(self, keep: bool = False) -> None:
        self._asked = False
        with open(self.log_path, "ab") as log:
            self._process = self.space.popen(
                *self.argv, keep=keep, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} was never started"
        return self._process.pid

    def exit_status(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll() if self._process else None

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def must_run(self) -> None:
        if not self.running():
            raise DaemonFailed(f"{self.name} has ended with status {self.exit_status()}")

    def wait_until(self, ready, timeout: float, what: str) -> None:
        """Polls `ready()` until it is true, the daemon ends or time is up."""
        deadline = time.monotonic() + timeout
        while not ready():
            self.must_run()
            if time.monotonic() > deadline:
                raise DaemonFailed(f"{self.name}: {what} not within {timeout:g} s")
            time.sleep(0.05)

    def ask_to_stop(self) -> None:
        """Sends SIGTERM, but only once: a second signal may mean "at once"."""
        if self.running() and not self._asked:
            self._asked = True
            self._process.send_signal(signal.SIGTERM)

    def stop(self, patience: float = 5) -> int | None:
        """Sends SIGTERM, then SIGKILL if the daemon does not end. Returns its exit status."""
        if self._process is None:
            return None
        self.ask_to_stop()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
        return self._process.returncode

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def cpu_seconds(self) -> tuple[float, float]:
        """User and system time so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return int(fields[11]) / _TICKS, int(fields[12]) / _TICKS

    def resident_bytes(self) -> int:
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def log(self, lines: int = 40) -> str:
        """The end of its log, to help find a fault."""
        with contextlib.suppress(OSError), open(self.log_path, errors="replace") as log:
            return "".join(log.readlines()[-lines:])
        return ""
