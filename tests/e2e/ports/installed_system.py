"""A booted guest (system_guest.py) as its operator sees it: units, their journal, and the wires of the gateways."""

import contextlib
import json
import re
import time

from harness import check, eventually, note
from system_guest import MODEM, SystemGuest, Wire

WIRES = (Wire(0), Wire(1))
UNIT = "satrelayd@gateway"
CONFIG = "/etc/satrelay/gateway.yaml"
# An emulated processor is some ten times as slow as a real one: it only matters for what takes processor time.
SLOW = 30
FORWARDS = "the gateway forwards"


class System:
    """The guest, as its operator sees it."""

    def __init__(self, guest: SystemGuest):
        self.guest = guest

    # --- the machine ------------------------------------------------------------------------------

    def boot(self) -> None:
        began = time.monotonic()
        self.guest.boot()
        state = self.attempt("systemctl is-system-running --wait", 300)[1].strip()
        note(f"the system is {state} {time.monotonic() - began:.0f} s after power-on")

    def attempt(self, command: str, seconds: float = 60) -> tuple[int, str]:
        return self.guest.attempt(command, seconds)

    def run(self, command: str, seconds: float = 60) -> str:
        return self.guest.run(command, seconds)

    def write(self, path: str, text: str) -> None:
        self.guest.write(path, text)

    # --- units ------------------------------------------------------------------------------------

    def show(self, name: str, unit: str = UNIT) -> str:
        return self.run(f"systemctl show --value -p {name} {unit}").strip()

    def supervisor(self, unit: str = UNIT) -> int:
        return int(self.show("MainPID", unit))

    def gateway(self, unit: str = UNIT) -> int | None:
        """The gateway's process."""
        found = self.attempt(f"pgrep -x satrelayd -P {self.supervisor(unit)}")[1].split()
        return int(found[0]) if found else None

    def journal(self, unit: str = UNIT, since: str = "") -> str:
        """The lines of this boot, or those behind the position `since` (now())."""
        which = f"--after-cursor='{since}'" if since else "-b"
        return self.run(f"journalctl --no-pager -o short-monotonic -u {unit} {which}")

    def now(self) -> str:
        """A position in the journal."""
        return self.run("journalctl -n 0 --show-cursor").split("-- cursor: ")[1].strip()

    # --- wires ------------------------------------------------------------------------------------

    def passes(self, wire: Wire = WIRES[0]) -> bool:
        return self.attempt(f"ip netns exec {wire.host} ping -n -c 1 -W 1 {MODEM}")[0] == 0

    def joined(self, wire: Wire = WIRES[0]) -> bool:
        """Whether a bridge of the kernel has both ports."""
        links = json.loads(self.run("ip -j link show"))
        masters = [link.get("master") for link in links if link["ifname"] in wire.ports]
        return len(masters) == 2 and masters[0] is not None and masters[0] == masters[1]

    def check_forwards(self, unit: str = UNIT, wire: Wire = WIRES[0]) -> None:
        """The gateway forwards, and not the bridge."""
        check(self.show("ActiveState", unit) == "active", f"{unit} is {self.show('ActiveState', unit)}")
        check(not self.joined(wire), f"the bridge joins {wire.ports}")
        check(self.passes(wire), f"ping does not pass the gateway at {wire.ports}")

    def check_joined(self, what: str, wire: Wire = WIRES[0]) -> None:
        check(self.joined(wire), f"{what}: the ports {wire.ports} are not joined")
        check(self.passes(wire), f"{what}: ping does not pass")

    def await_forwarding(self, seconds: float = SLOW, unit: str = UNIT) -> None:
        eventually(
            lambda: self.show("StatusText", unit) == FORWARDS, seconds, "the gateway forwards"
        )

    @contextlib.contextmanager
    def pinging(self, wire: Wire = WIRES[0]):
        """Yields when answers come: a function that returns the longest time without one since then, in seconds."""
        log = f"/run/ping-{time.monotonic_ns()}"
        ping = f"ip netns exec {wire.host} ping -n -D -i 0.1 {MODEM}"
        pid = self.run(f"{ping} >{log} 2>&1 & echo $!").strip()
        try:
            eventually(lambda: "icmp_seq" in self.run(f"cat {log}"), 10, "ping has an answer")
            yield lambda: longest_gap(self.run(f"cat {log}"), float(self.run("date +%s.%N")))
        finally:
            self.attempt(f"kill {pid}; rm {log}")


def longest_gap(answers: str, now: float) -> float:
    moments = [float(found) for found in re.findall(r"^\[([0-9.]+)\] .*icmp_seq", answers, re.MULTILINE)]
    check(moments, "ping has no answer at all")
    return max(b - a for a, b in zip(moments, [*moments[1:], now], strict=True))


def yaml_of(number: int = 0, more: str = "") -> str:
    lan, wan = WIRES[number].ports
    return f"""\
ports:
  lan: {{interface: {lan}, driver: af_packet}}
  wan: {{interface: {wan}, driver: af_packet}}
gateway: {{address: 192.0.2.{4 * number + 1}/30}}
links:
  sat: {{send_rate: 20Mbit, receive_rate: 20Mbit, overhead: ethernet}}
security: none
peers:
  - {{name: remote, address: 192.0.2.{4 * number + 2}, prefixes: [198.51.100.0/24], link: sat}}
limits: {{memory: 96MiB, flows: 1000}}
access: {{stats: {{group: satpanel}}, control: {{group: satpanel}}}}
{more}"""
