"""Traffic that is not accelerated passes byte for byte: UDP, ping, ARP, VLAN tags, fragments, and all else."""

import random
import struct

import frames
import pytest
from harness import CLIENT, SERVER, Lab, Link, RealTime, check, note

ETHERTYPE_IPV4 = b"\x08\x00"
ETHERTYPE_IPV6 = b"\x86\xdd"
VLAN_100 = b"\x81\x00\x00\x64"
SYN, ACK = 0x02, 0x10
MD5_OPTION = bytes([19, 18]) + bytes(16) + bytes([1, 1])


def frames_to_bridge(source, destination, from_mac: bytes, to_mac: bytes) -> dict[str, bytes]:
    """Frames by name, each different from all others."""
    noise = random.Random(9)
    head = to_mac + from_mac
    four, four_to = source.ipv4, destination.ipv4
    six, six_to = source.ipv6, destination.ipv6

    def over4(protocol, payload, **more):
        return ETHERTYPE_IPV4 + frames.ipv4(four, four_to, protocol, payload, **more)

    def datagram(size):
        return over4(17, frames.udp(four, four_to, noise.randbytes(size)))

    def segment(ports, flags, **more):
        return over4(6, frames.tcp(four, four_to, ports, flags, **more))

    long = datagram(2500)
    whole = frames.ipv4(four, four_to, 17, b"")
    fragmented = long[2 + len(whole) :]
    return {
        "small UDP": head + datagram(30),
        "UDP of 1500 bytes": head + datagram(1472),
        "UDP over IPv6": head
        + ETHERTYPE_IPV6
        + frames.ipv6(six, six_to, 17, frames.udp(six, six_to, noise.randbytes(400))),
        "VLAN-tagged UDP": head + VLAN_100 + datagram(200),
        "VLAN-tagged UDP of 1500 bytes": head + VLAN_100 + datagram(1472),
        "priority-tagged UDP": head + b"\x81\x00\xe0\x00" + datagram(100),
        "doubly tagged UDP": head + b"\x88\xa8\x00\x07" + VLAN_100 + datagram(150),
        "VLAN-tagged ARP": b"\xff" * 6
        + from_mac
        + VLAN_100
        + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 1)
        + from_mac
        + bytes([10, 9, 8, 7])
        + bytes(6)
        + bytes([10, 9, 8, 6])
        + bytes(18),
        "unknown ethertype": head + b"\x88\xb5" + noise.randbytes(100),
        "LLDP": bytes.fromhex("0180c200000e") + from_mac + b"\x88\xcc" + noise.randbytes(46),
        "spanning tree BPDU": bytes.fromhex("0180c2000000")
        + from_mac
        + b"\x00\x26\x42\x42\x03"
        + noise.randbytes(43),
        "LACP": bytes.fromhex("0180c2000002") + from_mac + b"\x88\x09" + noise.randbytes(110),
        "multicast UDP": bytes.fromhex("01005e000009")
        + from_mac
        + ETHERTYPE_IPV4
        + frames.ipv4(four, "224.0.0.9", 17, frames.udp(four, "224.0.0.9", noise.randbytes(60))),
        "first fragment": head
        + ETHERTYPE_IPV4
        + frames.ipv4(four, four_to, 17, fragmented[:1480], fragment=0x2000),
        "last fragment": head
        + ETHERTYPE_IPV4
        + frames.ipv4(four, four_to, 17, fragmented[1480:], fragment=185),
        "IP options": head + over4(17, frames.udp(four, four_to, b"o" * 40), options=b"\x94\4\0\0"),
        "ESP": head + over4(50, noise.randbytes(120)),
        "GRE": head + over4(47, noise.randbytes(120)),
        "TCP of an unknown connection": head
        + segment((40001, 9001), ACK, data=noise.randbytes(500)),
        "SYN with an MD5 signature": head + segment((40002, 9001), SYN, options=MD5_OPTION),
        "TCP over IPv6, unknown": head
        + ETHERTYPE_IPV6
        + frames.ipv6(six, six_to, 6, frames.tcp(six, six_to, (40003, 9001), ACK, data=b"x" * 99)),
        "cut off IPv4 header": head + ETHERTYPE_IPV4 + b"\x45\x00" + bytes(44),
    }


def every_frame_once_and_unchanged(lab: Lab, sender, source, receiver, destination) -> None:
    (space, interface), (far_space, far_interface) = sender, receiver
    # The measurement begins before the frames are sent, since they are waited for only for a limited time.
    measured = RealTime()
    sent = frames_to_bridge(source, destination, space.mac(interface), far_space.mac(far_interface))
    with frames.Tap(space, interface) as out, frames.Tap(far_space, far_interface) as tap:
        for frame in sent.values():
            out.send(frame)
        arrived = tap.receive(1.5 + lab.link.rtt)
    for name, frame in sent.items():
        count = arrived.count(frame)
        if count == 0:
            near = [a.hex() for a in arrived if a[:12] == frame[:12] and abs(len(a) - len(frame)) < 8]
            note(f"{name}: sent {frame.hex()}\nof the same addresses and length: {near}")
        check(count <= 1, f"{name} arrived {count} times")
        measured.check(count == 1, f"{name} arrived {count} times")
    note(f"{len(sent)} kinds of frames passed untouched")


def hosts_find_and_ping_each_other(lab: Lab) -> None:
    for version, address in (("-4", SERVER.ipv4), ("-6", SERVER.ipv6)):
        lab.client.ip(version, "neigh", "flush", "all")
        lab.server.ip(version, "neigh", "flush", "all")
        for size in ("56", "1400"):
            lab.client.run(
                *("ping", version, "-n", "-c", "3", "-i", "0.2", "-W", "3", "-s", size, address)
            )
    # Hosts know each other by their own MACs, not by a gateway's.
    known = lab.client.ip("neigh", "show", SERVER.ipv4)
    mac = lab.server.mac(SERVER.interface).hex(":")
    check(mac in known, f"the client knows the server as '{known.strip()}', not as {mac}")


def udp_sockets_talk(lab: Lab) -> None:
    import socket

    with lab.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((SERVER.ipv4, 9053))
        server.settimeout(5)
        with lab.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(5)
            for number in range(100):
                question = number.to_bytes(2, "big") * 300
                client.sendto(question, (SERVER.ipv4, 9053))
                data, address = server.recvfrom(2000)
                check(data == question, "a question changed")
                check(address[0] == CLIENT.ipv4, f"the server saw {address[0]}")
                server.sendto(data[::-1], address)
                check(client.recv(2000) == question[::-1], "an answer changed")


@pytest.mark.lab(Link(rtt=0.02, loss=0))
def test_bridging(lab: Lab) -> None:
    client = (lab.client, CLIENT.interface)
    server = (lab.server, SERVER.interface)
    every_frame_once_and_unchanged(lab, client, CLIENT, server, SERVER)
    every_frame_once_and_unchanged(lab, server, SERVER, client, CLIENT)
    hosts_find_and_ping_each_other(lab)
    udp_sockets_talk(lab)
    counters = lab.gateway_a.counters()
    for name in (
        *("bridged_not_ip", "bridged_not_tcp", "bridged_fragment", "bridged_ip_options"),
        *("bridged_tcp_options", "bridged_mid_stream", "bridged_from_wan"),
    ):
        check(counters[name] > 0, f"nothing was counted as {name}")
    check(counters["flows_accepted"] == 0, "something was accelerated")
