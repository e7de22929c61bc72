"""100 downloads of 100 KB at the same time."""

import hashlib
import os
import time

from harness import (
    ACCELERATED_PORT,
    SERVER,
    Link,
    RealTime,
    check,
    check_memory_returns,
    make_lab,
    note,
)
from lab.web import Web

COUNT = 100
SIZE = 100_000


def test_a_hundred_downloads_at_once() -> None:
    link = Link()
    with make_lab(link, file_bytes=4 * COUNT * SIZE) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        files = [web.make_file(f"file-{number}", SIZE, seed=number) for number in range(COUNT)]
        before = lab.gateway_a.counter("flows_established")
        began, measured = time.monotonic(), RealTime()
        lab.client.run(
            *("curl", "--silent", "--show-error", "--fail", "--noproxy", "*"),
            *("--parallel", "--parallel-immediate", "--parallel-max", str(COUNT)),
            *("--max-time", "45", "--output", os.path.join(lab.folder, "out-#1")),
            f"http://{SERVER.ipv4}:{ACCELERATED_PORT}/file-[0-{COUNT - 1}]",
        )
        seconds = time.monotonic() - began
        for number, file in enumerate(files):
            with open(os.path.join(lab.folder, f"out-{number}"), "rb") as arrived:
                digest = hashlib.file_digest(arrived, "sha256").hexdigest()
            check(digest == file.sha256, f"download {number} arrived changed")
        flows = lab.gateway_a.counter("flows_established") - before
        check(flows == COUNT, f"{flows} flows for {COUNT} downloads")
        bound = link.bound_seconds(COUNT * SIZE)
        note(f"{COUNT} downloads of {SIZE} bytes in {seconds:.2f} s; the bound is {bound:.2f} s")
        # Small files end in retransmissions of their own: a few round trips beyond the bound.
        measured.check(
            seconds < bound + 6 * link.rtt, f"{seconds:.2f} s is far beyond {bound:.2f} s"
        )
        check_memory_returns(lab)
