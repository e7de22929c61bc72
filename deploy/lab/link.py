"""The properties of a lab's satellite link, and its payload rate."""

from dataclasses import dataclass, field

from .units import show_duration, show_rate

ETHERNET_OVERHEAD = 38  # preamble, header, FCS and gap: counted for each packet by `overhead: ethernet`
IP_PACKET = 1500
# Headers of a packet in a bulk transfer between the gateways (docs/stp-wire.md): IPv4, UDP, STP's header and CRC32C,
# and a DATA frame's type, stream and offset. Only this place has these figures.
HEADERS = 20 + 8 + (8 + 4) + (1 + 1 + 4)
PAYLOAD_SHARE = (IP_PACKET - HEADERS) / (IP_PACKET + ETHERNET_OVERHEAD)


@dataclass(frozen=True)
class Link:
    """The same in both directions."""

    rate: int = 50_000_000  # bit/s, counted as on Ethernet
    rtt: float = 0.55  # seconds
    loss: float = 0.01  # 0 to 1, for each frame independently
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
        """The highest payload rate of any protocol with these header sizes, in bit/s."""
        return self.rate * (1 - self.loss) * PAYLOAD_SHARE

    def bound_seconds(self, payload_bytes: int) -> float:
        """The payload bound: one round trip, and the bytes at the payload rate."""
        return self.rtt + payload_bytes * 8 / self.payload_rate()

    def __str__(self) -> str:
        return f"{show_rate(self.rate)}, {show_duration(self.rtt)} RTT, {self.loss * 100:g}% loss"
