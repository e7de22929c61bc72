"""Conditions that need sites of their own: devices on the cable to the satellite, and hosts that move."""

import contextlib
import functools
import socket
import sys
import threading
import time
from dataclasses import dataclass, field

from harness import CLIENT, SERVER, connect, listen
from lab import kernel, vlan
from lab.kernel import Namespace
from lab.topology import LAN_INTERFACE, LINK_INTERFACES, Topology
from moving_host import give_the_server_a_switch, move
from program_servers import listens

from .conditions import Seen, condition
from .programs import run
from .sites import NGINX, VLAN, Site, pair_of_sites

_MODEM, _ROUTER, _NEIGHBOUR = "192.168.100.1", "203.0.113.1", "198.51.100.5"
_PORT = 80
SOON = 6  # seconds; a host that has moved must have its answer by then


@dataclass
class WithModem(Topology):
    """A modem bridges between gateway A and the satellite. It has a page, as the LAN's router has."""

    modem: Namespace = field(init=False)

    def __post_init__(self):
        super().__post_init__()
        self.modem = self._space("modem")

    def spaces(self) -> list[Namespace]:
        return [*super().spaces(), self.modem]

    def connect_gateway_a(self, offloads: bool) -> None:
        super().connect_gateway_a(offloads)
        towards_link = LINK_INTERFACES[0]
        self.link.ip("link", "set", towards_link, "netns", self.modem.name, "name", "in")
        kernel.join(self.modem, "out", self.link, towards_link)
        self.modem.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
        for port in ("in", "out"):
            _plug_in(self.modem, port)
        self.modem.ip("link", "set", "br0", "up")
        for address in (_MODEM, _ROUTER):
            self.modem.ip("addr", "add", f"{address}/24", "dev", "br0")
        self.client.ip("addr", "add", "192.168.100.10/24", "dev", CLIENT.interface)


def _plug_in(space: Namespace, port: str) -> None:
    space.ip("link", "set", port, "master", "br0")
    space.ip("link", "set", port, "up")


@dataclass
class RouterOnAStick(WithModem):
    """A router beside the modem routes between the client and a host in a VLAN of the client's LAN."""

    neighbour: Namespace = field(init=False)
    switch: Namespace = field(init=False)
    router: Namespace = field(init=False)

    def __post_init__(self):
        super().__post_init__()
        for part in ("neighbour", "switch", "router"):
            setattr(self, part, self._space(part))

    def spaces(self) -> list[Namespace]:
        return [*super().spaces(), self.neighbour, self.switch, self.router]

    def connect_gateway_a(self, offloads: bool) -> None:
        super().connect_gateway_a(offloads)
        self.client.ip("link", "del", CLIENT.interface)
        kernel.join(self.client, CLIENT.interface, self.switch, "client")
        kernel.join(self.neighbour, "ne0", self.switch, "neighbour")
        kernel.join(self.switch, "gateway", self.gateway_a, LAN_INTERFACE)
        self.switch.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
        for port in ("client", "neighbour", "gateway"):
            _plug_in(self.switch, port)
        self.switch.ip("link", "set", "br0", "up")
        for leg, far in (("plain", "to-plain"), ("tagged", "to-tagged")):
            kernel.join(self.router, leg, self.modem, far)
            _plug_in(self.modem, far)
        for space, interface in ((self.neighbour, "ne0"), (self.router, "tagged")):
            vlan.make_access_port(space, interface, (VLAN,))
        self.neighbour.ip("addr", "add", f"{_NEIGHBOUR}/24", "dev", "ne0")
        self.neighbour.ip("route", "add", "default", "via", "198.51.100.1")
        self.router.ip("addr", "add", "203.0.113.2/24", "dev", "plain")
        self.router.ip("addr", "add", "198.51.100.1/24", "dev", "tagged")
        self.router.write_setting("ipv4/conf/all/forwarding", "1")
        self.client.ip("addr", "add", "203.0.113.11/24", "dev", CLIENT.interface)
        self.client.ip("route", "add", "198.51.100.0/24", "via", "203.0.113.2")


def _pages(site: Site, space: Namespace, urls: list[str]) -> Seen:
    """Fetches pages of a server in `space`, one after another."""
    server = [sys.executable, "-m", "http.server", str(_PORT), "--directory", site.folder()]
    site.start("pages", server, lambda: listens(space, _PORT), space)
    done = [run(site.client, "curl", "-sS", "--max-time", "30", "-o", "/dev/null", f"http://{url}") for url in urls]
    what = ", ".join(f"exit {each.status}" for each in done)
    return Seen(what, not any(each.status for each in done), sum(each.seconds for each in done))


@condition(
    "curl: pages of a modem and of a router between the gateways, from a terminal whose peer is everything",
    "curl",
    sites=functools.partial(pair_of_sites, terminal=True, cables=WithModem),
)
def _(site):
    near = [f"{address}:{_PORT}/" for address in (_ROUTER, _MODEM) * 2]
    return _pages(site, site.lab.topology.modem, [*near, f"{SERVER.ipv4}:{NGINX}/taken"])


@condition(
    "curl: a server in another VLAN of the same LAN, by a router on a stick between the gateways",
    "curl",
    sites=functools.partial(pair_of_sites, terminal=True, cables=RouterOnAStick),
)
def _(site):
    neighbour = site.lab.topology.neighbour
    # The host speaks with its router, as any host does when it is switched on.
    run(neighbour, "ping", "-n", "-c", "1", "-W", "2", "198.51.100.1")
    return _pages(site, neighbour, [f"{_NEIGHBOUR}:{_PORT}/"] * 3)


class Echo:
    """A server that sends back all that it receives on a connection."""

    def __init__(self, site: Site, port: int):
        self._listener = listen(site.server, SERVER.ipv4, port)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=_give_back, args=(self._listener.accept()[0],), daemon=True).start()


def _give_back(end: socket.socket) -> None:
    with end, contextlib.suppress(OSError):
        while text := end.recv(100):
            end.sendall(text)


def _answers(end: socket.socket) -> bool:
    try:
        end.sendall(b"still there?")
        return end.recv(100) == b"still there?"
    except OSError:
        return False


@condition("TCP: a client that moves to the other site, and connects again if it is reset", sites=pair_of_sites)
def _(site):
    give_the_server_a_switch(site.lab)
    port = site.port()
    with Echo(site, port):
        with connect(site.client, SERVER.ipv4, port) as before:
            if not _answers(before):
                return Seen("no answer before", False)
            move(site.lab)
            began = time.monotonic()
            answered = _answers(before)
        if not answered:
            with connect(site.client, SERVER.ipv4, port) as again:
                answered = _answers(again)
        soon = answered and time.monotonic() - began < SOON
    return Seen(f"answered within {SOON} s" if soon else "not answered soon", soon)
