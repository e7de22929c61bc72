"""SIGTERM is a clean stop: status 0, hosts are reset, the peer learns of it, and the same start works again."""

import os
import time

from harness import Lab, RealTime, Skip, check, connection, eventually, make_lab, note, was_reset


def test_clean_stop(lab: Lab) -> None:
    near, far = lab.gateways
    with connection(lab, 9001) as (client, server):
        client.sendall(b"hello")
        check(server.recv(10) == b"hello", "bytes changed")
        began, measured = time.monotonic(), RealTime()
        status = near.daemon.stop(patience=10)
        seconds = time.monotonic() - began
        note(f"gateway A stopped after {seconds:.2f} s with status {status}")
        check(status == 0, f"SIGTERM ended in status {status}")
        measured.check(seconds < 5, f"stopping took {seconds:.1f} s")
        eventually(lambda: was_reset(client), 3, "the stopping gateway resets its host")
        eventually(lambda: was_reset(server), 3, "the peer resets its host")
    eventually(lambda: not far.peer_alive(), 3, "the peer knows that gateway A has left")
    check(far.counter("flows_reset_peer_closed") == 1, "the reset was not counted as such")
    check(not os.path.exists(near.stats_socket), "the stats socket was left behind")

    near.start()
    lab.wait_for_peers()
    with connection(lab, 9002) as (client, server):
        client.sendall(b"again")
        check(server.recv(10) == b"again", "bytes changed")
    check(near.counter("flows_established") == 1, "the restarted gateway did not accelerate")

    for daemon in lab.daemons:
        status = daemon.stop(patience=10)
        check(status == 0, f"{daemon.name}: SIGTERM ended in status {status}")
        note(f"{daemon.name} stopped with status {status}")


def unused_memory() -> int:
    with open("/proc/meminfo", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["MemAvailable"].split()[0]) * 1024


def test_stopped_before_it_is_ready() -> None:
    """A gateway that starts slowly, since it takes much memory, still obeys signals."""
    memory = min(unused_memory() // 2, 12 << 30) >> 20
    if memory < 2048:
        raise Skip(f"{memory} MiB are not enough for a start that takes long")
    with make_lab() as lab:
        near = lab.gateway_a
        check(near.daemon.stop() == 0, "it does not stop in order")
        with open(near.config_path, "a", encoding="ascii") as file:
            file.write(f"limits: {{memory: {memory}MiB}}\n")
        near.daemon.start()
        before = near.daemon.resident_bytes()
        near.daemon.wait_until(
            lambda: near.daemon.resident_bytes() > before + (512 << 20), 20, "it takes memory"
        )
        began = time.monotonic()
        status = near.daemon.stop(patience=20)
        seconds = time.monotonic() - began
        note(f"stopped in mid-start, of {memory} MiB, after {seconds:.2f} s with status {status}")
        check(status == 0, f"SIGTERM ended in status {status}")
        check("stopped before it was ready" in near.daemon.log(), "it went on to the end first")
