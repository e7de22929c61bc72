"""Urgent data between Linux hosts behaves through the gateways as over a bridge, where the kernels decide."""

import contextlib
import errno
import fcntl
import select
import socket
import struct
import time

import pytest
from harness import (
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    accept,
    check,
    connect,
    connection,
    eventually,
    listen,
)

# IPv4 is relayed, IPv6 is bridged.
OPTIONS = GatewayOptions(bridged_hosts=(f"{CLIENT.ipv6}/128",))
pytestmark = pytest.mark.lab(Link(rtt=0.1, loss=0), OPTIONS)

SIOCATMARK = 0x8905
UNREAD = bytes(range(256)) * 80


def take_urgent(end: socket.socket) -> tuple[bytes, int]:
    """The urgent octet, or why there is none: EAGAIN if it is yet to come, else EINVAL."""
    end.setblocking(False)
    try:
        return end.recv(1, socket.MSG_OOB), 0
    except OSError as error:
        return b"", error.errno


def wait_for_urgent(end: socket.socket) -> bytes:
    told = select.poll()
    told.register(end, select.POLLPRI)
    return take_urgent(end)[0] if told.poll(5000) else b""


def read(end: socket.socket, seconds: float = 0.5) -> bytes:
    """Reads until nothing has come for that time."""
    end.settimeout(seconds)
    taken = b""
    with contextlib.suppress(TimeoutError):
        while part := end.recv(1 << 16):
            taken += part
    return taken


def is_at_mark(end: socket.socket) -> bool:
    return struct.unpack("i", fcntl.ioctl(end, SIOCATMARK, b"\0" * 4)) == (1,)


def beside_the_stream(lab: Lab, address: str) -> list:
    outcome = []
    with connection(lab, 9101, address) as (client, server):
        for sender, receiver in ((client, server), (server, client)):
            for ordinary, urgent in ((b"abc", b"!"), (b"", b"12"), (b"def" * 1000, b"?")):
                sender.settimeout(20)
                sender.sendall(ordinary)
                sender.send(urgent, socket.MSG_OOB)
                outcome += [wait_for_urgent(receiver), read(receiver)]
            sender.sendall(b"ghi")
            outcome.append(read(receiver))
    return outcome


def in_line(lab: Lab, address: str) -> list:
    outcome = []
    with connection(lab, 9102, address) as (client, server):
        server.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        client.sendall(b"abc")
        client.send(b"!", socket.MSG_OOB)
        client.sendall(b"def")
        time.sleep(0.5)
        for _ in range(2):
            outcome += [is_at_mark(server), server.recv(100)]
    return outcome


def last_of_the_stream(lab: Lab, address: str) -> list:
    with connection(lab, 9103, address) as (client, server):
        client.sendall(b"abc")
        client.send(b"!", socket.MSG_OOB)
        client.shutdown(socket.SHUT_WR)
        return [wait_for_urgent(server), read(server)]


def behind_a_closed_window(lab: Lab, address: str) -> list:
    """A host that reads nothing still learns that urgent data waits behind its unread bytes."""
    with listen(lab.server, address, 9104, receive_buffer=4096) as listener:
        with connect(lab.client, address, 9104) as client, accept(listener) as server:
            client.sendall(UNREAD)
            time.sleep(1)
            outcome = [take_urgent(server)[1] == errno.EINVAL]
            client.send(b"!", socket.MSG_OOB)
            eventually(lambda: take_urgent(server)[1] == errno.EAGAIN, 20, "the host is told")
            something = select.poll()
            something.register(server, select.POLLIN | select.POLLPRI)
            stream = urgent = b""
            while something.poll(1000):
                urgent += take_urgent(server)[0]
                with contextlib.suppress(BlockingIOError):
                    stream += server.recv(1 << 16)
            return [*outcome, stream == UNREAD, urgent]


def flows_relayed(lab: Lab) -> int:
    return sum(gateway.counter("flows_established") for gateway in lab.gateways)


@pytest.mark.parametrize(
    "case", [beside_the_stream, in_line, last_of_the_stream, behind_a_closed_window]
)
def test_urgent_data_is_what_it_is_over_a_bridge(lab: Lab, case) -> None:
    bridged = case(lab, SERVER.ipv6)
    before = flows_relayed(lab)
    relayed = case(lab, SERVER.ipv4)
    check(relayed == bridged, f"{relayed!r} instead of {bridged!r}")
    check(flows_relayed(lab) == before + 1, "other connections were relayed than those of IPv4")
