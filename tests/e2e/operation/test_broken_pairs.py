"""Each of these broken pairs is named with its cure within 30 s: by --check, by doctor, or by an event.

The last lines are a table in Markdown: the words of each, and the seconds from the start of the pair.
"""

import json
import subprocess
import time

import pytest
from broken_pairs import PAIRS, BoxedTopology, Pair
from harness import check, make_lab, needs_root, note, programs
from lab import telemetry
from lab.lab import Lab
from lab.link import Link
from lab.settings import GatewayOptions

pytestmark = [needs_root, pytest.mark.long]

IN_TIME = 30  # seconds


class Bench:
    """A lab with a box in its path, whose pair is broken and mended again."""

    def __init__(self, lab: Lab):
        self.lab = lab
        self.box = lab.topology.box
        self.rows: list[str] = []
        self._texts = []
        for gateway in lab.gateways:
            with open(gateway.config_path, encoding="ascii") as file:
                self._texts.append(file.read().replace("/30}", "/28}"))

    def break_pair(self, pair: Pair) -> None:
        for gateway in self.lab.gateways:
            gateway.daemon.stop()
        self._write(self._texts)
        pair.prepare(self.lab)
        for gateway, changes in zip(self.lab.gateways, (pair.a, pair.b)):
            with open(gateway.config_path, encoding="ascii") as file:
                text = file.read()
            for old, new in changes:
                check(old in text, f"no {old!r} in {text}")
                text = text.replace(old, new, 1)
            with open(gateway.config_path, "w", encoding="ascii") as file:
                file.write(text)
        self.box.passes = pair.passes

    def _write(self, texts: list[str]) -> None:
        for gateway, text in zip(self.lab.gateways, texts):
            with open(gateway.config_path, "w", encoding="ascii") as file:
                file.write(text)

    def mend(self, pair: Pair) -> None:
        pair.clean(self.lab)
        self.box.passes = lambda frame, direction: True
        self._write(self._texts)


@pytest.fixture(scope="module")
def bench():
    with make_lab(
        Link(rtt=0.02, loss=0), GatewayOptions(security="psk"), offloads=False, cables=BoxedTopology
    ) as lab:
        bench = Bench(lab)
        yield bench
        note("\n| mistake | told by | words | after |\n|---|---|---|---|\n" + "\n".join(bench.rows))


def checked(gateway) -> list[str]:
    """The mistake or the warnings that --check prints."""
    done = subprocess.run(
        gateway.space.command(programs().satrelayd, "-c", gateway.config_path, "--check"),
        capture_output=True,
        text=True,
        timeout=20,
    )
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if "warning:" in line or done.returncode != 0]


def found_by_doctor(gateway) -> list[dict]:
    done = subprocess.run(
        gateway.space.command(programs().satrelayctl, "doctor", "-c", gateway.config_path, "--json"),
        capture_output=True,
        text=True,
        timeout=20,
    )
    return json.loads(done.stdout)["findings"]


def events_of(gateway) -> list[dict]:
    try:
        return gateway.events()
    except telemetry.StatsUnavailable:
        return []


def fits(pair: Pair, name: str, cure: str) -> bool:
    return name in pair.names and any(words in cure for words in pair.cure)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.at_most(120)
def test_broken_pair(bench: Bench, name: str) -> None:
    pair, lab = PAIRS[name], bench.lab
    bench.break_pair(pair)
    told: dict[str, str] = {}  # by the one that tells: a row of the table
    try:
        for letter, gateway in zip("AB", lab.gateways):
            for line in checked(gateway):
                if fits(pair, "--check", line):
                    told[f"--check at {letter}"] = f"{line.split(': ', 1)[1]} | 0 s"
        if not told:
            watch(pair, lab, told)
    finally:
        bench.mend(pair)
    for who, row in told.items():
        bench.rows.append(f"| {pair.title} | {who} | {row} |")
        note(bench.rows[-1])
    check(told, f"nobody names {pair.title}")


def watch(pair: Pair, lab: Lab, told: dict[str, str]) -> None:
    running = [(lab.gateway_a, "A")] + ([(lab.gateway_b, "B")] if pair.starts_b else [])
    for gateway, _ in running:
        gateway.start()
    began = time.monotonic()
    pair.act(lab)

    def note_told(who: str, subject: str, name: str, cure: str) -> None:
        if fits(pair, name, cure) and who not in told:
            told[who] = f"{subject}: {name}; {cure} | {time.monotonic() - began:.0f} s"

    def has_all() -> bool:
        return any("event" in who for who in told) and any("doctor" in who for who in told)

    while time.monotonic() - began < IN_TIME and not has_all():
        pair.repeat(lab)
        for gateway, letter in running:
            for finding in found_by_doctor(gateway):
                note_told(f"doctor at {letter}", finding["subject"], finding["check"], finding["cure"])
            for event in events_of(gateway):
                cure = event.get("advice", "")
                note_told(f"an event at {letter}", event["subject"], event.get("check", event["name"]), cure)
        time.sleep(0.5)
