#!/usr/bin/env python3
"""How long one download takes over 240 links, compared with the link's best time.

    completion_sweep.py SATLAB [--seeds N] [--jobs N] [--only RATE]

1, 10, 50 and 500 Mbit/s; 30 to 1,200 ms; 0 to 5% loss; 20 kB to 30 MB, in virtual time.
A cell fails if the median of its seeds is beyond 1.05 of the bound and 30 ms, or if one seed is a round trip beyond
that. The exit status is 1 then.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

RATES = (1, 10, 50, 500)  # Mbit/s
ROUND_TRIPS = (30, 300, 600, 1200)  # ms
LOSSES = (0, 0.1, 1, 5)  # percent
SIZES = ("20kB", "300kB", "3MB", "30MB")
QUEUE_S = 0.2
LEAST_QUEUE = 30_000  # bytes: some packets at 1 Mbit/s
SHARE, MARGIN_S = 1.05, 0.03

SCENARIO = """\
link: {{both: {{rate: {rate}Mbit, delay: {one_way}ms, queue: {queue}B, loss: {loss}%}}}}
gateways: {{limits: {{flow_memory: 256MiB}}}}
hosts: {{both: {{window: 32MiB, rate: 10Gbit}}}}
flows: [{{name: download, client: a, download: {size}}}]
duration: 900s
"""


def cells(only):
    """All cells but 30 MB at 1 Mbit/s, which would take four minutes alone."""
    for rate, round_trip, loss, size in itertools.product(RATES, ROUND_TRIPS, LOSSES, SIZES):
        if only in (None, rate) and (rate, size) != (1, "30MB"):
            yield rate, round_trip, loss, size


def measure(satlab, cell, seeds):
    """Returns the seconds of each seed, and the bound."""
    rate, round_trip, loss, size = cell
    queue = max(LEAST_QUEUE, int(rate * 1e6 / 8 * QUEUE_S))
    times, bound = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        scenario, result = pathlib.Path(folder, "cell.yaml"), pathlib.Path(folder, "cell.json")
        scenario.write_text(SCENARIO.format(rate=rate, one_way=round_trip // 2, queue=queue, loss=loss, size=size))
        for seed in range(1, seeds + 1):
            subprocess.run(
                [satlab, "run", scenario, "--seed", str(seed), "--quiet", "--json", result],
                check=True, stdout=subprocess.DEVNULL)
            flow = json.loads(result.read_text())["flows"][0]
            times.append(flow["completed_s"] or float("inf"))
            bound = flow["bound_s"]
    return times, bound


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("satlab")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int, choices=RATES, metavar="RATE", help="Mbit/s")
    arguments = parser.parse_args()
    failed = 0
    by_loss = {loss: [] for loss in LOSSES}
    every = list(cells(arguments.only))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda cell: measure(arguments.satlab, cell, arguments.seeds), every)
        for (rate, round_trip, loss, size), (times, bound) in zip(every, results):
            median, slowest = statistics.median(times), max(times)
            beyond = (slowest - bound) * 1e3 / round_trip
            by_loss[loss].append((median / bound, median - bound, beyond))
            limit = bound * SHARE + MARGIN_S
            if median <= limit and slowest <= limit + round_trip / 1e3:
                continue
            failed += 1
            print(f"{rate} Mbit/s, {round_trip} ms, {loss}%, {size}: bound {bound:.3f} s, median {median:.3f}, "
                  f"slowest {slowest:.3f}, {beyond:.2f} round trips beyond the bound", flush=True)
    for loss, shown in by_loss.items():
        ratios = [ratio for ratio, _, _ in shown]
        print(f"{loss}%: {len(shown)} cells, median {statistics.median(ratios):.3f} of the bound, at most "
              f"{max(ratios):.3f}; {max(beyond for _, _, beyond in shown):.2f} round trips beyond at most")
    print(f"{failed} of {len(every)} cells are too late")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
