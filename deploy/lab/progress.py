"""One line that shows the progress of a transfer."""

import sys
import time

from .units import show_rate, show_size


class Progress:
    """Rewrites its line on a terminal; elsewhere writes a new line every few seconds."""

    def __init__(self, title: str, total: int):
        self._title = title
        self._total = total
        self._terminal = sys.stderr.isatty()
        self._next = 0.0 if self._terminal else 5.0

    def show(self, arrived: int, elapsed: float, most_seconds: float) -> None:
        if elapsed < self._next:
            return
        self._next = elapsed + (0.2 if self._terminal else 5.0)
        rate = arrived / elapsed if elapsed > 0 else 0
        left = min((self._total - arrived) / rate if rate else most_seconds, most_seconds - elapsed)
        line = (
            f"{self._title}: {show_size(arrived)} of {show_size(self._total)}, "
            f"{show_rate(rate * 8)}, {max(0.0, left):.0f} s left"
        )
        self._write(line, "" if self._terminal else "\n")

    def done(self, summary: str) -> None:
        self._write(f"{self._title}: {summary}", "\n")

    def _write(self, line: str, end: str) -> None:
        start = "\r\033[K" if self._terminal else ""
        print(start + line, end=end, file=sys.stderr, flush=True)


def follow(transfer, progress: Progress, most_seconds: float) -> None:
    """Shows progress until the transfer is over."""
    while transfer.running():
        progress.show(transfer.arrived(), transfer.elapsed(), most_seconds)
        time.sleep(0.05)
