#!/usr/bin/env python3
"""1 Gbit/s, 550 ms, 1% loss, 500 MB through the real ports: the rate, and where the CPU time goes.

Not part of tests/run.sh. As root:  tests/e2e/measurements/throughput_gigabit.py [--polling busy] [...]

With --starve a gateway does not run now and then during each transfer. That costs the time that it is away, but no cut
of the rate (rate_cuts_delay).
"""

import argparse
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import GatewayOptions, Lab, Link, build_folder, programs
from harness import ACCELERATED_PORT
from lab import units
from lab.progress import Progress
from lab.web import Web


def cpu_of(pid: int) -> tuple[float, float]:
    """User and system seconds of a process with its ended children."""
    ticks = os.sysconf("SC_CLK_TCK")
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) / ticks, int(fields[12]) / ticks


def machine_cpu() -> dict[str, float]:
    """Seconds of all cores since boot, by kind."""
    ticks = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat", encoding="ascii") as stat:
        values = [int(value) / ticks for value in stat.readline().split()[1:8]]
    return dict(zip(("user", "nice", "system", "idle", "iowait", "irq", "softirq"), values))


STP_COUNTERS = ("packets", "spurious", "retransmitted", "tail", "no_memory", "rate_", "late_")
# Seconds away, seconds running, number of times.
STARVATIONS = {"pauses": (0.05, 0.25, 5), "slices": (0.08, 0.02, 20), "long": (0.35, 1, 3)}


def starve(lab: Lab, gateway: str, how: str) -> threading.Thread:
    """Begins 1.5 s later. The thread ends when the gateway runs normally again."""
    away, runs, times = STARVATIONS[how]
    pid = lab.gateways["ab".index(gateway)].daemon.pid

    def stop_and_go() -> None:
        time.sleep(1.5)
        for _ in range(times):
            os.kill(pid, signal.SIGSTOP)
            try:
                time.sleep(away)
            finally:
                os.kill(pid, signal.SIGCONT)
            time.sleep(runs)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    return thread


def measure(lab: Lab, web: Web, file, direction: str, starved: tuple[str, str] | None) -> float:
    losses_before = losses(lab)
    hunger = starve(lab, *starved) if starved else None
    transfer = web.start(file, direction, ACCELERATED_PORT, most_seconds=300)
    watched = {daemon.name: daemon.pid for daemon in lab.daemons}
    before = {name: cpu_of(pid) for name, pid in watched.items()}
    curl = curl_before = curl_after = (0.0, 0.0)
    whole_before = machine_cpu()
    progress = Progress(direction, file.size)
    began = time.monotonic()
    while transfer.running():
        progress.show(transfer.arrived(), transfer.elapsed(), 300)
        curl_after = curl = _curl_cpu(lab) or curl
        time.sleep(0.1)
    elapsed = time.monotonic() - began
    if hunger:
        hunger.join()
    whole = {kind: value - whole_before[kind] for kind, value in machine_cpu().items()}
    used = {
        name: tuple(end - start for start, end in zip(before[name], cpu_of(pid)))
        for name, pid in watched.items()
    }
    used["curl"] = tuple(end - start for start, end in zip(curl_before, curl_after))
    outcome = transfer.finish()
    share = lab.link.bound_seconds(file.size) / outcome.seconds
    print(
        f"\n{direction}: {units.show_size(outcome.bytes)} in {outcome.seconds:.2f} s: "
        f"{outcome.goodput / 1e6:.0f} Mbit/s, {100 * share:.1f}% of the payload bound, "
        f"SHA-256 {'equal' if outcome.sha256_ok else 'WRONG'} {outcome.error}"
    )
    print(f"{'CPU, percent of one core':34}  user  system")
    for name, (user, system) in used.items():
        print(f"  {name:32}  {100 * user / elapsed:4.0f}  {100 * system / elapsed:6.0f}")
    print(
        "  whole machine: "
        + ", ".join(f"{kind} {100 * seconds / elapsed:.0f}" for kind, seconds in whole.items())
    )
    print_growth(losses_before, losses(lab))
    return outcome.goodput if outcome.sha256_ok else 0.0


def losses(lab: Lab) -> dict[str, int]:
    """Where packets went or were lost, since the start of the lab."""
    found = {}
    for gateway in lab.gateways:
        letter = gateway.name[-1]
        for name, value in gateway.peer()["counters"].items():
            if name.startswith(STP_COUNTERS):
                found[f"gateway {letter} stp {name}"] = value
        for name, value in gateway.query("status")["tcp"].items():
            if name.startswith("retransm"):
                found[f"gateway {letter} tcp {name}"] = value
        for port in gateway.query("ports").values():
            for name, value in port.items():
                if name.startswith(("rx_m", "rx_e", "rx_no", "tx_e", "tx_u")):
                    found[f"gateway {letter} {port['name']} {name}"] = value
    for part, values in lab.link_counters().items():
        if isinstance(values, dict):
            for name, value in values.items():
                if name.startswith(("dropped", "rx_m", "rx_e", "rx_no", "tx_e", "tx_u")):
                    found[f"satlink {part} {name}"] = value
    for part, space in zip(("client", "server"), (lab.client, lab.server)):
        fields = dict(
            line.split()[:2] for line in space.run("nstat", "-asz").splitlines() if line[0] != "#"
        )
        for name in ("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPRcvQDrop"):
            found[f"{part} {name}"] = int(fields.get(name, 0))
    return found


def print_growth(before: dict[str, int], after: dict[str, int]) -> None:
    grown = {name: after[name] - value for name, value in before.items() if after[name] != value}
    for name, value in grown.items():
        print(f"  {name}: {value}")


def _curl_cpu(lab: Lab) -> tuple[float, float] | None:
    for pid in lab.client.pids():
        try:
            return cpu_of(pid)
        except OSError:
            pass
    return None


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rate", default="1Gbit", type=units.parse_rate)
    options.add_argument("--rtt", default="550ms", type=units.parse_duration)
    options.add_argument("--loss", default="1", type=units.parse_percentage)
    options.add_argument("--size", default="500MB", type=units.parse_size)
    options.add_argument("--polling", default="adaptive", choices=("adaptive", "busy"))
    options.add_argument("--driver", default="af_packet", choices=("af_packet", "af_xdp"))
    options.add_argument("--least", default="500Mbit", type=units.parse_rate)
    options.add_argument("--starve", choices=("a", "b"), help="a gateway, the client's is a")
    options.add_argument(
        "--how", default="pauses", choices=STARVATIONS, help="5 x 50 ms, or 80 ms of 100 for 2 s"
    )
    given = options.parse_args()
    link = Link(rate=given.rate, rtt=given.rtt, loss=given.loss / 100)
    print(f"{link}; {units.show_size(given.size)}; programs of {build_folder()}")
    with Lab(
        programs(),
        link,
        GatewayOptions(driver=given.driver, polling=given.polling),
        file_bytes=3 * given.size,
    ) as lab:
        lab.topology.use_congestion_control("cubic")  # on the LANs; most hosts have it
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", given.size)
        starved = (given.starve, given.how) if given.starve else None
        reached = [measure(lab, web, file, way, starved) for way in ("download", "upload")]
    if min(reached) < given.least:
        raise SystemExit(f"less than {units.show_rate(given.least)}")


if __name__ == "__main__":
    main()
