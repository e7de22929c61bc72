"""What the log tells an operator: a peer lost, back, with another key; a port down; frames too long for it."""

import os

import frames
import pytest
from harness import (
    Lab,
    CLIENT,
    SERVER,
    GatewayOptions,
    check,
    control,
    eventually,
    note,
)
from lab import kernel


def told(gateway, event: str, subject: str, since: int = 0) -> bool:
    lines = gateway.daemon.log(1000).splitlines()[since:]
    return any(f"{subject}: " in line and f"[{event}]" in line for line in lines)


def wait_for(gateway, event: str, subject: str, since: int = 0) -> None:
    eventually(
        lambda: told(gateway, event, subject, since), 15, f"{gateway.name} tells of {event}"
    )


@pytest.mark.lab(options=GatewayOptions(security="psk"))
def test_peers_come_and_go(lab: Lab) -> None:
    near, far = lab.gateways
    name = f"peer {near.peer()['name']}"
    wait_for(near, "peer_alive", name)
    lab.control_link("outage on")
    wait_for(near, "peer_silent", name)
    lab.control_link("outage off")
    wait_for(near, "peer_returned", name)
    far.daemon.stop()
    wait_for(near, "peer_closed", name)
    # It comes back with another key.
    with open(far.config_path, encoding="ascii") as file:
        yaml = file.read()
    other = os.path.join(lab.folder, "other-psk")
    kernel.run(lab.programs.satrelayctl, "keygen", other)
    with open(far.config_path, "w", encoding="ascii") as file:
        file.write(yaml.replace(lab.psk_file, other))
    far.start()
    wait_for(near, "peer_wrong_key", name)
    eventually(lambda: near.peer()["state"] == "wrong_key", 5, "its state says so, too")
    table = control(lab, near, "peers").stdout
    check("wrong key?" in table, table)
    check("1 wrong key?" in control(lab, near, "status").stdout, "the status does not say so")
    # The one that was started anew has never heard its peer: neither path MTU, nor round trip,
    # nor loss are known.
    table = control(lab, far, "peers").stdout
    check(table.splitlines()[1].split().count("-") == 3, f"what nobody has measured: {table}")
    near.daemon.stop()
    near.start()  # greets again, so that both see it
    wait_for(far, "peer_wrong_key", f"peer {far.peer()['name']}")
    for line in near.daemon.log(1000).splitlines():
        if "[peer_" in line:
            note(f"   {line}")


def test_ports_and_frames(lab: Lab) -> None:
    near = lab.gateway_a
    # A large frame whose pieces are longer than the port's MTU: as merged by LRO, or from a host with
    # another MTU.
    segment = frames.tcp(CLIENT.ipv4, SERVER.ipv4, (5000, 5001), 0x10, data=bytes(9000))
    segment = frames.unfinished(CLIENT.ipv4, SERVER.ipv4, 6, segment)
    head = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
    packet = frames.ipv4(CLIENT.ipv4, SERVER.ipv4, 6, segment)
    with frames.Tap(lab.client, CLIENT.interface) as tap:
        tap.send_large(head + packet, frames.TCP4, 34, 3000)
    wait_for(near, "frames_merged", "port lan")
    check(near.query("ports")["lan"]["rx_merged"] == 1, "it is not counted")
    since = len(near.daemon.log(1000).splitlines())
    lab.client.ip("link", "set", CLIENT.interface, "down")
    wait_for(near, "port_down", "port lan", since)
    lab.client.ip("link", "set", CLIENT.interface, "up")
    wait_for(near, "port_up", "port lan", since)
    for line in near.daemon.log(1000).splitlines():
        if "port lan" in line:
            note(f"   {line}")
