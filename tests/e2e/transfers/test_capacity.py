"""The link's capacity changes under running gateways. It is set on one side, and obeyed on the other."""

import subprocess

import pytest
from harness import ACCELERATED_PORT, Lab, RealTime, check, eventually, note
from lab.web import Web

LOW = 5_000_000
SIZE = 2_000_000


def capacity(lab: Lab, gateway, *words: str):
    return subprocess.run(
        [lab.programs.satrelayctl, "--socket", gateway.stats_socket, "capacity", *words],
        capture_output=True,
        text=True,
        timeout=20,
    )


def tell(lab: Lab, gateway, *words: str) -> None:
    done = capacity(lab, gateway, *words)
    check(done.returncode == 0, f"capacity {words}: {done.stderr}")


def seconds_for_a_download(web: Web, file) -> float:
    outcome = web.start(file, "download", ACCELERATED_PORT).finish()
    check(outcome.completed and outcome.sha256_ok, f"{outcome}")
    return outcome.seconds


@pytest.mark.lab(file_bytes=3 * SIZE)
def test_changes_are_obeyed(lab: Lab) -> None:
    web = Web(lab, (ACCELERATED_PORT,))
    file = web.make_file("random.bin", SIZE)
    fast = seconds_for_a_download(web, file)
    check(lab.gateway_b.peer()["announced_bps"] == 0, "something is announced at the start")
    tell(lab, lab.gateway_a, "sat", "receive", "5Mbit")
    eventually(lambda: lab.gateway_b.peer()["announced_bps"] == LOW, 5, "B hears of it")
    check(lab.gateway_b.peer()["send_rate_bps"] < LOW, "B sends faster than A receives")
    check(lab.gateway_b.peer()["counters"]["capacities_in"] == 1, "it was counted once")
    measured = RealTime()
    slow = seconds_for_a_download(web, file)
    note(f"2 MB at 50 Mbit/s: {fast:.2f} s, at 5 Mbit/s: {slow:.2f} s")
    check(slow > SIZE * 8 / LOW, "the download was faster than the link is said to be")
    measured.check(slow < SIZE * 8 / LOW + 2.5, "the download was much slower than the link")
    tell(lab, lab.gateway_b, "sat", "send", "2Mbit")
    check(lab.gateway_b.peer()["send_rate_bps"] < 2_000_000, "its own word is not obeyed")
    tell(lab, lab.gateway_b, "sat", "send", "configured")
    tell(lab, lab.gateway_a, "sat", "receive", "configured")
    eventually(lambda: lab.gateway_b.peer()["announced_bps"] == 0, 5, "B hears of the end")
    check(lab.gateway_b.peer()["send_rate_bps"] > LOW, "B stays slow")


def test_mistakes_are_told(lab: Lab) -> None:
    for words, expected in (
        (("sat", "send", "5Mb"), "rate"),
        (("moon", "send", "5Mbit"), "no such link"),
        (("sat", "send", "100Gbit"), "send_rate"),
    ):
        done = capacity(lab, lab.gateway_a, *words)
        check(done.returncode != 0, f"{words} was taken")
        check(expected in done.stderr, f"{words}: {done.stderr}")
