"""Segments that a kernel sends behind an IPv6 Destination Options header are relayed or bridged."""

import socket
import time

import pytest
from harness import ACCELERATED_PORT, SERVER, Lab, Link, check, note
from harness import accept, listen, receive_all

RTT = 0.1
SIZE = 400_000
IPV6_DSTOPTS = 59
EMPTY_OPTIONS = bytes([0, 0, 1, 4, 0, 0, 0, 0])  # PadN


def counters_at_rest(lab: Lab) -> dict:
    """Counters of the client's gateway, when the last ACKs of an earlier connection have passed."""
    counters = lab.gateway_a.counters()
    while True:
        time.sleep(5 * RTT)
        before, counters = counters, lab.gateway_a.counters()
        if counters["bridged_ip_extension"] == before["bridged_ip_extension"]:
            return counters


def send_with_options(lab: Lab, from_the_syn: bool) -> int:
    """How many connections the client's gateway relayed."""
    before = counters_at_rest(lab)
    data = bytes(range(250)) * (SIZE // 250)
    level, options = socket.IPPROTO_IPV6, (IPV6_DSTOPTS, EMPTY_OPTIONS)
    with listen(lab.server, SERVER.ipv6, ACCELERATED_PORT) as server:
        client = lab.client.socket(socket.AF_INET6, socket.SOCK_STREAM)
        client.settimeout(20)
        if from_the_syn:
            client.setsockopt(level, *options)
        client.connect((SERVER.ipv6, ACCELERATED_PORT))
        with client, accept(server) as other:
            if not from_the_syn:
                client.setsockopt(level, *options)
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            check(receive_all(other) == data, "what arrived is not what was sent")
    after = lab.gateway_a.counters()
    bridged = after["bridged_ip_extension"] - before["bridged_ip_extension"]
    check((bridged > 0) == from_the_syn, f"{bridged} segments behind an option were bridged")
    return after["flows_accepted"] - before["flows_accepted"]


def the_kernels_destination_options(lab: Lab) -> None:
    check(send_with_options(lab, from_the_syn=True) == 0, "a SYN with an option was relayed")
    check(send_with_options(lab, from_the_syn=False) == 1, "the connection was not relayed")
    note("segments behind Destination Options arrived, bridged and relayed")


@pytest.mark.lab(Link(rtt=RTT, loss=0))
def test_fragments(lab: Lab) -> None:
    the_kernels_destination_options(lab)
