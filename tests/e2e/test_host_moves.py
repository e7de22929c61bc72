"""A virtual machine moves to the other site, with its MAC and its address, and says so by gratuitous ARP.

Nobody can go on with its connections: they end at once, and the next ones work.
"""

import socket
import struct
import time

import frames
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    Lab,
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

NEW_INTERFACE = "cl1"  # of the client, at the server's site


def give_the_server_a_switch(lab: Lab) -> None:
    """Its site has a second port, for the client."""
    server = lab.server
    mac = server.mac(SERVER.interface).hex(":")
    server.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
    server.ip("link", "set", "br0", "address", mac)
    server.ip("link", "add", "new", "type", "veth", "peer", "name", NEW_INTERFACE)
    server.ip("link", "set", NEW_INTERFACE, "netns", lab.client.name)
    # Its neighbour discovery would show switches where it is, and hide that the gateways mislead them.
    lab.client.run("sysctl", "-q", "-w", f"net.ipv6.conf.{NEW_INTERFACE}.disable_ipv6=1")
    server.ip("addr", "flush", "dev", SERVER.interface)
    for port in (SERVER.interface, "new"):
        server.ip("link", "set", port, "master", "br0")
        server.ip("link", "set", port, "up")
    server.ip("link", "set", "br0", "up")
    server.ip("addr", "add", f"{SERVER.ipv4}/24", "dev", "br0")


def move(lab: Lab) -> None:
    client = lab.client
    mac = client.mac(CLIENT.interface)
    client.ip("link", "set", CLIENT.interface, "down")
    client.ip("addr", "flush", "dev", CLIENT.interface)
    client.ip("link", "set", NEW_INTERFACE, "address", mac.hex(":"))
    client.ip("link", "set", NEW_INTERFACE, "up")
    client.ip("addr", "add", f"{CLIENT.ipv4}/24", "dev", NEW_INTERFACE)
    address = socket.inet_aton(CLIENT.ipv4)
    arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + address + bytes(6) + address
    with frames.Tap(client, NEW_INTERFACE) as tap:
        for _ in range(3):
            tap.send(b"\xff" * 6 + mac + b"\x08\x06" + arp + bytes(18))
            time.sleep(0.2)


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
