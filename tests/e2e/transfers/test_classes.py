"""Classes of traffic with real hosts: speech, web, a backup and a flood on one link, changed while they go on."""

import contextlib
import json
import socket
import struct
import threading
import time

import pytest
from harness import SERVER, GatewayOptions, Lab, Link, RealTime, check, connection, control, eventually, note, tell

RATE = 10_000_000
CLASSES = "classes: {voice: {guaranteed: 300kbit}, web: {weight: 4}, backup: {maximum: 3Mbit}}\n"
RULES = (
    "{name: calls, match: {protocol: udp, port: 5004}, action: bridge, class: voice}",
    "{name: web, match: {port: 9021}, action: accelerate, compress: off, class: web}",
    "{name: backup, match: {port: 9022}, action: accelerate, compress: off, class: backup}",
)


def configure(lab: Lab) -> None:
    for gateway in lab.gateways:
        with open(gateway.config_path, encoding="ascii") as file:
            yaml = file.read()
        lines = "".join(f"\n  - {rule}" for rule in RULES)
        with open(gateway.config_path, "w", encoding="ascii") as file:
            file.write(yaml.replace("rules:", f"rules:{lines}", 1) + CLASSES)
        tell(lab, gateway, "reload")


def classes(lab: Lab) -> dict:
    listing = json.loads(control(lab, lab.gateway_a, "classes", "--json").stdout)
    return {each["name"]: each for each in listing}


def rates(lab: Lab, seconds: float = 4) -> dict:
    """Mbit/s that each class sends, as the modem counts them."""
    before, began = classes(lab), time.monotonic()
    time.sleep(seconds)
    after, passed = classes(lab), time.monotonic() - began
    sent = {
        name: sum(after[name][key] - before[name][key] for key in ("relayed_bytes", "bridged_bytes"))
        for name in after
    }
    return {name: count * 8e-6 / passed for name, count in sent.items()}


@contextlib.contextmanager
def running(*work):
    """Calls each function with an event that tells it to end."""
    over = threading.Event()
    threads = [threading.Thread(target=each, args=(over,)) for each in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextlib.contextmanager
def upload(lab: Lab, port: int):
    with connection(lab, port) as (client, server):
        client.settimeout(0.2)
        server.settimeout(0.2)

        def send(over: threading.Event) -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    client.send(b"x" * 65536)

        def read(over: threading.Event) -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    server.recv(1 << 20)

        with running(send, read):
            yield


@contextlib.contextmanager
def datagrams(lab: Lab, port: int, size: int, interval: float):
    """Yields the delays of datagrams that have arrived, and the number of datagrams that were sent."""
    with (
        lab.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        lab.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind((SERVER.ipv4, port))
        receiver.settimeout(0.2)
        delays, sent = [], [0]

        def send(over: threading.Event) -> None:
            due = time.monotonic()
            while not over.is_set():
                sender.sendto(struct.pack("d", time.monotonic()).ljust(size, b"v"), (SERVER.ipv4, port))
                sent[0] += 1
                due += interval
                time.sleep(max(0, due - time.monotonic()))

        def receive(over: threading.Event) -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    (began,) = struct.unpack_from("d", receiver.recv(2000))
                    delays.append(time.monotonic() - began)

        with running(send, receive):
            yield delays, sent


def speech_and_shares(lab: Lab) -> None:
    with contextlib.ExitStack() as stack:
        judge = RealTime().check
        delays, sent = stack.enter_context(datagrams(lab, 5004, 172, 0.02))
        time.sleep(3)
        usual, idle = min(delays), len(delays)
        stack.enter_context(datagrams(lab, 6001, 1400, 1400 * 8 / 12e6))
        stack.enter_context(upload(lab, 9021))
        stack.enter_context(upload(lab, 9022))
        time.sleep(3)
        shares = rates(lab, 6)
        late = sorted(delay - usual for delay in delays[idle:])
        lost = sent[0] - len(delays)
        note(
            f"Mbit/s: {', '.join(f'{name} {rate:.2f}' for name, rate in shares.items())}; speech is later than on an "
            f"idle link by {late[len(late) // 2] * 1e3:.1f} ms (half), "
            f"{late[len(late) * 95 // 100] * 1e3:.1f} ms (95%), {late[-1] * 1e3:.1f} ms (all), "
            f"of {sent[0]} datagrams {lost} are missing or under way"
        )
        # A busy machine delays some datagrams by itself. Behind the other traffic all would be late.
        judge(late[len(late) // 2] < 0.030, "speech waits")
        judge(lost < 20, "speech is lost")
        judge(abs(shares["bridged"] / shares["backup"] - 1) < 0.1, "the flood does not get what weight 1 gets")
        judge(abs(shares["web"] / shares["backup"] - 4) < 0.4, "weights are not kept")
        tell(lab, lab.gateway_a, "class", "backup", "weight=20")
        time.sleep(1)
        judge(abs(rates(lab)["backup"] - 3) < 0.3, "the maximum is not kept")
        tell(lab, lab.gateway_a, "class", "backup", "maximum=1Mbit")
        time.sleep(1)
        judge(abs(rates(lab)["backup"] - 1) < 0.15, "a new maximum is not kept")
        table = control(lab, lab.gateway_a, "classes").stdout
        check("backup (set)" in table, table)
        note(f"--- satrelayctl classes\n{table.rstrip()}")
        screen = control(lab, lab.gateway_a, "top", "--once").stdout
        check(all(name in screen for name in ("voice", "web", "backup", "bridged")), screen)
        note(f"--- satrelayctl top --once\n{screen.rstrip()}")
        flow = next(f for f in lab.gateway_a.query("flows") if f["server_port"] == 9021)
        shown = control(lab, lab.gateway_a, "flow", str(flow["id"])).stdout
        check("class web" in shown, shown)


def refusals_and_reload(lab: Lab) -> None:
    near = lab.gateway_a
    tell(lab, near, "class", "backup", "maximum=1Mbit")
    for words, says in (
        (("class", "mail", "weight=2"), "no such class"),
        (("class", "relayed", "weight=2"), "cannot be set"),
        (("class", "web", "weight=0"), "1 to 255"),
        (("class", "backup", "guaranteed=2Mbit"), "maximum"),
        (("class", "web", "guaranteed=9Mbit"), "95%"),
    ):
        refused = control(lab, near, *words)
        check(refused.returncode == 1 and says in refused.stderr, f"{words}: {refused.stderr}")
    tell(lab, near, "class", "web", "weight=9")
    tell(lab, near, "class", "web", "configured")
    check(classes(lab)["web"]["changed"] == "no", "what was set is still set")
    before = classes(lab)
    check(before["backup"]["changed"] == "yes", "what was set is forgotten")
    tell(lab, near, "reload")
    after = classes(lab)
    check(after["backup"]["changed"] == "no", "a reload does not take back what was set")
    check(after["web"]["relayed_bytes"] >= before["web"]["relayed_bytes"], "a reload makes a class forget")
    with open(near.config_path, encoding="ascii") as file:
        yaml = file.read()
    with open(near.config_path, "w", encoding="ascii") as file:
        file.write(yaml.replace("class: web", "class: wep"))
    refused = control(lab, near, "reload")
    check(refused.returncode == 1 and "is not a class; there are: voice, web, backup" in refused.stderr, refused.stderr)


def a_class_crosses(lab: Lab) -> None:
    """The far gateway sends in the class of that name, too."""
    with connection(lab, 9021) as (client, server):
        server.sendall(b"x" * 100_000)
        got = 0
        while got < 100_000:
            got += len(client.recv(65536))

        def sent() -> int:
            listing = json.loads(control(lab, lab.gateway_b, "classes", "--json").stdout)
            return next(each["relayed_bytes"] for each in listing if each["name"] == "web")

        eventually(lambda: sent() >= 100_000, 5, "the far gateway counts it in the class")


@pytest.mark.lab(Link(rate=RATE, rtt=0.2, loss=0), GatewayOptions())
def test_shares_of_classes(lab: Lab) -> None:
    configure(lab)
    speech_and_shares(lab)


@pytest.mark.lab(Link(rate=RATE, rtt=0.2, loss=0), GatewayOptions())
def test_classes_are_set_and_reloaded(lab: Lab) -> None:
    configure(lab)
    a_class_crosses(lab)
    refusals_and_reload(lab)
