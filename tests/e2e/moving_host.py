"""A virtual machine that moves from the client's site to the server's with its MAC and address, and announces that."""

import socket
import struct
import time

import frames
from harness import CLIENT, SERVER, Lab

NEW_INTERFACE = "cl1"  # the client's, at the server's site


def give_the_server_a_switch(lab: Lab) -> None:
    """Gives the server's site a second port, for the client."""
    server = lab.server
    mac = server.mac(SERVER.interface).hex(":")
    server.ip("link", "add", "br0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
    server.ip("link", "set", "br0", "address", mac)
    server.ip("link", "add", "new", "type", "veth", "peer", "name", NEW_INTERFACE)
    server.ip("link", "set", NEW_INTERFACE, "netns", lab.client.name)
    # The client's neighbor discovery would show the switches where it is, and hide that the gateways mislead them.
    lab.client.run("sysctl", "-q", "-w", f"net.ipv6.conf.{NEW_INTERFACE}.disable_ipv6=1")
    server.ip("addr", "flush", "dev", SERVER.interface)
    for port in (SERVER.interface, "new"):
        server.ip("link", "set", port, "master", "br0")
        server.ip("link", "set", port, "up")
    server.ip("link", "set", "br0", "up")
    server.ip("addr", "add", f"{SERVER.ipv4}/24", "dev", "br0")


def move(lab: Lab) -> None:
    """Moves the client, and announces it by gratuitous ARP, three times."""
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
