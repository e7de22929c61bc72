"""Pairs of gateways with one mistake each, and a box in the path that breaks what a file cannot break."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

import frames
from harness import ACCELERATED_PORT, control, converse
from lab import kernel
from lab.lab import Lab
from lab.machine import let_gateways_read
from lab.topology import CLIENT, LAN_INTERFACE, LINK_INTERFACES, SERVER, WAN_INTERFACE, Topology

BOX = ("m0", "m1")  # towards the link, and towards gateway B
IPV4, UDP = b"\x08\x00", 17
TO_A, TO_B = "to A", "to B"


class BoxedTopology(Topology):
    """A box of two interfaces joins the link and gateway B."""

    def create(self, offloads: bool = True) -> None:
        super().create(offloads)
        self.link.ip("link", "del", LINK_INTERFACES[1])
        cables = (
            (self.link, LINK_INTERFACES[1], self.link, BOX[0]),
            (self.link, BOX[1], self.gateway_b, WAN_INTERFACE),
        )
        for left, left_name, right, right_name in cables:
            kernel.join(left, left_name, right, right_name)
            kernel.switch_off_offloads(left, left_name)
            kernel.switch_off_offloads(right, right_name)
        for name in BOX:
            self.link.ip("link", "set", name, "mtu", "1600")
        self.box = Box(self.link)

    def remove(self) -> None:
        if hasattr(self, "box"):
            self.box.end()
        super().remove()


class Box:
    """Carries frames in both directions. `passes(frame, direction)` decides about each."""

    def __init__(self, space: kernel.Namespace):
        self.passes = lambda frame, direction: True
        self._ended = threading.Event()
        self._taps = [frames.Tap(space, name) for name in BOX]
        ways = ((self._taps, TO_B), (self._taps[::-1], TO_A))
        self._threads = [threading.Thread(target=self._carry, args=way) for way in ways]
        for thread in self._threads:
            thread.start()

    def _carry(self, taps, direction: str) -> None:
        while not self._ended.is_set():
            # An interface that a test has switched off takes and gives nothing.
            with contextlib.suppress(OSError):
                for frame in taps[0].receive(0.02):
                    if self.passes(frame, direction):
                        taps[1].send(frame)

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        for tap in self._taps:
            tap.__exit__()


@dataclass(frozen=True)
class Pair:
    """One mistake. `names` are right names of checks or events, and `cure` has words that one of their cures needs."""

    title: str
    names: tuple[str, ...]
    cure: tuple[str, ...]
    a: tuple[tuple[str, str], ...] = ()  # replaced texts in the file of gateway A
    b: tuple[tuple[str, str], ...] = ()
    passes: Callable = lambda frame, direction: True
    prepare: Callable[[Lab], None] = lambda lab: None  # before the start
    act: Callable[[Lab], None] = lambda lab: None  # once both run
    repeat: Callable[[Lab], None] = lambda lab: None  # about once a second
    clean: Callable[[Lab], None] = lambda lab: None
    starts_b: bool = True


def _is_udp(frame: bytes) -> bool:
    return frame[12:14] == IPV4 and frame[23] == UDP


def _make_other_secret(lab: Lab) -> None:
    other = f"{lab.psk_file}-other"
    kernel.run(lab.programs.satrelayctl, "keygen", other)
    let_gateways_read(other)


def _hide_secret(lab: Lab) -> None:
    hidden = f"{lab.psk_file}-hidden"
    kernel.run("cp", lab.psk_file, hidden)
    kernel.run("chown", "root:root", hidden)
    kernel.run("chmod", "0600", hidden)


def _copy_file_of_a(lab: Lab) -> None:
    near, far = lab.gateways
    with open(near.config_path, encoding="ascii") as file:
        text = file.read()
    with open(far.config_path, "w", encoding="ascii") as file:
        file.write(text.replace(f"stats_socket_prefix: {near.name}", f"stats_socket_prefix: {far.name}"))


def _talk(lab: Lab) -> None:
    lab.wait_for_peers()
    for _ in range(4):
        converse(lab, ACCELERATED_PORT, times=10)


def _claim_address(lab: Lab) -> None:
    """Another machine at the modem of gateway A answers for its address."""
    address = bytes((192, 0, 2, 1))
    mac = b"\x02\x00\x00\x00\x00\x99"
    arp = b"\x00\x01\x08\x00\x06\x04\x00\x02" + mac + address + b"\xff" * 6 + address
    with frames.Tap(lab.topology.link, LINK_INTERFACES[0]) as tap:
        tap.send(b"\xff" * 6 + mac + b"\x08\x06" + arp)


def _bridge(lab: Lab) -> None:
    lab.gateway_a.space.ip("link", "add", "br9", "type", "bridge")
    lab.gateway_a.space.ip("link", "set", LAN_INTERFACE, "master", "br9")


def _sides(host) -> str:
    return f'prefixes: [{host.ipv4_side}, "{host.ipv6_side}"]'


OTHER = "OTHER_INTERFACE"
UNHEARD = ("peer_unheard", "peer_no_packets", "peer_no_next_hop")
PAIRS = {
    "another-secret": Pair(
        "another secret at B",
        ("peer_wrong_key",),
        ("psk_file",),
        prepare=_make_other_secret,
        b=(("/psk}", "/psk-other}"),),
    ),
    "one-encrypts": Pair(
        "encryption at A only",
        ("peer_unlike_security",),
        ("security",),
        b=(("security: {psk_file", "security: none # {psk_file"),),
    ),
    "exchanged": Pair(
        "LAN and WAN exchanged at B",
        ("ports_exchanged",),
        ("exchange ports.lan and ports.wan",),
        b=(
            (f"interface: {LAN_INTERFACE}", f"interface: {OTHER}"),
            (f"interface: {WAN_INTERFACE}", f"interface: {LAN_INTERFACE}"),
            (f"interface: {OTHER}", f"interface: {WAN_INTERFACE}"),
        ),
    ),
    "peer-address": Pair(
        "A has another address for B",
        ("peer_other_address", "peer_no_next_hop"),
        ("peers[].address", "compare at both ends"),
        a=(("address: 192.0.2.2\n", "address: 192.0.2.9\n"),),
    ),
    "one-address": Pair(
        "B runs with a copy of the file of A",
        ("address_conflict",),
        ("an address of its own", "another gateway.address"),
        prepare=_copy_file_of_a,
    ),
    "stp-port": Pair(
        "another stp.port at B",
        ("peer_misdirected",),
        ("stp.port",),
        b=(("\nlog:", "\nstp: {port: 4501}\nlog:"),),
    ),
    "vlan": Pair(
        "gateway.vlan at B only",
        UNHEARD,
        ("vlan", "check its address"),
        b=(("/28}", "/28, vlan: 7}"),),
    ),
    "path-mtu": Pair(
        "a device in the path carries 1,300 bytes",
        ("path_mtu_low",),
        ("stp.mtu",),
        passes=lambda frame, direction: len(frame) <= 1314,
    ),
    "prefix-missing": Pair(
        "A lacks the prefix of the servers",
        ("no_flow",),
        ("peers[].prefixes",),
        a=((_sides(SERVER), "prefixes: [198.51.100.0/24]"),),
        act=_talk,
    ),
    "own-prefixes": Pair(
        "each end has its own LAN as the prefixes of the peer",
        ("no_flow", "syns_of_no_peer"),
        ("add the prefix of the servers", "add the hosts to peers[].prefixes"),
        a=((_sides(SERVER), _sides(CLIENT)),),
        b=((_sides(CLIENT), _sides(SERVER)),),
        act=_talk,
    ),
    "unit": Pair(
        "send_rate at A in kbit for Mbit",
        ("rate_unit",),
        ("send_rate",),
        a=(("send_rate: 50000000bit", "send_rate: 50kbit"),),
    ),
    "udp-dropped": Pair(
        "a firewall drops UDP",
        UNHEARD,
        ("UDP", "check its address"),
        passes=lambda frame, direction: not _is_udp(frame),
    ),
    "next-hop": Pair(
        "another next_hop at A",
        UNHEARD,
        ("next_hop", "check its address"),
        a=(("192.0.2.1/28}", "192.0.2.1/31, next_hop: 192.0.2.0}"),),
    ),
    "one-direction": Pair(
        "packets of B are lost",
        ("peer_one_way",),
        ("capture --port wan at both ends",),
        passes=lambda frame, direction: direction == TO_B or not _is_udp(frame),
    ),
    "workers": Pair(
        "two workers at B, and one at A's peer",
        ("peer_unlike_workers",),
        ("worker.count",),
        b=(("count: 1}", "count: 2}"),),
    ),
    "link-name": Pair(
        "the peer names a link that is not there",
        ("--check",),
        ("link",),
        a=(("link: sat\n", "link: other\n"),),
    ),
    "secret-unreadable": Pair(
        "only root may read the secret of A",
        ("file_unreadable",),
        ("chgrp",),
        prepare=_hide_secret,
        a=(("/psk}", "/psk-hidden}"),),
    ),
    "address-twice": Pair(
        "another machine at the modem has the address of A",
        ("address_conflict",),
        ("an address of its own", "another gateway.address"),
        repeat=_claim_address,
    ),
    "not-started": Pair(
        "gateway B does not run",
        UNHEARD,
        ("far gateway", "compare at both ends"),
        starts_b=False,
    ),
    "no-carrier": Pair(
        "the WAN cable of B is out",
        ("port_no_carrier", "port_down"),
        ("cable",),
        prepare=lambda lab: lab.topology.link.ip("link", "set", BOX[1], "down"),
        clean=lambda lab: lab.topology.link.ip("link", "set", BOX[1], "up"),
    ),
    "in-a-bridge": Pair(
        "port lan of A is put into a bridge",
        ("port_in_bridge",),
        ("nomaster",),
        act=_bridge,
        clean=lambda lab: lab.gateway_a.space.ip("link", "del", "br9"),
    ),
    "bypass": Pair(
        "bypass is on at B",
        ("peer_bypass",),
        ("bypass off",),
        act=lambda lab: control(lab, lab.gateway_b, "bypass", "on"),
    ),
    "nothing-accelerated": Pair(
        "no rule of A accelerates",
        ("nothing_accelerated",),
        ("action: accelerate",),
        a=(("{action: accelerate}", "{action: bridge}"),),
    ),
}
