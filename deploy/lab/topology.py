"""The cables and addresses of the lab.

    client        gateway-a          link         gateway-b        server
    [cl0]--------[lan0 wan0]--------[la lb]--------[wan0 lan0]--------[sv0]

Client and server share one subnet. The gateways bridge what they do not accelerate, so the two hosts see each other on
one segment. Each half of the subnet belongs to the hosts behind one gateway.
"""

import shutil
from dataclasses import dataclass, field

from . import kernel, vlan
from .kernel import Namespace


@dataclass(frozen=True)
class Host:
    interface: str
    ipv4: str
    ipv6: str
    ipv4_side: str  # the hosts on this side, as the other gateway's configuration has them
    ipv6_side: str


CLIENT = Host("cl0", "203.0.113.10", "2001:db8::a:10", "203.0.113.0/25", "2001:db8::a:0/112")
SERVER = Host("sv0", "203.0.113.130", "2001:db8::b:10", "203.0.113.128/25", "2001:db8::b:0/112")
IPV4_SUBNET = "203.0.113.0/24"
IPV6_SUBNET = "2001:db8::/64"

LAN_INTERFACE = "lan0"
WAN_INTERFACE = "wan0"
LINK_INTERFACES = ("la", "lb")
GATEWAY_ADDRESSES = ("192.0.2.1/30", "192.0.2.2/30")


@dataclass
class Topology:
    """Namespaces with names satrelay-<tag>-<part>, so that several labs can run side by side."""

    tag: str
    client: Namespace = field(init=False)
    gateway_a: Namespace = field(init=False)
    link: Namespace = field(init=False)
    gateway_b: Namespace = field(init=False)
    server: Namespace = field(init=False)

    def __post_init__(self):
        self.client = self._space("client")
        self.gateway_a = self._space("gateway-a")
        self.link = self._space("link")
        self.gateway_b = self._space("gateway-b")
        self.server = self._space("server")

    def _space(self, part: str) -> Namespace:
        return Namespace(f"satrelay-{self.tag}-{part}")

    def spaces(self) -> list[Namespace]:
        return [self.client, self.server, self.gateway_a, self.gateway_b, self.link]

    def create(self, offloads: bool = True) -> None:
        """Without `offloads` all interfaces segment and checksum in software, and merge nothing."""
        for space in self.spaces():
            space.create()
        for space in (self.gateway_a, self.link, self.gateway_b):
            # The kernel must not send on the ports of a bridge: no autoconfiguration there.
            for scope in ("all", "default"):
                space.write_setting(f"ipv6/conf/{scope}/disable_ipv6", "1")
        self.connect_gateway_a(offloads)
        _join(self.link, LINK_INTERFACES[1], self.gateway_b, WAN_INTERFACE, offloads)
        _join(self.gateway_b, LAN_INTERFACE, self.server, SERVER.interface, offloads)
        for space, host in ((self.client, CLIENT), (self.server, SERVER)):
            space.ip("addr", "add", f"{host.ipv4}/24", "dev", host.interface)
            space.ip("addr", "add", f"{host.ipv6}/64", "dev", host.interface, "nodad")

    def connect_gateway_a(self, offloads: bool) -> None:
        _join(self.client, CLIENT.interface, self.gateway_a, LAN_INTERFACE, offloads)
        _join(self.gateway_a, WAN_INTERFACE, self.link, LINK_INTERFACES[0], offloads)

    def put_hosts_on_vlans(self, vlans: tuple[int, ...]) -> None:
        vlan.make_access_port(self.client, CLIENT.interface, vlans)
        vlan.make_access_port(self.server, SERVER.interface, vlans)

    def remove(self) -> None:
        for space in self.spaces():
            space.delete()

    def allow_socket_buffers(self, most_bytes: int) -> None:
        """Lets the hosts' TCP fill the path, so that small buffers do not limit the direct runs."""
        for space in (self.client, self.server):
            for name in ("tcp_rmem", "tcp_wmem"):
                least, default, most = map(int, space.read_setting(f"ipv4/{name}").split())
                space.write_setting(
                    f"ipv4/{name}", f"{least} {default} {max(most, most_bytes)}"
                )
            # Each run starts without metrics of the run before.
            space.write_setting("ipv4/tcp_no_metrics_save", "1")

    def use_congestion_control(self, name: str) -> None:
        """For new connections of both hosts.

        It is set on the routes. The sysctl of a namespace takes only algorithms that the whole machine allows to
        everyone, and the lab changes nothing outside its namespaces.
        """
        for space, host in ((self.client, CLIENT), (self.server, SERVER)):
            space.ip(
                *("route", "replace", IPV4_SUBNET, "dev", host.interface, "proto", "kernel"),
                *("scope", "link", "src", host.ipv4, "congctl", name),
            )
            space.ip(
                *("-6", "route", "replace", IPV6_SUBNET, "dev", host.interface),
                *("proto", "kernel", "metric", "256", "congctl", name),
            )


def _join(
    left: Namespace, left_name: str, right: Namespace, right_name: str, offloads: bool
) -> None:
    kernel.join(left, left_name, right, right_name)
    if not offloads:
        kernel.switch_off_offloads(left, left_name)
        kernel.switch_off_offloads(right, right_name)


def available_congestion_controls() -> list[str]:
    """The algorithms of the kernel and of the modules that it can load."""
    if shutil.which("modprobe"):
        for name in ("cubic", "bbr"):
            kernel.run("modprobe", "-q", f"tcp_{name}", check=False)
    path = "/proc/sys/net/ipv4/tcp_available_congestion_control"
    with open(path, encoding="ascii") as available:
        return available.read().split()
