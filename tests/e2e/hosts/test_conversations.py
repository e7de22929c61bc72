"""The hosts alone decide which of them speaks first and ends first. Nothing waits, and no half-close is lost."""

import contextlib
import random
import select
import socket
import struct
import subprocess
import threading
import time

import pytest
from harness import (
    CLIENT,
    SERVER,
    Lab,
    RealTime,
    accept,
    check,
    check_memory_returns,
    connect,
    connection,
    listen,
    note,
    receive_all,
)

DATA = random.Random(8).randbytes(300_000)

pytestmark = pytest.mark.lab()


def test_server_speaks_first(lab: Lab) -> None:
    measured = RealTime()
    with listen(lab.server, SERVER.ipv4, 9025) as server:
        began = time.monotonic()
        with connect(lab.client, SERVER.ipv4, 9025) as client, accept(server) as accepted:
            accepted.sendall(b"220 mail ready\r\n")
            check(client.recv(100) == b"220 mail ready\r\n", "the greeting changed")
            seconds = time.monotonic() - began
            client.sendall(b"QUIT\r\n")
            check(accepted.recv(100) == b"QUIT\r\n", "the answer changed")
    note(f"greeted after {seconds:.2f} s, the link's RTT is {lab.link.rtt} s")
    measured.check(seconds < 3 * lab.link.rtt + 0.3, f"the greeting took {seconds:.2f} s")


def test_every_key_stroke_crosses_at_once(lab: Lab) -> None:
    slowest, measured = 0.0, RealTime()
    with connection(lab, 9026) as (client, server):
        client.setsockopt(6, 1, 1)  # TCP_NODELAY
        for key in b"ls -l\n":
            began = time.monotonic()
            client.sendall(bytes([key]))
            check(server.recv(1) == bytes([key]), "a key stroke changed")
            slowest = max(slowest, time.monotonic() - began)
    note(f"the slowest of six key strokes took {slowest:.3f} s")
    measured.check(
        slowest < lab.link.rtt / 2 + 3 * lab.link.rtt, f"a key stroke took {slowest:.2f} s"
    )


def test_client_ends_first(lab: Lab) -> None:
    """`nc -N` sends its end of file; the server answers only after that."""

    def echo_after_end(server):
        with accept(server) as accepted:
            accepted.sendall(receive_all(accepted))

    for host, space, far in (
        (SERVER.ipv4, lab.client, lab.server),
        (SERVER.ipv6, lab.client, lab.server),
        (CLIENT.ipv4, lab.server, lab.client),
    ):
        with listen(far, host, 9027) as server:
            thread = threading.Thread(target=echo_after_end, args=(server,))
            thread.start()
            answer = _netcat(space, "-N", host, "9027")
            thread.join()
        check(answer == DATA, f"nc -N to {host}: {len(answer)} of {len(DATA)} bytes came back")


def test_server_ends_first(lab: Lab) -> None:
    """The client goes on sending long after it has seen the server's end."""
    with connection(lab, 9028) as (client, server):
        server.sendall(DATA)
        server.shutdown(1)
        check(receive_all(client) == DATA, "what came before the server's end changed")
        time.sleep(0.5)
        client.sendall(DATA)
        client.shutdown(1)
        check(receive_all(server) == DATA, "what the client sent afterwards changed")


def test_nothing_said_nothing_lost(lab: Lab) -> None:
    """A connection without a byte ends on both sides."""
    with connection(lab, 9029) as (client, server):
        client.shutdown(1)
        check(server.recv(1) == b"", "an end became data")
        server.close()
        check(client.recv(1) == b"", "an end became data")


def test_resets_cross(lab: Lab) -> None:
    for which in (0, 1):
        with connection(lab, 9030) as ends:
            ends[which].sendall(b"last words")
            check(ends[1 - which].recv(100) == b"last words", "bytes changed")
            _close_with_reset(ends[which])
            try:
                ended = ends[1 - which].recv(1)
                check(False, f"a reset arrived as {ended!r}")
            except ConnectionResetError:
                pass


def test_what_comes_before_a_reset_arrives(lab: Lab) -> None:
    """If programs linger for 0 s, or close without having read all, the bytes before the reset arrive without a gap."""
    words = b"Exceeded MaxStartups\r\n" * 500
    for number in range(12):
        which, lingers = number % 2, number % 4 < 2
        with connection(lab, 9031) as ends:
            end, far = ends[which], ends[1 - which]
            if not lingers:
                far.sendall(b"a question that nobody reads")
                select.select([end], [], [], 20)
            end.sendall(words)
            _close_with_reset(end) if lingers else end.close()
            heard = b""
            with contextlib.suppress(ConnectionResetError):
                while part := far.recv(1 << 16):
                    heard += part
                check(False, "a reset arrived as an end")
            check(heard == words, f"{len(heard)} bytes of {len(words)} before the reset {number}")


def _close_with_reset(end) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


def _netcat(space, *argv: str) -> bytes:
    nc = space.popen("nc", *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = nc.communicate(DATA, timeout=30)
    check(nc.returncode == 0, f"nc ended with status {nc.returncode}")
    return out


def test_nothing_is_left(lab: Lab) -> None:
    """Runs last, as it is about all other tests."""
    for gateway in lab.gateways:
        check(gateway.counter("bridged_mid_stream") == 0, "segments went past the relay")
    check_memory_returns(lab)
