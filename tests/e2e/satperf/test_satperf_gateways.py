"""satperf and the gateways over the same satlink, one after the other, reach the same goodput.

50 Mbit/s, 550 ms, 1% loss, the same amount of data. Both are measured by the unique payload stored at the far end (a
stream's bytes, no headers). The measurement begins when a quarter of the amount has arrived, and ends at nine tenths.
So start-up and the repair of the last losses are left out. If the machine takes the processor away for longer than a
pacer's burst, that time is lost for the rate, and never made up for. So the rate is the median over seconds, and the
best of the attempts counts at both.
"""

import statistics
import time

import pytest
from harness import (
    ACCELERATED_PORT,
    Link,
    RealTime,
    check,
    make_lab,
    needs_root,
    note,
    promptly,
)
from lab import telemetry
from lab.web import Web
from satperf_runs import Outcome, Server, client, path_of

LINK = Link(rate=50_000_000, rtt=0.55, loss=0.01)
SIZE = 60_000_000
FROM, TO = 0.25, 0.9
MOST_APART = 0.03
ATTEMPTS = 4
SAMPLING = 0.02
WINDOW = 1.0  # seconds

# (seconds since any moment, bytes stored)
Samples = list[tuple[float, int]]


def steady_rate(samples: Samples) -> float:
    """Bits a second in the median of the windows from FROM to TO of the amount; 0 if there are too few."""
    steady = [sample for sample in samples if FROM * SIZE <= sample[1] <= TO * SIZE]
    rates = []
    began, first = steady[0] if steady else (0.0, 0)
    for at, stored in steady:
        if at - began >= WINDOW:
            rates.append((stored - first) * 8 / (at - began))
            began, first = at, stored
    return statistics.median(rates) if len(rates) >= 3 else 0.0


def with_satperf() -> tuple[Samples, float]:
    with path_of(LINK) as path:
        promptly(path.satlink)
        with Server(path) as server:
            near = Outcome(
                client(path, "--bytes", f"{SIZE}B", "--interval", "100ms"), timeout=120
            )
            check(near.status == 0, f"exit status {near.status}: {near.error}")
            far = server.stop()
    check(far.summary["receiver"]["delivered_bytes"] == SIZE, "every byte is delivered")
    samples, stored, before = [], 0.0, 0
    for line in far.all("interval"):
        stored += line["stored_bps"] / 8 * (line["time_ms"] - before) / 1e3
        before = line["time_ms"]
        samples.append((before / 1e3, round(stored)))
    return samples, near.summary["goodput_bps"]


def with_gateways() -> tuple[Samples, float]:
    with make_lab(LINK, file_bytes=3 * SIZE) as lab:
        for daemon in (lab.satlink, lab.gateway_a.daemon, lab.gateway_b.daemon):
            promptly(daemon)
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", SIZE)

        def stored() -> int:
            peers = telemetry.query(lab.gateway_b.name, "/satrelay/peers")
            return peers["0"]["counters"]["stream_bytes_in"]

        transfer = web.start(file, "upload", ACCELERATED_PORT)
        samples, before = [], stored()
        while transfer.running():
            now = stored()
            if now != before:  # ten times a second
                samples.append((time.monotonic(), now))
                before = now
            time.sleep(SAMPLING)
        outcome = transfer.finish()
        check(outcome.completed and outcome.sha256_ok, f"{outcome}")
        return samples, outcome.goodput


def measure() -> tuple[float, float]:
    satperf_samples, satperf_whole = with_satperf()
    gateway_samples, gateway_whole = with_gateways()
    satperf, gateways = steady_rate(satperf_samples), steady_rate(gateway_samples)
    bound = LINK.payload_rate()
    note(
        f"   {LINK}, {SIZE // 1_000_000} MB, unique payload stored at the far end: "
        f"satperf {satperf / 1e6:.2f} Mbit/s ({satperf / bound:.1%} of the bound), "
        f"gateways {gateways / 1e6:.2f} Mbit/s ({gateways / bound:.1%}), "
        f"ratio {satperf / gateways if gateways else 0:.4f}"
    )
    note(
        f"   in order, start and end included: satperf {satperf_whole / 1e6:.2f} Mbit/s from the "
        f"first byte, gateways {gateway_whole / 1e6:.2f} Mbit/s from the client's SYN"
    )
    return satperf, gateways


@needs_root
@pytest.mark.alone
def test_the_same_goodput() -> None:
    satperf, gateways, measured = 0.0, 0.0, RealTime()
    for _ in range(ATTEMPTS):
        once_satperf, once_gateways = measure()
        satperf, gateways = max(satperf, once_satperf), max(gateways, once_gateways)
        if gateways and abs(satperf / gateways - 1) <= MOST_APART:
            return
    measured.check(
        False, f"satperf {satperf / 1e6:.2f} and gateways {gateways / 1e6:.2f} Mbit/s"
    )
