"""The log and the stream of events: a peer that is lost, comes back, or has another key; a port that goes down; frames
that are too long for it; and each command with the user that gave it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time

import frames
import pytest
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    RealTime,
    check,
    control,
    control_as,
    eventually,
    make_lab,
    note,
    tell,
)
from lab import kernel
from lab.web import Web

GROUP = "games"  # a group that every Debian has
SOMEBODY = "bin"  # a user of every Debian
JOURNAL = "/run/systemd/journal"
CARRIES = Link(rate=20_000_000, rtt=0.1)
UPLOAD = 15_000_000
QUICK = {"ping_after": "200ms", "suspect_after": "1s", "give_up_after": "2s"}


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
    # The peer comes back with another key.
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
    # The restarted gateway has never heard its peer: neither path MTU, nor round trip, nor loss are known.
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
    # A large frame with pieces that are longer than the port's MTU, as from a host with another MTU. It cannot be cut
    # to fit, since TCP has marked urgent data in it.
    segment = frames.tcp(CLIENT.ipv4, SERVER.ipv4, (5000, 5001), 0x30, data=bytes(9000))
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


@pytest.mark.lab(CARRIES, options=GatewayOptions(capacity="find"), file_bytes=3 * UPLOAD)
def test_what_the_link_carries_is_found(lab: Lab) -> None:
    near = lab.gateway_a
    web = Web(lab, (ACCELERATED_PORT,))
    file = web.make_file("random.bin", UPLOAD)
    found, in_time = [], RealTime()

    def told_of() -> bool:
        found[:] = [event for event in near.events() if event["name"] == "capacity_found"]
        return bool(found)

    upload = web.start(file, "upload", ACCELERATED_PORT)
    took = eventually(told_of, 10, "it is told what the link carries")
    note(f"after {took:.1f} s: {found[0]['detail']}")
    check(found[0]["subject"] == f"peer {near.peer()['name']}", f"{found}")
    number, unit = found[0]["detail"].split(",")[0].split()
    check(unit == "Mbit/s", f"{found}")
    off = float(number) * 1e6 / CARRIES.rate - 1
    in_time.check(abs(off) < 0.05, f"found with an error of {off:.1%}")
    check(upload.finish().sha256_ok, "the file changed")


def check_numbers(events: list[dict]) -> None:
    """Checks that the numbers go from 1 on, without a gap."""
    numbers = [event["number"] for event in events]
    check(numbers == list(range(1, len(numbers) + 1)), f"the numbers are {numbers}")
    now = time.time() * 1000
    check(all(now - 120_000 < event["time_ms"] <= now for event in events), "their times are wrong")


def newest(gateway, name: str, count: int = 1) -> dict:
    """The latest event of that name, once there are at least `count` of them."""

    def found() -> list[dict]:
        return [event for event in gateway.events() if event["name"] == name]

    eventually(lambda: len(found()) >= count, 5, f"{gateway.name} has {count} {name}")
    return found()[-1]


def changed(gateway, name: str, count: int = 1) -> tuple:
    event = newest(gateway, name, count)
    return tuple(event.get(key) for key in ("subject", "user", "old", "new"))


def say(gateway, line: str) -> str:
    """Sends a line to the gateway's control socket, as another program does."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(os.path.join(os.path.dirname(gateway.stats_socket), "control.sock"))
        client.sendall(line.encode() + b"\n")
        return client.recv(4096).decode()


def test_who_has_changed_what() -> None:
    access = {"stats": f"{{group: {GROUP}}}", "control": f"{{group: {GROUP}}}"}
    with make_lab(options=GatewayOptions(access=access)) as lab:
        near = lab.gateway_a
        done = control_as(lab, near, "bypass", "on", user=SOMEBODY, group=GROUP)
        check(done.returncode == 0, done.stderr)
        seen = changed(near, "bypass_set")
        check(seen == ("gateway", SOMEBODY, "off", "on"), f"bypass on: {seen}")
        tell(lab, near, "bypass", "off")
        seen = changed(near, "bypass_set", 2)
        check(seen == ("gateway", "root", "on", "off"), f"bypass off: {seen}")
        line = f"gateway: bypass was set (from off to on, by {SOMEBODY}) [bypass_set]"
        check(line in near.daemon.log(400), "the log does not say who")
        tell(lab, near, "capacity", "sat", "send", "4Mbit")
        seen = changed(near, "capacity_set")
        check(seen == ("link sat", "root", "send configured", "send 4Mbit"), f"capacity: {seen}")
        tell(lab, near, "rate", "remote", "2Mbit")
        seen = changed(near, "peer_rate_set")
        check(seen == ("peer remote", "root", "configured", "2Mbit"), f"rate: {seen}")
        tell(lab, near, "set", "2", "compress=off", "window=mirror")
        seen = changed(near, "rule_set")
        values = ("compress=auto window=rewrite", "compress=off window=mirror")
        check(seen == ("rule 2", "root", *values), f"set: {seen}")
        check(control(lab, near, "set", "9", "compress=off").returncode == 1, "there is no rule 9")
        check_panel(near)
        check_reload(lab, near)
        words = ("--port", "lan", "--seconds", "1", "--write", "/dev/null")
        done = control(lab, near, "capture", *words)
        check(done.returncode == 0, done.stderr)
        for name in ("capture_begun", "capture_ended"):
            seen = changed(near, name)
            check(seen == ("port lan", "root", None, None), f"{name}: {seen}")
        events = near.events()
        check_numbers(events)
        names = [event["name"] for event in events]
        check(names.count("rule_set") == 1, "a command that was refused is told of")
        table = control(lab, near, "events").stdout
        note(table)
        check(all(f"[{name}]" in " ".join(table.split()) for name in names), "the table lacks some")
        check(max(map(len, table.splitlines())) <= 80, "the table is wider than 80 columns")
        with Follower(lab, near) as follower:
            check(control(lab, near, "drain", "--timeout", "10s").returncode == 0, "it drains not")
            follower.wait_for("(10 s at most, from open to draining, by root) [drain_begun]")
        check("[drain_over]" in near.daemon.log(400), "its end is not told")


def check_panel(near) -> None:
    """The panel gives commands for a user that has logged in there."""
    check(say(near, "as panel:bob@ship bypass on") == "ok\n", "the panel was not heard")
    event = newest(near, "bypass_set", 3)
    check(event["user"] == "panel:bob@ship" and event["new"] == "on", f"for the panel: {event}")
    check("through root" in event["detail"], f"whose program it is: {event}")
    check(say(near, "as root bypass off").startswith("error: write: as panel:NAME"), "as root")
    check(say(near, "as panel:bob bypass off") == "ok\n", "the panel was not heard")


def check_reload(lab: Lab, near) -> None:
    with open(near.config_path, encoding="ascii") as file:
        yaml = file.read()
    with open(near.config_path, "w", encoding="ascii") as file:
        file.write(yaml.replace("rules:", "rules:\n  - {match: {port: 9003}, action: bridge}", 1))
    tell(lab, near, "reload")
    event = newest(near, "reload_done")
    check((event["user"], event["detail"]) == ("root", "rules"), f"reload: {event}")
    count = int(event["old"].split()[0])
    check(event["new"] == f"{count + 1} rules: bridge port=9003", f"reload: {event}")
    with open(near.config_path, "w", encoding="ascii") as file:
        file.write(yaml + "compress_level: 3\n")
    check(control(lab, near, "reload").returncode == 1, "it was taken over")
    event = newest(near, "reload_refused")
    check(event["detail"] == "needs a restart: compress_level", f"reload: {event}")
    check(event["advice"].startswith("restart the gateway"), f"reload: {event}")
    with open(near.config_path, "w", encoding="ascii") as file:
        file.write(yaml)
    os.kill(near.daemon.pid, signal.SIGHUP)
    event = newest(near, "reload_done", 2)
    check("user" not in event and event["detail"] == "rules", f"SIGHUP: {event}")


class Follower:
    """satrelayctl events --follow, which writes into a file."""

    def __init__(self, lab: Lab, gateway, *words: str):
        self.path = os.path.join(lab.folder, f"followed-{len(os.listdir(lab.folder))}")
        with open(self.path, "wb") as file:
            self.process = subprocess.Popen(
                [lab.programs.satrelayctl, "--socket", gateway.stats_socket, "events", "--follow"]
                + list(words),
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def text(self) -> str:
        with open(self.path, encoding="ascii") as file:
            return file.read()

    def wait_for(self, words: str) -> None:
        eventually(lambda: words in " ".join(self.text().split()), 20, f"it shows {words}")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        check(self.process.wait(5) == 0, "Ctrl-C is an error")


@pytest.mark.lab(options=GatewayOptions(stp=QUICK))
def test_events_are_followed(lab: Lab) -> None:
    near, far = lab.gateways
    with Follower(lab, near) as table, Follower(lab, near, "--json") as lines:
        table.wait_for("[peer_alive]")
        with Follower(lab, near, "--severity", "error", "--since", "0s") as errors:
            far.daemon.kill()
            for follower in (table, lines, errors):
                follower.wait_for("peer_lost")
            check("peer_silent" not in errors.text(), "warnings are shown where errors are wanted")
            errors.interrupt()
        table.wait_for("[peer_silent]")
        far.forget_runtime_files()
        far.start()
        table.wait_for("[peer_restarted]")
        near.daemon.kill()
        table.wait_for("trying again --")
        near.forget_runtime_files()
        near.start()
        table.wait_for("-- the gateway restarted; its events begin with 1 again --")
        lab.wait_for_peers()
        tell(lab, near, "bypass", "on")
        for follower in (table, lines):
            follower.wait_for("bypass_set")
            follower.interrupt()
        check_followed(near, lines.text())
        note(table.text())


def check_followed(gateway, text: str) -> None:
    """Checks that each event of both runs of the gateway comes once, in order."""
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    epochs = list(dict.fromkeys(event["boot_epoch"] for event in objects))
    check(len(epochs) == 2, f"there are {len(epochs)} runs of the gateway")
    check(all(isinstance(epoch, str) for epoch in epochs), f"identifiers are strings: {epochs}")
    check(epochs[1] == gateway.query("status")["boot_epoch"], "the second one is another one")
    for epoch in epochs:
        check_numbers([event for event in objects if event["boot_epoch"] == epoch])


def test_events_are_listed(lab: Lab) -> None:
    near = lab.gateway_a
    for state in ("on", "off") * 6:
        tell(lab, near, "bypass", state)
    newest(near, "bypass_set", 12)
    check(near.daemon.log(400).count("[bypass_set]") == 10, "the log is not limited")
    listed = json.loads(control(lab, near, "events", "--json").stdout)
    check_numbers(listed)
    check(listed[-1]["new"] == "off" and listed[-1]["user"] == "root", f"the last: {listed[-1]}")
    last = json.loads(control(lab, near, "events", "--json", "--last", "2").stdout)
    check(last == listed[-2:], f"the last two are {last}")
    bad = json.loads(control(lab, near, "events", "--json", "--severity", "error").stdout)
    check(bad == [event for event in listed if event["severity"] == "error"], f"errors: {bad}")
    time.sleep(1.1)
    check(json.loads(control(lab, near, "events", "--json", "--since", "1s").stdout) == [], "since")
    later = json.loads(control(lab, near, "events", "--json", "--since", "1h").stdout)
    check(later == listed, "all are of the last hour")
    for words in (["--since", "soon"], ["--severity", "bad"], ["--last", "0"]):
        refused = control(lab, near, "events", *words)
        check(refused.returncode != 0 and words[0] in refused.stderr, f"{words}: {refused.stderr}")
    near.daemon.stop()
    refused = control(lab, near, "events")
    check(refused.returncode == 1 and "no gateway runs" in refused.stderr, refused.stderr)


class Journal:
    """Takes the entries of a gateway, in the place of systemd's journal."""

    def __init__(self, lab: Lab):
        self.folder = os.path.join(lab.folder, "journal")
        os.mkdir(self.folder, 0o755)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.path.join(self.folder, "socket"))
        os.chmod(os.path.join(self.folder, "socket"), 0o666)
        self.socket.setblocking(False)
        self.entries: list[dict[str, str]] = []

    def has(self, **fields: str) -> bool:
        with contextlib.suppress(BlockingIOError):
            while True:
                lines = self.socket.recv(65536).decode().splitlines()
                self.entries.append(dict(line.split("=", 1) for line in lines))
        return any(fields.items() <= entry.items() for entry in self.entries)


def test_the_journal_has_fields(lab: Lab) -> None:
    near = lab.gateway_a
    near.daemon.stop()
    journal = Journal(lab)
    mine = not os.path.exists(JOURNAL)
    os.makedirs(JOURNAL, exist_ok=True)
    # As under systemd, but for this process alone.
    near.daemon.argv = [
        *("unshare", "--mount", "sh", "-c"),
        f"mount --bind {journal.folder} {JOURNAL} && "
        'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"',
        *("sh", *near.daemon.argv),
    ]
    try:
        near.start()
        lab.wait_for_peers()
        tell(lab, near, "bypass", "on")
        eventually(
            lambda: journal.has(
                SATRELAY_EVENT="bypass_set",
                SATRELAY_SUBJECT="gateway",
                SATRELAY_USER="root",
                SATRELAY_OLD="off",
                SATRELAY_NEW="on",
                PRIORITY="6",
                MESSAGE="gateway: bypass was set (from off to on, by root) [bypass_set]",
                SYSLOG_IDENTIFIER="satrelayd",
                SATRELAY_NUMBER=str(newest(near, "bypass_set")["number"]),
            ),
            5,
            "the journal has the command",
        )
        check(journal.has(MESSAGE="ready"), "what is no event is there, too")
        before = near.daemon.log(400)
        check("bypass was set" not in before, "it is told twice")
        # The journal goes away.
        os.unlink(os.path.join(journal.folder, "socket"))
        tell(lab, near, "bypass", "off")
        eventually(
            lambda: "<6>satrelayd: gateway: bypass was set (from on to off" in near.daemon.log(400),
            5,
            "stderr has it instead",
        )
    finally:
        if mine:
            os.rmdir(JOURNAL)
