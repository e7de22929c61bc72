"""The demo's table and JSON."""

import json
from dataclasses import asdict, dataclass

from .link import Link
from .units import show_rate


@dataclass(frozen=True)
class Run:
    path: str  # direct | relayed
    congestion_control: str  # of the hosts
    direction: str  # download | upload
    bytes: int
    seconds: float
    completed: bool
    goodput_bps: int
    sha256_ok: bool


def as_json(link: Link, driver: str, security: str, runs: list[Run]) -> str:
    described = {
        "rate_bps": link.rate,
        "rtt_ms": round(link.rtt * 1e3, 3),
        "loss_percent": round(link.loss * 100, 6),
        "queue_bytes": link.queue_bytes,
        "payload_bound_bps": round(link.payload_rate()),
        "driver": driver,
        "security": security,
    }
    return json.dumps({"link": described, "runs": [asdict(run) for run in runs]}, indent=2) + "\n"


def as_table(link: Link, runs: list[Run]) -> str:
    direct = {
        (run.congestion_control, run.direction): run for run in runs if run.path == "direct"
    }
    compared = list(dict.fromkeys(control for control, _ in direct))
    if all(run.path == "direct" for run in runs):
        compared = []
    header = ["path", "congestion", "direction", "time", "goodput"]
    header += ["of link", "of bound", "SHA-256"]
    header += [f"vs {control}" for control in compared]
    rows = [header]
    for run in runs:
        bound = run.bytes * 8 / link.bound_seconds(run.bytes)
        row = [
            run.path,
            run.congestion_control,
            run.direction,
            f"{run.seconds:.2f} s" + ("" if run.completed else " (stopped)"),
            show_rate(run.goodput_bps),
            f"{100 * run.goodput_bps / link.rate:.1f}%",
            f"{100 * run.goodput_bps / bound:.1f}%" if run.completed else "-",
            ("equal" if run.sha256_ok else "WRONG") if run.completed else "-",
        ]
        for control in compared:
            other = direct.get((control, run.direction))
            faster = run.path == "relayed" and other is not None and other.goodput_bps > 0
            row.append(f"{run.goodput_bps / other.goodput_bps:.1f}x" if faster else "-")
        rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    numeric = range(3, len(header))
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
