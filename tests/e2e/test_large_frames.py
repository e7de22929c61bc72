"""Hosts keep their offloads: large frames both ways, relayed and bridged, tagged or not, and none at all."""

import socket

import pytest
from harness import (
    ACCELERATED_PORT,
    BRIDGED_PORT,
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    check,
    note,
)
from lab import topology
from lab.web import Web

SIZE = 3_000_000
LINK = Link(rate=500_000_000, rtt=0.02, loss=0)
_SOL_UDP, _UDP_SEGMENT = 17, 103
SEGMENT = 1000
NONE = {"large_frames": "no"}


def carry_files(lab: Lab) -> None:
    web = Web(lab, (ACCELERATED_PORT, BRIDGED_PORT))
    file = web.make_file("random.bin", SIZE)
    for host in (SERVER.ipv4, SERVER.ipv6):
        for port in (ACCELERATED_PORT, BRIDGED_PORT):
            for way in ("download", "upload"):
                outcome = web.start(file, way, port, host).finish()
                what = f"{way} from {host}:{port}"
                check(outcome.completed and outcome.sha256_ok, f"{what}: {outcome}")


def carry_datagrams(lab: Lab) -> None:
    """As QUIC does: many datagrams by one call, which stay datagrams."""
    for host, family in ((SERVER.ipv4, socket.AF_INET), (SERVER.ipv6, socket.AF_INET6)):
        with lab.server.socket(family, socket.SOCK_DGRAM) as server:
            server.bind((host, 9443))
            server.settimeout(5)
            with lab.client.socket(family, socket.SOCK_DGRAM) as client:
                client.setsockopt(_SOL_UDP, _UDP_SEGMENT, SEGMENT)
                parts = [bytes([number]) * SEGMENT for number in range(20)] + [b"the last"]
                client.sendto(b"".join(parts), (host, 9443))
                arrived = [server.recv(65536) for _ in parts]
        check(arrived == parts, f"{host}: datagrams of {[len(part) for part in arrived]} bytes")


def ports(lab: Lab) -> dict[str, dict]:
    """The counters of all ports, by where they are."""
    found = {}
    for gateway in lab.gateways:
        for name, port in gateway.query("ports").items():
            found[f"{name} of {gateway.name[-1]}"] = port
    link = lab.link_counters()
    return found | {f"{name} of the link": link[name] for name in ("port_a", "port_b")}


def check_nothing_lost(lab: Lab) -> None:
    for name, port in ports(lab).items():
        for counter in ("rx_merged", "rx_missed", "rx_no_buffer", "tx_errors"):
            check(port[counter] == 0, f"{name}: {counter} is {port[counter]}")
    for gateway in lab.gateways:
        # What waits for a checksum that nobody gives, or is longer than a frame.
        for counter in ("dropped_unfinished_checksum", "dropped_bad_checksum", "dropped_too_long"):
            value = gateway.counters().get(counter, 0)
            check(value == 0, f"{gateway.name}: {counter} is {value}")
    for way in ("a_to_b", "b_to_a"):
        check(lab.link_counters()[way]["dropped_mtu"] == 0, "the link was shown a large frame")


@pytest.mark.lab(LINK)
def test_default_offloads(lab: Lab) -> None:
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)
    for name, port in ports(lab).items():
        note(f"{name}: {port['rx_large']} large frames in, {port['tx_large']} out")
        check(port["rx_large"] > 0, f"{name} has received no large frame")
        check(port["tx_large"] > 0, f"{name} has sent no large frame")


@pytest.mark.lab(LINK, vlans=(100,))
def test_vlan(lab: Lab) -> None:
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, vlans=(200, 100))
def test_vlan_in_vlan(lab: Lab) -> None:
    # The second tag takes four bytes more of the hosts' interfaces, not of their packets.
    for space, host in ((lab.client, CLIENT), (lab.server, SERVER)):
        on = ("dev", host.interface, "proto", "kernel", "mtu", "1500")
        space.ip("route", "replace", topology.IPV4_SUBNET, *on)
        space.ip("-6", "route", "replace", topology.IPV6_SUBNET, *on, "metric", "256")
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, offloads=False)
def test_without_offloads(lab: Lab) -> None:
    """As on a cable. The interfaces cannot cut either: each port learns to do it."""
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, GatewayOptions(lan=NONE, wan=NONE))
def test_none_are_sent(lab: Lab) -> None:
    """What a kernel before 6.2 gets of UDP, or any that is told to."""
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)
    for name, port in ports(lab).items():
        check(port["tx_large"] == 0, f"{name} has sent large frames")
    check(ports(lab)["lan of a"]["rx_large"] > 0, "the hosts have sent none")


@pytest.mark.lab(LINK, GatewayOptions(lan={"mtu": "9000"}))
def test_jumbo_frames_on_the_lan(lab: Lab) -> None:
    for space, host in ((lab.client, CLIENT), (lab.server, SERVER)):
        space.ip("link", "set", host.interface, "mtu", "9000")
    web = Web(lab, (ACCELERATED_PORT,))
    file = web.make_file("random.bin", SIZE)
    for way in ("download", "upload"):
        outcome = web.start(file, way, ACCELERATED_PORT).finish()
        check(outcome.completed and outcome.sha256_ok, f"{way}: {outcome}")
    check_nothing_lost(lab)
    lan = ports(lab)["lan of a"]
    mean = lan["rx_bytes"] / lan["rx_frames"]
    check(lan["rx_large"] > 0 and mean > 2000, f"{lan['rx_large']} large, mean {mean:.0f} bytes")
