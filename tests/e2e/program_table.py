"""The programs of test_programs.py: what each program does, and what must have arrived.

A program is a function of a `Visit`. It runs the client, and returns pairs of digests: of the data sent and of the data
that arrived.
"""

import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness import Lab, accept, eventually, listen, receive_all
from program_servers import IPERF_PORTS, OBJECTS, Servers, digest, listens

_PATIENCE = 60  # seconds for one program: many times its usual time on a machine with other work
# curl writes its conversation with the server to standard error, which is shown if it fails.
_CURL = ("curl", "--verbose", "--silent", "--show-error", "--fail", "--noproxy", "*")
_SSH_OPTIONS = (
    *("-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"),
    # The default would need a second of computing on a slow machine, and tests nothing more.
    *("-o", "KexAlgorithms=curve25519-sha256"),
)
_FIRST_NC_PORT = 7000


class ProgramFailed(Exception):
    """Says which command did not do what, and all that it printed."""


@dataclass
class Visit:
    """One run of one program, from the client's side."""

    lab: Lab
    servers: Servers
    address: str
    folder: str  # empty at the start

    @property
    def host(self) -> str:
        """The address as in a URL."""
        return f"[{self.address}]" if ":" in self.address else self.address

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def incoming(self, name: str) -> str:
        return os.path.join(self.servers.files.incoming, name)

    def run(self, *argv: str, standard_input: str = os.devnull, output: str = "") -> str:
        """Runs a client to its end; returns its standard output, unless that goes to a file."""
        kept = output or self.path("standard-output")
        with open(standard_input, "rb") as source, open(kept, "wb") as out:
            client = _start(self.lab.client, argv, stdin=source, stdout=out)
            said = _finish(client, argv)
        if client.returncode != 0:
            shown = "" if output else _read(kept)
            raise ProgramFailed(
                f"{' '.join(argv)}: exit status {client.returncode}\n{said}{shown}"
            )
        return "" if output else _read(kept)


Arrivals = list[tuple[str, str]]


@dataclass(frozen=True)
class Program:
    name: str
    run: Callable[[Visit], Arrivals]
    flows: int  # TCP connections that it opens, in either direction
    compared: str = "SHA-256"
    # It leaves while data is in flight. Segments that arrive after its reset belong to no flow.
    leaves_early: bool = False


# --- HTTP -----------------------------------------------------------------------------------------


def _curl_download(visit: Visit) -> Arrivals:
    return _fetch(visit, "http")


def _tls_download(visit: Visit) -> Arrivals:
    return _fetch(visit, "https", "--cacert", visit.servers.certificate)


def _fetch(visit: Visit, scheme: str, *options: str) -> Arrivals:
    arrived = visit.path("arrived")
    url = f"{scheme}://{visit.host}/file.bin"
    visit.run(*_CURL, "--globoff", *options, "--output", arrived, url)
    return _same(visit, arrived)


def _curl_upload(visit: Visit) -> Arrivals:
    url = f"http://{visit.host}/incoming/put"
    visit.run(*_CURL, "--globoff", "--upload-file", visit.servers.files.file, url)
    return _same(visit, visit.incoming("put"))


def _wget_download(visit: Visit) -> Arrivals:
    arrived = visit.path("arrived")
    url = f"http://{visit.host}/file.bin"
    visit.run("wget", "--no-verbose", "--no-proxy", "--tries=1", "-O", arrived, url)
    return _same(visit, arrived)


def _many_objects(visit: Visit) -> Arrivals:
    arrived = visit.path("objects")
    visit.run(
        *_CURL,
        *("--parallel", "--parallel-max", "6", "--parallel-immediate", "--create-dirs"),
        *("--output", f"{arrived}/#1", f"http://{visit.host}/objects/[0-{OBJECTS - 1}]"),
    )
    return [(digest(visit.servers.files.objects), digest(arrived))]


# --- FTP ------------------------------------------------------------------------------------------


def _ftp_get(visit: Visit, *mode: str) -> Arrivals:
    arrived = visit.path("arrived")
    url = f"ftp://{visit.host}/file.bin"
    visit.run(*_CURL, "--globoff", *mode, "--output", arrived, url)
    return _same(visit, arrived)


def _ftp_put(visit: Visit, *mode: str) -> Arrivals:
    url = f"ftp://{visit.host}/incoming/stored"
    visit.run(*_CURL, "--globoff", *mode, "--upload-file", visit.servers.files.file, url)
    return _same(visit, visit.incoming("stored"))


_ACTIVE = ("--ftp-port", "-")  # the server opens the data connection, to the client's own address


# --- ssh ------------------------------------------------------------------------------------------


def _ssh_options(visit: Visit) -> tuple[str, ...]:
    return (
        *_SSH_OPTIONS,
        *("-i", visit.servers.client_key),
        *("-o", f"UserKnownHostsFile={visit.servers.known_hosts}"),
    )


def _ssh_command(visit: Visit) -> Arrivals:
    """A command's input and its output: the file goes there and comes back."""
    arrived = visit.path("arrived")
    visit.run(
        *("ssh", *_ssh_options(visit), f"root@{visit.address}", "cat"),
        standard_input=visit.servers.files.file,
        output=arrived,
    )
    return _same(visit, arrived)


def _scp_get(visit: Visit) -> Arrivals:
    arrived = visit.path("arrived")
    source = f"root@{visit.host}:{visit.servers.files.file}"
    visit.run("scp", "-q", *_ssh_options(visit), source, arrived)
    return _same(visit, arrived)


def _scp_put(visit: Visit) -> Arrivals:
    arrived = visit.incoming("copied")
    files = visit.servers.files
    visit.run("scp", "-q", *_ssh_options(visit), files.file, f"root@{visit.host}:{arrived}")
    return _same(visit, arrived)


# --- rsync ----------------------------------------------------------------------------------------


def _rsync_pull(visit: Visit) -> Arrivals:
    arrived = visit.path("tree")
    visit.run("rsync", "-a", f"rsync://{visit.host}/files/tree/", f"{arrived}/")
    return [(digest(visit.servers.files.tree), digest(arrived))]


def _rsync_push(visit: Visit) -> Arrivals:
    tree = visit.servers.files.tree
    visit.run("rsync", "-a", f"{tree}/", f"rsync://{visit.host}/files/incoming/tree/")
    return [(digest(tree), digest(visit.incoming("tree")))]


# --- iperf3 ---------------------------------------------------------------------------------------


def _iperf(visit: Visit, port: int, streams: int, sums: tuple[str, ...], *options: str) -> Arrivals:
    """iperf3 compares no bytes. The test requires that each stream ended well and carried something."""
    said = visit.run(
        *("iperf3", "--client", visit.address, "--port", str(port), "--json"),
        *("--time", "1", *options),
    )
    result = json.loads(said)
    carried = [_carried(stream) for stream in result.get("end", {}).get("streams", [])]
    totals = [result.get("end", {}).get(name, {}).get("bytes", 0) for name in sums]
    if "error" in result or len(carried) != streams or not all(carried) or not all(totals):
        raise ProgramFailed(f"iperf3 {' '.join(options)}: bytes of streams: {carried}\n{said}")
    return []


def _carried(stream: dict) -> int:
    return min(stream["sender"]["bytes"], stream["receiver"]["bytes"])


# --- nc -------------------------------------------------------------------------------------------


def _half_close(visit: Visit) -> Arrivals:
    """The client ends first. Its file comes back only after the server has seen that end.

    The server is a socket of this test, as `nc -l` leaves when its client ends.
    """
    back, port = visit.path("back"), _FIRST_NC_PORT
    received = []

    def answer(server):
        with accept(server, _PATIENCE) as accepted:
            received.append(receive_all(accepted))
            accepted.sendall(received[0])

    with listen(visit.lab.server, visit.address, port) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        try:
            nc = ("nc", "-N", visit.address, str(port))
            visit.run(*nc, standard_input=visit.servers.files.file, output=back)
        finally:
            thread.join()
    there = hashlib.sha256(b"".join(received)).hexdigest()
    return [(digest(visit.servers.files.file), there), *_same(visit, back)]


def _server_first(visit: Visit) -> Arrivals:
    """The client never sends a byte."""
    arrived = visit.path("arrived")
    port = _FIRST_NC_PORT + 1
    with open(visit.servers.files.file, "rb") as source:
        server = _start_nc(visit, port, stdin=source, stdout=subprocess.DEVNULL)
        try:
            visit.run("nc", "-d", visit.address, str(port), output=arrived)
        finally:
            _end(server)
    return _same(visit, arrived)


def _start_nc(visit: Visit, port: int, **streams) -> subprocess.Popen:
    argv = ("nc", "-l", "-N", visit.address, str(port))
    server = _start(visit.lab.server, argv, **streams)
    try:
        eventually(lambda: listens(visit.lab.server, port), 20, "nc listens")
    except BaseException:
        _end(server)
        raise
    return server


# --- processes ------------------------------------------------------------------------------------


def _start(space, argv: tuple[str, ...], **streams) -> subprocess.Popen:
    # setpriv is used, as a function between fork and exec is not safe beside other threads.
    return subprocess.Popen(
        space.command("setpriv", "--pdeathsig", "TERM", *argv),
        stderr=subprocess.PIPE,
        start_new_session=True,
        **streams,
    )


def _finish(process: subprocess.Popen, argv: tuple[str, ...]) -> str:
    """Waits for the end; returns the output on standard error."""
    try:
        _, said = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, said = process.communicate()
        raise ProgramFailed(
            f"{' '.join(argv)}: still running after {_PATIENCE} s\n{_text(said)}"
        ) from None
    return _text(said)


def _end(process: subprocess.Popen) -> None:
    """Ends a server. A server of one connection ends by itself, and gets a moment for that."""
    deadline = time.monotonic() + 5
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stderr):
        if stream:
            stream.close()


def _same(visit: Visit, arrived: str) -> Arrivals:
    return [(digest(visit.servers.files.file), digest(arrived))]


def _text(said: bytes) -> str:
    return said.decode(errors="replace")


def _read(path: str) -> str:
    with open(path, errors="replace", encoding="utf-8") as file:
        return file.read()


PROGRAMS = (
    Program("curl: download", _curl_download, flows=1),
    Program("curl: upload (PUT)", _curl_upload, flows=1),
    Program("wget: download", _wget_download, flows=1),
    Program("curl: TLS download", _tls_download, flows=1),
    Program("curl: 200 objects, 6 connections", _many_objects, flows=6),
    Program("FTP passive: get", _ftp_get, flows=2),
    Program("FTP passive: put", _ftp_put, flows=2),
    Program("FTP active: get", lambda visit: _ftp_get(visit, *_ACTIVE), flows=2),
    Program("FTP active: put", lambda visit: _ftp_put(visit, *_ACTIVE), flows=2),
    Program("ssh: command, both ways", _ssh_command, flows=1),
    Program("scp: get", _scp_get, flows=1),
    Program("scp: put", _scp_put, flows=1),
    Program("rsync: pull", _rsync_pull, flows=1),
    Program("rsync: push", _rsync_push, flows=1),
    Program("nc: half-close", _half_close, flows=1),
    Program("nc: server speaks first", _server_first, flows=1),
    Program(
        "iperf3 -P 32",
        lambda visit: _iperf(visit, IPERF_PORTS[0], 32, ("sum_received",), "-P", "32"),
        flows=33,
        compared="bytes",
        leaves_early=True,
    ),
    Program(
        "iperf3 -R",
        lambda visit: _iperf(visit, IPERF_PORTS[1], 1, ("sum_received",), "-R"),
        flows=2,
        compared="bytes",
        leaves_early=True,
    ),
    Program(
        "iperf3 --bidir",
        lambda visit: _iperf(
            *(visit, IPERF_PORTS[2], 2),
            ("sum_received", "sum_received_bidir_reverse"),
            "--bidir",
        ),
        flows=3,
        compared="bytes",
        leaves_early=True,
    ),
)
