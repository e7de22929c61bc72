"""The cost of satpanel beside a gateway with 300 peers and 10,000 flows, scraped each second.

    SATRELAY_BUILD=build /usr/bin/python3 tests/e2e/observation/panel_cost.py

Prints satpanel's share of a core and its memory, the gateway's share of a core with and without it, and the slowest
scrape. Takes two minutes.
"""

import contextlib
import os
import re
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import harness
from harness import SERVER, GatewayOptions, make_lab, note
from lab import settings
from panel import Client, panel_of

PEERS = 300
FLOWS = 10_000
SECONDS = 30


def with_many_peers(gateway_yaml):
    """The same YAML with more peers, which never answer, as at a hub with terminals that are off."""

    def written(*arguments, **named):
        more = "".join(
            f"  - {{name: terminal-{i}, address: 198.18.{i // 200}.{i % 200 + 1}, "
            f"prefixes: [172.{16 + i // 200}.{i % 200}.0/24], link: sat}}\n"
            for i in range(PEERS - 1)
        )
        text = gateway_yaml(*arguments, **named)
        text = re.sub(
            r"(gateway: .*)}",
            lambda own: own[1] + f", next_hop: {'192.0.2.1' if '.2/' in own[1] else '192.0.2.2'}}}",
            text,
        )
        return text.replace("rules:\n", more + "rules:\n")

    return written


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(gateway, panel, client) -> None:
    began = time.monotonic()
    gateway_before = cpu_seconds(gateway.daemon.pid)
    panel_before = panel.cpu_seconds() if panel else 0.0
    bytes_read = slowest = 0
    for second in range(SECONDS):
        if client is not None:
            asked = time.monotonic()
            bytes_read += len(client.get("/metrics"))
            slowest = max(slowest, time.monotonic() - asked)
        time.sleep(max(0.0, began + second + 1 - time.monotonic()))
    passed = time.monotonic() - began
    used = (cpu_seconds(gateway.daemon.pid) - gateway_before) / passed
    note(f"{'with' if panel else 'without'} the panel: gateway {used:.1%} of a core")
    if panel:
        used = (panel.cpu_seconds() - panel_before) / passed
        note(f"panel: {used:.1%} of a core, {panel.resident_bytes() / 1e6:.1f} MB resident")
        note(f"scrapes: {bytes_read / SECONDS / 1e3:.0f} KB each, the slowest {slowest:.3f} s")


@contextlib.contextmanager
def idle_flows(lab):
    listener = harness.listen(lab.server, SERVER.ipv4, 9000)
    listener.settimeout(600)
    # Each end is in a process of its own, as one process may not have twice as many sockets.
    server = os.fork()
    if server == 0:
        held = []
        while True:
            held.append(harness.accept(listener, timeout=600))
    ends = []
    try:
        for number in range(FLOWS):
            ends.append(harness.connect(lab.client, SERVER.ipv4, 9000))
            if number % 2000 == 1999:
                note(f"{number + 1} connections")
        yield
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        for end in ends:
            end.close()


def main() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (13_000, 13_000))
    settings.gateway_yaml = with_many_peers(settings.gateway_yaml)
    options = GatewayOptions(limits={"memory": "4GiB"})
    with make_lab(options=options) as lab, idle_flows(lab):
        near = lab.gateway_a
        status = near.query("status")
        note(f"{status['flows']} flows, {sum(status['peers'].values())} peers")
        measure(near, None, None)
        with panel_of(near) as panel:
            client = Client(panel, token=panel.token)
            time.sleep(3)
            measure(near, panel, client)


if __name__ == "__main__":
    main()
