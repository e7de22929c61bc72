"""Runs one test program and judges it."""

import os
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

from discovery import Test
from outcome import FAIL, PASS, SKIP, Case, Outcome

SKIP_STATUS = 77
# How the end-to-end tests tell of what they did not judge (tests/e2e/harness.py).
SKIPPED_CHECK = "skipped check: "
BUSY = "skipped: the machine was busy: "


def invoker(test: Test) -> dict:
    """Arguments of Popen that give the privileges of sudo back, where a test does not need them."""
    user = int(os.environ.get("SUDO_UID", "0"))
    if os.geteuid() != 0 or user == 0 or not test.as_invoker:
        return {}
    group = int(os.environ["SUDO_GID"])
    return {"user": user, "group": group, "extra_groups": [group]}


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def gtest_cases(report: str) -> list[Case]:
    """The cases in GoogleTest's XML report (its JSON has no skip reasons); none without one."""
    try:
        entries = ElementTree.parse(report).getroot().iter("testcase")
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for entry in entries:
        name = f"{entry.get('classname')}.{entry.get('name')}"
        skipped = entry.find("skipped")
        if entry.find("failure") is not None:
            cases.append(Case(name, FAIL))
        elif skipped is not None:
            cases.append(Case(name, SKIP, last_line(skipped.get("message", ""))))
        elif entry.get("status") == "run":
            cases.append(Case(name, PASS))
    return cases


def note_disturbed(outcome: Outcome, text: str) -> None:
    """Checks of real time that were skipped count beside the test that they are of."""
    if outcome.result == SKIP:
        if outcome.note.startswith(BUSY):
            outcome.disturbed.append(outcome.note.removeprefix(BUSY))
        return
    for line in text.splitlines():
        if line.startswith(SKIPPED_CHECK):
            outcome.disturbed.append(line.removeprefix(SKIPPED_CHECK))
    if outcome.disturbed and not outcome.cases:
        outcome.cases = [Case("check", SKIP, reason) for reason in outcome.disturbed]
        if outcome.result == PASS:
            outcome.cases.insert(0, Case(outcome.name, PASS))


_running: set[subprocess.Popen] = set()


def stop_all() -> None:
    for process in list(_running):
        stop(process)


def stop(process: subprocess.Popen) -> None:
    """Ends a test and its children: first politely, so that it can take its namespaces down."""
    for number, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        if number == signal.SIGTERM:
            return


def run(test: Test, logs: str) -> Outcome:
    folder = os.path.join(logs, test.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    privileges = invoker(test)
    if privileges:
        os.chown(folder, privileges["user"], privileges["group"])
    log = os.path.join(folder, "output.log")
    report = os.path.join(folder, "gtest.xml")
    environment = {**os.environ, **test.environment, "GTEST_OUTPUT": f"xml:{report}"}
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")

    started = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            test.command,
            cwd=test.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **privileges,
        )
        _running.add(process)
        timed_out = False
        try:
            process.wait(test.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            stop(process)
        finally:
            _running.discard(process)
    seconds = time.monotonic() - started

    with open(log, encoding="utf-8", errors="replace") as output:
        text = output.read()
    outcome = Outcome(test.name, PASS, seconds, gtest_cases(report), log=log)
    if timed_out:
        outcome.result, outcome.note = FAIL, f"took longer than {test.timeout:g} s"
    elif process.returncode == SKIP_STATUS:
        outcome.result, outcome.note = SKIP, last_line(text) or "it gave no reason"
        outcome.cases = []
    elif process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        outcome.result, outcome.note = FAIL, f"ended by {name}"
    elif process.returncode != 0:
        outcome.result, outcome.note = FAIL, f"exit status {process.returncode}"
    note_disturbed(outcome, text)
    return outcome
