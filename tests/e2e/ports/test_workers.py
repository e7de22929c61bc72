"""Gateways with several workers spread connections over them, and functions of the whole gateway still work."""

import collections
import contextlib
import socket
import subprocess
import time

import pytest
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    Link,
    RealTime,
    accept,
    check,
    control,
    converse,
    echo,
    eventually,
    listen,
    make_lab,
    note,
    tell,
    was_reset,
)
from lab.settings import GatewayOptions
from lab.web import Web

SIZE = 500_000
TRANSFERS = 8
FLOWS_OF_WORKER = 2
KEY = 0x6D5A
PORT = 9001


def flow_hash(source: str, from_port: int, destination: str, to_port: int) -> int:
    """Toeplitz with a key of 16 bits, repeated, as in docs/stp.md; an implementation of its own."""
    total = from_port ^ to_port
    for address in (source, destination):
        packed = socket.inet_aton(address)
        total ^= int.from_bytes(packed[:2]) ^ int.from_bytes(packed[2:])
    result = 0
    for bit in range(16):
        if total & 0x8000 >> bit:
            result ^= (KEY << bit | KEY >> 16 - bit) & 0xFFFF
    return result


def make_workers_lab(counts: tuple[int, int], link: Link = Link(rtt=0.1)):
    limits = {"memory": "256MiB", "flows": "4096"}
    return make_lab(link, GatewayOptions(workers=counts, limits=limits))


def workers_of(gateway) -> list[dict]:
    workers = gateway.query("status")["workers"]
    return [workers[key] for key in sorted(workers, key=int)]


def flows_of(gateway) -> list[int]:
    return [worker["flows"] for worker in workers_of(gateway)]


@contextlib.contextmanager
def flows_at_every_worker(lab, most_workers: int):
    """(client's socket, server's socket) of connections that belong to all workers alike."""
    missing = collections.Counter({lane: FLOWS_OF_WORKER for lane in range(most_workers)})
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(listen(lab.server, SERVER.ipv4, PORT))
        ends = []
        for from_port in range(20000, 20999):
            lane = flow_hash(CLIENT.ipv4, from_port, SERVER.ipv4, PORT) % most_workers
            if not missing[lane]:
                continue
            missing[lane] -= 1
            client = stack.enter_context(lab.client.socket(socket.AF_INET, socket.SOCK_STREAM))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            client.settimeout(20)
            client.bind((CLIENT.ipv4, from_port))
            client.connect((SERVER.ipv4, PORT))
            ends.append((client, stack.enter_context(accept(server))))
        yield ends


def transfers_are_whole(lab) -> None:
    web = Web(lab, (ACCELERATED_PORT,))
    file = web.make_file("random.bin", SIZE)
    running = [
        web.start(file, direction, ACCELERATED_PORT)
        for _ in range(TRANSFERS // 2)
        for direction in ("download", "upload")
    ]
    for transfer in running:
        outcome = transfer.finish()
        check(outcome.completed and outcome.sha256_ok, f"{outcome}")
    check(
        lab.gateway_a.counter("flows_established") == TRANSFERS,
        f"{lab.gateway_a.counter('flows_established')} of {TRANSFERS} transfers were accelerated",
    )


def flows_are_where_they_belong(lab, counts: tuple[int, int]) -> None:
    """At both gateways the worker of a connection follows from its addresses and ports."""
    most = max(counts)
    for gateway in lab.gateways:
        eventually(lambda: sum(flows_of(gateway)) == 0, 10, f"{gateway.name} has no flows left")
    with flows_at_every_worker(lab, most) as ends:
        for number, (client, server) in enumerate(ends):
            echo(client, server, b"to %d" % number)
            echo(server, client, b"from %d" % number)
        for gateway, count in zip(lab.gateways, counts):
            want = [FLOWS_OF_WORKER * most // count] * count
            eventually(lambda: flows_of(gateway) == want, 5, f"{gateway.name}: flows {want}")
            check(gateway.query("status")["flows"] == sum(want), "the sum is not that of the parts")
            ids = [flow["id"] for flow in gateway.query("flows")]
            check(len(ids) == len(set(ids)) == sum(want), f"listed flows: {ids}")


def bridged_traffic_passes(lab) -> None:
    lab.client.run("ping", "-n", "-c", "3", "-i", "0.2", "-W", "3", SERVER.ipv4)
    with (
        lab.server.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        lab.client.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        server.bind((SERVER.ipv4, PORT))
        client.bind((CLIENT.ipv4, 0))
        for end in (server, client):
            end.settimeout(5)
        for size in (1, 1000, 3000):  # the last one in fragments
            client.sendto(b"q" * size, (SERVER.ipv4, PORT))
            question, sender = server.recvfrom(4096)
            check(question == b"q" * size, "a datagram changed")
            server.sendto(b"a" * size, sender)
            check(client.recv(4096) == b"a" * size, "a datagram changed")


def stop_cleanly(lab) -> None:
    for gateway in lab.gateways:
        status = gateway.daemon.stop(patience=10)
        check(status == 0, f"{gateway.name}: SIGTERM ended in status {status}")
        check("does not end" not in gateway.daemon.log(400), "a worker did not end")


@pytest.mark.parametrize("counts", ((2, 2), (2, 1), (4, 2)), ids=lambda c: f"{c[0]}-{c[1]}")
def test_traffic(counts: tuple[int, int]) -> None:
    with make_workers_lab(counts, Link(rtt=0.1, loss=0.002)) as lab:
        transfers_are_whole(lab)
        flows_are_where_they_belong(lab, counts)
        bridged_traffic_passes(lab)
        for gateway in lab.gateways:
            workers = workers_of(gateway)
            note(f"{gateway.name}: {workers}")
            check(all(worker["frames"] > 0 for worker in workers), "a worker has received nothing")
            check(all(worker["given_dropped"] == 0 for worker in workers), "a ring was full")
            total = sum(worker["frames"] for worker in workers)
            given = sum(worker["given"] for worker in workers)
            check(given <= total / 10, f"the kernel chose other workers: {given} of {total} frames")
        stop_cleanly(lab)


def test_the_link_is_shared() -> None:
    """One connection alone gets all of the link, and so do several at all workers together."""
    link = Link(rtt=0.1, loss=0)
    with make_workers_lab((2, 2), link) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        for count, size in ((1, 12_000_000), (6, 2_000_000)):
            file = web.make_file(f"random-{size}.bin", size)
            measured, began = RealTime(), time.monotonic()
            running = [web.start(file, "download", ACCELERATED_PORT) for _ in range(count)]
            for transfer in running:
                outcome = transfer.finish()
                check(outcome.completed and outcome.sha256_ok, f"{outcome}")
            share = link.bound_seconds(count * size) / (time.monotonic() - began)
            note(f"{count} connections: {100 * share:.1f}% of the bound")
            measured.check(share > 0.85, f"{count} connections have {100 * share:.1f}% of the link")
        for gateway in lab.gateways:
            used = [worker["frames"] for worker in workers_of(gateway)]
            check(min(used) > 0, f"{gateway.name}: {used} frames")


def test_reload_and_drain() -> None:
    with make_workers_lab((2, 2)) as lab:
        near, far = lab.gateways
        with flows_at_every_worker(lab, 2) as ends:
            with open(near.config_path, encoding="ascii") as file:
                yaml = file.read()
            with open(near.config_path, "w", encoding="ascii") as file:
                file.write(yaml.replace("count: 2", "count: 4"))
            refused = control(lab, near, "reload")
            check(refused.returncode == 1 and "worker" in refused.stderr, refused.stderr)
            rule = "rules:\n  - {match: {port: 9003}, action: bridge}"
            with open(near.config_path, "w", encoding="ascii") as file:
                file.write(yaml.replace("rules:", rule, 1))
            tell(lab, near, "reload")
            relayed = near.counter("flows_accepted")
            for _ in range(8):  # at every worker
                converse(lab, 9003)
            # A repeated SYN counts twice.
            bridged = near.counter("bridged_by_rule")
            accepted = near.counter("flows_accepted")
            check(bridged >= 8 and accepted == relayed, f"some worker has the old rules: {bridged}")
            tell(lab, far, "bypass", "on")
            eventually(lambda: near.peer()["new_flows"] == "bypass", 5, "A hears of the bypass")
            tell(lab, far, "bypass", "off")
            eventually(lambda: near.peer()["new_flows"] == "open", 5, "A hears of its end")
            for client, server in ends:
                echo(client, server, b"still here")
            drain = subprocess.Popen(
                [lab.programs.satrelayctl, "--socket", far.stats_socket, "drain"],
                stdout=subprocess.PIPE,
                text=True,
            )
            eventually(lambda: near.peer()["new_flows"] == "draining", 5, "A hears of the drain")
            for client, server in ends[:-1]:
                client.close()
                server.close()
            eventually(lambda: sum(flows_of(far)) == 1, 10, "one flow is left")
            check(far.daemon.running(), "the gateway did not wait for the flow of one worker")
            echo(*ends[-1], b"the last one")
        text = drain.communicate(timeout=30)[0]
        check(drain.returncode == 0 and "stopped" in text, text)
        eventually(lambda: not far.daemon.running(), 5, "the daemon ends")
        check(far.daemon.exit_status() == 0, f"exit status {far.daemon.exit_status()}")


def test_kill_and_restart() -> None:
    with make_workers_lab((2, 2)) as lab:
        near, far = lab.gateways
        with flows_at_every_worker(lab, 2) as ends:
            for client, server in ends:
                echo(client, server, b"before")
            near.daemon.kill()
            near.start()
            for client, server in ends:
                eventually(lambda: was_reset(server), 15, "the surviving gateway resets its host")
            for client, server in ends:
                with contextlib.suppress(OSError):
                    client.sendall(b"anybody there?")
                eventually(lambda: was_reset(client), 15, "the killed gateway's host is reset")
        lab.wait_for_peers()
        with flows_at_every_worker(lab, 2) as ends:
            for client, server in ends:
                echo(client, server, b"behind")
            check(near.counter("flows_established") == len(ends), "not accelerated after the start")
        stop_cleanly(lab)
