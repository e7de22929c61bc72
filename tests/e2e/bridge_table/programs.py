"""Programs of the hosts, run to their end or for as long as a condition lasts."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

PATIENCE = 90  # seconds for one program


@dataclass(frozen=True)
class Done:
    status: int | None  # None: it did not end within its time
    out: str
    err: str
    seconds: float

    @property
    def last_words(self) -> str:
        lines = (self.err or self.out).strip().splitlines()
        return lines[-1] if lines else ""


def path_of(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def start(space, *argv: str, **streams) -> subprocess.Popen:
    """Starts a program. It dies with this process, and with its namespace."""
    # setpriv is used, as a function between fork and exec is not safe beside other threads.
    return subprocess.Popen(
        space.command("setpriv", "--pdeathsig", "KILL", path_of(argv[0]) or argv[0], *argv[1:]),
        start_new_session=True,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


def run(space, *argv: str, given: bytes | None = None, patience: float = PATIENCE) -> Done:
    began = time.monotonic()
    streams = {} if given is None else {"stdin": subprocess.PIPE}
    process = start(space, *argv, **streams)
    return finish(process, began, given, patience)


def finish(
    process: subprocess.Popen, began: float, given: bytes | None = None, patience: float = PATIENCE
) -> Done:
    status: int | None
    try:
        out, err = process.communicate(given, timeout=patience)
        status = process.returncode
    except subprocess.TimeoutExpired:
        end(process)
        out, err = process.communicate()
        status = None
    return Done(status, _text(out), _text(err), time.monotonic() - began)


def end(process: subprocess.Popen, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def running(space, *argv: str, **streams):
    """Runs a program while the context lasts, and ends it however the context is left."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = start(space, *argv, **{**quiet, **streams})
    try:
        yield process
    finally:
        if process.poll() is None:
            end(process, signal.SIGTERM)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                end(process)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


def wait_until(condition: Callable[[], bool], patience: float, what: str) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {patience:g} s: {what}")
        time.sleep(0.05)


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace")
