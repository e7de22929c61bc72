#!/usr/bin/env python3
"""One TCP flow across one gateway that relays nothing: the rate, and the gateway's share of one core.

    client [cl0]--------[lan0  satrelayd  wan0]--------[sv0] server

Not part of tests/run.sh. As root:  tests/e2e/measurements/throughput_bridged.py [--offloads off] [--seconds 5] [...]
To compare builds, run it in turn with SATRELAY_BUILD set to each.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import build_folder
from lab import kernel
from lab.daemon import Daemon
from lab.kernel import Namespace

YAML = """\
ports: {{lan: {{interface: lan0}}, wan: {{interface: wan0}}}}
gateway: {{address: 192.0.2.1/30}}
links: {{sat: {{send_rate: {rate}, receive_rate: {rate}, overhead: ethernet}}}}
security: none
limits: {{memory: 256MiB}}
peers: [{{name: remote, address: 192.0.2.2, prefixes: [198.51.100.0/24], link: sat}}]
rules: [{{action: bridge}}]
worker: {{polling: {polling}}}
control_socket: none
journal: none
stats_socket_prefix: {tag}
"""
HOSTS = (("client", "cl0", "lan0", "203.0.113.10"), ("server", "sv0", "wan0", "203.0.113.20"))


def cpu_of(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(client: Namespace, gateway: Daemon, given, way: tuple[str, ...]) -> tuple[float, float]:
    """Medians: Gbit/s, and percent of one core."""
    rates, shares = [], []
    for _ in range(given.runs):
        before = cpu_of(gateway.pid)
        server = HOSTS[1][3]
        told = client.run("iperf3", "-c", server, "-J", "-t", str(given.seconds), *way)
        rates.append(json.loads(told)["end"]["sum_received"]["bits_per_second"] / 1e9)
        shares.append(100 * (cpu_of(gateway.pid) - before) / given.seconds)
    return statistics.median(rates), statistics.median(shares)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--offloads", default="on", choices=("on", "off"), help="of all interfaces")
    options.add_argument("--seconds", type=int, default=3, help="of each run")
    options.add_argument("--runs", type=int, default=1, help="each way; the median is told")
    options.add_argument("--rate", default="10Gbit", help="of the link, at which it would pace")
    options.add_argument("--polling", default="adaptive", choices=("adaptive", "busy"))
    given = options.parse_args()
    tag = f"bridged{os.getpid()}"
    middle = Namespace(f"{tag}-gateway")
    hosts = {name: Namespace(f"{tag}-{name}") for name, *_ in HOSTS}
    folder = tempfile.mkdtemp(prefix="bridged-")
    config = os.path.join(folder, "gateway.yaml")
    with open(config, "w", encoding="ascii") as file:
        file.write(YAML.format(rate=given.rate, polling=given.polling, tag=tag))
    program = os.path.join(build_folder(), "relay", "satrelayd", "satrelayd")
    gateway = Daemon("gateway", middle, [program, "-c", config], os.path.join(folder, "log"))
    try:
        for space in (middle, *hosts.values()):
            space.create()
        for name, interface, port, address in HOSTS:
            kernel.join(hosts[name], interface, middle, port)
            if given.offloads == "off":
                kernel.switch_off_offloads(hosts[name], interface)
                kernel.switch_off_offloads(middle, port)
            hosts[name].ip("addr", "add", f"{address}/24", "dev", interface)
        gateway.start()
        gateway.wait_until(lambda: ": ready" in gateway.log(), 30, "ready")
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        iperf = hosts["server"].popen("iperf3", "--server", **silent)
        hosts["client"].run("ping", "-c", "2", "-i", "0.2", "-W", "2", HOSTS[1][3])
        for name, way in (("LAN to WAN", ()), ("WAN to LAN", ("--reverse",))):
            rate, share = measure(hosts["client"], gateway, given, way)
            print(
                f"{name}: {rate:.2f} Gbit/s, gateway {share:.0f}% of one core, "
                f"{share / rate:.1f}% a Gbit/s"
            )
        iperf.terminate()
        iperf.wait()
    finally:
        gateway.stop()
        for space in (middle, *hosts.values()):
            space.delete()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(f"/var/run/dpdk/{tag}", ignore_errors=True)


if __name__ == "__main__":
    main()
