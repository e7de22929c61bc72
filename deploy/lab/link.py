"""What the satellite link of a lab is like, and what it can carry."""

from dataclasses import dataclass, field

from .units import show_duration, show_rate

ETHERNET_OVERHEAD = 38  # preamble, header, FCS and gap: what `overhead: ethernet` counts a packet
IP_PACKET = 1500
# Per packet of a bulk transfer between the gateways (docs/stp.md): IPv4, UDP, STP's header and
# CRC32C, and a DATA frame's type, stream and offset. The one place that knows these figures.
HEADERS = 20 + 8 + (8 + 4) + (1 + 1 + 4)
PAYLOAD_SHARE = (IP_PACKET - HEADERS) / (IP_PACKET + ETHERNET_OVERHEAD)


@dataclass(frozen=True)
class Link:
    """The same in both directions."""

    rate: int = 50_000_000  # bit/s, counted as on Ethernet
    rtt: float = 0.55  # seconds
    loss: float = 0.01  # 0 to 1, each frame by itself
    queue_time: float = 0.1  # the queue holds this long at `rate`, then drops
    faults: dict[str, str] = field(default_factory=dict)  # more keys of link.yaml's directions
    seed: int = 1

    @property
    def queue_bytes(self) -> int:
        return max(64 * 1024, round(self.rate * self.queue_time / 8))

    @property
    def bandwidth_delay_bytes(self) -> int:
        return round(self.rate * self.rtt / 8)

    def payload_rate(self) -> float:
        """The most payload that any protocol of these header sizes brings across, bit/s."""
        return self.rate * (1 - self.loss) * PAYLOAD_SHARE

    def bound_seconds(self, payload_bytes: int) -> float:
        """The payload bound: one round trip, and the bytes at the payload rate."""
        return self.rtt + payload_bytes * 8 / self.payload_rate()

    def __str__(self) -> str:
        return f"{show_rate(self.rate)}, {show_duration(self.rtt)} RTT, {self.loss * 100:g}% loss"
