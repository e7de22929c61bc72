"""A flood of SYNs from forged addresses beside 100 downloads."""

import os
import re
import time
from contextlib import contextmanager

import pytest
from harness import (
    Lab,
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    Link,
    RealTime,
    build_folder,
    check,
    eventually,
    note,
)
from lab.web import Web

COUNT = 100
SIZE = 600_000
NEW = 10  # connections in mid-flood
KEPT = 0.9  # share of the downloads' rate
# In the client's prefix, as the gateway bridges SYNs that its peer does not accept. No host has these addresses, as a
# host would answer with RST.
SOURCES = "203.0.113.64/26"
# SYNs a second. The machine that runs the gateway makes the flood, too. Only if it has time left does the gateway alone
# explain the loss of rate. If it has none, the next rate is half as high.
RATES = (int(os.environ.get("FLOOD", 100_000)),) + (50_000, 25_000) * ("FLOOD" not in os.environ)
IDLE = 0.05  # share of all processors, at least


@contextmanager
def syn_flood(lab, rate: int):
    """Sends SYNs from the client's own port, to a server that the client has talked to.

    Yields a function that returns how many have been sent.
    """
    space = lab.client
    neighbour = space.run("ip", "neigh", "show", SERVER.ipv4)
    target = re.search(r"lladdr (\S+)", neighbour).group(1)
    source = space.run("cat", f"/sys/class/net/{CLIENT.interface}/address").strip()

    def sent() -> int:
        path = f"/sys/class/net/{CLIENT.interface}/statistics/tx_packets"
        return int(space.run("cat", path))

    program = os.path.join(build_folder(), "tests", "e2e", "security", "syn_flood")
    arguments = (CLIENT.interface, source, target, SERVER.ipv4, str(ACCELERATED_PORT), SOURCES, str(rate))
    flood = space.popen(program, *arguments)
    try:
        yield sent
    finally:
        flood.terminate()
        flood.wait(10)


def processor_time() -> tuple[int, int]:
    """Idle time, and all time, in ticks."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    return fields[3] + fields[4], sum(fields[:8])


def fetch(lab, names: str, count: int, seconds: int) -> None:
    """Downloads `count` files at the same time, each over a connection of its own."""
    lab.client.run(
        *("curl", "--silent", "--show-error", "--fail", "--noproxy", "*"),
        *("--parallel", "--parallel-immediate", "--parallel-max", str(count)),
        *("--max-time", str(seconds), "--output", os.path.join(lab.folder, "out-#1")),
        f"http://{SERVER.ipv4}:{ACCELERATED_PORT}/{names}",
        timeout=seconds + 10,
    )


def downloads(lab) -> float:
    """Bytes a second of the hundred downloads while all of them go on."""
    began = time.monotonic()
    fetch(lab, f"large-[0-{COUNT - 1}]", COUNT, seconds=100)
    return COUNT * SIZE / (time.monotonic() - began)


@pytest.mark.alone
@pytest.mark.lab(Link(rtt=0.55), file_bytes=3 * COUNT * SIZE)
def test_a_syn_flood_beside_a_hundred_downloads(lab: Lab) -> None:
    web = Web(lab, (ACCELERATED_PORT,))
    for number in range(COUNT):
        web.make_file(f"large-{number}", SIZE, seed=number)
    for number in range(NEW):
        web.make_file(f"small-{number}", 20_000, seed=COUNT + number)
    counter = lab.gateway_a.counter
    measured = RealTime()
    quiet = downloads(lab)
    for floods, rate in enumerate(RATES, 1):
        with syn_flood(lab, rate) as sent:
            first, began = sent(), time.monotonic()
            time.sleep(2)
            idle, all_time = processor_time()
            flooded = downloads(lab)
            idle, all_time = (now - then for now, then in zip(processor_time(), (idle, all_time)))
            fetch(lab, f"small-[0-{NEW - 1}]", NEW, seconds=20)
            rate = (sent() - first) / (time.monotonic() - began)
        note(
            f"{COUNT} downloads: {quiet * 8e-6:.2f} Mbit/s, under {rate:,.0f} SYNs a second "
            f"{flooded * 8e-6:.2f} Mbit/s ({flooded / quiet:.0%}), {idle / all_time:.0%} of the processors idle; "
            f"{NEW} new connections opened; {counter('syn_cookies_sent'):,} cookies, "
            f"{counter('flows_by_syn_cookie')} flows by them, "
            f"{counter('dropped_syn_flood'):,} SYNs dropped"
        )
        if flooded > KEPT * quiet or idle >= IDLE * all_time:
            break
    measured.check(
        flooded > KEPT * quiet, f"the downloads lost {1 - flooded / quiet:.0%} of their rate"
    )
    # A flood that gets no processor time proves nothing. The client has its own part of the half-open places, as the
    # flood has few sources. So only some of its connections open by cookies (in SynFlood.* all of them do).
    measured.check(counter("syn_cookies_sent") >= 100_000, "the flood took no cookies")
    check(counter("bridged_half_open_full") == 0, "SYNs were bridged")

    def told(name: str) -> list[str]:
        return [event["detail"] for event in lab.gateway_a.events() if event["name"] == name]

    check(
        1 <= len(told("syn_flood")) <= floods, f"{floods} floods: told of {len(told('syn_flood'))} times"
    )
    eventually(lambda: told("syn_flood_over"), 20, "its end is told")
    note(told("syn_flood_over")[0])
