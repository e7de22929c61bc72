"""Packets other than TCP: ping, traceroute, DNS, UDP, multicast, ARP, neighbors, leases, tunnels and plain frames."""

import os
import random
import re
import socket
import threading
import time

import frames
from behind_router import BEHIND_ROUTER
from harness import CLIENT, SERVER, accept, connect, listen, receive_all

from .conditions import Seen, condition
from .programs import run, running, wait_until
from .sites import DHCP_ADDRESS, SLAAC_PREFIX, Site

NOISE = random.Random(11).randbytes(60_000)


# --- ping and traceroute -----------------------------------------------------------------------------


def _ping(site: Site, *argv: str, right: str = "0% packet loss") -> Seen:
    done = run(site.client, "ping", "-n", *argv)
    sums = re.search(r"(\d+) packets transmitted, (\d+) received.*?([\d.]+% packet loss)", done.out)
    times = re.search(r"= [\d.]+/([\d.]+)/", done.out)
    told = re.findall(r"(?m)^From .*?(?:icmp_seq=\d+ |: )(.*)$", done.out)
    errors = "".join(dict.fromkeys(f", {text}" for text in told))
    what = f"exit {done.status}, {sums[2]} of {sums[1]} answers{errors}" if sums else done.last_words
    return Seen(what, right in done.out + done.err, float(times[1]) / 1000 if times else None)


for _name, _argv in {
    "ping": (SERVER.ipv4,),
    "ping, IPv6": (SERVER.ipv6,),
    "ping -s 1472 -M do: as large as a packet may be": ("-s", "1472", "-M", "do", SERVER.ipv4),
    "ping -s 1452 -M do, IPv6": ("-s", "1452", "-M", "do", SERVER.ipv6),
    "ping -s 8000: fragments": ("-s", "8000", SERVER.ipv4),
    "ping -s 8000, IPv6: fragments": ("-s", "8000", SERVER.ipv6),
    "ping -s 60000: 41 fragments": ("-s", "60000", SERVER.ipv4),
    "ping -Q 0xb8: expedited forwarding": ("-Q", "0xb8", SERVER.ipv4),
    "ping to a host behind a router": (BEHIND_ROUTER[0],),
    "ping -f, 100 of them": ("-i", "0.01", "-c", "100", SERVER.ipv4),
}.items():
    condition(_name, "ping")(
        lambda site, argv=_argv: _ping(site, *(("-c", "4", "-i", "0.3", "-W", "5") + argv))
    )


@condition("ping -s 1473 -M do: larger than a packet may be", "ping")
def _(site):
    return _ping(site, "-c", "1", "-s", "1473", "-M", "do", SERVER.ipv4, right="message too long")


@condition("ping -R: the route is recorded", "ping")
def _(site):
    done = run(site.client, "ping", "-n", "-c", "1", "-W", "5", "-R", SERVER.ipv4)
    route = re.findall(r"^(?:RR:)?\s+(203\.0\.113\.\d+)", done.out, re.MULTILINE)
    return Seen(f"exit {done.status}, {route}", done.status == 0)


@condition("ping -t 1 to a host behind a router: time exceeded", "ping")
def _(site):
    return _ping(site, "-c", "1", "-t", "1", BEHIND_ROUTER[0], right="Time to live exceeded")


@condition("ping of an address that no host has", "ping")
def _(site):
    return _ping(site, "-c", "2", "203.0.113.223", right="Destination Host Unreachable")


@condition("ping -s 1472 -M do behind a narrower way: its MTU is told", "ping")
def _(site):
    argv = ("-c", "2", "-W", "5", "-s", "1472", "-M", "do", BEHIND_ROUTER[0])
    return _ping(site, *argv, right="message too long")


@condition("ping, on a VLAN", "ping", vlan=True)
def _(site):
    return _ping(site, "-c", "4", "-i", "0.3", "-s", "1472", "-M", "do", SERVER.ipv4)


for _name, _argv in {
    "traceroute: UDP": (),
    "traceroute -I: ICMP": ("-I",),
    "traceroute -T: TCP": ("-T", "-p", "80"),
}.items():
    for _label, _address in (("", BEHIND_ROUTER[0]), (", IPv6", BEHIND_ROUTER[1])):

        @condition(_name + _label, "traceroute")
        def _(site, argv=_argv, address=_address):
            done = run(site.client, "traceroute", "-n", "-w", "4", "-q", "1", "-m", "6", *argv, address)
            hops = re.findall(r"(?m)^ *\d+  (\S+)", done.out)
            return Seen(f"exit {done.status}, {' '.join(hops)}", hops[-1:] == [address])


# --- UDP ---------------------------------------------------------------------------------------------


def _udp(site: Site, size: int, version: int = 4) -> Seen:
    family, address = (socket.AF_INET, SERVER.ipv4) if version == 4 else (socket.AF_INET6, SERVER.ipv6)
    port = site.port()
    with site.server.socket(family, socket.SOCK_DGRAM) as far, site.client.socket(family, socket.SOCK_DGRAM) as near:
        far.bind((address, port))
        far.settimeout(20)
        near.settimeout(20)
        began = time.monotonic()
        near.sendto(NOISE[:size], (address, port))
        heard, whom = far.recvfrom(65_535)
        far.sendto(heard[::-1], whom)
        answer = near.recv(65_535)
        seconds = time.monotonic() - began
    return Seen(f"{len(answer):,} bytes and back", answer[::-1] == NOISE[:size], seconds)


_SIZES = (
    (1, "1 byte"),
    (1472, "1,472 bytes"),
    (8_000, "8,000 bytes: fragments"),
    (60_000, "60,000 bytes: fragments"),
)
for _size, _label in _SIZES:
    condition(f"UDP: {_label}")(lambda site, size=_size: _udp(site, size))
for _size, _label in ((1452, "1,452 bytes"), (8_000, "8,000 bytes: fragments")):
    condition(f"UDP over IPv6: {_label}")(lambda site, size=_size: _udp(site, size, 6))


@condition("UDP: nobody listens")
def _(site):
    with site.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as near:
        near.connect((SERVER.ipv4, site.port()))
        near.settimeout(10)
        near.send(b"question")
        began = time.monotonic()
        try:
            return Seen(repr(near.recv(100)), False)
        except OSError as error:
            right = isinstance(error, ConnectionRefusedError)
            return Seen(str(error), right, time.monotonic() - began)


@condition("UDP: multicast")
def _(site):
    group, port = "239.1.2.3", site.port()
    with (
        site.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
        site.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
    ):
        far.bind(("", port))
        far.settimeout(20)
        member = socket.inet_aton(group) + socket.inet_aton(SERVER.ipv4)
        far.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        near.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(CLIENT.ipv4))
        near.sendto(b"to all of the group", (group, port))
        return Seen(repr(far.recv(100)))


@condition("UDP: broadcast")
def _(site):
    port = site.port()
    with (
        site.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
        site.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
    ):
        far.bind(("", port))
        far.settimeout(20)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        near.sendto(b"to all", ("203.0.113.255", port))
        return Seen(repr(far.recv(100)))


@condition("iperf3 -u: 2 Mbit/s for 5 s", "iperf3", fills=True)
def _(site):
    port = site.port()
    with running(site.server, "iperf3", "--server", "--port", str(port)):
        time.sleep(1)
        done = run(site.client, "iperf3", "-u", "-b", "2M", "-t", "5", "-c", SERVER.ipv4, "-p", str(port))
    lost = re.search(r"(\d+)/\d+ \(\S+%\)  receiver", done.out)
    return Seen(f"exit {done.status}, {lost[1]} lost" if lost else done.last_words, bool(lost))


for _name, _argv, _right in (
    ("DNS over UDP", ("short.example", "A"), "203.0.113.77"),
    ("DNS over UDP, IPv6", ("-6", "short.example", "AAAA"), "2001:db8::77"),
    ("DNS over UDP: a fragmented answer (EDNS)", ("long.example", "TXT", "+bufsize=4096"), "flags: qr"),
    ("DNS: an answer too large for UDP is asked for again over TCP", ("long.example", "TXT", "+bufsize=512"), "(TCP)"),
    ("DNS over TCP", ("long.example", "TXT", "+tcp"), "(TCP)"),
):

    @condition(_name, "dig", "dnsmasq")
    def _(site, argv=_argv, right=_right):
        server = SERVER.ipv6 if "-6" in argv else SERVER.ipv4
        done = run(site.client, "dig", f"@{server}", *argv, "+tries=1", "+time=8")
        size = re.search(r"MSG SIZE  rcvd: (\d+)", done.out)
        count = re.search(r"ANSWER: (\d+)", done.out)
        what = f"exit {done.status}, {count[1]} answers, {size[1]} bytes" if size and count else done.last_words
        return Seen(what, done.status == 0 and right in done.out, done.seconds)


# --- the LAN -----------------------------------------------------------------------------------------


@condition("ARP: who has the far host's address", "arping")
def _(site):
    done = run(site.client, "arping", "-c", "3", "-w", "6", "-I", CLIENT.interface, SERVER.ipv4)
    macs = set(re.findall(r"\[([0-9A-F:]{17})\]", done.out))
    own = site.server.mac(SERVER.interface).hex(":").upper()
    return Seen("the host's own MAC" if macs == {own} else str(macs), macs == {own})


@condition("ARP and neighbour discovery, from nothing", "ping", fills=True)
def _(site):
    site.client.ip("neigh", "flush", "dev", CLIENT.interface)
    seen = [_ping(site, "-c", "1", "-W", "5", address) for address in (SERVER.ipv4, SERVER.ipv6)]
    return Seen("; ".join(each.what for each in seen), all(each.right for each in seen), seen[0].seconds)


@condition("DHCP: dnsmasq and udhcpc", "dnsmasq", "busybox")
def _(site):
    script = site.write(site.folder(), "told", "#!/bin/sh\necho $1 $ip $router\n")
    os.chmod(script, 0o755)
    words = ("udhcpc", "-n", "-q", "-f", "-t", "5", "-T", "3", "-i", CLIENT.interface, "-s", script)
    done = run(site.client, "busybox", *words)
    leased = re.search(r"lease of (\S+)", done.out + done.err)
    right = bool(leased) and leased[1] == DHCP_ADDRESS
    return Seen(f"exit {done.status}, {leased[1] if leased else done.last_words}", right, done.seconds)


@condition("IPv6: an address from a router's advertisement", "dnsmasq")
def _(site):
    def has_address() -> bool:
        return SLAAC_PREFIX.rstrip(":") in site.client.ip("-6", "addr", "show", "dev", CLIENT.interface)

    wait_until(has_address, 30, "the address is there")
    return Seen(f"an address of {SLAAC_PREFIX}/64")


_FRAMES = {
    "LLDP": ("0180c200000e", b"\x88\xcc" + NOISE[:46]),
    "spanning tree": ("0180c2000000", b"\x00\x26\x42\x42\x03" + NOISE[:43]),
    "PPPoE discovery": ("ffffffffffff", b"\x88\x63\x11\x09" + bytes(4) + NOISE[:42]),
    "an EtherType that nobody knows": ("", b"\x88\xb5" + NOISE[:100]),
    "VLAN-tagged IPv4": ("", b"\x81\x00\x00\x64\x08\x00" + frames.ipv4("10.1.1.1", "10.1.1.2", 17, NOISE[:60])),
    "two tags (QinQ)": ("", b"\x88\xa8\x00\x07\x81\x00\x00\x64\x88\xb5" + NOISE[:80]),
    "MPLS": ("", b"\x88\x47\x00\x01\x01\x40" + NOISE[:60]),
    "GRE": ("", b"\x08\x00" + frames.ipv4(CLIENT.ipv4, SERVER.ipv4, 47, NOISE[:1480])),
    "ESP": ("", b"\x08\x00" + frames.ipv4(CLIENT.ipv4, SERVER.ipv4, 50, NOISE[:120])),
    "SCTP": ("", b"\x08\x00" + frames.ipv4(CLIENT.ipv4, SERVER.ipv4, 132, NOISE[:120])),
}
for _name, (_to, _rest) in _FRAMES.items():

    @condition(f"a frame arrives: {_name}")
    def _(site, to=_to, rest=_rest):
        source = site.client.mac(CLIENT.interface)
        frame = (bytes.fromhex(to) or site.server.mac(SERVER.interface)) + source + rest
        with frames.Tap(site.client, CLIENT.interface) as near, frames.Tap(site.server, SERVER.interface) as far:
            near.send(frame)
            arrived = frame in far.receive(2)
        return Seen("arrives, byte for byte" if arrived else "does not arrive", arrived)


# --- tunnels -----------------------------------------------------------------------------------------


def _within(site: Site, near: str, far: str) -> Seen:
    """A transfer inside a tunnel."""
    port = site.port()
    with listen(site.server, far, port) as listener:
        began = time.monotonic()
        with connect(site.client, far, port, 60) as client, accept(listener, 60) as server:
            thread = threading.Thread(target=lambda: (server.sendall(NOISE * 8), server.shutdown(1)), daemon=True)
            thread.start()
            arrived = receive_all(client)
    return Seen(f"{len(arrived):,} bytes from {far}", arrived == NOISE * 8, time.monotonic() - began)


@condition("VXLAN: a transfer inside", fills=True)
def _(site):
    ends = ((site.client, CLIENT, SERVER, "10.7.0.1"), (site.server, SERVER, CLIENT, "10.7.0.2"))
    try:
        for space, own, other, address in ends:
            space.ip(
                *("link", "add", "vx7", "type", "vxlan", "id", "7", "dstport", "4789"),
                *("local", own.ipv4, "remote", other.ipv4, "dev", own.interface),
            )
            space.ip("addr", "add", f"{address}/24", "dev", "vx7")
            space.ip("link", "set", "vx7", "up")
        return _within(site, ends[0][3], ends[1][3])
    finally:
        for space, *_ in ends:
            space.run("ip", "link", "del", "vx7", check=False)


@condition("WireGuard: a transfer inside", "wireguard-go", "wg", fills=True)
def _(site):
    folder = site.folder()
    keys = {}
    for letter in "ab":
        private = run(site.client, "wg", "genkey").out
        public = run(site.client, "wg", "pubkey", given=private.encode()).out.strip()
        keys[letter] = (site.write(folder, letter, private), public)
    ends = (
        (site.client, "a", "b", SERVER, "10.8.0.1", "10.8.0.2"),
        (site.server, "b", "a", CLIENT, "10.8.0.2", "10.8.0.1"),
    )
    # WireGuard's control socket is visible on the whole machine, so each lab needs names of its own.
    name = f"wg{site.lab.tag.replace('-', '')[-12:]}"
    started = []
    try:
        for space, own, other, host, address, peer in ends:
            device = f"{name}{own}"
            daemon = running(space, "wireguard-go", "--foreground", device)
            daemon.__enter__()
            started.append(daemon)
            wait_until(lambda: device in space.ip("-br", "link"), 10, "the tunnel's device is there")
            time.sleep(1)
            space.run(
                *("wg", "set", device, "listen-port", "51820", "private-key", keys[own][0]),
                *("peer", keys[other][1], "allowed-ips", f"{peer}/32", "endpoint", f"{host.ipv4}:51820"),
            )
            space.ip("addr", "add", f"{address}/24", "dev", device)
            space.ip("link", "set", device, "up")
        return _within(site, ends[0][4], ends[1][4])
    finally:
        for daemon in started:
            daemon.__exit__(None, None, None)
