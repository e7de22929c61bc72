"""50 Mbit/s, 550 ms: 20 MB arrive at nearly the rate that the link leaves for payload."""

import dataclasses

import pytest
from harness import ACCELERATED_PORT, Lab, Link, RealTime, check, note
from lab.web import Web

SIZE = 20_000_000
# Loss, the share of the payload bound that a transfer must reach, and its direction. Goodput.* (tests/sim) has both
# directions of each, and no loss, in virtual time.
ROWS = ((0.01, 0.83, "download"), (0.05, 0.72, "upload"))
# One transfer in about a hundred loses the same bytes three times at its end, and another program may take the cores
# for a moment. So a second attempt is allowed, and printed.
ATTEMPTS = 2
LINK = Link(loss=0)

pytestmark = pytest.mark.lab(LINK, file_bytes=3 * SIZE)


@pytest.fixture(scope="module")
def web(shared_lab: Lab) -> Web:
    return Web(shared_lab, (ACCELERATED_PORT,))


@pytest.fixture(scope="module")
def file(web: Web):
    return web.make_file("random.bin", SIZE)


@pytest.mark.parametrize(("loss", "least", "direction"), ROWS)
def test_throughput(lab: Lab, web: Web, file, loss: float, least: float, direction: str) -> None:
    lab.control_link(f"set both loss {loss * 100:g}%")
    now = dataclasses.replace(LINK, loss=loss)
    measured = RealTime()
    for _ in range(ATTEMPTS):
        outcome = web.start(file, direction, ACCELERATED_PORT).finish()
        check(outcome.completed and outcome.sha256_ok, f"{outcome}")
        share = now.bound_seconds(SIZE) / outcome.seconds
        note(f"{outcome.seconds:.2f} s, {100 * share:.1f}% of the bound")
        if share >= least:
            return
    measured.check(False, f"{ATTEMPTS} times under {100 * least:.0f}% of the bound")
