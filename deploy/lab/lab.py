"""A whole lab as a context: everything is up inside it, and gone behind it."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import time
from dataclasses import dataclass

from . import kernel, panel, satlink_control, settings, topology
from .daemon import Daemon
from .gateway import Gateway
from .link import Link
from .machine import DeepBacklog, let_gateways_read, make_work_folder
from .settings import GatewayOptions
from .topology import CLIENT, SERVER, Topology

_numbers = itertools.count()


@dataclass(frozen=True)
class Programs:
    """The paths of the programs in a build folder."""

    satrelayd: str
    satlink: str
    satrelayctl: str
    satrelay_supervise: str

    @staticmethod
    def of_build(folder: str) -> "Programs":
        found = [
            os.path.join(folder, "relay", name, name)
            for name in ("satrelayd", "satlink", "satrelayctl")
        ]
        found.append(os.path.join(folder, "relay", "supervise", "satrelay-supervise"))
        for path in found:
            if not os.access(path, os.X_OK):
                raise FileNotFoundError(f"{path} is not there: build first (meson, ninja)")
        return Programs(*found)


class Lab:
    """Two hosts, two gateways, one satellite link.

    `file_bytes` is the space that files of the caller will need in `folder`. With `keep`, the lab stays up when the
    context is left, for a person to try; remove_kept() takes it down later. `vlans` has one or two VLANs, the outer one
    first. All frames of the hosts then carry these tags on their cables. Interfaces have the offloads that the kernel
    gives them, unless `offloads` is false. `programs_b` are gateway B's programs, if they differ. `cables` is the
    topology between all of them.
    """

    def __init__(
        self,
        programs: Programs,
        link: Link = Link(),
        options: GatewayOptions = GatewayOptions(),
        file_bytes: int = 0,
        keep: bool = False,
        vlans: tuple[int, ...] = (),
        offloads: bool = True,
        programs_b: Programs | None = None,
        cables: type[Topology] = Topology,
    ):
        number = next(_numbers)
        self.tag = f"{os.getpid()}" + (f"-{number}" if number else "")
        self.programs = programs
        self._programs_b = programs_b or programs
        self.link = link
        self.options = options
        self.keep = keep
        self.vlans = vlans
        # AF_XDP has neither large frames nor unfinished checksums.
        self.offloads = offloads and options.driver == "af_packet"
        self.topology = cables(self.tag)
        self.client = self.topology.client
        self.server = self.topology.server
        self._file_bytes = file_bytes
        self._backlog = DeepBacklog(self.tag)
        self._extra_daemons: list[Daemon] = []
        self.last_logs: dict[str, str] = {}  # of each daemon, once the lab is gone
        self.folder = ""

    def __enter__(self) -> "Lab":
        try:
            self._set_up()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if self.keep and kind is None:
            return
        self.remove()

    # --- up ---------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        self.folder = make_work_folder(self.tag, self._file_bytes)
        self._backlog.acquire()
        self.topology.create(self.offloads)
        if self.vlans:
            self.topology.put_hosts_on_vlans(self.vlans)
        self.topology.allow_socket_buffers(4 * self.link.bandwidth_delay_bytes)
        self._make_daemons()
        self.satlink.start(self.keep)
        self.satlink.wait_until(
            lambda: os.path.exists(self.control_socket), 20, "its control socket is there"
        )
        self.start_stations()
        self.warm_up()

    def start_stations(self) -> None:
        self.gateway_a.start(self.keep)
        self.gateway_b.start(self.keep)
        self.wait_for_peers()

    def _make_daemons(self) -> None:
        own_a, own_b = topology.GATEWAY_ADDRESSES
        self.psk_file = os.path.join(self.folder, "psk")
        if self.options.security == "psk":
            kernel.run(self.programs.satrelayctl, "keygen", self.psk_file)
            let_gateways_read(self.psk_file)
        for letter, own, peer, behind_peer, space, programs in (
            ("a", own_a, own_b, SERVER, self.topology.gateway_a, self.programs),
            ("b", own_b, own_a, CLIENT, self.topology.gateway_b, self._programs_b),
        ):
            name = f"satrelay-{self.tag}-{letter}"
            is_terminal = letter == "a" and self.options.terminal
            yaml = settings.gateway_yaml(
                name,
                own,
                peer,
                None if is_terminal else behind_peer,
                self.link,
                self.options,
                self.psk_file,
                self.options.workers if letter == "a" else self.options.workers[::-1],
            )
            gateway = Gateway(name, space, programs.satrelayd, yaml, self.folder)
            setattr(self, f"gateway_{letter}", gateway)
        name = f"satrelay-{self.tag}-link"
        self.control_socket = os.path.join(self.folder, "satlink.control")
        config = os.path.join(self.folder, f"{name}.yaml")
        with open(config, "w", encoding="ascii") as file:
            file.write(
                settings.link_yaml(name, self.link, self.options, self.control_socket)
            )
        self.satlink = Daemon(
            name,
            self.topology.link,
            [self.programs.satlink, "-c", config],
            os.path.join(self.folder, f"{name}.log"),
        )

    gateway_a: Gateway
    gateway_b: Gateway

    @property
    def gateways(self) -> tuple[Gateway, Gateway]:
        return self.gateway_a, self.gateway_b

    @property
    def daemons(self) -> list[Daemon]:
        return [self.gateway_a.daemon, self.gateway_b.daemon, self.satlink, *self._extra_daemons]

    def start_daemon(self, name: str, space, argv: list[str]) -> Daemon:
        """Starts one more program that lives as long as the lab. `space` starts it, as a Namespace does."""
        daemon = Daemon(name, space, argv, os.path.join(self.folder, f"{name}.log"))
        self._extra_daemons.append(daemon)
        daemon.start(self.keep)
        return daemon

    def wait_for_peers(self) -> None:
        for gateway in self.gateways:
            gateway.wait_for_peer(20 + 10 * self.link.rtt)

    def warm_up(self) -> None:
        """Lets the hosts learn each other's MACs, so that no run pays for ARP or neighbor discovery."""
        for version, address in (("-4", SERVER.ipv4), ("-6", SERVER.ipv6)):
            deadline = time.monotonic() + 20 + 10 * self.link.rtt
            wait = str(max(1, round(3 * self.link.rtt + 1)))
            ping = self.client.command("ping", version, "-n", "-c", "1", "-W", wait, address)
            while not _succeeds(ping):
                if time.monotonic() > deadline:
                    raise kernel.CommandFailed(
                        f"the client cannot ping the server ({address}) across the gateways"
                    )

    # --- while it runs ----------------------------------------------------------------------------

    def control_link(self, command: str) -> str:
        """Sends one of satlink's commands, such as "set both loss 1%" or "outage on"."""
        return satlink_control.send(self.control_socket, command)

    def link_counters(self) -> dict:
        return json.loads(self.control_link("counters"))

    def bridge_in_kernel(self, gateway: Gateway) -> None:
        """Puts a plain kernel bridge in the place of a gateway that does not run."""
        gateway.space.ip("link", "add", "br0", "type", "bridge")
        for port in (topology.LAN_INTERFACE, topology.WAN_INTERFACE):
            gateway.space.ip("link", "set", port, "promisc", "on")
            gateway.space.ip("link", "set", port, "master", "br0")
        gateway.space.ip("link", "set", "br0", "up")

    def unbridge_in_kernel(self, gateway: Gateway) -> None:
        gateway.space.ip("link", "del", "br0")

    def logs(self) -> dict[str, str]:
        """The last lines of each daemon."""
        return {daemon.name: daemon.log() for daemon in self.daemons}

    # --- down -------------------------------------------------------------------------------------

    def remove(self) -> None:
        """Takes everything down; a second Ctrl-C does not stop it halfway."""
        with _uninterrupted():
            if hasattr(self, "satlink"):
                _stop_together(self.daemons)
                self.last_logs = self.logs()
            self.topology.remove()
            for name in ("a", "b", "link"):
                shutil.rmtree(f"/var/run/dpdk/satrelay-{self.tag}-{name}", ignore_errors=True)
            self._backlog.release()
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)


def remove_kept(tag: str) -> None:
    """Takes down a lab that another process left up."""
    if not tag.replace("-", "").isdigit() or not kept_spaces(tag):
        raise ValueError(f"there is no lab '{tag}'; labs: {', '.join(kept_tags()) or 'none'}")
    with _uninterrupted():
        Topology(tag).remove()
        for name in ("a", "b", "link"):
            shutil.rmtree(f"/var/run/dpdk/satrelay-{tag}-{name}", ignore_errors=True)
        DeepBacklog(tag).release()
        for parent in ("/dev/shm", "/tmp"):
            for name in os.listdir(parent) if os.path.isdir(parent) else []:
                if name.startswith(f"satrelay-{tag}-"):
                    panel.end_kept(os.path.join(parent, name))
                    shutil.rmtree(os.path.join(parent, name), ignore_errors=True)


def kept_spaces(tag: str) -> list[str]:
    return [space.name for space in Topology(tag).spaces() if space.exists()]


def kept_tags() -> list[str]:
    folder = "/run/netns"
    names = os.listdir(folder) if os.path.isdir(folder) else []
    head, tail = "satrelay-", "-link"
    return sorted(
        name[len(head) : -len(tail)]
        for name in names
        if name.startswith(head) and name.endswith(tail)
    )


def _stop_together(daemons: list[Daemon]) -> None:
    for daemon in daemons:
        daemon.ask_to_stop()
    for daemon in daemons:
        daemon.stop()


def _succeeds(argv: list[str]) -> bool:
    try:
        kernel.run(*argv)
    except kernel.CommandFailed:
        return False
    return True


@contextlib.contextmanager
def _uninterrupted():
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before):
            signal.signal(number, handler)
