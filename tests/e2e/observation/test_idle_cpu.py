"""With adaptive polling, two idle gateways and satlink use under 10% of one core together."""

import time

import pytest
from harness import Lab, Link, RealTime, note

SECONDS = 10
MOST_PERCENT = 10


@pytest.mark.lab(Link(rtt=0.55))
def test_idle_cpu(lab: Lab) -> None:
    time.sleep(3)  # until start-up is over
    measured = RealTime()
    before = [sum(daemon.cpu_seconds()) for daemon in lab.daemons]
    began = time.monotonic()
    time.sleep(SECONDS)
    elapsed = time.monotonic() - began
    after = [sum(daemon.cpu_seconds()) for daemon in lab.daemons]
    shares = [100 * (end - start) / elapsed for start, end in zip(before, after)]
    for daemon, share in zip(lab.daemons, shares):
        note(f"{daemon.name}: {share:.1f}% of one core")
    measured.check(
        sum(shares) < MOST_PERCENT, f"together {sum(shares):.1f}% of one core while idle"
    )
