"""kill -9 of one gateway or both in mid-transfer: all hosts learn it, and new connections work."""

import contextlib
import os
import subprocess
import threading
import time

import pytest
from harness import (
    Lab,
    Link,
    check,
    check_memory_returns,
    connection,
    echo,
    eventually,
    note,
    was_reset,
)

PORT = 9001


class Stream:
    """A connection with bytes in flight all the time, in both directions."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self._threads = []
        for sender, receiver in ((client, server), (server, client)):
            self._run(self._send, sender)
            self._run(self._receive, receiver)

    def _run(self, function, end):
        thread = threading.Thread(target=function, args=(end,), daemon=True)
        self._threads.append(thread)
        thread.start()

    @staticmethod
    def _send(end) -> None:
        with contextlib.suppress(OSError):
            while True:
                end.sendall(b"x" * 20000)
                time.sleep(0.05)

    @staticmethod
    def _receive(end) -> None:
        with contextlib.suppress(OSError):
            while end.recv(1 << 20):
                pass

    def join(self) -> None:
        for thread in self._threads:
            thread.join(10)


def kill_and_restart(lab: Lab, killed, surviving, which_end_survives: str) -> None:
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(connection(lab, PORT))
        idle = stack.enter_context(connection(lab, PORT + 1))
        for end in (*busy, *idle):
            end.settimeout(60)
        idle[0].sendall(b"once")
        check(idle[1].recv(10) == b"once", "bytes changed")
        stream = Stream(*busy)
        time.sleep(1)
        killed.daemon.kill()
        check(killed.daemon.exit_status() == -9, "the gateway was not killed")
        time.sleep(0.5)
        killed.start()
        began = time.monotonic()
        survivor = 0 if which_end_survives == "client" else 1
        for name, ends in (("busy", busy), ("idle", idle)):
            eventually(
                lambda: was_reset(ends[survivor]),
                10 - (time.monotonic() - began),
                f"the {name} connection of the surviving gateway's host is reset",
            )
        seconds = time.monotonic() - began
        note(f"{surviving.name}'s host was reset {seconds:.1f} s after the restart")
        check(
            surviving.counter("flows_reset_peer_restart") >= 2,
            "the surviving gateway did not count its resets as flows_reset_peer_restart",
        )
        # The survivor lists its flows, so the idle connection of the restarted gateway is reset, too.
        for name, ends in (("busy", busy), ("idle", idle)):
            eventually(
                lambda: was_reset(ends[1 - survivor]),
                15,
                f"the {name} connection of the restarted gateway's host is reset",
            )
        note(f"{killed.name}'s host was reset {time.monotonic() - began:.1f} s after the restart")
        check(surviving.counter("flows_listed") >= 2, "the survivor listed no flows")
        check(killed.counter("flows_orphaned") >= 2, "no flow came with the list")
        stream.join()
    lab.wait_for_peers()
    before = lab.gateway_a.counter("flows_established")
    with connection(lab, PORT + 2) as (client, server):
        client.sendall(b"new")
        check(server.recv(10) == b"new", "bytes of a new connection changed")
    check(lab.gateway_a.counter("flows_established") == before + 1, "it was not accelerated")


def kill_and_restart_both(lab: Lab) -> None:
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(connection(lab, PORT))
        idle = stack.enter_context(connection(lab, PORT + 1))
        for end in (*busy, *idle):
            end.settimeout(60)
        echo(*idle, b"once")
        stream = Stream(*busy)
        time.sleep(1)
        for gateway in lab.gateways:
            gateway.daemon.kill()
        time.sleep(0.5)
        began = time.monotonic()
        for gateway in lab.gateways:
            gateway.start()
        for name, ends in (("busy", busy), ("idle", idle)):
            for end in ends:
                eventually(
                    lambda: was_reset(end), 15, f"an end of the {name} connection is reset"
                )
        note(f"all hosts were reset {time.monotonic() - began:.1f} s after the restart of both")
        for gateway in lab.gateways:
            check(gateway.counter("flows_orphaned") >= 2, f"{gateway.name} had no journal")
        stream.join()
    lab.wait_for_peers()
    with connection(lab, PORT + 2) as ends:
        echo(*ends, b"new")


@pytest.mark.lab(Link(rtt=0.3))
def test_killed_gateways(lab: Lab) -> None:
    kill_and_restart(lab, lab.gateway_a, lab.gateway_b, "server")
    note("ok: gateway A killed")
    kill_and_restart(lab, lab.gateway_b, lab.gateway_a, "client")
    note("ok: gateway B killed")
    kill_and_restart_both(lab)
    note("ok: both killed")
    check_memory_returns(lab)


@pytest.mark.lab(Link(rtt=0.1))
def test_started_twice(lab: Lab) -> None:
    """The second process changes nothing of the first process, least of all its journal."""
    near = lab.gateway_a
    journal = os.path.join(os.path.dirname(near.stats_socket), "flows")
    with connection(lab, PORT) as ends:
        echo(*ends, b"before")
        file = os.stat(journal).st_ino
        began = time.monotonic()
        again = near.space.popen(
            *near.daemon.argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        _, told = again.communicate(timeout=20)
        seconds = time.monotonic() - began
        note(f"after {seconds:.2f} s: {told.strip()}")
        check(again.returncode == 4, f"the second one ended with status {again.returncode}")
        check(f"process {near.daemon.pid} " in told, f"it does not name the first: {told}")
        check(os.stat(journal).st_ino == file, "the journal was replaced")
        echo(*ends, b"behind")
        # Flows journaled since then are in the file that the next start reads.
        with connection(lab, PORT + 1) as later:
            echo(*later, b"later")
            near.daemon.kill()
            near.start()
            eventually(lambda: near.counter("flows_orphaned") >= 2, 10, "both are journalled")
