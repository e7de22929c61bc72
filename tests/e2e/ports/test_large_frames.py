"""Hosts with all their offloads or without: large frames both ways, relayed and bridged, tagged or not."""

import contextlib
import platform
import re
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
    Skip,
    check,
    note,
)
from lab import topology
from lab.kernel import CommandFailed
from lab.web import File, Web

SIZE = 3_000_000
LINK = Link(rate=500_000_000, rtt=0.02, loss=0)
_SOL_UDP, _UDP_SEGMENT = 17, 103
SEGMENT = 1000
NONE = {"large_frames": "no"}
# INNER has the addresses of the hosts within a tunnel. TUNNELS has the words of `ip link` behind "type" for each kind.
INNER = ("198.51.100.1", "2001:db8:1::1"), ("198.51.100.2", "2001:db8:1::2")
TUNNELS = {
    "vxlan": "vxlan id 5 dstport 4789 local {near} remote {far}",
    "vxlan with a checksum": "vxlan id 5 dstport 8472 udpcsum local {near} remote {far}",
    "vxlan over IPv6": "vxlan id 5 dstport 4789 local {near6} remote {far6}",
    "geneve": "geneve id 5 remote {far}",
    "geneve with a checksum": "geneve id 5 udpcsum remote {far}",
    "gue": "sit local {near} remote {far} encap gue encap-sport 5555 encap-dport 6080",
    "gre": "gre local {near} remote {far} key 5",
    "gre with a checksum": "gre local {near} remote {far} csum",
    "gre with numbers": "gre local {near} remote {far} seq key 5",
    "gretap": "gretap local {near} remote {far}",
    "gretap with a checksum": "gretap local {near} remote {far} csum",
    "ipip and 6in4": "sit mode any local {near} remote {far}",
    "ip6gre": "ip6gre local {near6} remote {far6}",
    "ip6tnl": "ip6tnl mode any local {near6} remote {far6}",
}
# The kernel makes no large frames of these kinds, since it numbers each frame.
NUMBERED = ("gre with numbers",)


def carry_files(lab: Lab) -> None:
    web = Web(lab, (ACCELERATED_PORT, BRIDGED_PORT))
    file = web.make_file("random.bin", SIZE)
    for host in (SERVER.ipv4, SERVER.ipv6):
        for port in (ACCELERATED_PORT, BRIDGED_PORT):
            for way in ("download", "upload"):
                outcome = web.start(file, way, port, host).finish()
                what = f"{way} from {host}:{port}"
                check(outcome.completed and outcome.sha256_ok, f"{what}: {outcome}")


def carry_datagrams(lab: Lab, hosts: tuple[str, str] = (SERVER.ipv4, SERVER.ipv6)) -> None:
    """Sends many datagrams by one call, as QUIC does. They must stay single datagrams."""
    for host, family in zip(hosts, (socket.AF_INET, socket.AF_INET6)):
        with lab.server.socket(family, socket.SOCK_DGRAM) as server:
            server.bind((host, 9443))
            server.settimeout(5)
            with lab.client.socket(family, socket.SOCK_DGRAM) as client:
                client.setsockopt(_SOL_UDP, _UDP_SEGMENT, SEGMENT)
                parts = [bytes([number]) * SEGMENT for number in range(20)] + [b"the last"]
                client.sendto(b"".join(parts), (host, 9443))
                arrived = [server.recv(65536) for _ in parts]
        check(arrived == parts, f"{host}: datagrams of {[len(part) for part in arrived]} bytes")


@contextlib.contextmanager
def tunnel(lab: Lab, kind: str):
    """Joins the hosts by a device `t0` at each; CommandFailed if the kernel has no such device."""
    ends = (lab.client, CLIENT, SERVER, INNER[0]), (lab.server, SERVER, CLIENT, INNER[1])
    try:
        for space, host, peer, inner in ends:
            at = {"near": host.ipv4, "far": peer.ipv4, "near6": host.ipv6, "far6": peer.ipv6}
            if "encap gue" in kind:
                space.ip("fou", "add", "port", "6080", "gue")
            space.ip("link", "add", "t0", "type", *kind.format(**at).split())
            space.ip("link", "set", "t0", "up")
            space.ip("addr", "add", f"{inner[0]}/24", "dev", "t0")
            space.ip("addr", "add", f"{inner[1]}/64", "dev", "t0", "nodad")
        yield
    finally:
        for space, *_ in ends:
            space.run("ip", "link", "del", "t0", check=False)


def ports(lab: Lab) -> dict[str, dict]:
    """The counters of all ports, by their places."""
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
        # Frames that wait for a checksum that never comes, or that are too long.
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


def tells_of_datagrams() -> bool:
    """Whether the kernel shows them: before 6.2 it loses large ones on their way to a packet socket."""
    version = re.match(r"(\d+)\.(\d+)", platform.release())
    return version is not None and tuple(map(int, version.groups())) >= (6, 2)


def carry_files_in_tunnel(lab: Lab, web: Web, file: File) -> None:
    for host in INNER[1]:
        for way in ("download", "upload"):
            outcome = web.start(file, way, BRIDGED_PORT, host).finish()
            what = f"{way} from {host}"
            check(outcome.completed and outcome.sha256_ok, f"{what}: {outcome}")
            note(f"   {what}: {outcome.seconds:.2f} s")


@pytest.mark.lab(LINK)
def test_tunnels(lab: Lab) -> None:
    """Hosts leave the contents of a tunnel to be cut, too. The kernel does not say that they are in a tunnel."""
    web = Web(lab, (BRIDGED_PORT,))
    file = web.make_file("random.bin", SIZE)
    carried = 0
    for name, kind in TUNNELS.items():
        note(name)
        before = ports(lab)
        try:
            with tunnel(lab, kind):
                carry_files_in_tunnel(lab, web, file)
                if tells_of_datagrams():
                    carry_datagrams(lab, INNER[1])
        except CommandFailed as error:
            note(f"   this kernel has none: {error}")
            continue
        carried += 1
        after = ports(lab)
        for port in ("lan of a", "lan of b"):
            large = after[port]["rx_large"] - before[port]["rx_large"]
            note(f"   {port}: {large} large frames in")
            check(large > 0 or name in NUMBERED, f"{name}: {port} has received no large frame")
    check_nothing_lost(lab)
    if carried == 0:
        raise Skip("this kernel has no tunnels")


@pytest.mark.lab(LINK, vlans=(100,))
def test_vlan(lab: Lab) -> None:
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, vlans=(200, 100))
def test_vlan_in_vlan(lab: Lab) -> None:
    # The second tag takes four more bytes of the hosts' interfaces, but not of their packets.
    for space, host in ((lab.client, CLIENT), (lab.server, SERVER)):
        on = ("dev", host.interface, "proto", "kernel", "mtu", "1500")
        space.ip("route", "replace", topology.IPV4_SUBNET, *on)
        space.ip("-6", "route", "replace", topology.IPV6_SUBNET, *on, "metric", "256")
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, offloads=False)
def test_without_offloads(lab: Lab) -> None:
    """As on a cable. The interfaces cannot cut frames either, and each port learns to do that."""
    carry_files(lab)
    carry_datagrams(lab)
    check_nothing_lost(lab)


@pytest.mark.lab(LINK, GatewayOptions(lan=NONE, wan=NONE))
def test_none_are_sent(lab: Lab) -> None:
    """The ports send no large frames, as with UDP before kernel 6.2, or with any kernel if the operator says so."""
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
