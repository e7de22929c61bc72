"""kill -9 of a supervised gateway: the kernel joins its ports within a second, and gives them back."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from harness import Lab, REPOSITORY, SERVER, RealTime, check, converse, eventually, note
from lab import topology

PORTS = (topology.LAN_INTERFACE, topology.WAN_INTERFACE)
SUPERVISE = os.path.join(REPOSITORY, "deploy", "satrelay-supervise")


class Ping:
    """Sends twenty echo requests a second, and notes the time of each answer."""

    def __init__(self, lab):
        self._process = lab.client.popen(
            "ping", "-D", "-i", "0.05", SERVER.ipv4, stdout=subprocess.PIPE, text=True
        )
        self.answers: list[float] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout:
            if "icmp_seq" in line and (found := re.match(r"\[([0-9.]+)\]", line)):
                self.answers.append(float(found[1]))

    def after(self, moment: float) -> float | None:
        return next((answer for answer in self.answers if answer > moment), None)

    def longest_gap(self, begin: float, end: float) -> float:
        inside = [begin, *(a for a in self.answers if begin < a < end), end]
        return max(b - a for a, b in zip(inside, inside[1:]))

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(5)


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def gateway_pid(supervisor: int) -> int | None:
    for child in children(supervisor):
        try:
            with open(f"/proc/{child}/comm", encoding="ascii") as comm:
                if comm.read().startswith("satrelayd"):
                    return child
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended meanwhile
    return None


def test_killed_and_joined(lab: Lab) -> None:
    far = lab.gateway_b
    check(far.daemon.stop() == 0, "gateway B did not stop in order")
    os.environ["SATRELAYD"] = lab.programs.satrelayd
    far.daemon.argv = [SUPERVISE, "run", *PORTS, "-c", far.config_path]
    far.start()
    lab.wait_for_peers()
    converse(lab, 9001)
    check(lab.gateway_a.counter("flows_established") == 1, "not accelerated")

    ping = Ping(lab)
    time.sleep(1)
    victim = gateway_pid(far.daemon.pid)
    check(victim is not None, "the supervisor runs no gateway")
    killed, measured = time.time(), RealTime()
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: ping.after(killed + lab.link.rtt), 5, "an answer crosses the bridge")
    silence = ping.longest_gap(killed - 0.2, ping.after(killed + lab.link.rtt))
    note(f"ping: {silence:.2f} s without an answer when the gateway died")
    measured.check(silence < 1 + lab.link.rtt, "the ports were not joined within a second")

    eventually(
        lambda: gateway_pid(far.daemon.pid) not in (None, victim), 10, "it is started again"
    )
    lab.wait_for_peers()
    back = time.time()
    note(f"gateway B relays again {back - killed:.1f} s after it was killed")
    time.sleep(1)
    gap = ping.longest_gap(killed + 1, time.time() - lab.link.rtt - 0.2)
    note(f"ping: {gap:.2f} s without an answer when the ports were taken back")
    before = lab.gateway_a.counter("flows_established")
    converse(lab, 9002)
    check(lab.gateway_a.counter("flows_established") == before + 1, "not accelerated again")

    # A second supervisor finds the gateway running, and leaves its ports alone.
    argv = ("ip", "netns", "exec", far.space.name, *far.daemon.argv)
    again = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    check(again.returncode == 4, f"status {again.returncode}: {again.stderr}")
    check("joined" not in again.stderr, f"ports of a running gateway: {again.stderr}")
    converse(lab, 9005)
    check(lab.gateway_a.counter("flows_established") == before + 2, "it no longer relays")

    # An orderly stop leaves the ports joined, and TCP passes.
    check(far.daemon.stop(10) == 0, "the supervisor did not end with the gateway's status")
    eventually(lambda: lab.gateway_a.peer()["state"] == "closed", 5, "A knows of the stop")
    moment = time.time()
    eventually(lambda: ping.after(moment + lab.link.rtt), 5, "the ports are joined")
    ping.stop()
    converse(lab, 9003)
    check(lab.gateway_a.counter("bridged_peer_down") > 0, "not bridged")
    subprocess.run(
        ["ip", "netns", "exec", far.space.name, SUPERVISE, "part", *PORTS],
        check=True,
    )


def test_sigterm_while_it_parts(tmp_path: pathlib.Path) -> None:
    """The supervisor ends with the ports joined, and starts no gateway."""
    started, joined = tmp_path / "started", tmp_path / "joined"
    scripts = {
        "readlink": "sleep 0.5; exit 1",  # the supervisor looks for the bridge of each port
        "ip": f'echo "$*" >> {joined}',
        "satrelayd": f"touch {started}; exec sleep 60",
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "SATRELAYD": str(tmp_path / "satrelayd"),
    }
    supervisor = subprocess.Popen([SUPERVISE, "run", "lo", "lo"], env=environment)
    try:
        time.sleep(0.3)
        supervisor.send_signal(signal.SIGTERM)
        check(supervisor.wait(20) == 0, f"status {supervisor.returncode}")
    finally:
        supervisor.kill()
        supervisor.wait()
    check(not started.exists(), "it has started the gateway")
    check("type bridge" in joined.read_text(encoding="ascii"), "the ports are not joined")
