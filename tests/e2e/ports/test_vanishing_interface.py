"""Interfaces under a gateway that go down, are renamed, vanish and come back."""

import os
import socket
import time

from harness import Lab, check, connection, converse, echo, eventually, note
from lab import kernel, topology
from lab.topology import CLIENT

LAN = topology.LAN_INTERFACE
WAN = topology.WAN_INTERFACE


def link_of(gateway, port: str) -> str:
    return gateway.query("ports")[port]["link"]


def wait_for_link(gateway, port: str, state: str) -> None:
    seconds = eventually(lambda: link_of(gateway, port) == state, 5, f"port {port} is {state}")
    note(f"port {port} is {state} after {seconds:.1f} s")


def wait_for_log(gateway, text: str) -> None:
    eventually(lambda: text in gateway.daemon.log(), 5, f"the log says: {text}")


def put_client_back(lab, mtu: int = 1500) -> None:
    near = lab.gateway_a
    # All settings are made before the interface is up, since the gateway looks all the time.
    peer = ("name", LAN, "mtu", str(mtu), "netns", near.space.name)
    lab.client.ip("link", "add", CLIENT.interface, "type", "veth", "peer", *peer)
    for space, name in ((lab.client, CLIENT.interface), (near.space, LAN)):
        space.ip("link", "set", name, "up")
    lab.client.ip("addr", "add", f"{CLIENT.ipv4}/24", "dev", CLIENT.interface)
    lab.client.ip("addr", "add", f"{CLIENT.ipv6}/64", "dev", CLIENT.interface, "nodad")


def test_down_and_up(lab: Lab) -> None:
    near = lab.gateway_a
    for port, name in (("lan", LAN), ("wan", WAN)):
        near.space.ip("link", "set", name, "down")
        wait_for_link(near, port, "down")
        wait_for_log(near, f"({name} is switched off)")
        near.space.ip("link", "set", name, "up")
        wait_for_link(near, port, "up")
        lab.wait_for_peers()
        converse(lab, 9001)
    # Without a carrier, as when the cable is out.
    lab.client.ip("link", "set", CLIENT.interface, "down")
    wait_for_link(near, "lan", "down")
    wait_for_log(near, f"({LAN} has no carrier)")
    before = near.query("ports")["lan"]
    with lab.server.entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaker:
        for _ in range(5):
            speaker.sendto(b"to nobody", (CLIENT.ipv4, 9))
    eventually(
        lambda: near.query("ports")["lan"]["tx_down"] > before["tx_down"], 5, "a drop is counted"
    )
    check(near.query("ports")["lan"]["tx_errors"] == before["tx_errors"], "it is no error")


def test_renamed(lab: Lab) -> None:
    near = lab.gateway_a
    near.space.ip("link", "set", LAN, "down")
    near.space.ip("link", "set", LAN, "name", "other0")
    near.space.ip("link", "set", "other0", "up")
    wait_for_log(near, f"({LAN} is now other0)")
    wait_for_link(near, "lan", "up")
    converse(lab, 9001)


def test_lan_vanishes_and_returns(lab: Lab) -> None:
    near = lab.gateway_a
    with connection(lab, 9001) as ends:
        echo(*ends, b"before")
        near.space.ip("link", "del", LAN)
        wait_for_link(near, "lan", "gone")
        wait_for_log(near, f"port lan: its device is gone, nothing passes ({LAN})")
        ends[1].sendall(b"while it is gone")
        time.sleep(1)
        put_client_back(lab)
        wait_for_link(near, "lan", "up")
        wait_for_log(near, f"port lan: its device is back ({LAN})")
        # A flow from before is still alive.
        ends[0].sendall(b"behind")
        check(ends[1].recv(100) == b"behind", "bytes changed")
        check(ends[0].recv(100) == b"while it is gone", "bytes were lost")
    check(near.query("ports")["lan"]["tx_down"] > 0, "what could not be sent is not counted")
    converse(lab, 9002)
    # The same once more.
    near.space.ip("link", "del", LAN)
    wait_for_link(near, "lan", "gone")
    put_client_back(lab)
    wait_for_link(near, "lan", "up")
    converse(lab, 9003)


def test_wan_vanishes_and_returns(lab: Lab) -> None:
    """The link emulator has the other end, and its ports are of the same kind."""
    near = lab.gateway_a
    with connection(lab, 9001) as ends:
        echo(*ends, b"before")
        near.space.ip("link", "del", WAN)
        wait_for_link(near, "wan", "gone")
        end = topology.LINK_INTERFACES[0]
        kernel.join(near.space, WAN, lab.topology.link, end)
        wait_for_link(near, "wan", "up")
        lab.wait_for_peers()
        echo(*ends, b"behind")
    converse(lab, 9002)


def test_a_supervisor_corrects_one_that_returns_unfit(lab: Lab) -> None:
    """The gateway has given up the rights to do so, and goes on with its flows."""
    near = lab.gateway_a
    check(near.daemon.stop() == 0, "the gateway did not stop in order")
    os.environ["SATRELAYD"] = lab.programs.satrelayd
    near.daemon.argv = [lab.programs.satrelay_supervise, "run", "-c", near.config_path]
    near.start()
    lab.wait_for_peers()
    with connection(lab, 9001) as ends:
        echo(*ends, b"before")
        near.space.ip("link", "del", LAN)
        wait_for_link(near, "lan", "gone")
        put_client_back(lab, mtu=1400)
        wait_for_link(near, "lan", "up")
        echo(*ends, b"behind")
    check("has an MTU of 1400" not in near.daemon.log(), "it was not corrected")
    check(near.daemon.stop() == 0, "the supervisor did not stop in order")
    link = near.space.run("ip", "link", "show", "dev", LAN)
    check("master sr" in link, f"joined: {link}")


def test_one_that_returns_unfit_ends_the_gateway(lab: Lab) -> None:
    """The gateway ends, so that its supervisor starts it anew, with the rights to correct the interface."""
    near = lab.gateway_a
    near.space.ip("link", "del", LAN)
    wait_for_link(near, "lan", "gone")
    put_client_back(lab, mtu=1400)
    eventually(lambda: not near.daemon.running(), 10, "the gateway ends")
    check(near.daemon.exit_status() == 3, f"status {near.daemon.exit_status()}")
    check("has an MTU of 1400" in near.daemon.log(), "it does not say why")
    near.start()
    lab.wait_for_peers()
    converse(lab, 9001)
