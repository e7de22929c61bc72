#!/usr/bin/env python3
"""Runs files of tests side by side, each by a pytest of its own, and makes one report of them.

Usage: side_by_side.py [--jobs N] --report FILE [--folder FOLDER] -- [PYTEST'S OPTION]...

Labs are in namespaces that are named after the process, so files do not collide. The files with the longest tests begin
first. The output of a file is shown when the file ends. Ctrl-C or SIGTERM lets each pytest take down what it has set
up. The exit status is pytest's: 0, 1 if a test failed, 5 if there is no test.

pytest-xdist could do this. But the version in Debian 12 may run tests outside of the main thread, where no test can be
ended in time. It also kills its workers before they have taken their labs down.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "deploy"))

from lab.kernel import die_with_parent  # noqa: E402

# Files that take half a minute or more, the longest first. `tests/run.sh --slowest N` has the tests' times.
LONGEST = (
    "test_records.py",
    "test_programs.py",
    "test_events.py",
    "test_panel.py",
    "test_large_frames.py",
    "test_workers.py",
    "test_satperf.py",
    "test_compression.py",
    "test_modes.py",
    "test_satlink.py",
    "test_vanishing_interface.py",
    "test_encrypted.py",
    "test_access.py",
    "test_classes.py",
    "test_monitoring.py",
    "test_panel_api.py",
    "test_demo.py",
    "test_routed_hub.py",
)
# A folder or file comes first: pytest finds our options there.
PYTEST = (sys.executable, "-m", "pytest")
PASSED, FAILED, NO_TEST = 0, 1, 5


class Interrupted(Exception):
    """Interrupted by Ctrl-C, or by tests/run.sh."""


def collect(options: list[str], folder: str) -> list[str]:
    """The files that have a test, in the order in which they are to begin."""
    command = [*PYTEST, folder, *options, "--rootdir", folder, "--collect-only", "--verbosity=-1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (PASSED, NO_TEST):
        print(done.stdout)
        sys.exit(done.returncode)
    # Relative to the folder, since that is pytest's root here.
    tests = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    rank = {name: number for number, name in enumerate(LONGEST)}
    return [
        os.path.join(folder, file)
        for file in sorted(dict.fromkeys(tests), key=lambda file: rank.get(os.path.basename(file), len(rank)))
    ]


class Run:
    """One pytest, for one file."""

    def __init__(self, options: list[str], path: str, folder: str):
        name = os.path.basename(path)
        self.path = path
        self.report = os.path.join(folder, f"{name}.xml")
        self._output = os.path.join(folder, f"{name}.out")
        with open(self._output, "wb") as output:
            # In a session of its own, so that the terminal's Ctrl-C does not reach it: each pytest is stopped once.
            self._process = subprocess.Popen(
                [*PYTEST, path, *options, f"--junit-xml={self.report}"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def status(self) -> int | None:
        return self._process.poll()

    def ask_to_stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        self._process.wait()

    def show(self) -> None:
        with open(self._output, encoding="utf-8", errors="replace") as output:
            print(output.read(), flush=True)


def run_all(options: list[str], paths: list[str], jobs: int, folder: str) -> tuple[int, list[Run]]:
    """Returns the worst status, and the runs."""
    waiting, running, ended = list(paths), [], []
    status = NO_TEST
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Run(options, waiting.pop(0), folder))
            time.sleep(0.1)
            for run in [each for each in running if each.status() is not None]:
                running.remove(run)
                ended.append(run)
                run.show()
                # A run that was killed, or that found no test where there was one, is no success.
                status = max(0 if status == NO_TEST else status, 3 if run.status() < 0 else run.status())
    except Interrupted:
        for run in running:
            run.ask_to_stop()
        for run in running:
            run.wait()
            run.show()
        sys.exit(130)
    return status, ended


def join_reports(runs: list[Run], report: str) -> None:
    joined = ElementTree.Element("testsuites")
    for run in runs:
        if os.path.exists(run.report):
            joined.extend(ElementTree.parse(run.report).getroot())
    ElementTree.ElementTree(joined).write(report, encoding="utf-8", xml_declaration=True)


def interrupt(number, frame):
    # Only once: a later signal must not interrupt the tests while they are taken down.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1))
    parser.add_argument("--report", required=True)
    parser.add_argument("--folder", default=HERE)
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, options = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    with tempfile.TemporaryDirectory(prefix="satrelay-tests-") as folder:
        status, runs = run_all(options, collect(options, given.folder), given.jobs, folder)
        join_reports(runs, given.report)
    return status


if __name__ == "__main__":
    sys.exit(main())
