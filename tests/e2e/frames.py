"""Frames built by hand, and packet sockets that see frames as they were on the wire."""

import socket
import struct
import time

_ETH_P_ALL = 0x0003
_VNET_HEADER = 15  # PACKET_VNET_HDR
_NEEDS_CHECKSUM = 1
TCP4, TCP6, UDP, ECN = 1, 4, 5, 0x80  # kinds of large frames
_SOL_PACKET = 263
_PACKET_AUXDATA = 8
_AUXDATA = struct.Struct("=IIIHHHH")
_VLAN_VALID = 1 << 4
_TPID_VALID = 1 << 6
_OUTGOING = 4


class Tap:
    """Sends and receives whole frames on an interface of a namespace."""

    def __init__(self, space, interface: str):
        self._socket = space.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self._socket.bind((interface, _ETH_P_ALL))
        self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, frame: bytes) -> None:
        self._socket.send(frame)

    def send_large(self, frame: bytes, kind: int, transport: int, segment_size: int) -> None:
        """Sends a frame that the kernel, a network card or the receiver has to cut.

        Its transport header begins at `transport`, with the sum of the pseudo-header as checksum. Raises OSError
        (EINVAL) if the kernel does not know such frames.
        """
        tcp = kind & ~ECN != UDP
        header = transport + (4 * (frame[transport + 12] >> 4) if tcp else 8)
        with socket.socket(fileno=socket.dup(self._socket.fileno())) as large:
            large.setsockopt(_SOL_PACKET, _VNET_HEADER, 1)
            try:
                fields = (_NEEDS_CHECKSUM, kind, header, segment_size, transport, 16 if tcp else 6)
                large.send(struct.pack("=BBHHHH", *fields) + frame)
            finally:
                large.setsockopt(_SOL_PACKET, _VNET_HEADER, 0)

    def receive(self, seconds: float) -> list[bytes]:
        """All frames that arrive within that time, with the VLAN tag that the kernel took out."""
        frames = []
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                data, ancillary, _, address = self._socket.recvmsg(65536, 256)
            except TimeoutError:
                break
            if address[2] != _OUTGOING:
                frames.append(_with_tag(data, ancillary))
        return frames


def _with_tag(data: bytes, ancillary) -> bytes:
    for level, kind, value in ancillary:
        if (level, kind) != (_SOL_PACKET, _PACKET_AUXDATA):
            continue
        status, _, _, _, _, tci, tpid = _AUXDATA.unpack_from(value)
        if status & _VLAN_VALID:
            tpid = tpid if status & _TPID_VALID else 0x8100
            return data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
    return data


def checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(
    source: str,
    destination: str,
    protocol: int,
    payload: bytes,
    fragment: int = 0,
    options=b"",
    identification: int = 4711,
) -> bytes:
    """An IPv4 packet. `fragment` is the 16-bit field of flags and offset; `options` is a multiple of four bytes."""
    words = 5 + len(options) // 4
    length = 4 * words + len(payload)
    head = struct.pack(
        "!BBHHHBBH4s4s",
        0x40 | words,
        0,
        length,
        identification,
        fragment,
        64,
        protocol,
        0,
        socket.inet_aton(source),
        socket.inet_aton(destination),
    )
    head += options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(source: str, destination: str, next_header: int, payload: bytes) -> bytes:
    head = struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64)
    return head + _ip6(source) + _ip6(destination) + payload


def udp(source: str, destination: str, data: bytes) -> bytes:
    """A datagram to the discard port. The checksum follows the addresses' IP version."""
    head = struct.pack("!HHHH", 40000, 9, 8 + len(data), 0)
    return head[:6] + struct.pack("!H", _l4_checksum(source, destination, 17, head + data)) + data


def tcp(source: str, destination: str, ports: tuple[int, int], flags: int, **more) -> bytes:
    """A segment. `options` is a multiple of four bytes, `data` is the payload."""
    options, data = more.get("options", b""), more.get("data", b"")
    words = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", *ports, 1000, 2000, words << 4, flags, 512, 0, 0) + options
    sum_ = _l4_checksum(source, destination, 6, head + data)
    return head[:16] + struct.pack("!H", sum_) + head[18:] + data


def unfinished(source: str, destination: str, protocol: int, segment: bytes) -> bytes:
    """Puts the sum of the pseudo-header in the place of the checksum, as for an offload."""
    at = 16 if protocol == 6 else 6
    sum_ = ~checksum(_pseudo(source, destination, protocol, len(segment))) & 0xFFFF
    return segment[:at] + struct.pack("!H", sum_) + segment[at + 2 :]


def _l4_checksum(source: str, destination: str, protocol: int, segment: bytes) -> int:
    return checksum(_pseudo(source, destination, protocol, len(segment)) + segment) or 0xFFFF


def _pseudo(source: str, destination: str, protocol: int, length: int) -> bytes:
    if ":" in source:
        return _ip6(source) + _ip6(destination) + struct.pack("!II", length, protocol)
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    return addresses + struct.pack("!HH", protocol, length)


def _ip6(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6, address)
