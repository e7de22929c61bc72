"""Files arrive whole: both directions, both IP versions, both at once, opened from either side."""

import hashlib
import random
import threading

import pytest
from harness import (
    ACCELERATED_PORT,
    BRIDGED_PORT,
    CLIENT,
    SERVER,
    Lab,
    accept,
    check,
    check_memory_returns,
    connect,
    connection,
    listen,
    note,
    receive_all,
)
from lab.web import Web

SIZE = 2_000_000

pytestmark = pytest.mark.lab(file_bytes=8 * SIZE)


@pytest.fixture(scope="module")
def web(shared_lab) -> Web:
    return Web(shared_lab, (ACCELERATED_PORT, BRIDGED_PORT))


@pytest.fixture(scope="module")
def file(web):
    return web.make_file("random.bin", SIZE)


def check_outcome(what: str, outcome) -> None:
    check(outcome.completed, f"{what} did not complete: {outcome}")
    check(outcome.sha256_ok, f"{what} arrived changed: {outcome}")


@pytest.mark.parametrize("host", [SERVER.ipv4, SERVER.ipv6])
@pytest.mark.parametrize("direction", ["download", "upload"])
def test_files_arrive_whole(lab: Lab, web: Web, file, direction: str, host: str) -> None:
    accepted = lab.gateway_a.counter("flows_established")
    opened = lab.gateway_b.counter("flows_from_peer")
    check_outcome(
        f"{direction} from {host}", web.start(file, direction, ACCELERATED_PORT, host).finish()
    )
    check(
        lab.gateway_a.counter("flows_established") == accepted + 1,
        "gateway A did not take the flow",
    )
    check(
        lab.gateway_b.counter("flows_from_peer") == opened + 1,
        "gateway B did not open the flow",
    )


def test_bridged_files_arrive_whole(lab: Lab, web: Web) -> None:
    file = web.make_file("bridged.bin", 100_000, seed=3)
    before = lab.gateway_a.counter("flows_established")
    for direction in ("download", "upload"):
        check_outcome(
            f"bridged {direction}", web.start(file, direction, BRIDGED_PORT).finish()
        )
    check(lab.gateway_a.counter("flows_established") == before, "a bridged port was accelerated")
    check(lab.gateway_a.counter("bridged_by_rule") > 0, "no frame was counted as bridged by rule")


def test_both_directions_at_once(lab: Lab, web: Web, file) -> None:
    both = {way: web.start(file, way, ACCELERATED_PORT) for way in ("download", "upload")}
    for direction, transfer in both.items():
        check_outcome(f"{direction} beside its opposite", transfer.finish())


def test_one_connection_carries_both_ways(lab: Lab) -> None:
    there, back = (random.Random(seed).randbytes(1_500_000) for seed in (4, 5))
    received = {}
    with connection(lab, 9001) as (client, server):

        def exchange(name, end, data):
            sender = threading.Thread(target=lambda: (end.sendall(data), end.shutdown(1)))
            sender.start()
            received[name] = receive_all(end)
            sender.join()

        ends = [
            threading.Thread(target=exchange, args=("client", client, there)),
            threading.Thread(target=exchange, args=("server", server, back)),
        ]
        for end in ends:
            end.start()
        for end in ends:
            end.join()
    check(received.get("server") == there, "what the client sent arrived changed")
    check(received.get("client") == back, "what the server sent arrived changed")


def test_the_far_side_opens_too(lab: Lab) -> None:
    data = random.Random(6).randbytes(500_000)
    before = lab.gateway_b.counter("flows_established")
    with listen(lab.client, CLIENT.ipv4, 9002) as server:
        with connect(lab.server, CLIENT.ipv4, 9002) as client, accept(server) as accepted:
            client.sendall(data)
            client.shutdown(1)
            check(receive_all(accepted) == data, "data towards the client's side arrived changed")
    check(lab.gateway_b.counter("flows_established") == before + 1, "gateway B did not take it")


def test_compressible_text_needs_less_link(lab: Lab) -> None:
    line = b"GET /index.html HTTP/1.1 200 OK, as boring as a log file can be\n"
    text = line * (SIZE // len(line))
    before = lab.gateway_a.peer()["counters"]["bytes_out"]
    with connection(lab, 9003) as (client, server):
        threading.Thread(target=lambda: (client.sendall(text), client.shutdown(1))).start()
        arrived = receive_all(server)
    check(hashlib.sha256(arrived).digest() == hashlib.sha256(text).digest(), "text changed")
    crossed = lab.gateway_a.peer()["counters"]["bytes_out"] - before
    note(f"{len(text)} bytes of text crossed as {crossed}")
    check(crossed < len(text) / 4, f"{crossed} bytes crossed for {len(text)} bytes of text")


def test_nothing_is_left(lab: Lab) -> None:
    """Runs last, as it is about all other tests."""
    for gateway in lab.gateways:
        check(gateway.counter("dropped_bad_checksum") == 0, "bad checksums on a clean LAN")
    check_memory_returns(lab)
