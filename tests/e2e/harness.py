"""Code that the e2e tests share: labs, a way to skip, and checks that report what they saw.

conftest.py makes fixtures of it for pytest. RealTime is for measurements in real time. If other programs have disturbed
such a check, it is reported as not judged. The programs under test come from the build folder in SATRELAY_BUILD, or
else from build/.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import struct
import sys
import tempfile
import time
import traceback

import pytest

sys.dont_write_bytecode = True
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "deploy"))
sys.path.append(os.path.join(REPOSITORY, "tests"))

from heeded_signals import heed  # noqa: E402, F401
from lab.daemon import Daemon, DaemonFailed  # noqa: E402
from lab.lab import Lab, Programs  # noqa: E402
from lab.link import Link  # noqa: E402
from lab.settings import ACCELERATED_PORT, BRIDGED_PORT, GatewayOptions  # noqa: E402, F401
from lab.topology import CLIENT, SERVER  # noqa: E402, F401

from interference import Interference  # noqa: E402

labs: list[Lab] = []  # made by the running test
not_judged: list[str] = []  # checks of the running test that other programs have disturbed
BUSY = "the machine was busy: "
NOT_JUDGED = "not judged"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


# This machine cannot run the test. The text says why.
Skip = pytest.skip.Exception


class Failed(AssertionError):
    """Something was not as it must be."""


def check(condition, message: str) -> None:
    if not condition:
        raise Failed(message)


class RealTime:
    """A measurement in real time, which begins when the object is made.

    If no other program used the machine meanwhile, its checks are judged like any others. Otherwise a check that fails
    is reported as skipped, with what the others did, since it proves nothing.
    """

    def __init__(self, others: Interference | None = None):
        self._others = others or Interference()

    def disturbance(self) -> str | None:
        """The work of other programs since the beginning; None if that was little."""
        return self._others.reason()

    def check(self, condition, message: str) -> bool:
        """Returns whether the condition held; False only if the check was reported as skipped."""
        if condition:
            return True
        reason = self.disturbance()
        if reason is None:
            raise Failed(message)
        not_judged.append(f"{' '.join(message.split())}: {reason}")
        note(f"skipped check: {not_judged[-1]}")
        return False

    def must(self, condition, message: str) -> None:
        """Checks a condition that the rest of the test builds upon. On a busy machine it skips the whole test."""
        if condition:
            return
        reason = self.disturbance()
        if reason is None:
            raise Failed(message)
        raise Skip(f"{BUSY}{' '.join(message.split())}: {reason}")


@contextlib.contextmanager
def in_time(what: str):
    """Treats a timeout like any other measurement: on a busy machine it says little."""
    since = RealTime()
    try:
        yield
    except (TimeoutError, subprocess.TimeoutExpired, DaemonFailed) as error:
        if isinstance(error, DaemonFailed) and "not within" not in str(error):
            raise
        traceback.print_exc(file=sys.stdout)
        since.must(False, f"{what}: {error}")


def note(text: str) -> None:
    print(text, flush=True)


def build_folder() -> str:
    return os.environ.get("SATRELAY_BUILD", os.path.join(REPOSITORY, "build"))


def programs() -> Programs:
    try:
        return Programs.of_build(build_folder())
    except FileNotFoundError as error:
        raise Failed(str(error)) from None


def make_lab(link: Link = Link(rtt=0.2), options: GatewayOptions = GatewayOptions(), **more) -> Lab:
    if os.geteuid() != 0:
        raise Skip("network namespaces need root")
    return watch(Lab(programs(), link, options, **more))


def promptly(daemon: Daemon) -> None:
    """Runs the process as on a core of its own: it does not wait for its turn when its time has come."""
    for thread in os.listdir(f"/proc/{daemon.pid}/task"):
        os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))


def watch(lab):
    """Registers a lab, so that its daemons' last lines are shown if the test fails."""
    labs.append(lab)
    return lab


# --- sockets of the hosts -------------------------------------------------------------------------


def _family(address: str) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listen(space, address: str, port: int, receive_buffer: int = 0) -> socket.socket:
    server = space.socket(_family(address), socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if receive_buffer:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    server.bind((address, port))
    server.listen(128)
    server.settimeout(20)
    return server


def connect(space, address: str, port: int, timeout: float = 20, send_buffer: int = 0):
    client = space.socket(_family(address), socket.SOCK_STREAM)
    if send_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    client.settimeout(timeout)
    client.connect((address, port))
    return client


def accept(server: socket.socket, timeout: float = 20) -> socket.socket:
    accepted, _ = server.accept()
    accepted.settimeout(timeout)
    return accepted


@contextlib.contextmanager
def connection(lab: Lab, port: int, address: str = SERVER.ipv4):
    """One TCP connection from client to server: (client's socket, server's socket)."""
    with listen(lab.server, address, port) as server:
        with connect(lab.client, address, port) as client, accept(server) as accepted:
            yield client, accepted


def receive_all(source: socket.socket) -> bytes:
    """Reads up to the end of the stream."""
    parts = []
    while part := source.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def converse(lab: Lab, port: int, times: int = 1000) -> None:
    """Exchanges a question, its end, an answer and its end over a connection of its own."""
    with connection(lab, port) as (client, server):
        client.sendall(b"question" * times)
        client.shutdown(socket.SHUT_WR)
        check(receive_all(server) == b"question" * times, "the question changed")
        server.sendall(b"answer" * times)
        server.shutdown(socket.SHUT_WR)
        check(receive_all(client) == b"answer" * times, "the answer changed")


def echo(client: socket.socket, server: socket.socket, text: bytes) -> None:
    client.sendall(text)
    check(server.recv(100) == text, "bytes of the old flow changed")


def control(lab: Lab, gateway, *words: str, timeout: float = 30) -> subprocess.CompletedProcess:
    """Runs satrelayctl with these words at that gateway."""
    return subprocess.run(
        [lab.programs.satrelayctl, "--socket", gateway.stats_socket, *words],
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def control_as(
    lab: Lab, gateway, *words: str, user: str, group: str | None
) -> subprocess.CompletedProcess:
    """The same as a user of the machine in that group, or only in groups without rights.

    Without a gateway, satrelayctl searches for the gateways of this machine.
    """
    # The build may be in a folder that only its owner may enter.
    with tempfile.TemporaryDirectory(prefix="satrelay-access-") as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(lab.programs.satrelayctl, folder)
        return subprocess.run(
            [program, *(["--socket", gateway.stats_socket] if gateway else []), *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=20,
            user=user,
            group="nogroup",
            extra_groups=[group] if group else [],
        )


def tell(lab: Lab, gateway, *words: str) -> None:
    done = control(lab, gateway, *words)
    check(done.returncode == 0, f"{words}: {done.stderr}")


def was_reset(end: socket.socket) -> bool:
    """Whether the connection was reset. It does not read from the connection."""
    information = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)
    closed = 7
    return struct.unpack_from("B", information)[0] == closed


# --- waiting --------------------------------------------------------------------------------------


def eventually(condition, timeout: float, what: str) -> float:
    """Waits until `condition()` is true; returns how long that took."""
    began, measured = time.monotonic(), RealTime()
    while not condition():
        measured.must(time.monotonic() - began < timeout, f"not within {timeout:g} s: {what}")
        time.sleep(0.05)
    return time.monotonic() - began


def check_memory_returns(lab: Lab, timeout: float = 15) -> None:
    """Checks that no block stays allocated when every connection is over."""
    for gateway in lab.gateways:
        eventually(
            lambda: gateway.query("status")["arena_used_bytes"] == 0,
            timeout,
            f"{gateway.name} gives all its memory back",
        )
