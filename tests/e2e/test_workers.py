"""Gateways with several workers: connections are spread over them, and all that concerns a gateway as a whole still does."""

import json
import time

import pytest
from harness import ACCELERATED_PORT, BRIDGED_PORT, Link, check, make_lab, note
from lab.settings import GatewayOptions
from lab.web import Web

SIZE = 2_000_000
COUNT = 8


def workers_of(gateway) -> list[dict]:
    status = gateway.query("status")
    return [status["workers"][key] for key in sorted(status["workers"], key=int)]


@pytest.mark.parametrize("counts", ((2, 2), (2, 1), (4, 2)), ids=lambda c: f"{c[0]}-{c[1]}")
def test_transfers(counts: tuple[int, int]) -> None:
    options = GatewayOptions(workers=counts, limits={"memory": "256MiB", "flows": "4096"})
    with make_lab(Link(rtt=0.2, loss=0.005), options) as lab:
        web = Web(lab, (ACCELERATED_PORT, BRIDGED_PORT))
        file = web.make_file("random.bin", SIZE)
        before = [lab.gateway_a.counter("flows_established"), lab.gateway_b.counter("flows_from_peer")]
        running = [
            web.start(file, direction, ACCELERATED_PORT)
            for _ in range(COUNT // 2)
            for direction in ("download", "upload")
        ]
        for transfer in running:
            outcome = transfer.finish()
            check(outcome.completed and outcome.sha256_ok, f"{outcome}")
        now = [lab.gateway_a.counter("flows_established"), lab.gateway_b.counter("flows_from_peer")]
        note(f"{before} {now}")
        note(f"{workers_of(lab.gateway_a)}")
        note(f"{workers_of(lab.gateway_b)}")
