"""The table of compare.sh: medians of the figures in a folder, before and after, and their ratio."""
import json
import statistics
import sys
from pathlib import Path


def figures_of_gateway(report):
    """(row, figure, value) of one run of bench_gateway."""
    for row in report.get("rows") or []:
        yield row["name"], "LAN>STP ns", row["lan_to_stp"]["ns_per_frame"]
        yield row["name"], "STP>LAN ns", row["stp_to_lan"]["ns_per_frame"]
        yield row["name"], "copy ns", row["copy_ns"]
    for row in report.get("openings") or []:
        yield row["name"], "opens/s LAN>", row["opens_lan_to_stp"]
        yield row["name"], "opens/s STP>", row["opens_stp_to_lan"]
        yield row["name"], "closes/s LAN>", row["closes_lan_to_stp"]
        yield row["name"], "closes/s STP>", row["closes_stp_to_lan"]


def figures_of_flows(report):
    """The same of bench_flows."""
    for row in report["rows"]:
        yield row["name"], "heap bytes each", row["heap_bytes"]
        if "arena_bytes" in row:
            yield row["name"], "arena bytes each", row["arena_bytes"]


def gather(paths, figures):
    """Values by (row, figure), in their order in the files."""
    values = {}
    for path in paths:
        for row, figure, value in figures(json.loads(path.read_text())):
            values.setdefault((row, figure), []).append(value)
    return values


def lines(before, after):
    """A line for each figure that both have."""
    for key, old in before.items():
        if key not in after:
            continue
        old_median, new_median = statistics.median(old), statistics.median(after[key])
        ratio = f"{new_median / old_median:.2f}" if old_median else "-"
        yield f"{key[0]:<40} {key[1]:<16} {old_median:>12.0f} {new_median:>12.0f} {ratio:>7}"


def main():
    folder, revision, runs = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(f"\nMedians of {runs} runs in turn; before: {revision}, after: the working tree. What counts a second"
          "\nis better above 1.00, all else below.\n")
    print(f"{'':<40} {'':<16} {'before':>12} {'after':>12} {'ratio':>7}")
    for pattern, figures in (("{}-*.json", figures_of_gateway), ("flows-{}.json", figures_of_flows)):
        before, after = (gather(sorted(folder.glob(pattern.format(side))), figures)
                         for side in ("before", "after"))
        for line in lines(before, after):
            print(line)


if __name__ == "__main__":
    main()
