"""The effect of rules on the connections and packets of real hosts, and how operators see and set rules."""

import json
import socket
import time

import pytest
from harness import (
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    RealTime,
    accept,
    check,
    connect,
    connection,
    control,
    converse,
    listen,
    note,
    receive_all,
    tell,
    was_reset,
    eventually,
)

RTT = 0.4
TEXT = b"the same words again and again, " * 20_000


def add_rules(lab: Lab, gateway, *rules: str) -> None:
    """Adds rules in front of the lab's own."""
    with open(gateway.config_path, encoding="ascii") as file:
        yaml = file.read()
    lines = "".join(f"\n  - {rule}" for rule in rules)
    with open(gateway.config_path, "w", encoding="ascii") as file:
        file.write(yaml.replace("rules:", f"rules:{lines}", 1))
    tell(lab, gateway, "reload")


def rule(lab: Lab, gateway, name: str) -> dict:
    rules = json.loads(control(lab, gateway, "rules", "--json").stdout)
    return next(each for each in rules if each["name"] == name)


def refused_after(lab: Lab, port: int, address: str = SERVER.ipv4) -> float:
    began = time.monotonic()
    try:
        connect(lab.client, address, port, timeout=5).close()
    except ConnectionRefusedError:
        return time.monotonic() - began
    raise AssertionError(f"port {port} was not refused")


def datagram_arrives(lab: Lab, port: int, dscp: int = 0) -> bool:
    with (
        lab.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        lab.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind((SERVER.ipv4, port))
        receiver.settimeout(1.5)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
        sender.sendto(b"datagram", (SERVER.ipv4, port))
        try:
            return receiver.recv(100) == b"datagram"
        except TimeoutError:
            return False


def drop_and_reset(lab: Lab) -> None:
    near, far = lab.gateways
    add_rules(
        lab,
        near,
        "{name: closed, match: {port: 9011}, action: reset}",
        "{name: silent, match: {port: 9012}, action: drop}",
        "{name: voice, match: {protocol: udp, dscp: EF}, action: drop}",
    )
    add_rules(lab, far, "{name: guarded, match: {direction: inbound, port: 9014}, action: reset}")
    for address in (SERVER.ipv4, SERVER.ipv6):
        measured = RealTime()
        with listen(lab.server, address, 9011):
            waited = refused_after(lab, 9011, address)
        measured.check(
            waited < RTT / 2, f"the refusal took {waited:.3f} s, as if it had crossed the link"
        )
    note(f"refused after {waited * 1000:.1f} ms")
    with listen(lab.server, SERVER.ipv4, 9012):
        try:
            connect(lab.client, SERVER.ipv4, 9012, timeout=2.5).close()
            raise AssertionError("what is to be dropped has crossed")
        except TimeoutError:
            pass
    check(rule(lab, near, "silent")["dropped_frames"] >= 2, "the SYN and its repetition")
    check(datagram_arrives(lab, 9013), "UDP without the mark did not pass")
    check(not datagram_arrives(lab, 9013, dscp=46), "UDP with the mark has passed")
    check(rule(lab, near, "voice")["dropped_frames"] == 1, "the datagram was not counted")
    with listen(lab.server, SERVER.ipv4, 9014) as server:
        client = connect(lab.client, SERVER.ipv4, 9014)
        with client:
            eventually(lambda: was_reset(client), 5, "the far gateway's rule resets the client")
        server.settimeout(0.2)
        try:
            accept(server)
            raise AssertionError("the connection has reached the guarded server")
        except TimeoutError:
            pass
    check(far.counter("flows_refused_by_rule") == 1, "the far gateway does not say so")
    converse(lab, 9015)


def counts_and_switches(lab: Lab) -> None:
    near, _ = lab.gateways
    add_rules(lab, near, "{name: web, match: {port: 9016}, action: accelerate}")

    def upload() -> tuple[int, int]:
        """Sends TEXT; returns its plain bytes and its bytes on the link, as the rule counts them."""
        before = rule(lab, near, "web")
        with connection(lab, 9016) as (client, server):
            client.sendall(TEXT)
            client.shutdown(socket.SHUT_WR)
            check(receive_all(server) == TEXT, "the text changed")
            server.sendall(b"thanks")
            server.shutdown(socket.SHUT_WR)
            check(receive_all(client) == b"thanks", "the answer changed")
        after = rule(lab, near, "web")
        check(after["connections"] == before["connections"] + 1, "the connection was not counted")
        check(after["to_lan_bytes"] == before["to_lan_bytes"] + 6, "the answer was not counted")
        return tuple(
            after["codec"][key] - before["codec"][key] for key in ("plain_bytes", "encoded_bytes")
        )

    plain, encoded = upload()
    check(plain == len(TEXT), f"{plain} of {len(TEXT)} bytes were counted")
    check(encoded < plain / 10, f"{plain} bytes became {encoded}")
    tell(lab, near, "set", "web", "compress=off", "window=mirror")
    table = control(lab, near, "rules").stdout
    check("accelerate: compress off, window mirror (set)" in table, table)
    note(f"--- satrelayctl rules\n{table.rstrip()}")
    plain, encoded = upload()
    check(encoded >= plain, f"{plain} bytes became {encoded} without compression")
    # A flow that goes on obeys, too.
    with connection(lab, 9016) as (client, server):
        tell(lab, near, "set", "web", "compress=on")
        client.sendall(TEXT)
        client.shutdown(socket.SHUT_WR)
        check(receive_all(server) == TEXT, "the text changed")
        flow = next(f for f in near.query("flows") if f["server_port"] == 9016)
        flow = json.loads(control(lab, near, "flow", str(flow["id"]), "--json").stdout)
        check(flow["encoded_bytes"] < flow["from_lan_bytes"] / 10, f"not compressed: {flow}")
        check(flow["rule_name"] == "web", f"the flow shows {flow}")
    tell(lab, near, "reload")
    check(rule(lab, near, "web")["changed"] == "no", "a reload does not take back what was set")
    check(rule(lab, near, "web")["connections"] == 3, "a reload makes the rule forget")
    for words, says in (
        (("set", "mail", "compress=off"), "no such rule"),
        (("set", "web", "compress=maybe"), "write off, auto or on"),
        (("set", "web", "ack=end-to-end"), "needs handshake=remote"),
        (("set", "closed", "compress=off"), "does not accelerate"),
    ):
        refused = control(lab, near, *words)
        check(refused.returncode == 1 and says in refused.stderr, f"{words}: {refused.stderr}")


def explanations(lab: Lab) -> None:
    near, _ = lab.gateways
    for words, says in (
        ((CLIENT.ipv4, f"{SERVER.ipv4}:9016"), ("web", "matches: accelerate", "relayed")),
        ((CLIENT.ipv6, f"[{SERVER.ipv6}]:9016"), ("web", "relayed")),
        ((CLIENT.ipv4, f"{SERVER.ipv4}:9011"), ("closed", "answered with RST")),
        ((CLIENT.ipv4, SERVER.ipv4, "--protocol", "udp", "--dscp", "EF"), ("voice", "dropped")),
        (
            (CLIENT.ipv4, f"{SERVER.ipv4}:9016", "--protocol", "udp"),
            ("accelerate, for TCP only", "bridged, and counted as bridged_not_tcp", "class"),
        ),
        ((CLIENT.ipv4, SERVER.ipv4, "--protocol", "icmp"), ("counted as bridged_not_tcp",)),
        (
            (SERVER.ipv4, CLIENT.ipv4, "--protocol", "47", "--direction", "inbound"),
            ("counted as bridged_from_wan",),
        ),
        ((CLIENT.ipv4, "8.8.8.8:53"), ("no peer's prefix", "bridged_no_peer_prefix")),
    ):
        answer = control(lab, near, "explain", *words)
        check(answer.returncode == 0, answer.stderr)
        for word in says:
            check(word in answer.stdout, f"explain {words}: {answer.stdout}")
    note(f"--- satrelayctl explain\n{control(lab, near, 'explain', *words).stdout.rstrip()}")
    tell(lab, near, "bypass", "on")
    answer = control(lab, near, "explain", CLIENT.ipv4, f"{SERVER.ipv4}:9016").stdout
    check("bridged, and counted as bridged_bypass" in answer, answer)
    tell(lab, near, "bypass", "off")
    wrong = control(lab, near, "explain", CLIENT.ipv4, f"{SERVER.ipv4}:http")
    check(wrong.returncode == 1 and "write a port" in wrong.stderr, wrong.stderr)


@pytest.mark.lab(Link(rtt=RTT), GatewayOptions())
def test_rules(lab: Lab) -> None:
    drop_and_reset(lab)
    counts_and_switches(lab)
    explanations(lab)
