"""A condition, what a host saw of it, and how its two runs are compared."""

import statistics
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

# Through gateways a condition is worse if it took more than SLOWER times the bridge's time, and more than MARGIN
# seconds longer. MARGIN is less than half of a round trip.
SLOWER, MARGIN = 1.25, 0.25

EQUAL, WORSE, BETTER, NOT_RUN = "equal", "worse", "better", "not run"


class NotRun(Exception):
    """This machine cannot run the condition. The text says why."""


@dataclass(frozen=True)
class Seen:
    """The host's own view: an exit status, bytes, an error. `right` is true if the condition was met."""

    what: str
    right: bool = True
    seconds: float | None = None  # None: the time says nothing

    def __str__(self) -> str:
        return self.what if self.seconds is None else f"{self.what}, {self.seconds:.1f} s"


@dataclass(frozen=True)
class Condition:
    name: str
    run: Callable[..., Seen]  # takes a Site
    needs: tuple[str, ...] = ()  # programs
    fills: bool = False  # fills the link: it runs while no other condition does
    vlan: bool = False
    known: str = ""  # the reason, if it is worse by design
    # Makes a pair of sites for this condition alone, because it changes them or needs others.
    sites: Callable[[], AbstractContextManager] | None = None


@dataclass
class Row:
    condition: Condition
    bridge: list[Seen] = field(default_factory=list)
    gateways: list[Seen] = field(default_factory=list)
    not_run: str = ""

    @property
    def verdict(self) -> str:
        return self._judge()[0]

    @property
    def reason(self) -> str:
        return self._judge()[1]

    @property
    def is_slower(self) -> bool:
        """Whether it is worse in nothing but its time."""
        return self.verdict == WORSE and self.bridge[-1].what == self.gateways[-1].what

    def _judge(self) -> tuple[str, str]:
        if self.not_run:
            return NOT_RUN, self.not_run
        bridge, gateways = _together(self.bridge), _together(self.gateways)
        if not bridge.right and not gateways.right:
            return NOT_RUN, "fails over a plain bridge too"
        if not bridge.right:
            return BETTER, "fails over a plain bridge"
        if not gateways.right:
            return WORSE, "works over a plain bridge"
        if bridge.what != gateways.what:
            return WORSE, "the host sees something else"
        if bridge.seconds is None or gateways.seconds is None:
            return EQUAL, ""
        if _is_slower(gateways.seconds, bridge.seconds):
            return WORSE, f"{gateways.seconds / max(bridge.seconds, 0.001):.1f} times as long"
        return (BETTER, "faster") if _is_slower(bridge.seconds, gateways.seconds) else (EQUAL, "")

    def cells(self) -> list[str]:
        seen = [str(_together(runs)) if runs else "-" for runs in (self.bridge, self.gateways)]
        verdict = self.verdict + (f": {self.reason}" if self.reason else "")
        if self.verdict == WORSE and self.condition.known:
            verdict += f" ({self.condition.known})"
        return [self.condition.name, *seen, verdict]


def _is_slower(one: float, other: float) -> bool:
    return one > other * SLOWER and one > other + MARGIN


def _together(runs: list[Seen]) -> Seen:
    """Judges several runs by their median time. A run that went wrong decides alone."""
    for seen in runs:
        if not seen.right or seen.what != runs[0].what:
            return seen
    times = [seen.seconds for seen in runs if seen.seconds is not None]
    return Seen(runs[0].what, True, statistics.median(times) if times else None)


CONDITIONS: list[Condition] = []


def condition(name: str, *needs: str, **more):
    """Lists a function of a Site that returns what the host saw. `more` has other fields of Condition."""

    def add(run):
        CONDITIONS.append(Condition(name, run, needs, **more))
        return run

    return add
