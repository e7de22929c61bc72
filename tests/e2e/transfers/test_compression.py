"""The gain of compression on a slow link for real text, this machine's own C++ headers, and for random bytes."""

import glob
import json
import os
import random
import threading
import time

import pytest
from harness import ACCELERATED_PORT, Link, Lab, RealTime, check, connection, control, note, tell

SIZE = 20_000_000
RULE = "2"  # the lab's accelerating rule


def headers() -> bytes:
    """Text as people have written it. It is repeated only if there is too little."""
    text = b""
    for path in sorted(glob.glob("/usr/include/**/*.h*", recursive=True)):
        if os.path.isfile(path) and len(text) < SIZE:
            with open(path, "rb") as file:
                text += file.read()
    return (text * (SIZE // len(text) + 1))[:SIZE]


def codec(lab: Lab) -> dict:
    """Counters of the gateway at the server, which sends."""
    rules = json.loads(control(lab, lab.gateway_b, "rules", "--json").stdout)
    return next(rule["codec"] for rule in rules if str(rule["rule"]) == RULE)


def download(lab: Lab, data: bytes) -> tuple[float, dict]:
    """Returns the seconds, and the codec's counters for these bytes."""
    before = codec(lab)
    with connection(lab, ACCELERATED_PORT) as (client, server):
        began = time.monotonic()

        def send() -> None:
            server.sendall(data)
            server.shutdown(1)

        sender = threading.Thread(target=send)
        sender.start()
        received = bytearray()
        while part := client.recv(1 << 20):
            received += part
        seconds = time.monotonic() - began
        sender.join()
    check(received == data, "the bytes changed")
    return seconds, {key: value - before[key] for key, value in codec(lab).items()}


@pytest.mark.lab(Link(rate=10_000_000, rtt=0.55, loss=0))
def test_compression(lab: Lab) -> None:
    text = headers()
    measured = RealTime()
    compressed, became = download(lab, text)
    share = became["encoded_bytes"] / became["plain_bytes"]
    check(became["time_ns"] > 0, "the time of compressing is not counted")
    noise = random.Random(1).randbytes(2_000_000)
    _, random_became = download(lab, noise)
    growth = random_became["encoded_bytes"] / random_became["plain_bytes"]
    check(growth < 1.005, f"random bytes grow by {growth}")
    tell(lab, lab.gateway_b, "set", RULE, "compress=off")
    plain, _ = download(lab, text)
    note(
        f"{SIZE / 1e6:g} MB of text at 10 Mbit/s: {plain:.1f} s, compressed {compressed:.1f} s, "
        f"{plain / compressed:.1f} times faster; {share:.1%} of its bytes, "
        f"{became['time_ns'] / 1e9:.2f} s of the worker; random bytes become {growth:.3%}"
    )
    measured.check(plain / compressed >= 4, f"{plain:.1f} s and {compressed:.1f} s")
