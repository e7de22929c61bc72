"""What all observation together costs the worker of a gateway that has 10,000 flows.

    SATRELAY_BUILD=build /usr/bin/python3 tests/e2e/observation_cost.py [--peers 300]

Turns it on and off, in turn: satpanel, which looks each second, a scrape of /metrics each second, a
stream of events to a browser, its list of flows every 3 s, and `satrelayctl events --follow`. Prints
of each turn the share of a core that the worker's thread took, by the kernel's account, and how long
its rounds were, by the gateway's own histogram; then the medians, and that of the differences between
turns that follow each other. Rounds count the time in which others had the processor, too. A download
runs all the time, so that the worker has something to do. Takes three minutes.
"""

import argparse
import contextlib
import http.client
import os
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness  # noqa: E402
import panel_cost  # noqa: E402
from harness import GatewayOptions, Link, make_lab, note  # noqa: E402
from lab import settings  # noqa: E402
from panel import Client, panel_of  # noqa: E402

TURNS = 5  # of each kind
SECONDS = 12
LOAD = 9001


def rounds(gateway) -> dict[str, int]:
    listing = gateway.query("histograms").values()
    return next(each for each in listing if each["name"] == "worker_round_ns")


def processor_ns(gateway) -> int:
    """Of the thread of the first worker."""
    pid = gateway.daemon.pid
    with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0])


class Turn:
    """What the worker has done between two looks at its rounds."""

    def __init__(self, name: str, before: dict, after: dict, processor: int, seconds: float):
        self.name = name
        self.rounds = after["count"] - before["count"]
        self.at_work = (after["sum"] - before["sum"]) / 1e9 / seconds
        self.processor = processor / 1e9 / seconds
        bounds = [int(key[3:]) for key in after if key.startswith("le_")]
        new = {bound: after[f"le_{bound}"] - before[f"le_{bound}"] for bound in bounds}
        self.longest = "> 100 ms"
        for bound in bounds:
            if new[bound] == self.rounds:
                self.longest = f"<= {bound / 1e6:g} ms"
                break
        self.above_a_millisecond = self.rounds - new[1_000_000]

    def __str__(self) -> str:
        return (
            f"{self.name:>4}: {self.processor:7.3%} of a core, in rounds {self.at_work:7.3%} of the time, "
            f"{self.rounds / SECONDS:6.0f} rounds/s, the longest {self.longest}, "
            f"{self.above_a_millisecond} above 1 ms; load of the machine {os.getloadavg()[0]:.1f}"
        )


def turn(gateway, name: str) -> Turn:
    before, taken, began = rounds(gateway), processor_ns(gateway), time.monotonic()
    time.sleep(SECONDS)
    taken, passed, after = processor_ns(gateway) - taken, time.monotonic() - began, rounds(gateway)
    done = Turn(name, before, after, taken, passed)
    note(str(done))
    return done


@contextlib.contextmanager
def repeated(every: float, action):
    """Calls it in a thread of its own, until the end."""
    over = threading.Event()

    def run():
        while not over.wait(every):
            action()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def event_stream(panel):
    connection = http.client.HTTPConnection("127.0.0.1", panel.port, timeout=60)
    connection.request("GET", "/api/v1/events/stream", headers={"Authorization": f"Bearer {panel.token}"})
    answer = connection.getresponse()
    harness.check(answer.status == 200, f"the stream: {answer.status}")
    try:
        yield
    finally:
        connection.close()


@contextlib.contextmanager
def everything(lab):
    near = lab.gateway_a
    follow = [lab.programs.satrelayctl, "--socket", near.stats_socket, "events", "--follow"]
    with contextlib.ExitStack() as stack:
        panel = stack.enter_context(panel_of(near))
        client = Client(panel, token=panel.token)
        following = subprocess.Popen(follow, stdout=subprocess.DEVNULL)
        stack.callback(following.wait)
        stack.callback(following.send_signal, signal.SIGINT)
        stack.enter_context(event_stream(panel))
        stack.enter_context(repeated(1, lambda: client.get("/metrics")))
        stack.enter_context(repeated(3, lambda: client.get("/api/v1/flows?count=100")))
        time.sleep(2)
        yield


@contextlib.contextmanager
def download(lab):
    with harness.connection(lab, LOAD) as (client, server):
        client.settimeout(60)
        server.settimeout(60)
        over = threading.Event()

        def send():
            with contextlib.suppress(OSError):
                while not over.is_set():
                    client.sendall(bytes(65536))

        def receive():
            with contextlib.suppress(OSError):
                while server.recv(1 << 20):
                    pass

        threads = [threading.Thread(target=each, daemon=True) for each in (send, receive)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()


def tell(what: str, values: list[float]) -> None:
    """Of turns off and on, in turn."""
    off, on = values[::2], values[1::2]
    more = statistics.median(after - before for before, after in zip(off, on))
    note(
        f"{what}: off {statistics.median(off):.3%}, on {statistics.median(on):.3%}; "
        f"observation adds {more:+.3%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", type=int, default=1)
    peers = parser.parse_args().peers
    resource.setrlimit(resource.RLIMIT_NOFILE, (14_000, 14_000))
    if peers > 1:
        panel_cost.PEERS = peers
        settings.gateway_yaml = panel_cost.with_many_peers(settings.gateway_yaml)
    # What is sent does not compress away: the load is that of the link's rate.
    options = GatewayOptions(limits={"memory": "1GiB", "flows": "16384"}, modes={"compress": "off"})
    with make_lab(link=Link(rate=20_000_000, rtt=0.2), options=options) as lab:
        with panel_cost.idle_flows(lab), download(lab):
            near = lab.gateway_a
            status = near.query("status")
            note(f"{status['flows']} flows, {sum(status['peers'].values())} peers")
            time.sleep(12)  # what connecting has left to do
            turns = []
            for _ in range(TURNS):
                turns.append(turn(near, "off"))
                with everything(lab):
                    turns.append(turn(near, "on"))
    tell("of a core", [each.processor for each in turns])
    tell("of the time in rounds", [each.at_work for each in turns])


if __name__ == "__main__":
    main()
