"""A port without a listener, or rejected by a firewall: the client learns it quickly, and the counters name it."""

import errno
import os
import shutil
import time

from harness import (
    BRIDGED_PORT,
    SERVER,
    Lab,
    Link,
    RealTime,
    Skip,
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
    """Whether connect() itself fails, and not a later read."""
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
            # A host that chooses among addresses must not be connected to this one again.
            for _ in range(2):
                check(is_refused_at_once(lab, address, 9999), f"{address} was answered again")
        check(lab.gateway_a.counter("flows_established") == 2, "the flows were not accelerated")
        check(lab.gateway_a.counter("services_refusing") == 2, "they were not remembered")
        check(lab.gateway_a.counter("handshakes_learnt") == 4, "somebody else refused")
        seconds_until_refused(lab, SERVER.ipv4, BRIDGED_PORT)
        check(lab.gateway_b.counter("flows_refused") == 6, "a bridged refusal was counted")
        check_memory_returns(lab)


# A SYN, how the server's firewall answers it, and how connect() of a Linux host ends over a bridge.
REJECTS = {
    (SERVER.ipv4, 9301): ("icmp type net-unreachable", errno.ENETUNREACH),
    (SERVER.ipv4, 9302): ("icmp type host-prohibited", errno.EHOSTUNREACH),
    (SERVER.ipv4, 9303): ("icmp type admin-prohibited", errno.EHOSTUNREACH),
    (SERVER.ipv4, 9304): ("icmp type port-unreachable", errno.ECONNREFUSED),
    (SERVER.ipv6, 9305): ("icmpv6 type no-route", errno.ENETUNREACH),
    (SERVER.ipv6, 9306): ("icmpv6 type admin-prohibited", errno.EACCES),
    (SERVER.ipv6, 9307): ("icmpv6 type addr-unreachable", errno.EHOSTUNREACH),
}


def end_of_connect(lab: Lab, address: str, port: int) -> int:
    try:
        with connect(lab.client, address, port) as client:
            client.recv(1)
            return 0
    except OSError as error:
        return error.errno


def reject(lab: Lab) -> None:
    rules = os.path.join(lab.folder, "rejects")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("table inet rejects { chain in { type filter hook input priority 0;\n")
        for (_, port), (reason, _) in REJECTS.items():
            file.write(f"tcp dport {port} reject with {reason}\n")
        file.write("}\n}\n")
    lab.server.run("nft", "-f", rules)


def test_rejected_ports() -> None:
    if shutil.which("nft", path="/usr/sbin:/usr/bin") is None:
        raise Skip("nft is not installed")
    link = Link(rtt=0.3, loss=0)
    with make_lab(link) as lab:
        reject(lab)
        for (address, port), (reason, expected) in REJECTS.items():
            for attempt, due in (("first", errno.ECONNRESET), ("second", expected)):
                measured = RealTime()
                began = time.monotonic()
                ended = end_of_connect(lab, address, port)
                seconds = time.monotonic() - began
                note(f"{reason}, {attempt}: {errno.errorcode.get(ended)} after {seconds:.2f} s")
                check(ended == due, f"{reason}, {attempt}: {ended}, not {due}")
                measured.check(seconds < 3 * link.rtt + 0.5, f"{reason} took {seconds:.2f} s")
        check(lab.gateway_a.counter("icmp_to_clients") == len(REJECTS), "clients got no error")
        check_memory_returns(lab)
