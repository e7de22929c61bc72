"""What became of a test."""

from dataclasses import dataclass, field

PASS, FAIL, SKIP = "pass", "fail", "skip"


@dataclass
class Case:
    name: str
    result: str
    reason: str = ""  # of a skip


@dataclass
class Outcome:
    """One program; it may hold many cases (GoogleTest) or be its own only one."""

    name: str
    result: str
    seconds: float
    cases: list[Case] = field(default_factory=list)
    note: str = ""  # of a failure or a skip: one line
    log: str = ""
    # What was measured in real time and not judged, as others kept the machine busy.
    disturbed: list[str] = field(default_factory=list)

    def count(self, result: str) -> int:
        if not self.cases:
            return int(self.result == result)
        count = sum(case.result == result for case in self.cases)
        # A crash after the last case, a leak found at exit: the program failed, though no case did.
        if result == FAIL and self.result == FAIL and count == 0:
            return 1
        return count
