"""The link goes away for some seconds in mid-transfer. The transfers wait and go on."""

import time

from harness import ACCELERATED_PORT, Link, RealTime, check, check_memory_returns, make_lab, note
from lab.web import Web

SIZE = 15_000_000
OUTAGE = 5


def test_outage() -> None:
    link = Link(rtt=0.3)
    with make_lab(link, file_bytes=4 * SIZE) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", SIZE)
        measured = RealTime()
        both = [web.start(file, way, ACCELERATED_PORT) for way in ("download", "upload")]
        time.sleep(1.5)
        lab.control_link("outage on")
        time.sleep(OUTAGE)
        lab.control_link("outage off")
        for transfer in both:
            outcome = transfer.finish()
            check(outcome.completed and outcome.sha256_ok, f"after an outage: {outcome}")
            # The outage itself, the bound, and some time to notice and to resume at the full rate.
            most = OUTAGE + link.bound_seconds(SIZE) + 3
            note(f"{outcome.seconds:.2f} s with {OUTAGE} s of outage")
            measured.check(
                outcome.seconds < most, f"{outcome.seconds:.2f} s, more than {most:.2f} s"
            )
        lab.wait_for_peers()
        check_memory_returns(lab)
