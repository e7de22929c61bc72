"""Runs a paper of satlab, and compares what it prints with the tables of docs/measurements.md.

    paper_figures.py SATLAB DOCUMENT PAPER [options of `satlab paper`]

A figure in the document that differs from the program's figure is a failure, as is a missed target. So is a case that
the document does not have. Unless --case chooses some cases, a row of the document that is no case is a failure, too.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

# One row: | `paper` | case | bound | measured | goal |
ROW = re.compile(r"\| `(?P<paper>[a-z]+)` \| (?P<case>[^|]+) \| (?P<bound>[^|]*) "
                 r"\| (?P<ours>[^|]*) \| (?P<target>[^|]*) \|")
NUMBER = re.compile(r"-?[0-9]+(?:\.([0-9]+))?")


def documented(text, paper):
    """The document's rows of a paper: {case: {"bound": cell, "ours": cell, "target": cell}}."""
    rows = {}
    for line in text.splitlines():
        match = ROW.fullmatch(line)
        if match and match["paper"] == paper:
            if match["case"] in rows:
                sys.exit(f"{paper}: two rows are of \"{match['case']}\"")
            rows[match["case"]] = match.groupdict()
    return rows


def difference(cell, value, unit):
    """The fault of a cell of the document, or None. The figure has as many decimals as the cell gives it."""
    if value is None:
        return None if cell.strip() == "" else f"has \"{cell}\", and there is no such figure"
    match = NUMBER.match(cell)
    if match is None:
        return f"has \"{cell}\" instead of {value:g}"
    decimals = len(match[1] or "")
    if decimals < decimals_of(value) and abs(float(match[0]) - value) > 1e-9:
        return f"has \"{cell}\", which is less precise than {value:.{decimals_of(value)}f}"
    expected = (f"{value:.{decimals}f} {unit}").strip()
    return None if cell.strip() == expected else f"has \"{cell}\" instead of \"{expected}\""


def decimals_of(value):
    """As many decimals as satlab's own table shows."""
    size = abs(value)
    return 1 if size >= 100 else 2 if size >= 10 else 3


def compare(rows, measured, whole):
    """The differences between the document's rows and the program's."""
    found = []
    for row in measured:
        cells = rows.get(row["case"])
        if cells is None:
            found.append(f"there is no row \"{row['case']}\"")
            continue
        for column in ("bound", "ours", "target"):
            wrong = difference(cells[column], row[column], row["unit"])
            if wrong:
                found.append(f"\"{row['case']}\", {column}: {wrong}")
    if whole:
        cases = {row["case"] for row in measured}
        found += [f"\"{case}\" is no case of it" for case in rows if case not in cases]
    return found


def main(satlab, document, paper, *options):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "paper.json"
        run = subprocess.run([satlab, "paper", paper, *options, "--json", output], check=False)
        if run.returncode not in (0, 1):
            sys.exit(f"satlab paper {paper} ended with {run.returncode}")
        measured = json.loads(output.read_text())["rows"]
    rows = documented(pathlib.Path(document).read_text(), paper)
    found = compare(rows, measured, whole="--case" not in options)
    for one in found:
        print(f"{document}: {paper}: {one}")
    return 1 if found else run.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
