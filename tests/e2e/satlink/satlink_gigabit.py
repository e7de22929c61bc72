#!/usr/bin/env python3
"""Longer check, not part of tests/run.sh: how much satlink carries on this machine, and at what cost.

    sudo tests/e2e/satlink/satlink_gigabit.py [--rate 1000] [--delay 550] [--size 1514] [--seconds 15]
        [--both] [--driver af_packet|af_xdp] [--polling adaptive|busy]

Sends full-size frames at 98% of the link's rate, one way or both. Prints what arrived, how late, and the share of one
core that satlink took. Sender and receiver run on the same machine and use its processors, too.
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import check, note
from satlink.path import Path, finish


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rate", type=float, default=1000, help="of the link, Mbit/s")
    parser.add_argument("--delay", type=int, default=550, help="one way, ms")
    parser.add_argument("--size", type=int, default=1514, help="of a frame, bytes")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--both", action="store_true", help="load both directions")
    parser.add_argument("--driver", default="af_packet")
    parser.add_argument("--polling", default="adaptive")
    return parser.parse_args()


ARGUMENTS = options()


def hold_the_link() -> None:
    a = ARGUMENTS
    mtu = max(1500, a.size - 14)
    more = f"worker: {{polling: {a.polling}}}"
    link = f"both: {{rate: {a.rate:g}Mbit, delay: {a.delay}ms}}"
    with Path(link, more, mtu=mtu, driver=a.driver) as path:
        ways = [("a_to_b", path.left, "s0", path.right, "s1")]
        if a.both:
            ways.append(("b_to_a", path.right, "s1", path.left, "s0"))
        receivers = [
            path.start_receiver(sink, end, a.delay / 1000 + 1) for _, _, _, sink, end in ways
        ]
        cpu, began = path.satlink.cpu_seconds(), time.monotonic()
        senders = [
            path.start_sender(source, end, a.size, a.rate * 0.98e6, a.seconds)
            for _, source, end, _, _ in ways
        ]
        sent = [finish(sender) for sender in senders]
        elapsed = time.monotonic() - began
        user, system = (now - then for now, then in zip(path.satlink.cpu_seconds(), cpu))
        seen = [finish(receiver) for receiver in receivers]
        counters = path.counters()
        note(
            f"satlink: user {100 * user / elapsed:.0f}%, system {100 * system / elapsed:.0f}% "
            f"of one core, {path.satlink.resident_bytes() >> 20} MiB resident"
        )
        for (way, *_), s, r in zip(ways, sent, seen):
            lost = s["sent"] - r["frames"] - r["missed_by_receiver"]
            delays = r["delay_ms"]
            note(
                f"{way}: sent {s['sent']} frames in {s['seconds']:.1f} s, {lost} lost, "
                f"{r['missed_by_receiver']} missed by the receiver; {r['rate'] / 1e6:.1f} Mbit/s; "
                f"delay p50 {delays['p50']:.2f}, p99 {delays['p99']:.2f}, max {delays['max']:.2f} ms"
            )
            note(f"   model: {counters[way]}")
        for name in ("port_a", "port_b"):
            note(f"   {name}: {counters[name]}")
        for s, r in zip(sent, seen):
            kept = (r["frames"] + r["missed_by_receiver"]) / s["sent"]
            check(kept > 0.999, f"{100 * kept:.2f}% of the frames came through")
            check(s["seconds"] < a.seconds * 1.02, "the sender kept its rate")


if __name__ == "__main__":
    hold_the_link()
