"""satperf through satlink at 50 Mbit/s and 550 ms: its reports, and its failures."""

import json
import os
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable

from harness import Failed, Link, RealTime, check, eventually, needs_root, note
from satperf_runs import (PROGRAM, SERVER, SERVER_V6, Outcome, Path, Server, client, path_of,
                          start)

LINK = Link(rate=50_000_000, rtt=0.55, loss=0)
SECONDS = 4
# The gateways reach 96.5% of the bound over 100 MB, start and end included. Here only the steady state counts, which
# has 99% on an idle machine.
LEAST_SHARE = 0.93
# The last byte needs half a round trip, and the repair of the last losses another one. At 1% loss one run in five loses
# repairs, too, and needs one round trip more. That leaves 4 s of 5.4 s, at 0.93 in steady state.
LEAST_WHOLE = 0.68
# Other work on the machine lowers the rate, since the pacer does not make up for lost time.
ATTEMPTS = 3

NO_SERVER, INTERRUPTED = 3, 130


def steady_rate(receiver: Outcome) -> float:
    """Unique payload stored, by the receiver's own reports, without start and end."""
    rates = [
        line["stored_bps"]
        for line in receiver.all("interval")
        if 1500 < line["time_ms"] < 1000 * SECONDS
    ]
    return statistics.fmean(rates) if len(rates) >= 8 else 0.0  # 0.0: too few intervals


def rate_of(path: Path, loss: float, *arguments: str) -> None:
    path.control(f"set both loss {loss}")
    for attempt in range(1, ATTEMPTS):
        try:
            measure(path, loss, check, *arguments)
            return
        except Failed as failed:
            note(f"   attempt {attempt}: {failed}")
    measure(path, loss, RealTime().check, *arguments)


def measure(path: Path, loss: float, judge, *arguments: str) -> None:
    bound = Link(rate=LINK.rate, rtt=LINK.rtt, loss=loss).payload_rate()
    with Server(path) as server:
        near = Outcome(client(path, "--seconds", str(SECONDS), "--interval", "300ms", *arguments))
        check(near.status == 0, f"exit status {near.status}: {near.error}")
        far = server.stop()
    check(far.summary["outcome"] == "complete", f"the server saw: {far.summary}")
    sender, receiver = near.summary["sender"], near.summary["receiver"]
    check(receiver["delivered_bytes"] == sender["sent_bytes"], "every byte sent is delivered")
    check(receiver["blocks_checked"] >= receiver["delivered_bytes"] // 65536, "and checked")
    check(receiver["blocks_damaged"] == 0, "and right")
    steady = steady_rate(near if "--reverse" in arguments else far) / bound
    whole = near.summary["goodput_bps"] / bound
    lost = sender["packets_lost"] / sender["packets_out"]
    note(f"   {loss:.0%} loss {' '.join(arguments)}: stored {steady:.1%} of the bound in steady "
         f"state, in order {whole:.1%} with start and end, {lost:.2%} lost, "
         f"RTT {sender['rtt_us'] / 1e3:.1f} ms")
    judge(LEAST_SHARE <= steady < 1.01, f"{steady:.1%} of the bound in steady state")
    judge(LEAST_WHOLE <= whole < 1.01, f"{whole:.1%} of the bound with start and end")
    judge(loss / 2 <= lost <= 2 * loss + 0.001, f"{lost:.2%} lost, of {loss:.2%}")
    check(550_000 <= sender["rtt_us"], f"RTT of {sender['rtt_us']} us")
    judge(sender["rtt_us"] < 700_000, f"RTT of {sender['rtt_us']} us")


def throughput(path: Path) -> None:
    # Goodput.* (tests/sim) has more losses, and none, in virtual time.
    rate_of(path, 0.01)
    rate_of(path, 0.01, "--reverse", "--streams", "3")
    path.control("set both loss 0")


def one_client_after_another(path: Path) -> None:
    with Server(path) as server:
        for number, address in enumerate((SERVER_V6, SERVER)):
            first = client(path, "--bytes", "200kB", address=address)
            outcome = Outcome(first)
            check(outcome.status == 0, f"run {number}: {outcome.error}")
            check(outcome.summary["receiver"]["delivered_bytes"] == 200_000, "all has arrived")
        long = client(path, "--seconds", "60")
        check("start" in long.stdout.readline(), "a third run begins")
        refused = Outcome(client(path, "--bytes", "1kB"))
        check(refused.status == NO_SERVER, f"a fourth is refused: {refused.status}")
        check("busy with another client" in refused.error, refused.error)
        long.send_signal(signal.SIGINT)
        interrupted = Outcome(long)
        check(interrupted.status == INTERRUPTED, f"Ctrl-C: exit status {interrupted.status}")
        check(interrupted.summary["outcome"] == "interrupted", "and its summary")
        last = Outcome(client(path, "--bytes", "1kB"))
        check(last.status == 0, f"Ctrl-C frees the server at once: {last.error}")
        outcomes = [line["outcome"] for line in server.stop().all("summary")]
        check(outcomes == ["complete", "complete", "failed", "complete"], f"{outcomes}")


def nobody_there(path: Path) -> None:
    closed = Outcome(client(path, "--port", "9"))
    check(closed.status == NO_SERVER, f"closed port: exit status {closed.status}")
    check("no satperf server listens at 10.77.0.2:9" in closed.error, closed.error)
    silent = Outcome(client(path, "--timeout", "300ms", address="10.77.0.99"))
    check(silent.status == NO_SERVER, f"no host: exit status {silent.status}")
    check("no satperf server answers at 10.77.0.99:7879 within 300ms" in silent.error, silent.error)
    unknown = Outcome(client(path, address="nosuch.invalid"))
    check(unknown.status == NO_SERVER, f"unknown name: exit status {unknown.status}")
    check("cannot resolve nosuch.invalid" in unknown.error, unknown.error)
    large = Outcome(client(path, "--segment", "9000"))
    check(large.status == 2 and "has an MTU of 1508" in large.error, large.error)


def server_dies(path: Path) -> None:
    for number, most, said in ((signal.SIGTERM, 1.5, "has stopped"), (signal.SIGKILL, 2, "is gone")):
        with Server(path) as server:
            running = client(path, "--seconds", "60")
            check("start" in running.stdout.readline(), "the run begins")
            server.process.send_signal(number)
            eventually(lambda: running.poll() is not None, most, "the client notices")
            outcome = Outcome(running)
            check(outcome.status == 1, f"exit status {outcome.status}")
            check(said in outcome.error, outcome.error)
            check(outcome.summary["outcome"] == "failed", "and its summary")


def client_dies(path: Path) -> None:
    """The client's place is free three seconds later, long before the server gives the client up."""
    with Server(path) as server:
        running = client(path, "--seconds", "60")
        check("start" in running.stdout.readline(), "the run begins")
        running.kill()
        running.communicate()

        def served() -> bool:
            return Outcome(client(path, "--bytes", "1kB")).status == 0
        eventually(served, 8, "another client gets its turn")
        check(server.stop().all("summary")[0]["outcome"] == "failed", "the first run failed")


def report_to_file(path: Path) -> None:
    with Server(path), tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "report.json")
        outcome = Outcome(client(path, "--bytes", "1kB", "--output", file))
        with open(file, encoding="utf-8") as report:
            check([json.loads(line) for line in report] == outcome.lines, "FILE is what was printed")


def finds_the_link(path: Path) -> None:
    path.control("set b_to_a rate 10Mbit")
    with Server(path):
        judge = RealTime().check
        outcome = Outcome(start(path.left, "client", SERVER, "--find", "--seconds", "8"))
        check(outcome.status == 0, f"exit status {outcome.status}: {outcome.error}")
        found = outcome.all("found")[0]
        check(found["links"].startswith("links:\n  sat: {"), found["links"])
        check(550_000 <= found["rtt_us"], f"RTT of {found['rtt_us']} us")
        note(f"   found {found['send_bps'] / 1e6:.1f} up, {found['receive_bps'] / 1e6:.1f} down")
        judge(45e6 <= found["send_bps"] <= 52e6, f"{found['send_bps']} bit/s up")
        judge(9e6 <= found["receive_bps"] <= 10.4e6, f"{found['receive_bps']} bit/s down")
    path.control("set b_to_a rate 50Mbit")


def needs_no_dpdk() -> None:
    libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    check("librte" not in libraries, libraries)


def run(*parts: Callable[[Path], None]) -> None:
    with path_of(LINK) as path:
        for part in parts:
            part(path)
            note(f"   {part.__name__.replace('_', ' ')}")


@needs_root
def test_rates() -> None:
    run(throughput, finds_the_link)


@needs_root
def test_conduct() -> None:
    needs_no_dpdk()
    run(one_client_after_another, nobody_there, server_dies, client_dies, report_to_file)
