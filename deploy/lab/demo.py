#!/usr/bin/env python3
"""Files over an emulated satellite link, without satrelay and with it. Run by deploy/demo.sh."""

import argparse
import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from lab import kernel, settings, topology, units
from lab import lab as lab_module
from lab.daemon import DaemonFailed
from lab.lab import Lab, Programs
from lab.link import Link
from lab.panel import USER, Panel
from lab.progress import Progress, follow
from lab.report import Run, as_json, as_table
from lab.settings import GatewayOptions
from lab.web import Web

_REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_DIRECT_SECONDS = 30
_SELECTIONS = ("relayed", "direct", "download", "upload", "cubic", "bbr")


def _argument(parse, check=lambda value: True, must=""):
    """An argparse type with a message that says what was wrong."""

    def convert(text: str):
        try:
            value = parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not check(value):
            raise argparse.ArgumentTypeError(f"'{text}': {must}")
        return value

    return convert


def _selection(text: str) -> set[str]:
    chosen = set(filter(None, text.split(",")))
    unknown = chosen - set(_SELECTIONS)
    if unknown or not chosen:
        raise ValueError(f"'{text}' is not a list out of {', '.join(_SELECTIONS)}")
    return chosen


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="demo.sh",
        usage="deploy/demo.sh [options], see deploy/demo.sh --help",
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--rate",
        default="50Mbit",
        type=_argument(
            units.parse_rate, lambda v: 10**5 <= v <= 10**11, "from 100kbit to 100Gbit"
        ),
    )
    add(
        "--rtt",
        default="550ms",
        type=_argument(units.parse_duration, lambda v: 0 <= v <= 5, "from 0ms to 5s"),
    )
    add(
        "--loss",
        default="1",
        type=_argument(units.parse_percentage, lambda v: v <= 50, "at most 50 percent"),
    )
    add(
        "--size",
        default="20MB",
        type=_argument(units.parse_size, lambda v: 1 <= v <= 10**10, "from 1B to 10GB"),
    )
    add("--driver", default="af_packet", choices=("af_packet", "af_xdp"))
    add("--security", default="none", choices=("none", "psk"))
    add("--runs", default=",".join(_SELECTIONS), type=_argument(_selection))
    add("--json", metavar="FILE")
    add("--keep", action="store_true")
    add("--panel", action="store_true")
    add("--down", metavar="TAG")
    add("--build", default=os.path.join(_REPOSITORY, "build-lab"))
    add("--check-arguments", action="store_true")
    return parser


def main() -> int:
    given = _options().parse_args()
    if given.json and not os.access(os.path.dirname(os.path.abspath(given.json)), os.W_OK):
        _options().error(f"--json {given.json}: no such folder, or not writable")
    if given.check_arguments:
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        if given.down:
            lab_module.remove_kept(given.down)
            print(f"Lab {given.down} is down.")
            return 0
        return _demonstrate(given)
    except KeyboardInterrupt as stop:
        with contextlib.suppress(OSError):  # The terminal may be closed.
            print("\nStopped; the lab is gone.", file=sys.stderr)
        return 128 + (stop.args[0] if stop.args else signal.SIGINT)
    except (ValueError, OSError, DaemonFailed, kernel.CommandFailed) as error:
        print(f"demo.sh: {error}", file=sys.stderr)
        if "Operation not permitted" in str(error):
            print("The lab needs all rights of root: a container must be privileged.", file=sys.stderr)
        return 1


def _interrupted(number, frame):
    raise KeyboardInterrupt(number)


def _demonstrate(given) -> int:
    link = Link(rate=given.rate, rtt=given.rtt, loss=given.loss / 100)
    options = GatewayOptions(driver=given.driver, security=given.security)
    controls = [
        name for name in topology.available_congestion_controls() if name in ("cubic", "bbr")
    ]
    _say(f"Link: {link}, queue {units.show_size(link.queue_bytes)} (100 ms of the rate).")
    if given.security == "psk":
        _say("Between the gateways everything is encrypted, with a secret made for this run.")
    _say("Setting up: client - gateway A - satlink - gateway B - server ...")
    keep = given.keep or given.panel
    lab = Lab(Programs.of_build(given.build), link, options, file_bytes=2 * given.size, keep=keep)
    try:
        with lab:
            panel = _start_panel(given.build, lab) if given.panel else None
            web = Web(lab, (settings.ACCELERATED_PORT, settings.BRIDGED_PORT))
            file = web.make_file("random.bin", given.size)
            _say(
                f"File: {units.show_size(file.size)} of random bytes, which no compression "
                "shortens. Direct runs cross the same link, the gateways bridge them."
            )
            runs = _run_all(lab, web, file, _plan(given.runs, controls))
            if given.json:
                _write_json(given.json, as_json(link, given.driver, given.security, runs))
            print(f"\n{as_table(link, runs)}\n")
            _explain(link, runs)
            if keep:
                _tell_how_to_use(lab)
            if panel:
                _tell_of_panel(panel)
    except (DaemonFailed, kernel.CommandFailed):
        _show_logs(lab)
        raise
    good = all(run.sha256_ok for run in runs if run.completed)
    relayed = all(run.completed for run in runs if run.path == "relayed")
    return 0 if good and relayed else 1


def _start_panel(build: str, lab: Lab) -> Panel:
    """Starts before the transfers, so that it shows them."""
    panel = Panel(os.path.join(build, "relay", "satpanel", "satpanel"), lab.gateway_a, lab.folder)
    panel.start(lab)
    _tell_of_panel(panel)
    return panel


def _tell_of_panel(panel: Panel) -> None:
    _say(f"Panel of gateway A: {panel.address}   user {USER}, password {panel.password}")


def _plan(chosen: set[str], controls: list[str]) -> list[tuple[str, str, str]]:
    """(path, congestion control, direction) of each run. Relayed runs come first, since they are quick."""

    def kept(*group: str) -> list[str]:
        # A group without a chosen name is not narrowed.
        return [name for name in group if name in chosen] or list(group)

    paths = kept("relayed", "direct")
    directions = kept("download", "upload")
    wanted = [name for name in kept("cubic", "bbr") if name in controls]
    missing = [name for name in kept("cubic", "bbr") if name not in controls]
    if missing and "direct" in paths:
        _say(f"This kernel has no {' and no '.join(missing)}: left out.")
    plan = []
    for path in paths:
        for control in wanted[:1] if path == "relayed" else wanted:
            plan += [(path, control, direction) for direction in directions]
    return plan


def _run_all(lab: Lab, web: Web, file, plan) -> list[Run]:
    runs = []
    for number, (path, control, direction) in enumerate(plan, 1):
        lab.topology.use_congestion_control(control)
        lab.warm_up()
        relayed = path == "relayed"
        port = settings.ACCELERATED_PORT if relayed else settings.BRIDGED_PORT
        limit = 60 + 10 * lab.link.bound_seconds(file.size) if relayed else _DIRECT_SECONDS
        title = f"[{number}/{len(plan)}] {path} {direction}" + (
            "" if relayed else f", {control}"
        )
        progress = Progress(title, file.size)
        before = lab.gateway_a.counter("flows_established")
        transfer = web.start(file, direction, port, most_seconds=limit)
        follow(transfer, progress, limit)
        outcome = transfer.finish()
        for daemon in lab.daemons:
            daemon.must_run()
        was_relayed = lab.gateway_a.counter("flows_established") > before
        if was_relayed != relayed:
            raise kernel.CommandFailed(f"{title}: the gateway did not treat the flow as {path}")
        progress.done(_summary(outcome))
        runs.append(
            Run(
                path,
                control,
                direction,
                outcome.bytes,
                round(outcome.seconds, 3),
                outcome.completed,
                round(outcome.goodput),
                outcome.sha256_ok,
            )
        )
        # Bytes of a stopped run that are still in flight must not burden the next run.
        time.sleep(0 if outcome.completed else lab.link.rtt + lab.link.queue_time)
    return sorted(runs, key=lambda run: run.path == "relayed")


def _summary(outcome) -> str:
    text = (
        f"{units.show_size(outcome.bytes)} in {outcome.seconds:.2f} s, "
        f"{units.show_rate(outcome.goodput)}"
    )
    if not outcome.completed:
        return f"{text}, stopped: {outcome.error or 'its time was up'}"
    return f"{text}, SHA-256 {'equal' if outcome.sha256_ok else 'WRONG'}"


def _explain(link: Link, runs: list[Run]) -> None:
    _say(
        f"The bound: one RTT, and the bytes at {units.show_rate(link.payload_rate())}, what the "
        "link leaves for payload\nafter loss and the headers of frames and gateways."
    )
    if not all(run.completed for run in runs):
        _say(f"Stopped runs: a direct run ends after {_DIRECT_SECONDS} s with what arrived.")


def _write_json(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if "SUDO_UID" in os.environ:  # The file belongs to the user that typed sudo.
        os.chown(path, int(os.environ["SUDO_UID"]), int(os.environ.get("SUDO_GID", "-1")))


def _tell_how_to_use(lab: Lab) -> None:
    control = lab.programs.satrelayctl
    client, server = lab.client.name, lab.server.name
    _say(
        f"""The lab stays up. As root:
  ip netns exec {client} curl -o /dev/null \
http://{topology.SERVER.ipv4}:{settings.ACCELERATED_PORT}/random.bin   # relayed
  ip netns exec {client} curl -o /dev/null \
http://{topology.SERVER.ipv4}:{settings.BRIDGED_PORT}/random.bin   # direct
  ip netns exec {client} bash        # a host behind gateway A; the server's: {server}
  {control} --socket {lab.gateway_a.stats_socket} flows
  {control} --socket {lab.gateway_b.stats_socket} peers
  logs and configurations: {lab.folder}
Take it down with:
  deploy/demo.sh --down {lab.tag}"""
    )


def _show_logs(lab: Lab) -> None:
    for name, text in lab.last_logs.items():
        if text:
            print(f"--- log of {name}\n{text}", file=sys.stderr)


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
