"""A supervised gateway that dies, hangs, stops or starts: the kernel joins its ports, and gives them back."""

import fcntl
import os
import re
import signal
import subprocess
import threading
import time

from harness import Lab, SERVER, RealTime, check, converse, eventually, note
from lab import topology

PORTS = (topology.LAN_INTERFACE, topology.WAN_INTERFACE)
# The wire may be open for so long when the gateway takes or leaves its ports.
MOST_OPEN = 0.5


class Ping:
    """Sends twenty echo requests a second, and notes the time of each answer."""

    def __init__(self, lab):
        self._process = lab.client.popen(
            "ping", "-D", "-i", "0.05", SERVER.ipv4, stdout=subprocess.PIPE, text=True
        )
        self.answers: list[float] = []
        self.duplicates = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout:
            self.duplicates += "DUP!" in line
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


def supervise(lab: Lab) -> None:
    """Runs gateway B under a supervisor."""
    far = lab.gateway_b
    check(far.daemon.stop() == 0, "gateway B did not stop in order")
    os.environ["SATRELAYD"] = lab.programs.satrelayd
    far.daemon.argv = [lab.programs.satrelay_supervise, "run", "-c", far.config_path]


def in_space(lab: Lab, *words: str) -> subprocess.CompletedProcess:
    argv = ("ip", "netns", "exec", lab.gateway_b.space.name, *words)
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


def mtus(lab: Lab) -> list[str]:
    links = [in_space(lab, "ip", "link", "show", "dev", port).stdout for port in PORTS]
    return [re.search(r"mtu (\d+)", link)[1] for link in links]


def masters(lab: Lab) -> list[bool]:
    links = [in_space(lab, "ip", "link", "show", "dev", port).stdout for port in PORTS]
    return [" master " in link for link in links]


def check_joined_after(lab: Lab, ping: Ping, what: str, patience: float, number: int) -> int:
    """The gateway has stopped to forward by signal `number`. Returns the process of the next one."""
    victim = gateway_pid(lab.gateway_b.daemon.pid)
    check(victim is not None, "the supervisor runs no gateway")
    moment, measured = time.time(), RealTime()
    os.kill(victim, number)
    # An answer that was on the satellite link arrives in any case.
    late = moment + lab.link.rtt + 0.1
    eventually(lambda: ping.after(late), patience + 5, "an answer crosses the bridge")
    silence = ping.longest_gap(moment - 0.2, ping.after(late))
    note(f"ping: {silence:.2f} s without an answer when the gateway was {what}")
    measured.check(silence < patience + lab.link.rtt, f"{what}: the ports were joined too late")
    eventually(
        lambda: gateway_pid(lab.gateway_b.daemon.pid) not in (None, victim), 10, "it starts again"
    )
    joined = time.time()
    lab.wait_for_peers()
    time.sleep(1)
    gap = ping.longest_gap(joined, time.time() - lab.link.rtt - 0.2)
    note(f"ping: {gap:.2f} s without an answer when the gateway took its ports back")
    measured.check(gap < MOST_OPEN, "the wire was open for too long")
    return victim


def test_joined_whenever_it_does_not_forward(lab: Lab) -> None:
    far = lab.gateway_b
    supervise(lab)
    check(mtus(lab) == ["1508", "1508"], "the first gateway has left room for two tags")
    for port in PORTS:
        in_space(lab, "ip", "link", "set", port, "mtu", "1500")
    far.start()
    lab.wait_for_peers()
    check(mtus(lab) == ["1508", "1508"] and masters(lab) == [False, False], "it has its ports")
    converse(lab, 9001)
    check(lab.gateway_a.counter("flows_established") == 1, "not accelerated")

    ping = Ping(lab)
    time.sleep(1)
    check_joined_after(lab, ping, "killed", 1, signal.SIGKILL)
    before = lab.gateway_a.counter("flows_established")
    converse(lab, 9002)
    check(lab.gateway_a.counter("flows_established") == before + 1, "not accelerated again")
    check_joined_after(lab, ping, "stopped by SIGSTOP", 10, signal.SIGSTOP)

    # A second supervisor, or a gateway without one, finds the ports in use and leaves them alone.
    before = lab.gateway_a.counter("flows_established")
    for argv in (far.daemon.argv, (lab.programs.satrelayd, "-c", far.config_path)):
        again = in_space(lab, *argv)
        check(again.returncode == 4, f"status {again.returncode}: {again.stderr}")
    joining = in_space(lab, lab.programs.satrelay_supervise, "join", "-c", far.config_path)
    check(joining.returncode == 4 and masters(lab) == [False, False], joining.stderr)
    converse(lab, 9005)
    check(lab.gateway_a.counter("flows_established") == before + 1, "it no longer relays")

    # An orderly stop leaves the ports joined, and TCP passes.
    moment, measured = time.time(), RealTime()
    check(far.daemon.stop(10) == 0, "the supervisor did not end with the gateway's status")
    eventually(lambda: lab.gateway_a.peer()["state"] == "closed", 5, "A knows of the stop")
    time.sleep(1)
    gap = ping.longest_gap(moment - 0.2, time.time() - lab.link.rtt - 0.2)
    note(f"ping: {gap:.2f} s without an answer when the gateway was stopped in order")
    measured.check(gap < MOST_OPEN, "the wire was open for too long")
    ping.stop()
    check(ping.duplicates == 0, f"{ping.duplicates} answers came twice")
    check(mtus(lab) == ["1500", "1500"], "the MTUs are as before")
    converse(lab, 9003)
    check(lab.gateway_a.counter("bridged_peer_down") > 0, "not bridged")
    parted = in_space(lab, lab.programs.satrelay_supervise, "part", *PORTS)
    check(parted.returncode == 0 and masters(lab) == [False, False], parted.stderr)


def test_lan_follows_wan(lab: Lab) -> None:
    far = lab.gateway_b
    supervise(lab)
    with open(far.config_path, "a", encoding="utf-8") as file:
        file.write("lan_follows_wan: yes\n")
    far.start()
    lab.wait_for_peers()
    lan, wan = PORTS

    def is_on() -> bool:
        return ",UP" in in_space(lab, "ip", "link", "show", "dev", lan).stdout

    check(is_on(), "port lan is on at first")
    in_space(lab, "ip", "link", "set", wan, "down")
    seconds = eventually(lambda: not is_on(), 8, "port lan is switched off")
    note(f"port lan is off {seconds:.1f} s after port wan")
    in_space(lab, "ip", "link", "set", wan, "up")
    seconds = eventually(is_on, 12, "port lan is switched on")
    note(f"port lan is on {seconds:.1f} s after port wan")
    lab.wait_for_peers()
    converse(lab, 9001)
    in_space(lab, "ip", "link", "set", wan, "down")
    eventually(lambda: not is_on(), 8, "port lan is switched off")
    check(far.daemon.stop(10) == 0, "the supervisor did not end with the gateway's status")
    check(is_on() and masters(lab) == [True, True], "a stop leaves port lan on, and the ports joined")
    in_space(lab, far.daemon.argv[0], "part", *PORTS)


def test_mistakes(lab: Lab) -> None:
    far = lab.gateway_b
    supervise(lab)
    daemon = (lab.programs.satrelayd, "-c", far.config_path)

    # A wrong file, and one that is no gateway's: the ports are joined as far as they are known.
    with open(far.config_path, encoding="utf-8") as file:
        good = file.read()
    with open(far.config_path, "a", encoding="utf-8") as file:
        file.write("no_such_key: 1\n")
    wrong = in_space(lab, *far.daemon.argv)
    check(wrong.returncode == 2 and masters(lab) == [True, True], wrong.stderr)
    with open(far.config_path, "w", encoding="utf-8") as file:
        file.write(good)

    # A gateway of an older version has no locks on its interfaces.
    in_space(lab, lab.programs.satrelay_supervise, "part", "-c", far.config_path)
    with open(os.path.join(os.path.dirname(far.stats_socket), "lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for argv in (far.daemon.argv, (far.daemon.argv[0], "join", "-c", far.config_path)):
            refused = in_space(lab, *argv)
            check(refused.returncode == 4 and masters(lab) == [False, False], refused.stderr)
    joined = in_space(lab, far.daemon.argv[0], "join", "-c", far.config_path)
    check(joined.returncode == 0 and masters(lab) == [True, True], joined.stderr)

    # There is no such program.
    os.environ["SATRELAYD"] = "/nonexistent/satrelayd"
    missing = in_space(lab, *far.daemon.argv)
    os.environ["SATRELAYD"] = lab.programs.satrelayd
    check(missing.returncode == 1 and "cannot run" in missing.stderr, missing.stderr)
    check(masters(lab) == [True, True], "the ports are not joined")

    # The bridge of the supervisor, and another one.
    refused = in_space(lab, *daemon)
    check(refused.returncode == 1 and "satrelay-supervise part" in refused.stderr, refused.stderr)
    in_space(lab, lab.programs.satrelay_supervise, "part", "-c", far.config_path)
    in_space(lab, "ip", "link", "add", "br7", "type", "bridge")
    in_space(lab, "ip", "link", "set", PORTS[0], "master", "br7")
    for argv in (daemon, (lab.programs.satrelay_supervise, "join", *PORTS)):
        refused = in_space(lab, *argv)
        check(refused.returncode == 1 and "nomaster" in refused.stderr, refused.stderr)
    far.daemon.argv = [*daemon, "--force"]
    far.start()
    check(far.daemon.stop() == 0, "a forced gateway")
    in_space(lab, "ip", "link", "del", "br7")

    # SIGTERM before the gateway is ready: the supervisor ends, and the ports are joined. SIGHUP changes nothing.
    for pause in (0, 0.02, 0.6, 0.9, 1.2):
        supervisor = far.space.popen(
            lab.programs.satrelay_supervise, "run", "-c", far.config_path, stderr=subprocess.PIPE
        )
        eventually(lambda: children(supervisor.pid), 5, "the gateway starts")
        supervisor.send_signal(signal.SIGHUP)
        time.sleep(pause)
        supervisor.terminate()
        _, told = supervisor.communicate(timeout=20)
        check(supervisor.returncode == 0, f"{pause} s: status {supervisor.returncode}: {told}")
        check(masters(lab) == [True, True], f"{pause} s: the ports are not joined")
    in_space(lab, lab.programs.satrelay_supervise, "part", *PORTS)
