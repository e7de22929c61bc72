"""Runs each condition on the two sites of a pair at the same time. Conditions share a pair, or have one of their
own."""

import contextlib
import functools
import queue
import sys
import threading
import time
from collections.abc import Callable

from .conditions import Condition, NotRun, Row, Seen
from .programs import path_of
from .sites import Site, pair_of_sites

PAIRS = 2  # of labs without a VLAN, which share the conditions
SIDE_BY_SIDE = 8  # conditions that share a pair at a time, since they leave room on its link
AGAIN = 2  # runs more of a condition that was slower; then medians are compared


def run_table(conditions: list[Condition]) -> list[Row]:
    rows = [Row(condition) for condition in conditions]
    for row in rows:
        missing = [program for program in row.condition.needs if not path_of(program)]
        if missing:
            row.not_run = f"not installed: {', '.join(missing)}"
    progress = Progress(rows)
    shared = [row for row in rows if not row.not_run and row.condition.sites is None]
    ordinary = [row for row in shared if not row.condition.vlan]
    tagged = [row for row in shared if row.condition.vlan]
    parts = [ordinary[number::PAIRS] for number in range(PAIRS)] + [tagged]
    with contextlib.ExitStack() as stack:
        tables = [
            (Table(*stack.enter_context(pair_of_sites(vlan=part is tagged)), progress), part)
            for part in parts
            if part
        ]
        progress.say(f"{len(tables)} pairs of labs and their servers are up")
        for run in (Table.run_together, Table.run_alone, Table.repeat):
            _side_by_side([functools.partial(run, table, part) for table, part in tables])
    for row in rows:
        if not row.not_run and row.condition.sites is not None:
            with row.condition.sites() as pair:
                Table(*pair, progress).run_alone([row])
    return rows


class Progress:
    """Lines on standard error."""

    def __init__(self, rows: list[Row]):
        self._all = len(rows)
        self._done = sum(bool(row.not_run) for row in rows)
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._began:4.0f} s] {text}", file=sys.stderr, flush=True)

    def tell(self, row: Row) -> None:
        self._done += 1
        self.say(f"{self._done} of {self._all}: {' | '.join(row.cells())}")


class Table:
    def __init__(self, bridge: Site, gateways: Site, progress: Progress):
        self._pair = (bridge, gateways)
        self._progress = progress

    def run_together(self, rows: list[Row]) -> None:
        waiting: queue.SimpleQueue[Row] = queue.SimpleQueue()
        for row in rows:
            if not row.condition.fills:
                waiting.put(row)

        def work():
            with contextlib.suppress(queue.Empty):
                while True:
                    self._judge(waiting.get_nowait())

        _side_by_side([work] * SIDE_BY_SIDE)

    def run_alone(self, rows: list[Row]) -> None:
        for row in rows:
            if row.condition.fills or row.condition.sites is not None:
                self._judge(row)

    def repeat(self, rows: list[Row]) -> None:
        """Runs slower conditions again: other programs may have held up one of the two runs."""
        for row in (row for row in rows if row.is_slower):
            for _ in range(AGAIN):
                self._run(row)
            self._progress.say(f"{AGAIN} times more: {' | '.join(row.cells())}")

    def _judge(self, row: Row) -> None:
        self._run(row)
        self._progress.tell(row)

    def _run(self, row: Row) -> None:
        """Runs both at once, so that both have the same conditions on the machine."""
        _side_by_side(
            [
                lambda: _look(row, row.bridge, self._pair[0]),
                lambda: _look(row, row.gateways, self._pair[1]),
            ]
        )


def _look(row: Row, into: list[Seen], site: Site) -> None:
    try:
        into.append(row.condition.run(site))
    except NotRun as reason:
        row.not_run = str(reason)
    except BaseException as error:  # a check of the end-to-end tests that gives up raises one
        into.append(Seen(f"{type(error).__name__}: {error}".splitlines()[0], False))


def _side_by_side(jobs: list[Callable[[], None]]) -> None:
    """Runs jobs in threads of their own, so that Ctrl-C in the main thread does not wait for jobs that still run."""
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.1)
