#!/usr/bin/env python3
"""The delay of a ping through two gateways while hundreds of hosts send text, which the gateways compress.

Not part of tests/run.sh. As root:  tests/e2e/measurements/ping_beside_text.py [--hosts 500] [--rate 100Mbit] [...]
Each host sends a block each second, at an instant of its own. The link is never full. So a ping waits for the gateways'
work, and for the processors that all of the lab shares.
"""

import argparse
import os
import random
import re
import selectors
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import ACCELERATED_PORT, GatewayOptions, Lab, Link, build_folder, check, eventually, make_lab
from lab.topology import CLIENT, SERVER
from lab.units import parse_rate

PORT = ACCELERATED_PORT
BLOCK = 32 * 1024
WORDS = [bytes(random.Random(n).choices(b"etaoinshrdlucmfwypvbgkjqxz", k=2 + n % 9)) for n in range(4_000)]


def text(octets: int, seed: int) -> bytes:
    chosen = random.Random(seed).choices(WORDS, weights=[1 / (n + 1) for n in range(len(WORDS))], k=octets // 3)
    return b" ".join(chosen)[:octets]


class Readers:
    """Accepts all connections to the server and reads their bytes."""

    def __init__(self, lab: Lab):
        self.received = 0
        self._selector = selectors.DefaultSelector()
        self._listener = lab.server.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((SERVER.ipv6, PORT))
        self._listener.listen(1024)
        self._selector.register(self._listener, selectors.EVENT_READ)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._selector.register(self._listener.accept()[0], selectors.EVENT_READ)
                    continue
                try:
                    data = key.fileobj.recv(1 << 18)
                except ConnectionResetError:
                    data = b""  # the lab goes down
                self.received += len(data)
                if not data:
                    self._selector.unregister(key.fileobj)
                    key.fileobj.close()


class Hosts:
    """One address of the client for each host, and a connection from each."""

    def __init__(self, lab: Lab, count: int):
        own = [f"{CLIENT.ipv6.rpartition(':')[0]}:{0x1000 + n:x}" for n in range(count)]
        for address in own:
            lab.client.ip("addr", "add", f"{address}/64", "dev", CLIENT.interface, "nodad")
        self._sockets = []
        for address in own:
            host = lab.client.socket(socket.AF_INET6, socket.SOCK_STREAM)
            host.bind((address, 0))
            host.settimeout(20)
            host.connect((SERVER.ipv6, PORT))
            host.setblocking(False)
            self._sockets.append(host)
        self.sent = 0
        self._over = False
        self._blocks = [text(BLOCK, seed) for seed in range(32)]
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over = True
        self._thread.join()
        for host in self._sockets:
            host.close()

    def _run(self) -> None:
        turn = 0
        began = time.monotonic()
        while not self._over:
            due = began + turn / len(self._sockets)
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                self.sent += self._sockets[turn % len(self._sockets)].send(self._blocks[turn % 32])
            except BlockingIOError:
                pass  # its last block is still on its way
            turn += 1


def pings(lab: Lab, count: int, interval: float) -> list[float]:
    told = lab.client.run("ping", "-i", str(interval), "-c", str(count), SERVER.ipv4, timeout=count * interval + 30)
    return sorted(float(found) for found in re.findall(r"time=([0-9.]+) ms", told))


def describe(name: str, times: list[float], count: int, rtt: float) -> str:
    def beyond(part: float) -> str:
        return f"{times[min(len(times) - 1, int(len(times) * part))] - rtt * 1000:.2f}"

    return (f"  {name:8} {len(times)} of {count} answered; beyond the round trip: median {beyond(0.5)}, "
            f"p99 {beyond(0.99)}, most {beyond(1)} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--rate", default="100Mbit", help="of the link (100Mbit)")
    parser.add_argument("--pings", type=int, default=2000)
    parser.add_argument("--polling", default="adaptive", choices=("adaptive", "busy"))
    given = parser.parse_args()
    check(1 <= given.hosts <= 20_000, "--hosts: 1 to 20000")
    link = Link(rate=parse_rate(given.rate), rtt=0.02, loss=0)
    options = GatewayOptions(polling=given.polling, modes={"compress": "on"})
    print(f"programs of {build_folder()}; a ping each 10 ms")
    with make_lab(link, options) as lab:
        pings(lab, 20, 0.05)
        print(describe("idle", pings(lab, given.pings, 0.01), given.pings, link.rtt), flush=True)
        readers = Readers(lab)
        hosts = Hosts(lab, given.hosts)
        hosts.start()
        eventually(lambda: readers.received > 0, 10, "text arrives")
        time.sleep(3)
        before, since = readers.received, time.monotonic()
        times = pings(lab, given.pings, 0.01)
        rate = (readers.received - before) * 8 / (time.monotonic() - since) / 1e6
        print(describe("beside", times, given.pings, link.rtt), flush=True)
        print(f"  {given.hosts} hosts of text, {rate:.0f} Mbit/s of it")
        hosts.stop()


if __name__ == "__main__":
    main()
