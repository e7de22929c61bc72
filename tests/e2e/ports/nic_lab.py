"""The lab with gateway A in a guest (guest.py): its ports are PCI devices, bound to vfio-pci.

    client         guest            link         gateway-b        server
    [cl0]========[gateway A]======[la lb]--------[wan0 lan0]--------[sv0]

cl0 and la are taps. Frames that the guest's NICs send come out of them. All else is the usual lab.
"""

import dataclasses
import json
import os
import re
import shlex
import time
from dataclasses import dataclass

from guest import CommandFailed, Guest, Nic, need_guest, open_taps
from harness import GatewayOptions, Lab, Link, build_folder, programs
from lab import kernel, telemetry
from lab.daemon import DaemonFailed
from lab.topology import (
    CLIENT,
    LAN_INTERFACE,
    LINK_INTERFACES,
    SERVER,
    WAN_INTERFACE,
    Topology,
)

# An emulated processor moves some 10,000 frames a second.
LINK = Link(rate=20_000_000, rtt=0.1, loss=0)
OPTIONS = GatewayOptions(limits={"memory": "96MiB", "flows": "1000"})
HUGEPAGES = 640  # MiB, for packets of 9000 octets and stored data
BIND = "/opt/satrelay/deploy/bind-ports.sh"
_CONFIG = "/run/gateway.yaml"
_LOG = "/run/gateway.log"
_LAN_SLOT, _WAN_SLOT = 5, 6


@dataclass(frozen=True)
class NicKind:
    name: str
    device: str  # for QEMU
    modules: str  # the kernel's drivers
    queues: int = 1  # and workers
    verifies: bool = True  # its driver says when a checksum is right
    cuts: bool = True  # it cuts TCP segments as it sends


class _GuestTopology(Topology):
    """Has taps in the place of the cables of gateway A."""

    queues = 1

    def connect_gateway_a(self, offloads: bool) -> None:
        """QEMU's taps take finished frames of the MTU only, whatever `offloads` says."""
        self.lan_taps = open_taps(self.client, CLIENT.interface, self.queues)
        self.wan_taps = open_taps(self.link, LINK_INTERFACES[0], self.queues)
        for space, interface in (
            (self.client, CLIENT.interface),
            (self.link, LINK_INTERFACES[0]),
        ):
            space.ip("link", "set", interface, "up")
            kernel.switch_off_offloads(space, interface)


class GuestDaemon:
    """satrelayd in the guest, with the interface that lab.daemon has for programs of the host."""

    def __init__(self, name: str, guest: Guest):
        self.name = name
        self._guest = guest
        self._pid: int | None = None

    def start(self) -> None:
        self._guest.run(f"satrelayd -c {_CONFIG} >>{_LOG} 2>&1 & echo $! >/run/pid")
        self._pid = int(self._guest.run("cat /run/pid"))

    def running(self) -> bool:
        if self._pid is None or not self._guest.answers():
            return False
        try:
            return self._guest.attempt(f"kill -0 {self._pid}")[0] == 0
        except CommandFailed:
            return False

    def signal(self, name: str) -> None:
        self._guest.run(f"kill -{name} {self._pid}")

    def wait(self) -> int:
        """Waits for the end; returns its exit status, 128 and more for a signal."""
        status = self._guest.attempt(f"wait {self._pid}")[0]
        self._pid = None
        return status

    def ask_to_stop(self) -> None:
        if self.running():
            self.signal("TERM")

    def stop(self) -> int | None:
        if not self.running():
            return None
        self.signal("TERM")
        return self.wait()

    def wait_until(self, ready, timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not ready():
            if not self.running():
                raise DaemonFailed(f"{self.name} has ended")
            if time.monotonic() > deadline:
                raise DaemonFailed(f"{self.name}: {what} not within {timeout:g} s")
            time.sleep(0.2)

    def log(self, lines: int = 40) -> str:
        return self._guest.attempt(f"tail -n {lines} {_LOG}")[1] if self._guest.answers() else ""


class GuestGateway:
    """The gateway in the guest, with the interface that lab.gateway has for gateways of the host."""

    def __init__(self, name: str, guest: Guest, yaml: str):
        self.name = name
        self.guest = guest
        self.yaml = yaml
        self.daemon = GuestDaemon(name, guest)

    def write_config(self, yaml: str) -> None:
        self.guest.write(_CONFIG, yaml)

    def start(self, keep: bool = False) -> None:
        self.write_config(self.yaml)
        self.daemon.start()
        self.daemon.wait_until(self.answers, 30, "the stats socket answers")

    def tell(self, *words: str) -> str:
        """Runs satrelayctl with these words."""
        return self.guest.run(shlex.join(("satrelayctl", "--socket", self.name, *words)))

    def query(self, what: str):
        try:
            return json.loads(self.tell("--json", what))
        except (CommandFailed, ValueError) as error:
            raise telemetry.StatsUnavailable(str(error)) from error

    def answers(self) -> bool:
        try:
            self.query("status")
        except telemetry.StatsUnavailable:
            return False
        return True

    def peer_alive(self) -> bool:
        try:
            return self.query("peers")[0]["state"] == "alive"
        except (telemetry.StatsUnavailable, LookupError):
            return False

    def wait_for_peer(self, timeout: float) -> None:
        self.daemon.wait_until(self.peer_alive, timeout, "its peer is alive")

    def counter(self, name: str) -> int:
        return self.query("counters")[name]


def _content(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _with_mtu(yaml: str, mtu: int) -> str:
    """Sets the MTU of both ports."""
    return re.sub(r'(pci: "[^"]+"|driver: \w+)', rf"\1, mtu: {mtu}", yaml)


class NicLab(Lab):
    """Gateway A's ports are NICs of this kind."""

    def __init__(self, kind: NicKind):
        need_guest()
        options = dataclasses.replace(OPTIONS, workers=(kind.queues, 1))
        super().__init__(programs(), LINK, options, file_bytes=200_000_000)
        self.kind = kind
        self.topology = _GuestTopology(self.tag)
        self.topology.queues = kind.queues
        self.guest: Guest | None = None

    def _make_daemons(self) -> None:
        super()._make_daemons()
        nics = [
            Nic(name, self.kind.device, slot, f"52:54:00:00:00:{slot:02x}", taps)
            for name, slot, taps in (
                ("lan", _LAN_SLOT, self.topology.lan_taps),
                ("wan", _WAN_SLOT, self.topology.wan_taps),
            )
        ]
        self.lan_nic, self.wan_nic = nics
        logs = os.path.join(build_folder(), "meson-logs")
        os.makedirs(logs, exist_ok=True)
        self.guest = Guest(self.folder, nics, os.path.join(logs, f"guest-{self.kind.name}.log"))
        self.guest.boot()
        self.guest.run(f"modprobe -a {self.kind.modules}")
        self.bind()
        yaml = _content(self.gateway_a.config_path)
        for port, nic in ((LAN_INTERFACE, self.lan_nic), (WAN_INTERFACE, self.wan_nic)):
            yaml = re.sub(rf"{{interface: {port}, .*}}", f'{{pci: "{nic.address}"}}', yaml)
        self.gateway_a = GuestGateway(self.gateway_a.name, self.guest, yaml)

    def bind(self) -> str:
        addresses = f"{self.lan_nic.address} {self.wan_nic.address}"
        return self.guest.run(f"{BIND} --hugepages {HUGEPAGES} bind {addresses}", 60)

    def restore(self) -> str:
        return self.guest.run(f"{BIND} restore", 60)

    def start_with_mtu(self, mtu: int) -> None:
        """Starts everything anew, with ports, a link and hosts of that MTU."""
        for daemon in (self.gateway_a.daemon, self.gateway_b.daemon, self.satlink):
            daemon.stop()
        stp = f"stp: {{mtu: {mtu}}}\n"
        self.gateway_a.yaml = _with_mtu(self.gateway_a.yaml, mtu) + stp
        for path, more in ((self.gateway_b.config_path, stp), (self.satlink.argv[-1], "")):
            _write(path, _with_mtu(_content(path), mtu) + more)
        for space, host in ((self.client, CLIENT), (self.server, SERVER)):
            space.ip("link", "set", host.interface, "mtu", str(mtu))
        self.satlink.start()
        self.satlink.wait_until(
            lambda: os.path.exists(self.control_socket), 20, "its control socket is there"
        )
        for gateway in self.gateways:
            gateway.start()
        self.wait_for_peers()

    def logs(self) -> dict[str, str]:
        console = {"the guest's console": self.guest.log()} if self.guest else {}
        return {**super().logs(), **console}

    @property
    def ports(self) -> dict:
        return self.gateway_a.query("ports")

    def remove(self) -> None:
        try:
            super().remove()
        finally:
            if self.guest:
                self.guest.stop()
