"""A hub with two terminals, each in a subnet of its own, with a router between them.

    host h --- router r --- [hub] === satlink === router w --- [one] --- host 1
    10.10.0.10           172.16.0.0/24            |   172.16.1.0/24   172.16.1.10
                                                  +------- [two] --- host 2
                                                      172.16.2.0/24   172.16.2.10

The hosts at the hub are behind one more router of its LAN. The IPv6 addresses are below 2001:db8:16::/48 and
2001:db8:10::/64. STP between the gateways goes over IPv4.
"""

import contextlib
import os
import shutil
import signal
from dataclasses import dataclass

from harness import REPOSITORY, Skip, programs
from lab import kernel, settings, telemetry
from lab.daemon import Daemon
from lab.gateway import Gateway
from lab.link import Link
from lab.machine import make_work_folder

LINK = Link(rate=20_000_000, rtt=0.3, loss=0.005)
STATIONS = ("hub", "one", "two")
ROUTERS = ("r", "w")
HOSTS = ("h", "1", "2")


@dataclass(frozen=True)
class HostAddress:
    ipv4: str
    ipv6: str


ADDRESSES = {
    "h": HostAddress("10.10.0.10", "2001:db8:10::10"),
    "1": HostAddress("172.16.1.10", "2001:db8:16:1::10"),
    "2": HostAddress("172.16.2.10", "2001:db8:16:2::10"),
}
_HUB_SIDE = ("10.10.0.0/24", "2001:db8:10::/64")


def _behind(terminal: int) -> tuple[str, str]:
    return f"172.16.{terminal}.0/24", f"2001:db8:16:{terminal}::/64"


class RoutedLab:
    """A context: everything is up inside it, and gone behind it."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        self.tag = f"{os.getpid()}-routed"
        self.programs = programs()
        names = (*STATIONS, *ROUTERS, *(f"host-{host}" for host in HOSTS), "link")
        self.spaces = {name: kernel.Namespace(f"satrelay-{self.tag}-{name}") for name in names}
        self.gateways: dict[str, Gateway] = {}
        self.last_logs: dict[str, str] = {}
        self._daemons: list[Daemon] = []
        self.folder = ""

    def host(self, name: str) -> kernel.Namespace:
        return self.spaces[f"host-{name}"]

    def __enter__(self) -> "RoutedLab":
        try:
            self.folder = make_work_folder(self.tag, 0)
            self._create_spaces()
            self._join()
            self._address()
            self._start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, kind, error, traceback) -> None:
        self.remove()

    # --- up ---------------------------------------------------------------------------------------

    def _create_spaces(self) -> None:
        for name, space in self.spaces.items():
            space.create()
            if name in (*STATIONS, "link"):
                for scope in ("all", "default"):
                    space.write_setting(f"ipv6/conf/{scope}/disable_ipv6", "1")
            if name in ROUTERS:
                space.write_setting("ipv4/ip_forward", "1")
                space.write_setting("ipv6/conf/all/forwarding", "1")

    def _join(self) -> None:
        for left, left_name, right, right_name in (
            ("host-h", "eth0", "r", "in"),
            ("r", "out", "hub", "lan0"),
            ("hub", "wan0", "link", "la"),
            ("link", "lb", "w", "to0"),
            ("w", "to1", "one", "wan0"),
            ("w", "to2", "two", "wan0"),
            ("one", "lan0", "host-1", "eth0"),
            ("two", "lan0", "host-2", "eth0"),
        ):
            kernel.join(self.spaces[left], left_name, self.spaces[right], right_name)
            kernel.switch_off_offloads(self.spaces[left], left_name)
            kernel.switch_off_offloads(self.spaces[right], right_name)

    def _address(self) -> None:
        def address(space: str, interface: str, ipv4: str, ipv6: str) -> None:
            self.spaces[space].ip("addr", "add", f"{ipv4}/24", "dev", interface)
            self.spaces[space].ip("addr", "add", f"{ipv6}/64", "dev", interface, "nodad")

        def route(space: str, to: tuple[str, str], via: tuple[str, str]) -> None:
            for prefix, router in zip(to, via):
                self.spaces[space].ip("route", "add", prefix, "via", router)

        default = ("0.0.0.0/0", "::/0")
        for name in HOSTS:
            own = ADDRESSES[name]
            address(f"host-{name}", "eth0", own.ipv4, own.ipv6)
        address("r", "in", "10.10.0.1", "2001:db8:10::1")
        address("r", "out", "172.16.0.3", "2001:db8:16::3")
        for number in range(3):
            subnet = f"2001:db8:16:{number}::" if number else "2001:db8:16::"
            address("w", f"to{number}", f"172.16.{number}.1", f"{subnet}1")
        route("host-h", default, ("10.10.0.1", "2001:db8:10::1"))
        route("r", default, ("172.16.0.1", "2001:db8:16::1"))
        route("w", _HUB_SIDE, ("172.16.0.3", "2001:db8:16::3"))
        for number in (1, 2):
            own = (f"172.16.{number}.1", f"2001:db8:16:{number}::1")
            route(f"host-{number}", default, own)

    def _start(self) -> None:
        control = os.path.join(self.folder, "satlink.control")
        config = os.path.join(self.folder, "link.yaml")
        name = f"satrelay-{self.tag}-link"
        with open(config, "w", encoding="ascii") as file:
            file.write(settings.link_yaml(name, LINK, settings.GatewayOptions(), control))
        link = self.start_daemon("link", "link", [self.programs.satlink, "-c", config])
        link.wait_until(lambda: os.path.exists(control), 20, "its control socket is there")
        peers = {
            "hub": [("one", "172.16.1.2", _behind(1)), ("two", "172.16.2.2", _behind(2))],
            "one": [("hub", "172.16.0.2", _HUB_SIDE)],
            "two": [("hub", "172.16.0.2", _HUB_SIDE)],
        }
        for number, station in enumerate(STATIONS):
            name = f"satrelay-{self.tag}-{station}"
            yaml = _gateway_yaml(name, number, peers[station])
            self.gateways[station] = Gateway(
                name, self.spaces[station], self.programs.satrelayd, yaml, self.folder
            )
            self._daemons.append(self.gateways[station].daemon)
            self.gateways[station].start()
        for station, gateway in self.gateways.items():
            gateway.daemon.wait_until(
                lambda: all(peer["state"] == "alive" for peer in gateway.query("peers")),
                20,
                f"the peers of {station} are alive",
            )

    def start_daemon(self, name: str, space: str, argv: list[str]) -> Daemon:
        log = os.path.join(self.folder, f"{name}.log")
        daemon = Daemon(name, self.spaces[space], argv, log)
        self._daemons.append(daemon)
        daemon.start()
        return daemon

    def file_server(self, host: str, folder: str, port: int) -> None:
        """Starts GET and PUT (deploy/lab/file_server.py) on one of the hosts."""
        program = os.path.join(REPOSITORY, "deploy", "lab", "file_server.py")
        state = os.path.join(self.folder, f"uploads-{host}.json")
        argv = ["python3", program, "--folder", folder, "--state", state, "--ports", str(port)]
        server = self.start_daemon(f"server-{host}", f"host-{host}", argv)
        server.wait_until(lambda: os.path.exists(state), 10, "it listens")

    # --- down -------------------------------------------------------------------------------------

    def remove(self) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for daemon in self._daemons:
                daemon.ask_to_stop()
            for daemon in self._daemons:
                daemon.stop()
                self.last_logs[daemon.name] = daemon.log()
            for space in self.spaces.values():
                with contextlib.suppress(kernel.CommandFailed):
                    space.delete()
            for name in (*STATIONS, "link"):
                folder = os.path.dirname(telemetry.socket_path(f"satrelay-{self.tag}-{name}"))
                shutil.rmtree(folder, ignore_errors=True)
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)
        finally:
            signal.signal(signal.SIGINT, before)


def _gateway_yaml(name: str, number: int, peers: list[tuple[str, str, tuple[str, str]]]) -> str:
    listed = "".join(
        f'  - {{name: {peer}, address: {address}, prefixes: [{v4}, "{v6}"], link: sat}}\n'
        for peer, address, (v4, v6) in peers
    )
    return f"""\
ports:
  lan: {{interface: lan0}}
  wan: {{interface: wan0}}
gateway: {{address: 172.16.{number}.2/24, next_hop: 172.16.{number}.1}}
links:
  sat: {{send_rate: {LINK.rate}bit, receive_rate: {LINK.rate}bit}}
security: none
peers:
{listed}\
stats_socket_prefix: {name}
"""
