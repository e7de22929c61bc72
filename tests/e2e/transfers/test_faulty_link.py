"""Loss, reordering, duplicates, flipped bits and jitter together change no byte."""

import pytest
from harness import (
    ACCELERATED_PORT,
    SERVER,
    Lab,
    Link,
    check,
    check_memory_returns,
    note,
)
from lab.web import Web

SIZE = 3_000_000
FAULTS = {
    "reorder": "2%",
    "reorder_by": "15ms",
    "duplicate": "1%",
    "corrupt": "0.5%",
    "jitter": "5ms",
}
FAULT_COUNTERS = ("dropped_loss", "reordered", "duplicated", "corrupted")


@pytest.mark.lab(Link(rtt=0.2, loss=0.03, faults=FAULTS), file_bytes=4 * SIZE)
def test_faulty_link(lab: Lab) -> None:
    web = Web(lab, (ACCELERATED_PORT,))
    file = web.make_file("random.bin", SIZE)
    for direction in ("download", "upload"):
        for host in (SERVER.ipv4, SERVER.ipv6):
            outcome = web.start(file, direction, ACCELERATED_PORT, host).finish()
            check(outcome.completed and outcome.sha256_ok, f"{direction}: {outcome}")
            note(f"{direction} from {host} took {outcome.seconds:.2f} s")
    # The CRC must have caught some of the packets that the link corrupted.
    caught = [gateway.peer()["counters"]["bad_crc"] for gateway in lab.gateways]
    link = lab.link_counters()
    for way in ("a_to_b", "b_to_a"):
        faults = {name: link[way][name] for name in FAULT_COUNTERS}
        note(f"{way}: {faults}")
        check(all(faults.values()), f"the link was not as faulty as it should be: {faults}")
    note(f"packets with a wrong CRC at the gateways: {caught}")
    check(all(caught), f"the gateways caught {caught} corrupted packets")
    check_memory_returns(lab)
