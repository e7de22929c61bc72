#!/usr/bin/env python3
"""Real programs through the gateways: relayed and direct, IPv4 and IPv6, plain and on a VLAN.

Each program runs against a real server. The digest of what arrived must be that of what was sent. The gateways'
counters show whether a flow was relayed. Direct runs cross the same gateways and the same link, to an address for which
a rule bridges connections.
"""

import argparse
import contextlib
import os
import shutil
import sys
import threading
import time
import traceback
from dataclasses import dataclass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import frames
from harness import (
    SERVER,
    Failed,
    GatewayOptions,
    Lab,
    Link,
    check,
    check_memory_returns,
    eventually,
    make_lab,
    note,
)
from lab import units
from lab.topology import LAN_INTERFACE
from program_servers import Servers, require_programs
from program_table import PROGRAMS, Program, ProgramFailed, Visit

VLAN = 100
DIRECT = {4: "203.0.113.131", 6: "2001:db8::b:11"}
RELAYED = {4: SERVER.ipv4, 6: SERVER.ipv6}
RATE = 100_000_000  # bit/s
MOST_FAILURES = 3  # failures of one lab; then it gives up, as each may take a minute


@dataclass(frozen=True)
class Case:
    program: Program
    relayed: bool
    version: int  # of IP
    vlan: int

    def __str__(self) -> str:
        path = "relayed" if self.relayed else "direct"
        return f"{self.program.name}, {path}, {self.column}"

    @property
    def column(self) -> str:
        return ("VLAN" if self.vlan else "plain") + f" IPv{self.version}"


@dataclass(frozen=True)
class Result:
    seconds: float = 0.0
    equal: bool = False
    flows: int = 0  # relayed flows
    failure: str = ""


class Flows:
    """Connections that the two gateways took from their LANs and carried to the other's."""

    def __init__(self, lab: Lab):
        self._lab = lab
        self._seen = self._read()

    def _read(self) -> list[int]:
        counters = [gateway.counters() for gateway in self._lab.gateways]
        names = ("flows_established", "flows_from_peer", "bridged_by_rule", "bridged_mid_stream")
        return [sum(one[name] for one in counters) for name in names]

    def settle(self) -> None:
        """Waits until no packets of earlier programs are in flight: the last programs leave early."""
        quiet = 0.4 + 2 * self._lab.link.rtt
        for _ in range(20):
            before = self._read()
            time.sleep(quiet)
            self._seen = self._read()
            if self._seen == before:
                return

    def new(self) -> list[int]:
        """Since the last call: flows taken and carried over, frames bridged by rule and mid-stream."""
        before, self._seen = self._seen, self._read()
        return [now - then for now, then in zip(self._seen, before)]


class World:
    """One lab, its servers, and the results of its cases."""

    def __init__(self, vlan: int, version: int, programs: tuple[Program, ...], given):
        self._vlan = vlan
        self._version = version
        self.lab = make_lab(
            Link(rate=RATE, rtt=given.rtt, loss=given.loss / 100),
            GatewayOptions(
                bridged_hosts=(f"{DIRECT[4]}/32", f"{DIRECT[6]}/128"), modes=given.modes
            ),
            file_bytes=40_000_000,
            vlans=(vlan,) if vlan else (),
        )
        self._programs = programs
        self.results: dict[Case, Result] = {}
        self.error = ""
        self.servers: Servers

    def set_up(self) -> None:
        interface = SERVER.interface
        self.lab.server.ip("addr", "add", f"{DIRECT[4]}/24", "dev", interface)
        self.lab.server.ip("addr", "add", f"{DIRECT[6]}/64", "dev", interface, "nodad")
        address = DIRECT[self._version]
        self.lab.client.run("ping", f"-{self._version}", "-n", "-c", "1", "-W", "5", address)
        self.servers = Servers(self.lab, [address, RELAYED[self._version]])

    def run(self, stopped: threading.Event) -> None:
        try:
            self._run_all(stopped)
        except Exception:
            # When stopped, the lab goes away during the run.
            if not stopped.is_set():
                self.error = traceback.format_exc()

    def _run_all(self, stopped: threading.Event) -> None:
        flows = Flows(self.lab)
        for relayed in (False, True):
            flows.settle()
            for program in self._programs:
                failures = sum(bool(result.failure) for result in self.results.values())
                if stopped.is_set() or failures >= MOST_FAILURES:
                    return
                case = Case(program, relayed, self._version, self._vlan)
                self.results[case] = self._judge(case, flows)

    def _judge(self, case: Case, flows: Flows) -> Result:
        folder = os.path.join(self.lab.folder, "arrived")
        os.makedirs(folder)
        addresses = RELAYED if case.relayed else DIRECT
        visit = Visit(self.lab, self.servers, addresses[case.version], folder)
        equal, seconds, problems = False, 0.0, []
        try:
            began = time.monotonic()
            arrivals = case.program.run(visit)
            seconds = time.monotonic() - began
            equal = all(sent == arrived for sent, arrived in arrivals)
            if not equal:
                problems.append("what arrived is not what was sent")
        except (ProgramFailed, Failed, OSError) as error:
            problems += [str(error), self.servers.logs()]
        finally:
            shutil.rmtree(folder)
            incoming = self.servers.files.incoming
            for entry in os.listdir(incoming):
                path = os.path.join(incoming, entry)
                (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
        taken, carried, by_rule, mid_stream = flows.new()
        expected = case.program.flows if case.relayed else 0
        if (taken, carried) != (expected, expected):
            problems.append(f"{taken} flows taken and {carried} carried over, not {expected}")
        if not case.relayed and by_rule == 0:
            problems.append("no frame was bridged by rule")
        if case.relayed and mid_stream > 0 and not case.program.leaves_early:
            problems.append(f"{mid_stream} frames went past the relay")
        return Result(seconds, equal, carried, "\n".join(problems))


# --- the table ------------------------------------------------------------------------------------


def rows(results: dict[Case, Result], programs: tuple[Program, ...]) -> list[list[str]]:
    columns = list(dict.fromkeys(case.column for case in sorted(results, key=_column_order)))
    table = [["program, seconds direct / relayed", *columns, "compared", "equal", "flows relayed"]]
    for program in programs:
        own = {case: result for case, result in results.items() if case.program is program}
        cells = []
        for column in columns:
            times = {c.relayed: r for c, r in own.items() if c.column == column}
            cells.append(" / ".join(_seconds(times.get(relayed)) for relayed in (False, True)))
        equal = sum(result.equal for result in own.values())
        relayed = sorted({result.flows for case, result in own.items() if case.relayed})
        flows = " to ".join(str(count) for count in dict.fromkeys(relayed[:1] + relayed[-1:]))
        row = [program.name, *cells, program.compared, f"{equal} of {len(own)}", flows or "-"]
        table.append(row)
    return table


def _column_order(case: Case) -> tuple[int, int]:
    return case.vlan, case.version


def _seconds(result: Result | None) -> str:
    if result is None:
        return "-"
    return "FAILED" if result.failure else f"{result.seconds:.2f}"


def as_text(table: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table
    )


def as_markdown(table: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]]) + "\n"


# --- the test -------------------------------------------------------------------------------------


def tags_are_on_the_cable(lab: Lab, vlan: int) -> None:
    """Checks that the client's frames carry the tag at the gateway's LAN port."""
    with frames.Tap(lab.gateway_a.space, LAN_INTERFACE) as tap:
        lab.client.run("ping", "-n", "-c", "1", "-W", "5", SERVER.ipv4)
        seen = tap.receive(0.2)
    tag = b"\x81\x00" + vlan.to_bytes(2, "big")
    pings = [frame for frame in seen if frame[12:14] == b"\x08\x00" or frame[12:16] == tag]
    check(pings, "no ping was seen on the cable")
    check(all(frame[12:16] == tag for frame in pings), f"frames without the tag {vlan}")


def programs(given: argparse.Namespace) -> None:
    require_programs()
    chosen = tuple(program for program in PROGRAMS if given.only in program.name)
    check(chosen, f"no program's name has '{given.only}' in it")
    worlds = [
        World(vlan, version, chosen, given) for vlan in (0, VLAN) for version in (4, 6)
    ]
    stopped = threading.Event()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        for world in worlds:
            stack.enter_context(world.lab)
            world.set_up()
        tags_are_on_the_cable(worlds[-1].lab, VLAN)
        note(f"{len(worlds)} labs and their servers are up ({time.monotonic() - began:.0f} s)")
        # All worlds run at the same time, as the programs mostly wait for the link. If the context is left early, also
        # by Ctrl-C, the programs end with their labs.
        threads = [threading.Thread(target=world.run, args=(stopped,)) for world in worlds]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.1)
        finally:
            stopped.set()
        note(f"all programs have ended ({time.monotonic() - began:.0f} s)")
        judge(worlds, chosen, given.markdown)
    for thread in threads:
        thread.join()


def judge(worlds: list[World], chosen: tuple[Program, ...], markdown: str) -> None:
    results = {case: result for world in worlds for case, result in world.results.items()}
    failures = {case: result for case, result in results.items() if result.failure}
    for case, result in failures.items():
        note(f"=== {case}: FAILED\n{result.failure}\n")
    table = rows(results, chosen)
    note(as_text(table))
    for world in worlds:
        check(not world.error, world.error)
    if markdown:
        with open(markdown, "w", encoding="ascii") as file:
            file.write(as_markdown(table))
    check(not failures, f"{len(failures)} of {len(results)} runs failed")
    wanted = 8 * len(chosen)
    check(len(results) == wanted, f"only {len(results)} of {wanted} runs were made")
    for world in worlds:
        for gateway in world.lab.gateways:
            bad = gateway.counter("dropped_bad_checksum")
            check(bad == 0, f"{gateway.name}: {bad} bad checksums on a clean LAN")
            eventually(lambda: not gateway.query("flows"), 30, "no flow is left")
        check_memory_returns(world.lab)


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with this in the name")
    parser.add_argument(
        "--rtt", default=0.1, type=units.parse_duration, help="of the link, such as 550ms"
    )
    parser.add_argument(
        "--loss", default=0, type=units.parse_percentage, help="of the link, each way, such as 1%%"
    )
    parser.add_argument(
        "--modes",
        default={},
        type=lambda text: dict(mode.split("=") for mode in text.split(",")),
        help="of the relayed flows, such as handshake=remote,window=mirror",
    )
    parser.add_argument("--markdown", default="", metavar="FILE", help="write the table there")
    return parser.parse_args(words)


def test_real_programs() -> None:
    programs(arguments([]))


if __name__ == "__main__":
    programs(arguments(sys.argv[1:]))
