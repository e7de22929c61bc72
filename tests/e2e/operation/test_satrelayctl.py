"""satrelayctl shows what a gateway does: to a person as text, to a program as JSON."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from harness import (
    BRIDGED_PORT,
    CLIENT,
    SERVER,
    Lab,
    RealTime,
    check,
    connection,
    eventually,
    heed,
    note,
    programs,
)

VIEWS = ("status", "ports", "peers", "rules", "flows", "histograms", "bridged", "counters")


def control(lab: Lab, gateway, *argv: str):
    return subprocess.run(
        [lab.programs.satrelayctl, "--socket", gateway.stats_socket, *argv],
        capture_output=True,
        text=True,
        timeout=20,
    )


def test_satrelayctl(lab: Lab) -> None:
    with connection(lab, 9001) as (client, server):
        client.sendall(b"x" * 12345)
        received = 0
        while received < 12345:
            received += len(server.recv(65536))
        tables = {view: control(lab, lab.gateway_a, view) for view in VIEWS}
        documents = {view: control(lab, lab.gateway_a, view, "--json") for view in VIEWS}
    for view in VIEWS:
        check(tables[view].returncode == 0, f"{view}: {tables[view].stderr}")
        check(documents[view].returncode == 0, f"{view} --json: {documents[view].stderr}")
        note(f"--- satrelayctl {view}\n{tables[view].stdout.rstrip()}")
    parsed = {view: json.loads(documents[view].stdout) for view in VIEWS}
    for word in (CLIENT.ipv4, SERVER.ipv4, "9001"):
        check(word in tables["flows"].stdout, f"'{word}' is not in the table of flows")
    for word in ("remote", "192.0.2.2", "alive"):
        check(word in tables["peers"].stdout, f"'{word}' is not in the table of peers")
    check("flows_established" in tables["counters"].stdout, "the counters lack their names")
    check(parsed["counters"]["flows_established"] == 1, "one flow was not counted as one")
    flow = parsed["flows"][0]
    check(flow["from_lan_bytes"] == 12345, f"the flow shows {flow}")
    check(parsed["peers"][0]["state"] == "alive", f"the peer shows {parsed['peers']}")
    check(parsed["status"]["flows"] >= 1, f"the status shows {parsed['status']}")
    rules = [(rule["rule"], rule["connections"]) for rule in parsed["rules"]]
    check(rules == [(1, 0), (2, 1), (0, 0)], f"the rules show {rules}")
    check(len(parsed["ports"]) == 2, f"the ports show {parsed['ports']}")
    rounds = next(each for each in parsed["histograms"] if each["name"] == "worker_round_ns")
    check(rounds["worker"] == "0" and rounds["count"] > 0, f"the worker's rounds: {rounds}")
    check(0 < rounds["sum"] < parsed["status"]["uptime_ms"] * 10**6, f"they take {rounds}")
    waits = {each.get("class"): each for each in parsed["histograms"]
             if each["name"] == "class_relayed_wait_us"}
    check(waits["relayed"]["count"] > 0, f"no byte was seen to wait: {waits}")
    bridged_connections_are_told(lab)
    the_history_begins(lab)
    monotonic_counters_grow(lab)


def bridged_connections_are_told(lab: Lab) -> None:
    with connection(lab, BRIDGED_PORT) as (client, _):
        port = client.getsockname()[1]
    shown = json.loads(control(lab, lab.gateway_a, "bridged", "--json").stdout)[0]
    age = shown.pop("age_ms")
    check(
        shown == {"client": CLIENT.ipv4, "client_port": port, "server": SERVER.ipv4,
                  "server_port": BRIDGED_PORT, "reason": "bridged_by_rule", "rule": 1,
                  "rule_name": "", "syns": 1} and age < 20_000,
        f"the latest bridged connection is {shown}, {age} ms ago",
    )
    table = control(lab, lab.gateway_a, "bridged").stdout
    check(f"{SERVER.ipv4}:{BRIDGED_PORT}" in table and "by_rule" in table, table)


def the_history_begins(lab: Lab) -> None:
    def points(*words: str):
        done = control(lab, lab.gateway_a, "history", *words, "--json")
        check(done.returncode == 0, f"history {words}: {done.stderr}")
        return json.loads(done.stdout)

    eventually(lambda: points("--peer", "remote"), 10, "the history has a point")
    for words in ((), ("--link", "sat"), ("--class", "relayed"), ("--last", "10min")):
        latest = points(*words)[-1]
        check(abs(latest["time_ms"] / 1000 - time.time()) < 60, f"{words}: {latest}")
        check("send_bps" in latest, f"{words}: {latest}")
    check(points("--peer", "nobody") == [], "there is a history of nobody")
    shown = control(lab, lab.gateway_a, "history").stdout
    check(shown.startswith("gateway, "), shown)
    for words, hint in ((("--last", "soon"), "10min"), (("--peer", "a", "--link", "b"), "excludes")):
        done = control(lab, lab.gateway_a, "history", *words)
        check(done.returncode != 0 and hint in done.stderr, f"{words}: {done.stderr}")


def monotonic_counters_grow(lab: Lab) -> None:
    before = lab.gateway_a.counters()
    lab.client.run("ping", "-n", "-c", "2", "-i", "0.2", SERVER.ipv4)
    after = lab.gateway_a.counters()
    check(all(after[name] >= before[name] for name in before), "a counter went backwards")
    check(after["lan_frames_in"] > before["lan_frames_in"], "pings were not counted")


def test_top_on_a_terminal(lab: Lab) -> None:
    """At 80x24 figures are drawn anew, q ends the program, and the terminal is as it was."""
    terminal, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(other_end)
    top = subprocess.Popen(
        [lab.programs.satrelayctl, "--socket", lab.gateway_a.stats_socket, "top"]
        + ["--interval", "0.5"],
        stdin=other_end,
        stdout=other_end,
    )
    screen, measured = b"", RealTime()
    with connection(lab, 9001) as (client, server):
        deadline = time.monotonic() + 2.5
        while time.monotonic() < deadline:
            client.sendall(b"x" * 10_000)
            server.recv(65536)
            if select.select([terminal], [], [], 0.1)[0]:
                screen += os.read(terminal, 65536)
        os.write(terminal, b"q")
        while top.poll() is None and time.monotonic() < deadline + 5:
            if select.select([terminal], [], [], 0.1)[0]:
                screen += os.read(terminal, 65536)
    while select.select([terminal], [], [], 0)[0]:  # its output before it ended
        screen += os.read(terminal, 65536)
    check(top.poll() == 0, f"q does not end it: {top.poll()}")
    frames = screen.decode().split("\x1b[H")
    measured.check(len(frames) >= 3, f"{len(frames)} screens in 2.5 s")
    lines = frames[-1].split("\x1b[J")[0].replace("\x1b[K", "").split("\r\n")
    check(max(map(len, lines)) <= 80 and len(lines) <= 24, f"the screen: {lines}")
    for word in ("remote", "alive", "accelerate", f"{SERVER.ipv4}:9001"):
        check(word in frames[-1], f"'{word}' is not in {lines}")
    check(screen.count(b"\x1b[?1049h") == screen.count(b"\x1b[?1049l") == 1, "the other screen")
    check(termios.tcgetattr(other_end) == before, "the terminal is not as it was")
    once = control(lab, lab.gateway_a, "top", "--once")
    check(once.returncode == 0 and "\x1b" not in once.stdout, once.stdout + once.stderr)
    os.close(terminal)
    os.close(other_end)


def on_terminal(argv: list[str], columns: int, seconds: float, end: bytes) -> tuple[str, int]:
    """Runs a program on a terminal for that time, then sends the keys `end`; returns its output and its status."""
    terminal, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        argv, stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(other_end, termios.TIOCSCTTY, 0),
    )
    os.close(other_end)
    shown, deadline, asked = b"", time.monotonic() + seconds, False
    while True:
        if not asked and time.monotonic() > deadline:
            asked = True
            os.write(terminal, end)
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # it has ended
                break
        check(time.monotonic() < deadline + 10, f"it does not end: {shown}")
    os.close(terminal)
    return shown.decode(), process.wait(10)


def test_watch_and_width(lab: Lab) -> None:
    program = [lab.programs.satrelayctl, "--socket", lab.gateway_a.stats_socket]
    measured = RealTime()
    # Ctrl-C, as the terminal sends it, is no error.
    shown, status = on_terminal([*program, "peers", "--watch=0.3"], 80, 2, b"\x03")
    check(status == 0, f"Ctrl-C ends it with status {status}")
    screens = shown.split("\x1b[H")
    measured.check(len(screens) >= 4, f"{len(screens)} screens in 2 s: {shown}")
    check("peers, every 0.3 s" in screens[-1] and "remote" in screens[-1], screens[-1])
    check(shown.count("\x1b[?1049h") == shown.count("\x1b[?1049l") == 1, "the other screen")
    # On 80 columns it says what is left out. On a wide terminal, in a pipe, and with --wide, nothing is left out.
    narrow, _ = on_terminal([*program, "peers"], 80, 0.5, b"")
    check(max(map(len, narrow.splitlines())) <= 80, narrow)
    check("Left out: " in narrow and "--wide" in narrow and "sent again" not in narrow.split("Left")[0], narrow)
    for wide in (
        on_terminal([*program, "peers"], 250, 0.5, b"")[0],
        on_terminal([*program, "peers", "--wide"], 80, 0.5, b"")[0],
        control(lab, lab.gateway_a, "peers").stdout,
    ):
        check("sent again" in wide and "Left out" not in wide, wide)
    # A pipe gets one document after the other; JSON is one line each.
    process = subprocess.Popen(
        [*program, "counters", "--json", "--watch=0.2"], stdout=subprocess.PIPE, text=True,
        preexec_fn=heed,
    )
    documents = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    check(process.wait(10) == 0, "SIGINT is an error")
    process.stdout.close()
    check(all("lan_frames_in" in each for each in documents), f"{documents}")
    for words in (("peers", "--watch=0"), ("flow", "1", "--watch"), ("peers", "--watch", "5")):
        check(control(lab, lab.gateway_a, *words).returncode != 0, f"{words} is taken")


def test_mistakes_are_told() -> None:
    program = programs().satrelayctl
    done = subprocess.run(
        [program, "--socket", "/nonexistent/socket", "status"],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check(done.returncode > 0, "a missing socket ended in status 0")
    check("/nonexistent/socket" in done.stderr, f"the socket is not named: {done.stderr}")
    for typed, hint in (("statos", "did you mean status?"), ("bypas", "did you mean bypass?"),
                        ("reboot", "satrelayctl help")):
        done = subprocess.run([program, typed], capture_output=True, text=True, timeout=20)
        check(done.returncode > 0, f"{typed} ended in status 0")
        check(hint in done.stderr, f"{typed} gives no hint: {done.stderr}")


def test_tells_about_itself() -> None:
    def say(*words: str):
        return subprocess.run(
            [programs().satrelayctl, *words], capture_output=True, text=True, timeout=20
        )

    whole = say("help")
    check(whole.returncode == 0 and whole.stdout == say("--help").stdout, whole.stdout)
    for command in (*VIEWS, "capacity", "drain", "reload", "keygen", "capture"):
        check(f"  {command} " in whole.stdout, f"help says nothing of {command}")
        about = say("help", command)
        check(about.returncode == 0 and command in about.stdout, f"help {command}: {about}")
    check(say("help", "statsu").returncode == 2, "help for an unknown command ended in status 0")
    check("did you mean status?" in say("help", "statsu").stderr, "and it gives no hint")
    version = say("--version")
    check(version.returncode == 0 and version.stdout.startswith("satrelayctl "), f"{version}")
    check("weight=1 to 255" in say("class", "--help").stdout, "settings are not listed")
