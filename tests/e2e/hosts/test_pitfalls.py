"""Problems that users of comparable systems reported, if no other test covers them (docs/testing.md has the list)."""

import contextlib
import os
import random
import socket
import threading

import frames
import pytest
from behind_router import BEHIND_ROUTER, ROUTER_MTU, host_behind_router
from harness import (
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    accept,
    check,
    check_memory_returns,
    connect,
    connection,
    eventually,
    listen,
    make_lab,
    note,
    receive_all,
)
from lab.topology import LAN_INTERFACE

LINK = Link(rate=100_000_000, rtt=0.04, loss=0)
DATA = random.Random(21).randbytes(700_000)
FLOW_LIMIT = 16


def hosts_see_each_others_addresses(lab: Lab) -> None:
    """Access lists and logs work: addresses and ports are the hosts' own, on both sides."""
    for space, far, host in (
        (lab.client, lab.server, SERVER.ipv4),
        (lab.client, lab.server, SERVER.ipv6),
        (lab.server, lab.client, CLIENT.ipv4),
        (lab.server, lab.client, CLIENT.ipv6),
    ):
        with listen(far, host, 9101) as server:
            with connect(space, host, 9101) as client, accept(server) as accepted:
                for one, other in ((client, accepted), (accepted, client)):
                    seen, own = one.getpeername()[:2], other.getsockname()[:2]
                    check(seen == own, f"{seen} was seen of {own}")
    taken = sum(gateway.counter("flows_established") for gateway in lab.gateways)
    check(taken == 4, f"{taken} of 4 connections were relayed")


def carry(client: socket.socket, server: socket.socket, what: str) -> None:
    """Sends DATA in both directions, one after the other."""
    for source, sink, way in ((client, server, "up"), (server, client, "down")):
        sender = threading.Thread(target=lambda: (source.sendall(DATA), source.shutdown(1)))
        sender.start()
        arrived = receive_all(sink)
        sender.join()
        check(arrived == DATA, f"{what}, {way}: {len(arrived)} bytes of {len(DATA)}, or others")


def lans_of_different_mtu(lab: Lab) -> None:
    """With a wrong MTU small transfers would work, and large ones would hang."""
    try:
        for client_mtu, server_mtu in ((1280, 1500), (1500, 1290)):
            lab.client.ip("link", "set", CLIENT.interface, "mtu", str(client_mtu))
            lab.server.ip("link", "set", SERVER.interface, "mtu", str(server_mtu))
            for address in (SERVER.ipv4, SERVER.ipv6):
                with connection(lab, 9102, address) as (client, server):
                    carry(client, server, f"MTU {client_mtu} and {server_mtu}, {address}")
    finally:
        lab.client.ip("link", "set", CLIENT.interface, "mtu", "1500")
        lab.server.ip("link", "set", SERVER.interface, "mtu", "1500")


def a_router_behind_the_gateway_carries_less(lab: Lab) -> None:
    """The router's "too big" is addressed to the client, but is about segments of the gateway. So it must reach the
    gateway."""
    with host_behind_router(lab) as inner:
        for address in BEHIND_ROUTER:
            before = lab.gateway_b.counter("dropped_icmp_for_relayed")
            with listen(inner, address, 9103) as server:
                with connect(lab.client, address, 9103) as client, accept(server) as accepted:
                    carry(client, accepted, f"behind a router of MTU {ROUTER_MTU}, {address}")
            told = lab.gateway_b.counter("dropped_icmp_for_relayed") - before
            note(f"{address}: the router said {told} times that a segment was too big")
            check(told > 0, "the router never had to say that a segment was too big")


def short_connections_leave_nothing(lab: Lab) -> None:
    """No memory, no descriptor, no entry of a table stays behind."""

    def open_and_close(count: int) -> None:
        with listen(lab.server, SERVER.ipv4, 9104) as server:
            for _ in range(count // 50):
                with contextlib.ExitStack() as stack:
                    clients = [
                        stack.enter_context(connect(lab.client, SERVER.ipv4, 9104))
                        for _ in range(50)
                    ]
                    for client in clients:
                        client.sendall(b"hello")
                    for _ in clients:
                        accepted = stack.enter_context(accept(server))
                        check(accepted.recv(5) == b"hello", "a greeting changed")

    def held() -> list[tuple[int, int]]:
        return [
            (gateway.daemon.resident_bytes(), len(os.listdir(f"/proc/{gateway.daemon.pid}/fd")))
            for gateway in lab.gateways
        ]

    open_and_close(200)  # so that everything has been used once
    check_memory_returns(lab)
    before = held()
    open_and_close(600)
    check_memory_returns(lab)
    for gateway, (bytes_before, files_before), (bytes_now, files_now) in zip(
        lab.gateways, before, held()
    ):
        grown = bytes_now - bytes_before
        note(f"{gateway.name}: {grown} bytes more after 600 connections, {files_now} descriptors")
        check(grown < 4 << 20, f"{gateway.name} grew by {grown} bytes")
        # The socket of a query for figures may be open at either moment.
        check(files_now <= files_before + 2, f"{files_before} descriptors became {files_now}")


@pytest.mark.lab(LINK, vlans=(200, 100))
def test_two_tags_are_relayed_too(lab: Lab) -> None:
    for address in (SERVER.ipv4, SERVER.ipv6):
        with connection(lab, 9106, address) as (client, server):
            carry(client, server, f"VLAN in a VLAN, {address}")
    check(lab.gateway_a.counter("flows_established") == 2, "they were not relayed")
    with frames.Tap(lab.gateway_b.space, LAN_INTERFACE) as tap:
        lab.client.run("ping", "-n", "-c", "1", "-W", "5", SERVER.ipv4)
        seen = [frame[12:20].hex() for frame in tap.receive(0.2)]
    check("88a800c881000064" in seen, f"no frame with both tags on the cable: {seen}")


@pytest.mark.lab(LINK)
def test_pitfalls(lab: Lab) -> None:
    for part in (
        hosts_see_each_others_addresses,
        lans_of_different_mtu,
        a_router_behind_the_gateway_carries_less,
        short_connections_leave_nothing,
    ):
        part(lab)
        note(f"ok: {part.__name__.replace('_', ' ')}")


def test_a_full_table_refuses_nobody() -> None:
    """Connections beyond the limit work, unrelayed, and are counted. An ended connection makes room.

    All are of one host, which may have half of the table.
    """
    most = FLOW_LIMIT // 2
    options = GatewayOptions(limits={"flows": str(FLOW_LIMIT)})
    with make_lab(LINK, options) as lab, contextlib.ExitStack() as stack:
        server = stack.enter_context(listen(lab.server, SERVER.ipv4, 9105))
        pairs = []
        for _ in range(FLOW_LIMIT + 10):
            client = stack.enter_context(connect(lab.client, SERVER.ipv4, 9105))
            pairs.append((client, stack.enter_context(accept(server))))
        for number, (client, accepted) in enumerate(pairs):
            said = f"connection {number}".encode()
            client.sendall(said)
            check(accepted.recv(100) == said, f"connection {number} carried something else")
        counters = lab.gateway_a.counters()
        relayed, full = counters["flows_established"], counters["bridged_host_part"]
        note(f"{relayed} relayed, {full} bridged as the host had its part")
        check(relayed == most, f"{relayed} connections were relayed, not {most}")
        check(full >= 10, f"{full} frames were counted as bridged for want of room")
        for client, accepted in pairs:
            # Closed without TIME-WAIT, in which flows would keep their places.
            for end in (client, accepted):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                end.close()
        eventually(lambda: not lab.gateway_a.query("flows"), 20, "the table is empty again")
        with connect(lab.client, SERVER.ipv4, 9105) as client, accept(server) as accepted:
            carry(client, accepted, "after the table was full")
        check(lab.gateway_a.counter("flows_established") == most + 1, "it was not relayed")
