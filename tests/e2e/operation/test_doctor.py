"""satrelayctl doctor: a healthy pair has no error, and a broken one is told its cause and its cure."""

import json
import os
import signal
import subprocess

from harness import ACCELERATED_PORT, check, converse, eventually, make_lab, note, programs
from lab import kernel
from lab.lab import Lab
from lab.link import Link
from lab.machine import let_gateways_read
from lab.settings import GatewayOptions
from lab.topology import LAN_INTERFACE, WAN_INTERFACE

# In the file of a gateway, and the same with exchanged ports.
PORTS = "".join(
    f"  {name}: {{interface: {interface}, driver: af_packet}}\n"
    for name, interface in (("lan", LAN_INTERFACE), ("wan", WAN_INTERFACE))
)
EXCHANGED = PORTS.replace("lan:", "x:").replace("wan:", "lan:").replace("x:", "wan:")


def doctor(gateway, *options: str) -> tuple[int, dict[str, dict]]:
    """The exit status, and the findings by the names of their checks."""
    done = subprocess.run(
        gateway.space.command(
            programs().satrelayctl, "doctor", "-c", gateway.config_path, "--json", *options
        ),
        capture_output=True,
        text=True,
        timeout=20,
    )
    findings = json.loads(done.stdout)["findings"]
    note(f"{gateway.name}: {done.returncode} {[finding['check'] for finding in findings]}")
    return done.returncode, {finding["check"]: finding for finding in findings}


def expect(gateway, name: str, cure: str) -> None:
    """Waits until the doctor of this gateway names the fault, as an error, and its cure."""
    found: dict[str, dict] = {}

    def is_told() -> bool:
        status, findings = doctor(gateway)
        check(status in (0, 1), f"status {status}")
        found.update(findings)
        return status == 1 and name in findings

    eventually(is_told, 10, f"{name} is found")
    check(found[name]["severity"] == "error", f"{found[name]}")
    check(cure in found[name]["cure"], f"no {cure!r} in {found[name]}")


def rewrite(gateway, old: str, new: str) -> None:
    with open(gateway.config_path, encoding="ascii") as file:
        text = file.read()
    check(old in text, f"no {old!r} in {text}")
    with open(gateway.config_path, "w", encoding="ascii") as file:
        file.write(text.replace(old, new))


def restart(*gateways) -> None:
    for gateway in gateways:
        gateway.daemon.stop()
    for gateway in gateways:
        gateway.start()


def check_healthy(lab: Lab) -> None:
    converse(lab, ACCELERATED_PORT)
    for gateway in lab.gateways:
        status, findings = doctor(gateway)
        errors = [finding for finding in findings.values() if finding["severity"] == "error"]
        check(status == 0 and not errors, f"{gateway.name} is healthy, and not for {errors}")


def check_bridge(near) -> None:
    near.space.ip("link", "add", "br9", "type", "bridge")
    near.space.ip("link", "set", LAN_INTERFACE, "master", "br9")
    expect(near, "port_in_bridge", f"ip link set {LAN_INTERFACE} nomaster")
    near.space.ip("link", "del", "br9")


def check_cable(near) -> None:
    near.space.ip("link", "set", LAN_INTERFACE, "down")
    expect(near, "port_down", f"ip link set {LAN_INTERFACE} up")
    near.space.ip("link", "set", LAN_INTERFACE, "up")


def check_file(near) -> None:
    rewrite(near, "prefixes: [", "prefixes: [203.0.113.128/26, ")
    expect(near, "file_wrong", "satrelayd -c FILE --check")
    rewrite(near, "prefixes: [203.0.113.128/26, ", "prefixes: [")


def check_secret(lab: Lab, near, far) -> None:
    other = os.path.join(lab.folder, "other-psk")
    kernel.run(lab.programs.satrelayctl, "keygen", other)
    let_gateways_read(other)
    rewrite(far, lab.psk_file, other)
    restart(far)
    expect(near, "peer_wrong_key", "sha256sum")
    rewrite(far, other, lab.psk_file)


def check_exchanged(near, far) -> None:
    rewrite(far, PORTS, EXCHANGED)
    restart(far, near)
    expect(far, "ports_exchanged", "exchange ports.lan and ports.wan")
    rewrite(far, EXCHANGED, PORTS)


def check_hanging(near) -> None:
    os.kill(near.daemon.pid, signal.SIGSTOP)
    try:
        expect(near, "gateway_silent", "restart the gateway")
    finally:
        os.kill(near.daemon.pid, signal.SIGCONT)


def check_without_a_gateway(far) -> None:
    far.daemon.stop()
    status, findings = doctor(far)
    check(status == 0, f"a good file before the start has {findings}")
    rewrite(far, f"interface: {WAN_INTERFACE}", "interface: absent0")
    status, findings = doctor(far)
    check(status == 1 and "port_missing" in findings, f"{status}: {findings}")
    checked = far.space.run(programs().satrelayd, "-c", far.config_path, "--check")
    check("warning: port wan: there is no interface absent0" in checked, f"--check says {checked}")
    usage = subprocess.run(
        [programs().satrelayctl, "doctor", "-c", "/nonexistent.yaml"],
        capture_output=True,
        timeout=20,
    )
    check(usage.returncode == 2, f"status {usage.returncode} for a file that is not there")


def test_doctor() -> None:
    with make_lab(Link(rtt=0.02), GatewayOptions(security="psk")) as lab:
        near, far = lab.gateways
        check_healthy(lab)
        check_bridge(near)
        check_cable(near)
        check_file(near)
        check_secret(lab, near, far)
        check_exchanged(near, far)
        check_hanging(near)
        check_without_a_gateway(far)
