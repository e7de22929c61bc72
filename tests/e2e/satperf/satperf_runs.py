"""satperf at both ends of a satlink, for the tests that use it."""

import contextlib
import json
import os
import signal
import subprocess

from harness import Failed, Link, build_folder, check
from lab.machine import DeepBacklog
from satlink.path import Path

PROGRAM = os.path.join(build_folder(), "relay", "satperf", "satperf")
SERVER = "10.77.0.2"
SERVER_V6 = "2001:db8:77::2"
# The process does not wait for its turn when its time to send has come.
PROMPT = ("chrt", "--rr", "1") if os.geteuid() == 0 else ()


@contextlib.contextmanager
def path_of(link: Link):
    """A satlink as in a lab, with addresses at both ends."""
    backlog = DeepBacklog(f"satperf-{os.getpid()}")
    backlog.acquire()
    try:
        half = f"{link.rtt / 2 * 1e3:g}ms"
        directions = (
            f"both: {{rate: {link.rate}bit, delay: {half}, queue: {link.queue_bytes}B, "
            f"loss: {link.loss}}}\nseed: {link.seed}"
        )
        with Path(directions) as path:
            for space, end, host in ((path.left, "s0", 1), (path.right, "s1", 2)):
                space.ip("address", "add", f"10.77.0.{host}/24", "dev", end)
                space.write_setting(f"ipv6/conf/{end}/disable_ipv6", "0")
                space.ip("address", "add", f"2001:db8:77::{host}/64", "dev", end, "nodad")
            path.left.run("ping", "-c", "1", "-W", "5", SERVER)
            yield path
    finally:
        backlog.release()


def start(space, *arguments: str) -> subprocess.Popen:
    return space.popen(
        *(*PROMPT, PROGRAM, *arguments, "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Outcome:
    def __init__(self, process: subprocess.Popen, timeout: float = 30):
        out, self.error = process.communicate(timeout=timeout)
        self.status = process.returncode
        self.lines = [json.loads(line) for line in out.splitlines()]

    def all(self, event: str) -> list[dict]:
        return [line for line in self.lines if line["event"] == event]

    @property
    def summary(self) -> dict:
        summaries = self.all("summary")
        check(len(summaries) == 1, f"one summary, not {len(summaries)}: {self.error}")
        return summaries[0]


class Server:
    """A satperf server of its own for the tests inside the context."""

    def __init__(self, path: Path, *arguments: str):
        self.process = start(path.right, "server", *arguments)
        line = self.process.stdout.readline()
        if "waiting" not in line:
            raise Failed(f"the server does not wait for clients: {line}{self.process.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def stop(self) -> Outcome:
        self.process.send_signal(signal.SIGTERM)
        return Outcome(self.process)


def client(path: Path, *arguments: str, address: str = SERVER) -> subprocess.Popen:
    return start(path.left, "client", address, "--rate", "50Mbit", *arguments)
