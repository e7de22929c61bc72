"""Modes other than local, as Linux hosts see them: the far host decides instead of the gateway."""

import contextlib
import fcntl
import hashlib
import os
import socket
import struct
import termios
import threading
import time

from harness import (
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    RealTime,
    accept,
    check,
    check_memory_returns,
    connect,
    connection,
    eventually,
    make_lab,
    note,
    receive_all,
)
from lab.kernel import join

LINK = Link(rtt=0.3, loss=0)
FIN_WAIT_1, FIN_WAIT_2 = 4, 5
# In struct tcp_info, state is the first byte, and tcpi_total_retrans is the 32-bit word at offset 100.
TOTAL_RETRANSMISSIONS = 100


def information(end: socket.socket) -> bytes:
    return end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)


def state(end: socket.socket) -> int:
    return information(end)[0]


def retransmissions(end: socket.socket) -> int:
    return struct.unpack_from("I", information(end), TOTAL_RETRANSMISSIONS)[0]


def unacknowledged(end: socket.socket) -> int:
    """Bytes in the socket's queue that the other side has not acknowledged (SIOCOUTQ)."""
    return struct.unpack("i", fcntl.ioctl(end, termios.TIOCOUTQ, b"\0" * 4))[0]


def seconds_of(function) -> float:
    began = time.monotonic()
    function()
    return time.monotonic() - began


def refused(lab: Lab) -> None:
    try:
        connect(lab.client, SERVER.ipv4, 9999)
    except ConnectionRefusedError:
        return
    check(False, "a port on which nobody listens was not refused")


def transfer(lab: Lab, size: int) -> None:
    """Sends in both directions at once, with half-closes. On a link without loss nothing is sent twice."""
    data, measured = os.urandom(size), RealTime()
    with connection(lab, 8080) as (client, server):

        def send(end):
            end.sendall(data)
            end.shutdown(socket.SHUT_WR)

        senders = [threading.Thread(target=send, args=(end,)) for end in (client, server)]
        received = {}
        for sender in senders:
            sender.start()
        reader = threading.Thread(target=lambda: received.update(server=receive_all(server)))
        reader.start()
        received["client"] = receive_all(client)
        for thread in (*senders, reader):
            thread.join()
        for name, got in received.items():
            check(
                hashlib.sha256(got).digest() == hashlib.sha256(data).digest(),
                f"the {name} received other bytes",
            )
        again = retransmissions(client) + retransmissions(server)
        note(f"{size} B each way; the hosts sent {again} segments again")
        # A probe of the tail may come when the machine pauses. A timer learned on the LAN would retransmit each window.
        measured.check(again <= 10, f"{again} segments were sent again")


def test_far_host_decides() -> None:
    modes = {
        "handshake": "remote",
        "ack": "end-to-end",
        "close": "confirmed",
        "window": "mirror",
    }
    with make_lab(LINK, GatewayOptions(modes=modes)) as lab:
        refused(lab)
        transfer(lab, 300_000)
        with lab.server.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((SERVER.ipv4, 8081))
            listener.listen(1)
            client = None

            def open_connection():
                nonlocal client
                client = connect(lab.client, SERVER.ipv4, 8081)

            measured = RealTime()
            seconds = seconds_of(open_connection)
            note(f"connected after {seconds:.3f} s, the link's RTT is {LINK.rtt} s")
            check(LINK.rtt < seconds, f"connected after {seconds:.3f} s")
            measured.check(seconds < LINK.rtt + 0.5, f"connected after {seconds:.3f} s")
            server, _ = listener.accept()
            with client, server:
                # Half a round trip later the gateway has all of it, and the far host does not.
                client.sendall(b"x" * 50_000)
                client.shutdown(socket.SHUT_WR)
                time.sleep(LINK.rtt / 2)
                now, owed = state(client), unacknowledged(client)
                measured.check(now == FIN_WAIT_1, f"the client's state is {now}")
                measured.check(owed > 0, "data is acknowledged before a round trip is over")
                check(len(receive_all(server)) == 50_000, "all has arrived")
                eventually(lambda: state(client) == FIN_WAIT_2, 5, "the FIN is acknowledged")
                check(unacknowledged(client) == 0, "and all data")
        check_memory_returns(lab)


def test_local_is_the_default() -> None:
    with make_lab(LINK) as lab, connection(lab, 8080) as (client, server):
        client.sendall(b"x" * 50_000)
        client.shutdown(socket.SHUT_WR)
        eventually(lambda: state(client) == FIN_WAIT_2, LINK.rtt / 2, "the gateway acknowledges")
        check(unacknowledged(client) == 0, "all of it")
        check(len(receive_all(server)) == 50_000, "all arrives")


MPTCP = getattr(socket, "IPPROTO_MPTCP", 262)
BACKUP = ("198.51.100.1", "198.51.100.2")  # client, server; beside the gateways


def add_backup_path(lab: Lab) -> None:
    """Adds a second cable between client and server, which the client's MPTCP uses if the first path fails."""
    join(lab.client, "bk0", lab.server, "bk0")
    for space, address in zip((lab.client, lab.server), BACKUP):
        space.ip("addr", "add", f"{address}/30", "dev", "bk0")
        space.ip("link", "set", "bk0", "up")
        space.ip("mptcp", "limits", "set", "subflow", "2")
        space.write_setting("mptcp/stale_loss_cnt", "1")
    lab.client.ip("route", "add", SERVER.ipv4, "via", BACKUP[1], "dev", "bk0", "table", "7")
    lab.client.ip("rule", "add", "from", BACKUP[0], "table", "7")
    lab.client.ip("mptcp", "endpoint", "add", BACKUP[0], "dev", "bk0", "subflow", "backup")


def upload(lab: Lab, client: socket.socket) -> int:
    """Sends over a path that fails midway; returns how many bytes the client's socket took."""
    block, taken = b"x" * 10_000, 0
    with contextlib.suppress(OSError):
        for number in range(20):
            if number == 10:
                lab.client.ip("link", "set", CLIENT.interface, "down")
            client.sendall(block)
            taken += len(block)
            time.sleep(0.05)
        client.shutdown(socket.SHUT_WR)
    return taken


def arrives_over_two_paths(mode: str) -> bool:
    """Whether all of an upload arrives although its first path fails."""
    with make_lab(LINK, GatewayOptions(modes={"mptcp": mode})) as lab:
        add_backup_path(lab)
        with (
            lab.server.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP) as listener,
            lab.client.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP) as client,
        ):
            listener.bind((SERVER.ipv4, 8080))
            listener.listen(1)
            client.settimeout(5)
            client.connect((SERVER.ipv4, 8080))
            with accept(listener) as server:
                taken = upload(lab, client)
                server.settimeout(5)
                with contextlib.suppress(OSError):
                    return len(receive_all(server)) == taken == 200_000
                return False


def test_a_backup_path_takes_over() -> None:
    """Multipath TCP with a first path that fails: a bridged connection goes on over the other path."""
    check(arrives_over_two_paths("bridge"), "it ended with its first path")
    check(not arrives_over_two_paths("fallback"), "what was relayed has one path")


def test_ttl_security() -> None:
    """RFC 5082, as BGP routers have it: each end sends with a TTL of 255, and drops packets with any other."""
    minimum_ttl = getattr(socket, "IP_MINTTL", 21)

    def secure(end: socket.socket) -> None:
        end.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        end.setsockopt(socket.IPPROTO_IP, minimum_ttl, 255)

    with make_lab(LINK, GatewayOptions(modes={"ttl": "preserve"})) as lab:
        with lab.server.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            secure(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((SERVER.ipv4, 179))
            listener.listen(2)
            seconds, measured = [], RealTime()
            for _ in range(2):
                with lab.client.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
                    secure(client)
                    client.settimeout(10)
                    seconds.append(seconds_of(lambda client=client: client.connect((SERVER.ipv4, 179))))
                    server, _ = listener.accept()
                    with server:
                        client.sendall(b"open")
                        server.settimeout(10)
                        check(server.recv(4) == b"open", "other bytes")
                        server.sendall(b"keepalive")
                        check(client.recv(9) == b"keepalive", "other bytes")
            note(f"connected after {seconds[0]:.3f} s, then after {seconds[1]:.3f} s")
            check(seconds[0] > LINK.rtt, "the first answer is the server's own")
            check(lab.gateway_a.counter("flows_established") == 2, "not all were relayed")
            measured.check(seconds[1] < LINK.rtt / 2, "the second one is the gateway's")
