"""The two labs of the table. One has a Linux bridge in each gateway's place, the other has two gateways. All else is
alike.

Each lab has the two hosts, one more host behind a router, and servers that most conditions talk to.
"""

import contextlib
import itertools
import os
from collections.abc import Callable

from behind_router import BEHIND_ROUTER, host_behind_router
from harness import CLIENT, SERVER, GatewayOptions, Lab, Link
from harness import programs as built
from lab.daemon import Daemon
from lab.topology import Topology
from program_servers import Servers, listens

from .programs import path_of

LINK = Link(rate=10_000_000, rtt=0.6, loss=0)
VLAN = 100

NGINX, HTTP2, IMPATIENT, PROXY = 8090, 8443, 8091, 8092  # ports of nginx; the proxy runs at the client
DHCP_ADDRESS, SLAAC_PREFIX = "203.0.113.180", "2001:db8:77::"
# More addresses of the server. Its route for them has ECN, or segments of 536 bytes.
ECN, SMALL = "203.0.113.140", "203.0.113.141"

# TCP ports that the server's firewall treats so.
DROPPED, PROHIBITED, UNREACHABLE, RESET = 7101, 7102, 7103, 7104
DROPPED6, RESET6, PROHIBITED6, RESET6_TOO = 7105, 7106, 7107, 7108  # for IPv6 only
PROHIBITED_TOO, PROHIBITED6_TOO = 7109, 7110
_WALLED_PORTS = range(DROPPED, PROHIBITED6_TOO + 1)
# Connections with a port in this set are gone: none of their packets gets in or out.
VANISHED = "vanished"
_FIREWALL = f"""
table inet bridge_table {{
  set {VANISHED} {{ type inet_service; }}
  chain in {{
    type filter hook input priority 0;
    tcp dport @{VANISHED} drop
    tcp dport {DROPPED} drop
    tcp dport {{ {PROHIBITED}, {PROHIBITED_TOO} }} reject with icmpx admin-prohibited
    tcp dport {UNREACHABLE} reject with icmpx host-unreachable
    tcp dport {RESET} reject with tcp reset
    meta nfproto ipv6 tcp dport {DROPPED6} drop
    meta nfproto ipv6 tcp dport {{ {RESET6}, {RESET6_TOO} }} reject with tcp reset
    meta nfproto ipv6 tcp dport {{ {PROHIBITED6}, {PROHIBITED6_TOO} }} reject with icmpx admin-prohibited
  }}
  chain out {{
    type filter hook output priority 0;
    tcp sport @{VANISHED} drop
  }}
}}
"""


def walled(port: int) -> tuple[str, str]:
    """The IPv4 and the IPv6 address for this port. A gateway learns nothing there that concerns another condition."""
    number = 160 + port - DROPPED
    return f"203.0.113.{number}", f"2001:db8::b:{number}"


class PlainLab(Lab):
    """Has a Linux bridge in the place of each gateway."""

    def start_stations(self) -> None:
        for gateway in self.gateways:
            self.bridge_in_kernel(gateway)


class Site:
    """One lab as conditions see it."""

    def __init__(self, lab: Lab, servers: Servers):
        self.lab = lab
        self.client, self.server = lab.client, lab.server
        self.servers = servers
        self.files = servers.files
        self.behind: object = None  # the namespace of the host behind the router
        self.certificate = servers.certificate
        self._ports = itertools.count(20_000)
        self._folders = itertools.count()

    def port(self) -> int:
        """A port that no other condition has."""
        return next(self._ports)

    def folder(self) -> str:
        """An empty folder that no other condition has."""
        path = os.path.join(self.lab.folder, f"condition-{next(self._folders)}")
        os.makedirs(path)
        os.chmod(path, 0o755)
        return path

    def write(self, folder: str, name: str, text: str) -> str:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o644)
        return path

    def vanish(self, port: int) -> None:
        element = f"{{ {port} }}"
        self.server.run("nft", "add", "element", "inet", "bridge_table", VANISHED, element)

    def start(self, name: str, argv: list[str], ready: Callable[[], bool], space=None) -> Daemon:
        """Starts a server that lives as long as the lab."""
        daemon = self.lab.start_daemon(name, space or self.server, argv)
        daemon.wait_until(ready, 30, "it is ready")
        return daemon


@contextlib.contextmanager
def pair_of_sites(vlan: bool = False, terminal: bool = False, cables: type[Topology] = Topology):
    """One site with bridges, and one with gateways."""
    with contextlib.ExitStack() as stack:
        made = []
        for kind in (PlainLab, Lab):
            options = GatewayOptions(security="psk", terminal=terminal)
            vlans = (VLAN,) if vlan else ()
            lab = kind(built(), LINK, options, file_bytes=40_000_000, vlans=vlans, cables=cables)
            made.append(_equip(stack.enter_context(lab), stack))
        yield tuple(made)


def _equip(lab: Lab, stack: contextlib.ExitStack) -> Site:
    _prepare_hosts(lab)
    site = Site(lab, Servers(lab, [SERVER.ipv4, SERVER.ipv6, BEHIND_ROUTER[0]]))
    if not lab.vlans:
        site.behind = stack.enter_context(host_behind_router(lab))
        _start_servers(site)
    rules = site.write(lab.folder, "firewall", _FIREWALL)
    lab.server.run("nft", "-f", rules)
    return site


def _prepare_hosts(lab: Lab) -> None:
    # The server accepts data with a SYN.
    lab.server.write_setting("ipv4/tcp_fastopen", "3")
    for port in _WALLED_PORTS:
        four, six = walled(port)
        lab.server.ip("addr", "add", f"{four}/32", "dev", SERVER.interface)
        lab.server.ip("addr", "add", f"{six}/128", "dev", SERVER.interface, "nodad")
    for address, route in ((ECN, ("features", "ecn")), (SMALL, ("advmss", "536"))):
        lab.server.ip("addr", "add", f"{address}/32", "dev", SERVER.interface)
        lab.client.ip("route", "add", f"{address}/32", "dev", CLIENT.interface, *route)


def _start_servers(site: Site) -> None:
    folder = site.folder()
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind}; "
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    common = f"daemon off; worker_processes 1; user root; error_log stderr; events {{ }} pid {folder}"
    nginx = f"""{common}/far.pid;
http {{ access_log off; {temporary}
  server {{
    listen [::]:{NGINX} ipv6only=off;
    listen [::]:{HTTP2} ssl http2 ipv6only=off;
    ssl_certificate {site.certificate};
    ssl_certificate_key {site.servers.folder}/key.pem;
    root {site.files.root};
    keepalive_timeout 75;
    client_max_body_size 0;
    location /posted {{ client_max_body_size 0; proxy_pass http://127.0.0.1:{NGINX}/taken; }}
    location /taken {{ return 200 "taken"; }}
    location /small {{ client_max_body_size 1k; return 200 "taken"; }}
    location /gzip/ {{ gzip on; gzip_types *; alias {site.files.root}/tree/; }}
  }}
  server {{ listen [::]:{IMPATIENT} ipv6only=off; root {site.files.root}; keepalive_timeout 5; }}
}}
"""
    proxy = f"""{common}/near.pid;
http {{ access_log off; {temporary}
  upstream far {{ server {SERVER.ipv4}:{NGINX}; keepalive 4; }}
  server {{
    listen {PROXY}; location / {{
      proxy_pass http://far; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""
    for name, text, space, port in (
        ("nginx-far", nginx, site.server, NGINX),
        ("nginx-near", proxy, site.client, PROXY),
    ):
        config = site.write(folder, name, text)
        argv = [path_of("nginx"), "-e", "stderr", "-p", folder, "-c", config]
        site.start(name, argv, lambda space=space, port=port: listens(space, port), space)
    if path_of("redis-server"):
        redis = [path_of("redis-server"), "--protected-mode", "no", "--save", "", "--dir", folder]
        site.start("redis", redis, lambda: listens(site.server, 6379))
    if path_of("mosquitto"):
        config = site.write(folder, "mosquitto.conf", "listener 1883\nallow_anonymous true\n")
        site.start("mosquitto", [path_of("mosquitto"), "-c", config], lambda: listens(site.server, 1883))
    if path_of("dnsmasq"):
        site.start("dnsmasq", [path_of("dnsmasq"), *_dnsmasq(site)], lambda: listens(site.server, 53))


def _dnsmasq(site: Site) -> list[str]:
    """DNS, TFTP, DHCP and router advertisements."""
    site.server.ip("addr", "add", f"{SLAAC_PREFIX}1/64", "dev", SERVER.interface, "nodad")
    long = [f"--txt-record=long.example,{'x' * 250}{number}" for number in range(14)]
    return [
        *("--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root"),
        *("--log-facility=-", "--pid-file", "--edns-packet-max=4096", *long),
        "--host-record=short.example,203.0.113.77,2001:db8::77",
        *("--enable-tftp", f"--tftp-root={site.files.root}"),
        f"--dhcp-range={DHCP_ADDRESS},{DHCP_ADDRESS},255.255.255.0,1h",
        f"--dhcp-leasefile={site.lab.folder}/leases",
        *("--enable-ra", f"--ra-param={SERVER.interface},10,0"),
        f"--dhcp-range={SLAAC_PREFIX},ra-only,64,1h",
    ]
