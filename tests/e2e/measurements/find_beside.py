#!/usr/bin/env python3
"""Gateways with `capacity: find` and the kernel's own TCP on one satlink, alone and beside each other.

Not part of tests/run.sh. As root:  tests/e2e/measurements/find_beside.py [--congestion bbr] [--case fade] [...]
The other flow runs between two hosts beside the gateways, each on a switch before a modem.
"""

import argparse
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import ACCELERATED_PORT, GatewayOptions, Lab, Link, build_folder, programs
from lab import kernel
from lab.topology import LINK_INTERFACES, SERVER, Topology

SUBNET = "198.51.100"
ROUND_TRIP = 0.55
LOWER, HIGHER = 9_000_000, 60_000_000


class SwitchedTopology(Topology):
    """The usual topology with a switch between each gateway and its modem, and another host on it."""

    def __post_init__(self):
        super().__post_init__()
        self.others = [self._space("other-a"), self._space("other-b")]

    def spaces(self):
        return [*super().spaces(), *self.others]

    def create(self) -> None:
        super().create()
        for number, (modem, other) in enumerate(zip(LINK_INTERFACES, self.others), start=1):
            space, switch = self.link, f"sw{number}"
            space.ip("link", "set", modem, "down")
            space.ip("link", "set", modem, "name", f"gw{number}")
            space.ip("link", "add", switch, "type", "bridge")
            kernel.join(space, modem, space, f"md{number}")
            kernel.join(other, "eth0", space, f"ot{number}")
            for cable in (f"gw{number}", f"md{number}", f"ot{number}"):
                kernel.switch_off_offloads(space, cable)
                space.ip("link", "set", cable, "master", switch, "up")
            kernel.switch_off_offloads(space, modem)
            kernel.switch_off_offloads(other, "eth0")
            space.ip("link", "set", switch, "up")
            other.ip("addr", "add", f"{SUBNET}.{number}/24", "dev", "eth0")


class Flow:
    """A download that lasts until it is stopped: `sender` serves, `receiver` counts."""

    def __init__(self, sender, receiver, address: str, port: int, congestion: str):
        self.received = 0
        self._over = False
        listener = sender.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        listener.bind((address, port))
        listener.listen(1)
        self._listener = listener
        self._client = receiver.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._client.settimeout(20)
        self.began = time.monotonic()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._serve, self._read)
        ]
        self._address = (address, port)
        for thread in self._threads:
            thread.start()

    def _serve(self) -> None:
        block = os.urandom(1 << 20)
        connection, _ = self._listener.accept()
        with connection:
            try:
                while not self._over:
                    connection.sendall(block)
            except OSError:
                pass

    def _read(self) -> None:
        try:
            self._client.connect(self._address)
            while not self._over:
                data = self._client.recv(1 << 20)
                if not data:
                    return
                self.received += len(data)
        except OSError:
            pass

    def stop(self) -> None:
        self._over = True
        for each in (self._client, self._listener):
            each.close()


def share(flows: list[Flow], rate: int, seconds: float) -> list[float]:
    """The share of `rate` that each flow receives from now on."""
    before = [flow.received for flow in flows]
    time.sleep(seconds)
    return [(f.received - b) * 8 / seconds / rate for f, b in zip(flows, before)]


def wait_until(flow: Flow, seconds: float) -> None:
    time.sleep(max(0.0, flow.began + seconds - time.monotonic()))


class Bench:
    def __init__(self, lab: Lab, congestion: str):
        self.lab = lab
        self.congestion = congestion
        for space in lab.topology.others:
            for name in ("tcp_rmem", "tcp_wmem"):
                space.write_setting(f"ipv4/{name}", "4096 131072 33554432")
            space.write_setting("ipv4/tcp_no_metrics_save", "1")

    def ours(self) -> Flow:
        ends = self.lab.server, self.lab.client
        return Flow(*ends, SERVER.ipv4, ACCELERATED_PORT, "cubic")

    def other(self) -> Flow:
        receiver, sender = self.lab.topology.others
        return Flow(sender, receiver, f"{SUBNET}.2", 9000, self.congestion)


def start(bench: Bench, make, loss: float) -> str:
    bench.lab.control_link(f"set both loss {loss}")
    flow = make()
    wait_until(flow, 3)
    fourth = share([flow], bench.lab.link.rate, 1)[0]
    later = share([flow], bench.lab.link.rate, 10)[0]
    flow.stop()
    bench.lab.control_link("set both loss 0")
    return f"{fourth:.3f} in the 4th second, {later:.3f} in the ten that follow"


def fade(bench: Bench, make) -> str:
    flow = make()
    wait_until(flow, 12)
    bench.lab.control_link(f"set b_to_a rate {LOWER}bit")
    time.sleep(ROUND_TRIP * 5)
    low = share([flow], LOWER, 10)[0]
    bench.lab.control_link(f"set b_to_a rate {HIGHER}bit")
    time.sleep(ROUND_TRIP * 6)
    back = share([flow], HIGHER, 3)[0]
    later = share([flow], HIGHER, 7)[0]
    flow.stop()
    return f"{low:.3f} of 9 Mbit/s, {back:.3f} of 60 from 6 round trips on, then {later:.3f}"


def beside(bench: Bench, first: str) -> str:
    flows = {}
    for name in ("ours", "other") if first == "ours" else ("other", "ours"):
        flows[name] = getattr(bench, name)()
        time.sleep(10)
    time.sleep(50)
    both = share([flows["ours"], flows["other"]], bench.lab.link.rate, 30)
    for flow in flows.values():
        flow.stop()
    return f"{both[0]:.3f} to {both[1]:.3f}, that is {both[0] / max(sum(both), 1e-9):.3f} of both"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--congestion", default="bbr")
    parser.add_argument("--case", choices=("start", "loss", "fade", "beside"), action="append")
    given = parser.parse_args()
    cases = given.case or ["start", "loss", "fade", "beside"]
    print(f"programs of {build_folder()}; payload received, of the link's rate")
    for case in cases:
        rate = HIGHER if case == "fade" else 50_000_000
        link = Link(rate=rate, rtt=ROUND_TRIP, loss=0, queue_time=0.55 if case == "beside" else 0.1)
        lab = Lab(programs(), link, GatewayOptions(capacity="find"))
        lab.topology = SwitchedTopology(lab.tag)
        lab.client, lab.server = lab.topology.client, lab.topology.server
        with lab:
            bench = Bench(lab, given.congestion)
            if case == "beside":
                for first in ("ours", "other"):
                    print(f"  beside {given.congestion}, {first} first: {beside(bench, first)}", flush=True)
                    time.sleep(3)
                continue
            for name, make in ((given.congestion, bench.other), ("find", bench.ours)):
                if case == "fade":
                    result = fade(bench, make)
                else:
                    result = start(bench, make, 0.05 if case == "loss" else 0)
                print(f"  {case}, {name}: {result}", flush=True)
                time.sleep(3)


if __name__ == "__main__":
    main()
