"""A gateway finds faults by itself: an event within half a minute after the start, and another one when it is gone."""

import time

from harness import RealTime, check, control, eventually, make_lab, note
from lab import telemetry
from lab.link import Link
from lab.settings import GatewayOptions
from lab.topology import LAN_INTERFACE, WAN_INTERFACE

SOON = 30  # seconds from the start of a gateway to the event
ENDS = 20  # seconds from a reload to the event of the end


def rewrite(gateway, old: str, new: str) -> None:
    with open(gateway.config_path, encoding="ascii") as file:
        text = file.read()
    check(old in text, f"no {old!r} in {text}")
    with open(gateway.config_path, "w", encoding="ascii") as file:
        file.write(text.replace(old, new))


def exchange_ports(gateway) -> None:
    rewrite(gateway, f"interface: {LAN_INTERFACE}", "interface: other")
    rewrite(gateway, f"interface: {WAN_INTERFACE}", f"interface: {LAN_INTERFACE}")
    rewrite(gateway, "interface: other", f"interface: {WAN_INTERFACE}")


def faults(gateway, name: str = "fault") -> dict[str, dict]:
    """The events of this name, by their check."""
    try:
        return {event["check"]: event for event in gateway.events() if event["name"] == name}
    except telemetry.StatsUnavailable:
        return {}


def uptime(gateway) -> float:
    return gateway.query("status")["uptime_ms"] / 1000


def seconds_after(gateway, event: dict) -> float:
    """From the start of the gateway to the event."""
    return event["time_ms"] / 1000 - (time.time() - uptime(gateway))


def expect(gateway, name: str, severity: str, cure: str) -> None:
    eventually(lambda: name in faults(gateway), SOON, f"{gateway.name} makes an event of {name}")
    event = faults(gateway)[name]
    after = seconds_after(gateway, event)
    note(f"{gateway.name}: {after:.1f} s after its start: {event}")
    check(after < SOON, f"{name} comes late")
    check(event["severity"] == severity, f"{event}")
    check(cure in event["advice"] and event["cause"] and event["page"], f"{event}")
    check(f"[fault {name}]" in gateway.daemon.log(400), "the log does not tell of it")


def test_faults_are_events_that_end() -> None:
    with make_lab(Link(rtt=0.02), GatewayOptions(security="psk")) as lab:
        near, far = lab.gateways
        right = f"send_rate: {lab.link.rate}bit"
        wrong = f"send_rate: {lab.link.rate // 1000}bit"
        for gateway in (near, far):
            gateway.daemon.stop()
        rewrite(near, right, wrong)
        rewrite(near, "{action: accelerate}", "{action: bridge}")
        exchange_ports(far)
        for gateway in (near, far):
            gateway.start()
        expect(far, "ports_exchanged", "error", "exchange ports.lan and ports.wan")
        expect(near, "nothing_accelerated", "error", "add a last rule")
        # The gateway stops at once, also while its thread waits between two readings, as since the 20th second.
        eventually(lambda: uptime(far) > 21.5, SOON, "the second look begins")
        began, measured = time.monotonic(), RealTime()
        far.daemon.stop()
        took = time.monotonic() - began
        measured.check(took < 1.5, f"{far.name} stops after {took:.2f} s")
        expect(near, "rate_unit", "warning", "links.sat.send_rate")
        # A correction by reload ends it. The rate needs a restart.
        rewrite(near, "{action: bridge}\nworker", "{action: accelerate}\nworker")
        done = control(lab, near, "reload")
        check(done.returncode == 0, done.stderr)
        eventually(lambda: "nothing_accelerated" in faults(near, "fault_over"), ENDS, "it ends")
        check("rate_unit" not in faults(near, "fault_over"), "the rate is still wrong")
        shown = control(lab, near, "events").stdout
        words = " ".join(shown.split())
        check("[fault rate_unit]" in words and "[fault_over nothing_accelerated]" in words, shown)
