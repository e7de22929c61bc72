"""Gateways that encrypt. Files are whole, nothing can be read on the link, and keys change while connections go on. A
gateway with another secret, or none, is no peer."""

import os
import threading

from frames import Tap
import pytest
from harness import (
    ACCELERATED_PORT,
    GatewayOptions,
    Lab,
    Link,
    RealTime,
    check,
    connection,
    control,
    converse,
    echo,
    eventually,
    make_lab,
    note,
)
from lab import kernel, topology
from lab.web import Web

SIZE = 3_000_000
SECRET_WORDS = b"nobody on the link may read this"


def write_keys(lab: Lab, *keys: str) -> None:
    with open(lab.psk_file, "w", encoding="ascii") as file:
        file.write("".join(keys))


def make_key(lab: Lab) -> str:
    return kernel.run(lab.programs.satrelayctl, "keygen")


def reload(lab: Lab, gateway) -> None:
    done = control(lab, gateway, "reload")
    check(done.returncode == 0, done.stderr)


def words_on_the_link(security: str) -> int:
    """The number of frames between gateway A and the link in which the client's words can be read."""
    options = GatewayOptions(security=security, modes={"compress": "off"})
    with make_lab(Link(rtt=0.1), options) as lab:
        seen, measured = [], RealTime()
        with Tap(lab.topology.link, topology.LINK_INTERFACES[0]) as tap:
            listener = threading.Thread(target=lambda: seen.extend(tap.receive(2)))
            listener.start()
            with connection(lab, ACCELERATED_PORT) as (client, server):
                for _ in range(20):
                    echo(client, server, SECRET_WORDS)
            listener.join()
        check(lab.gateway_a.counter("flows_established") == 1, "the connection was not relayed")
        measured.must(len(seen) > 20, f"only {len(seen)} frames were seen")
        return sum(SECRET_WORDS in frame for frame in seen)


def test_nothing_can_be_read() -> None:
    check(words_on_the_link("none") > 0, "not even without encryption are the words there")
    check(words_on_the_link("psk") == 0, "the words travel in the clear")


def test_files_are_whole() -> None:
    faults = {"corrupt": "0.5%", "duplicate": "1%", "reorder": "2%", "reorder_by": "15ms"}
    options = GatewayOptions(security="psk")
    with make_lab(Link(rtt=0.2, loss=0.02, faults=faults), options, file_bytes=4 * SIZE) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", SIZE)
        for direction in ("download", "upload"):
            outcome = web.start(file, direction, ACCELERATED_PORT).finish()
            check(outcome.completed and outcome.sha256_ok, f"{direction}: {outcome}")
            note(f"{direction} took {outcome.seconds:.2f} s")
        for gateway in lab.gateways:
            peer = gateway.peer()
            check(peer["security"] == "aes-128-gcm", f"security is {peer['security']}")
            check(peer["counters"]["not_authentic"] > 0, "no corrupted packet was caught")
            check("security: none" not in gateway.daemon.log(400), "a warning without a reason")


@pytest.mark.lab(options=GatewayOptions(security="psk"))
def test_keys_change(lab: Lab) -> None:
    near, far = lab.gateways
    with open(lab.psk_file, encoding="ascii") as file:
        old = file.read()
    new = make_key(lab)
    with connection(lab, 9001) as (client, server):
        echo(client, server, b"under the first key")
        # First both gateways accept both keys, then both send with the new key, then the old key is removed. In
        # between, each gateway restarts once, and greets with the keys that it has.
        write_keys(lab, old, new)
        reload(lab, near)
        reload(lab, far)
        write_keys(lab, new, old)
        reload(lab, near)
        echo(client, server, b"while one speaks the new key and the other the old")
    far.daemon.stop()
    write_keys(lab, old, new)
    far.start()
    lab.wait_for_peers()
    converse(lab, 9002)
    write_keys(lab, new)
    reload(lab, near)
    reload(lab, far)
    near.daemon.stop()
    near.start()
    lab.wait_for_peers()
    converse(lab, 9003)
    check(near.counter("flows_established") == 1, "the last connection was not relayed")


@pytest.mark.lab(options=GatewayOptions(security="psk"))
def test_strangers_are_refused(lab: Lab) -> None:
    near, far = lab.gateways
    with open(far.config_path, encoding="ascii") as file:
        yaml = file.read()

    def restart_far(security: str) -> None:
        far.daemon.stop()
        with open(far.config_path, "w", encoding="ascii") as file:
            file.write(yaml.replace(f"{{psk_file: {lab.psk_file}}}", security))
        far.start()

    restart_far("none")
    eventually(
        lambda: far.peer()["state"] == "refused" and far.peer()["counters"]["security_mismatch"],
        10,
        "the gateway that does not encrypt is refused",
    )
    eventually(lambda: near.peer()["state"] != "alive", 10, "its peer is missed")
    check("security: none" in far.daemon.log(400), "no warning is in the log")
    converse(lab, 9001)
    check(near.counter("flows_established") == 0, "a connection was relayed to a stranger")
    other = os.path.join(lab.folder, "other-psk")
    kernel.run(lab.programs.satrelayctl, "keygen", other)
    restart_far(f"{{psk_file: {other}}}")
    eventually(
        lambda: near.peer()["counters"]["not_authentic"] > 3, 10, "another secret is noticed"
    )
    check(near.peer()["state"] != "alive", "another secret was accepted")
    restart_far(f"{{psk_file: {lab.psk_file}}}")
    lab.wait_for_peers()
    converse(lab, 9002)
    check(near.counter("flows_established") == 1, "the peer is not back")
    # A key file that others may read is refused, and nothing changes.
    os.chmod(lab.psk_file, 0o644)
    refused = control(lab, near, "reload")
    check(refused.returncode == 1 and "has mode 0644" in refused.stderr, refused.stderr)
    converse(lab, 9003)
