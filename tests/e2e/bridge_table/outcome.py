"""The table, its sums, and the exit status."""

from .conditions import BETTER, EQUAL, NOT_RUN, WORSE, Row

HEAD = ["condition", "over a plain bridge", "through gateways", "verdict"]


def as_text(rows: list[Row]) -> str:
    return "\n".join(" | ".join(cells) for cells in [HEAD, *(row.cells() for row in rows)])


def as_markdown(rows: list[Row]) -> str:
    table = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n" for cells in table)


def summary(rows: list[Row]) -> str:
    count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in (EQUAL, BETTER, WORSE, NOT_RUN)}
    run = len(rows) - count[NOT_RUN]
    return f"{run} conditions: " + ", ".join(f"{number} {verdict}" for verdict, number in count.items())


def exit_status(rows: list[Row]) -> int:
    """1: a condition is worse. 2: no condition is worse, but some were not run."""
    verdicts = {row.verdict for row in rows}
    return 1 if WORSE in verdicts else 2 if NOT_RUN in verdicts else 0
