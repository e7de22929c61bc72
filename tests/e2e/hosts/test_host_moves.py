"""A virtual machine moves to the other site with its MAC and its address, and announces that by gratuitous ARP.

No gateway can continue its connections. They end at once, and the next ones work.
"""

from harness import (
    ACCELERATED_PORT,
    SERVER,
    Link,
    check,
    connection,
    converse,
    echo,
    eventually,
    make_lab,
    note,
    was_reset,
)
from moving_host import give_the_server_a_switch, move


def test_connections_of_a_host_that_moves_are_reset() -> None:
    link = Link(rtt=0.3)
    with make_lab(link) as lab:
        give_the_server_a_switch(lab)
        lab.client.run("ping", "-n", "-c", "2", "-i", "0.3", "-W", "3", SERVER.ipv4)
        with connection(lab, ACCELERATED_PORT) as (client, server):
            echo(client, server, b"before")
            move(lab)
            seconds = eventually(
                lambda: was_reset(client) and was_reset(server), 3 + link.rtt, "both were reset"
            )
            note(f"both were reset {seconds:.1f} s after the last gratuitous ARP")
        converse(lab, ACCELERATED_PORT)
        for gateway in (lab.gateway_a, lab.gateway_b):
            moved = gateway.counter("flows_reset_moved")
            check(moved == 1, f"{gateway.name} counted {moved} flows of a host that has moved")
        check(lab.gateway_b.counter("arrivals_told") >= 1, "gateway B has not told of the client")
