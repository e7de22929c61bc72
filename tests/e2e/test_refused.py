"""A port that nobody listens on: the client learns it quickly, and the counters name it."""

import time

from harness import (
    BRIDGED_PORT,
    SERVER,
    Lab,
    Link,
    RealTime,
    check,
    check_memory_returns,
    connect,
    make_lab,
    note,
)


def seconds_until_refused(lab: Lab, address: str, port: int) -> float:
    began = time.monotonic()
    try:
        with connect(lab.client, address, port) as client:
            check(client.recv(1) == b"never", "a refused connection delivered data or an end")
    except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
        return time.monotonic() - began
    raise AssertionError("unreachable")


def is_refused_at_once(lab: Lab, address: str, port: int) -> bool:
    """Whether connect() fails, and not what is read afterwards."""
    try:
        with connect(lab.client, address, port):
            return False
    except ConnectionRefusedError:
        return True


def test_refused_ports() -> None:
    link = Link(rtt=0.3, loss=0)
    with make_lab(link) as lab:
        for address in (SERVER.ipv4, SERVER.ipv6):
            before = lab.gateway_b.counter("flows_refused")
            measured = RealTime()
            seconds = seconds_until_refused(lab, address, 9999)
            note(f"{address}: refused after {seconds:.2f} s, the link's RTT is {link.rtt} s")
            measured.check(seconds < 3 * link.rtt + 0.5, f"the refusal took {seconds:.2f} s")
            refused = lab.gateway_b.counter("flows_refused") - before
            check(refused == 1, f"gateway B counted {refused} refused flows")
            # Whoever chooses among addresses must not be connected to this one again.
            for _ in range(2):
                check(is_refused_at_once(lab, address, 9999), f"{address} was answered again")
        check(lab.gateway_a.counter("flows_established") == 2, "the flows were not accelerated")
        check(lab.gateway_a.counter("services_refusing") == 2, "they were not remembered")
        check(lab.gateway_a.counter("handshakes_learnt") == 4, "somebody else refused")
        seconds_until_refused(lab, SERVER.ipv4, BRIDGED_PORT)
        check(lab.gateway_b.counter("flows_refused") == 6, "a bridged refusal was counted")
        check_memory_returns(lab)
