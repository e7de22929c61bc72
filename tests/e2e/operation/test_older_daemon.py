"""The daemon of an older revision with keys against ours, in both roles. All works as between two older daemons. The
present satrelayctl and satpanel work with the older daemon, as after an upgrade of the packages.

The older daemon is built once, in the folder older/ of a build folder. Later additions to the protocol are used only if
both ends offer them (docs/stp-wire.md). So none of this may fail, and no packet may be malformed.
"""

import contextlib
import dataclasses
import os
import random
import subprocess
import threading

import pytest
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    REPOSITORY,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    Programs,
    Skip,
    accept,
    build_folder,
    check,
    check_memory_returns,
    connect,
    connection,
    control,
    converse,
    echo,
    eventually,
    listen,
    needs_root,
    note,
    programs,
    receive_all,
    watch,
    was_reset,
)
from lab import kernel
from lab.web import Web
from panel import Client, panel_of

REVISIONS = ("1ab1b28541790ab0a20d8f1795ee47e6917d8e12",)
SIZE = 3_000_000
ROLES = ("older opens", "older accepts")

pytestmark = [needs_root, pytest.mark.long]


def build(revision: str) -> str:
    """Builds that revision; returns the path of its satrelayd."""
    folder = os.path.join(build_folder(), "older", revision[:7])
    program = os.path.join(folder, "build", "relay", "satrelayd", "satrelayd")
    git = ["git", "-c", "safe.directory=*", "-C", REPOSITORY]
    if subprocess.run([*git, "cat-file", "-e", revision], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip(f"this clone has no revision {revision[:7]}")
    if not os.path.exists(os.path.join(folder, "build", "build.ninja")):
        os.makedirs(folder, exist_ok=True)
        with subprocess.Popen([*git, "archive", revision], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
        options = ["--unity", "on", "--unity-size", "8", "-Dtests=false", "-Dbenchmarks=false"]
        kernel.run("meson", "setup", *options, os.path.join(folder, "build"), folder, timeout=300)
    kernel.run("ninja", "-C", os.path.join(folder, "build"), "relay/satrelayd/satrelayd", timeout=3600)
    return program


@pytest.fixture(scope="module", params=REVISIONS, ids=lambda revision: revision[:7])
def older(request) -> Programs:
    return dataclasses.replace(programs(), satrelayd=build(request.param))


@pytest.fixture(params=ROLES)
def make(request, older):
    """Makes labs with one daemon of each revision. Gateway A's hosts open most connections."""
    first, second = (older, programs()) if request.param == ROLES[0] else (programs(), older)

    @contextlib.contextmanager
    def make_lab(link: Link, options: GatewayOptions, file_bytes: int = 0):
        with watch(Lab(first, link, options, file_bytes=file_bytes, programs_b=second)) as lab:
            yield lab
            for gateway in lab.gateways:
                peer = gateway.peer()
                check(peer["security"] == "aes-128-gcm", f"{gateway.name}: {peer['security']}")
                for name in ("malformed", "unknown_frames", "not_authentic", "version_mismatch"):
                    check(peer["counters"][name] == 0, f"{gateway.name}: {name}")

    return make_lab


KEYS = GatewayOptions(security="psk")


def test_files_over_a_bad_link(make) -> None:
    faults = {"duplicate": "1%", "reorder": "2%", "reorder_by": "15ms"}
    with make(Link(rtt=0.2, loss=0.02, faults=faults), KEYS, file_bytes=4 * SIZE) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", SIZE)
        for host in (SERVER.ipv4, SERVER.ipv6):
            for direction in ("download", "upload"):
                outcome = web.start(file, direction, ACCELERATED_PORT, host).finish()
                check(outcome.completed and outcome.sha256_ok, f"{direction}, {host}: {outcome}")
                note(f"{direction}, {host}: {outcome.seconds:.2f} s")
        check(lab.gateway_a.counter("flows_established") == 4, "not all were relayed")
        check_memory_returns(lab)


def test_either_side_opens(make) -> None:
    with make(Link(rtt=0.1), KEYS) as lab:
        data = random.Random(6).randbytes(500_000) + b"text that shrinks " * 100_000
        with listen(lab.client, CLIENT.ipv4, 9002) as server:
            with connect(lab.server, CLIENT.ipv4, 9002) as opener, accept(server) as accepted:
                for sender, receiver in ((opener, accepted), (accepted, opener)):
                    sender.settimeout(60)
                    receiver.settimeout(60)
                    stream(sender, receiver, data)
        check(lab.gateway_b.counter("flows_established") == 1, "it was not relayed")
        for number in range(40):
            converse(lab, 9100 + number)
        check(lab.gateway_a.counter("flows_established") == 40, "not all were relayed")
        refuse(lab)
        reset(lab)
        check_memory_returns(lab)


def stream(sender, receiver, data: bytes) -> None:
    """Sends all of `data`, and reads it at the other end at the same time."""
    thread = threading.Thread(target=sender.sendall, args=(data,))
    thread.start()
    received = b""
    while len(received) < len(data):
        part = receiver.recv(1 << 20)
        check(part, f"it ended after {len(received)} of {len(data)} octets")
        received += part
    thread.join()
    check(received == data, "octets changed")


def refuse(lab: Lab) -> None:
    with connect(lab.client, SERVER.ipv4, 9500) as client:
        eventually(lambda: was_reset(client), 10, "the client is told that nobody listens")


def reset(lab: Lab) -> None:
    with connection(lab, 9600) as (client, server):
        echo(client, server, b"before the reset")
        client.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER, 0 s
        client.close()
        eventually(lambda: was_reset(server), 10, "the far host is reset")


def test_keys_change(make) -> None:
    with make(Link(rtt=0.1), KEYS) as lab:
        with open(lab.psk_file, encoding="ascii") as file:
            old = file.read()
        new = kernel.run(lab.programs.satrelayctl, "keygen")

        def reload(gateway, *keys: str) -> None:
            with open(lab.psk_file, "w", encoding="ascii") as file:
                file.write("".join(keys))
            done = control(lab, gateway, "reload")
            check(done.returncode == 0, done.stderr)

        with connection(lab, 9001) as (client, server):
            echo(client, server, b"under the first key")
            for keys in ((old, new), (new, old), (new,)):
                for gateway in lab.gateways:
                    reload(gateway, *keys)
                echo(client, server, b"under two keys, or the second one")
        converse(lab, 9002)
        check(lab.gateway_a.counter("flows_established") == 2, "the last connection was not relayed")


def test_each_is_killed_and_returns(make) -> None:
    with make(Link(rtt=0.1), KEYS) as lab:
        for number, gateway in enumerate(lab.gateways):
            with connection(lab, 9001 + number) as (client, server):
                echo(client, server, b"before")
                gateway.daemon.kill()
                gateway.start()
                lab.wait_for_peers()
                for end in (client, server):
                    end.setblocking(False)
                    with contextlib.suppress(OSError):
                        end.send(b"after")
                eventually(lambda: was_reset(client) and was_reset(server), 20, "both hosts are reset")
            converse(lab, 9011 + number)


def test_workers(make) -> None:
    """Lanes: two workers at one end, one at the other."""
    options = dataclasses.replace(KEYS, workers=(2, 1))
    with make(Link(rtt=0.1), options) as lab:
        for number in range(20):
            with connection(lab, 9001 + number) as (client, server):
                echo(client, server, b"over some lane")
                client.shutdown(1)
                check(receive_all(server) == b"", "more than was sent")
        check(lab.gateway_a.counter("flows_established") == 20, "not all were relayed")


# Each command of satrelayctl that asks a gateway, and words of its answer.
LOOKS = {
    ("status",): "uptime", ("ports",): "lan", ("peers",): "alive", ("links",): "sat", ("rules",): "accelerate",
    ("classes",): "bridged", ("histograms",): "", ("flows",): SERVER.ipv4, ("bridged",): "", ("records",): "file",
    ("counters",): "flows_established", ("history",): "", ("events",): "peer_up", ("metrics",): "satrelay_",
    ("top", "--once"): "peer", ("explain", CLIENT.ipv4, f"{SERVER.ipv4}:9001"): "accelerate",
}  # fmt: skip
COMMANDS = (
    ("set", "2", "compress=off"), ("capacity", "sat", "send", "9Mbit"),
    ("capacity", "sat", "send", "configured"), ("rate", "remote", "8Mbit"), ("rate", "remote", "configured"),
    ("bypass", "on"), ("bypass", "off"), ("reload",),
)  # fmt: skip
PAGES = ("overview", "alarms", "flows", "records", "events", "commands")


def test_present_tools(older) -> None:
    with watch(Lab(older, Link(rtt=0.1), KEYS, programs_b=older)) as lab, connection(lab, 9001) as (client, server):
        echo(client, server, b"a flow to be shown")
        for words, wanted in LOOKS.items():
            for form in ((), ("--json",)) if words[0] not in ("metrics", "top") else ((),):
                done = ctl(lab, *words, *form)
                check(done.returncode == 0, f"{words} {form}: {done.stderr}")
                check(wanted in done.stdout, f"{words} {form} does not show {wanted}: {done.stdout}")
        told = ctl(lab, "status").stdout
        check("takes over when the gateway is restarted" in told, f"status does not tell that a version waits: {told}")
        for words in COMMANDS:
            done = ctl(lab, *words)
            check(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
        done = ctl(lab, "doctor")
        check("other_version" in done.stdout, f"doctor: {done.stdout}{done.stderr}")
        with panel_of(lab.gateway_a) as panel:
            client_of = Client(panel, "ann")
            eventually(lambda: client_of.get("/api/v1/overview")["up"], 10, "the panel looks")
            for page in PAGES:
                status, _ = client_of.ask("GET", f"/api/v1/{page}", None)
                check(status == 200, f"/api/v1/{page}: status {status}")
            status, _ = client_of.tell("bypass", STATE="off")
            check(status == 200, f"bypass by the panel: status {status}")
        echo(client, server, b"and it goes on")


def ctl(lab: Lab, *words: str) -> subprocess.CompletedProcess:
    argv = [programs().satrelayctl, "--socket", lab.gateway_a.stats_socket, *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
