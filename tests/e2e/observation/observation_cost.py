"""The cost of all observation together for the worker of a gateway that has 10,000 flows.

    SATRELAY_BUILD=build /usr/bin/python3 tests/e2e/observation/observation_cost.py [--peers 300] [--labs 3]
        [--pairs 3] [--only PART]

In some labs the gateway writes records of flows and exports them by IPFIX. That needs a start with another
configuration, so as many other labs are without records. In the labs with records all other observation is turned on
and off, in turn:

- satpanel, which looks each second, with an SNMP agent at a real snmpd that is walked each 10 s, and a
  webhook for all events;
- a scrape of /metrics each second;
- a stream of events to a browser;
- the list of flows, sorted, as its page asks for it each 3 s;
- `satrelayctl events --follow`.

A download runs all the time, so that the worker has something to do, and so do short connections, so that there is
something to record. For each turn the program prints the share of a core that the worker's thread took, by the kernel's
account. It also prints how long the worker's rounds were, by the gateway's own histogram. Medians follow, and the
median of the differences between adjacent turns. Rounds include the time in which other tasks had the processor; the
kernel's account does not. The program takes eight minutes.

`--only PART` turns on one part alone, and compares it with the turns without it:

- `panel`: satpanel, which looks each second;
- `scrape`, `stream`, `flows`, `snmp`, `webhook`: the part of that name in the list above, beside `panel`,
  which each of them needs;
- `follow`: `satrelayctl events --follow`, without a panel;
- `records`: records of flows, written and exported, in every other lab;
- `idle`: nothing, to show how much two turns differ by themselves.

The gateway's own reports, ten times a second, and its history belong to no part.
"""

import argparse
import contextlib
import http.client
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import harness
import panel_cost
import test_alarms
from harness import SERVER, GatewayOptions, Link, check, make_lab, note
from lab import settings
from panel import Client, panel_of

SECONDS = 12
BESIDE_PANEL = ("panel", "scrape", "stream", "flows", "snmp", "webhook")
PARTS = (*BESIDE_PANEL, "follow", "records", "idle")
LOAD, SHORT = 9001, 9002
EVERY = 0.05  # seconds from one short connection to the next
COLLECTOR = 4739
# The same query as in relay/satpanel/assets/page_flows.js.
FLOWS = "/api/v1/flows?first=0&count=25&sort=-to_lan_bytes&filter="


def rounds(gateway) -> dict[str, int]:
    listing = gateway.query("histograms").values()
    return next(each for each in listing if each["name"] == "worker_round_ns")


def processor_ns(gateway) -> int:
    """Processor time of the thread of the first worker."""
    pid = gateway.daemon.pid
    with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0])


class Turn:
    """The worker's work between two looks at its rounds."""

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
            f"{self.name:>7}: {self.processor:7.3%} of a core, in rounds {self.at_work:7.3%} of the time, "
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
    """Calls `action` in a thread of its own, until the end."""
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
def following(lab):
    follow = [lab.programs.satrelayctl, "--socket", lab.gateway_a.stats_socket, "events", "--follow"]
    program = subprocess.Popen(follow, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        program.send_signal(signal.SIGINT)
        program.wait()


@contextlib.contextmanager
def observed(lab, parts: set[str]):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="satrelay-cost-"))
        options: tuple[str, ...] = ()
        snmp = None
        if "snmp" in parts:
            snmp = test_alarms.Snmp(folder)
            stack.callback(snmp.stop)
            snmp.start_snmpd()
            options += ("--agentx", snmp.socket)
        if "webhook" in parts:
            receiver = test_alarms.Receiver()
            stack.callback(receiver.close)
            hook = f"- {{name: sink, url: '{receiver.url}', secret_file: hook-secret, severity: info}}\n"
            options += ("--webhook", test_alarms.write_hooks(folder, hook))
        if parts & set(BESIDE_PANEL):
            panel = stack.enter_context(panel_of(lab.gateway_a, options=options))
            client = Client(panel, token=panel.token)
        if snmp is not None:
            harness.eventually(
                lambda: snmp.get(test_alarms.GATEWAY_STATE) == "2", 15, "snmpd shows the gateway"
            )
            stack.enter_context(repeated(10, lambda: snmp.walk(test_alarms.ROOT)))
        if "follow" in parts:
            stack.enter_context(following(lab))
        if "stream" in parts:
            stack.enter_context(event_stream(panel))
        if "scrape" in parts:
            stack.enter_context(repeated(1, lambda: client.get("/metrics")))
        if "flows" in parts:
            stack.enter_context(repeated(3, lambda: client.get(FLOWS)))
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


@contextlib.contextmanager
def short_connections(lab):
    """Opens short connections one after the other. The side that opens a connection closes the server's end."""
    with harness.listen(lab.server, SERVER.ipv4, SHORT) as listener:

        def once():
            with harness.connect(lab.client, SERVER.ipv4, SHORT) as client:
                with harness.accept(listener) as accepted:
                    client.sendall(b"x")
                    accepted.recv(1)

        with repeated(EVERY, once):
            yield


@contextlib.contextmanager
def busy_lab(folder: str):
    """`folder` is for the records; if it is empty, none are written."""
    records = {
        "file": f"{folder}/{{gateway}}.json",
        "ipfix": f"{{collector: '127.0.0.1:{COLLECTOR}', transport: udp}}",
    }
    # The data does not compress, so the load follows from the link's rate.
    options = GatewayOptions(
        limits={"memory": "4GiB", "flows": "16384"},  # with 300 peers, 1 GiB is for 2,000 flows
        modes={"compress": "off"},
        records=records if folder else {},
    )
    with make_lab(link=Link(rate=20_000_000, rtt=0.2), options=options) as lab:
        with contextlib.ExitStack() as stack:
            if folder:
                collector = lab.gateway_a.space.socket(socket.AF_INET, socket.SOCK_DGRAM)
                stack.callback(collector.close)
                collector.bind(("127.0.0.1", COLLECTOR))
            stack.enter_context(panel_cost.idle_flows(lab))
            stack.enter_context(download(lab))
            stack.enter_context(short_connections(lab))
            near = lab.gateway_a
            status = near.query("status")
            note(f"{status['flows']} flows, {sum(status['peers'].values())} peers")
            time.sleep(12)  # time to finish the work that connecting has left
            yield lab
            if folder:
                written = near.query("records")
                check(written["written"] > 0 and written["exported"] > 0, f"no records: {written}")
                note(f"records: {written['written']} written, {written['exported']} exported")


def percent(values: list[float]) -> str:
    return f"{statistics.median(values):.3%} ({min(values):.3%} to {max(values):.3%})"


def tell_part(what: str, pairs: list[tuple[float, float]]) -> None:
    """`pairs` has a turn without the part and the turn with it."""
    off, on = [each[0] for each in pairs], [each[1] for each in pairs]
    added = [after - before for before, after in pairs]
    note(f"{what}: without {percent(off)}, with {percent(on)}, beside {percent(added)}")


@contextlib.contextmanager
def recording_lab():
    with tempfile.TemporaryDirectory(prefix="satrelay-records-") as folder:
        os.chmod(folder, 0o777)  # for any user that the gateways run as
        with busy_lab(folder) as lab:
            yield lab


def measure_part(part: str, wish) -> None:
    pairs: list[tuple[Turn, Turn]] = []
    for _ in range(wish.labs):
        with busy_lab("") as lab:
            off = []
            for _ in range(wish.pairs):
                off.append(turn(lab.gateway_a, "off"))
                if part == "records":
                    continue
                with observed(lab, {part}):
                    pairs.append((off[-1], turn(lab.gateway_a, part)))
        if part == "records":
            with recording_lab() as lab:
                pairs += [(each, turn(lab.gateway_a, part)) for each in off]
    tell_part("of a core", [(off.processor, on.processor) for off, on in pairs])
    tell_part("of the time in rounds", [(off.at_work, on.at_work) for off, on in pairs])


def tell(what: str, bare: list[float], pairs: list[tuple[float, float]]) -> None:
    """`bare` has turns without any observation; `pairs` has turns with records, without and with the rest."""
    off, on = [each[0] for each in pairs], [each[1] for each in pairs]
    added = [after - before for before, after in pairs]
    note(f"{what}: without records {percent(bare)}, with {percent(off)}, all on {percent(on)}")
    share = statistics.median(added) / statistics.median(bare)
    note(f"{what}: beside records {percent(added)}, the median {share:+.1%} of what it takes without")
    whole = statistics.median(on) - statistics.median(bare)
    note(f"{what}: all of it {whole:+.3%}, {whole / statistics.median(bare):+.1%}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", type=int, default=1)
    parser.add_argument("--labs", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, metavar="PART")
    wish = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (14_000, 14_000))
    if wish.peers > 1:
        panel_cost.PEERS = wish.peers
        settings.gateway_yaml = panel_cost.with_many_peers(settings.gateway_yaml)
    if wish.only:
        measure_part(wish.only, wish)
        return
    bare: list[Turn] = []
    pairs: list[tuple[Turn, Turn]] = []
    for _ in range(wish.labs):
        with busy_lab("") as lab:
            bare += [turn(lab.gateway_a, "bare") for _ in range(wish.pairs)]
        with recording_lab() as lab:
            for _ in range(wish.pairs):
                off = turn(lab.gateway_a, "records")
                with observed(lab, set(PARTS)):
                    pairs.append((off, turn(lab.gateway_a, "all")))
    tell(
        "of a core",
        [each.processor for each in bare],
        [(off.processor, on.processor) for off, on in pairs],
    )
    tell(
        "of the time in rounds",
        [each.at_work for each in bare],
        [(off.at_work, on.at_work) for off, on in pairs],
    )


if __name__ == "__main__":
    main()
