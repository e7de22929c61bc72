"""The packet scripts of tests/conformance, played on this machine's own TCP: the kernel as oracle."""

import dataclasses
import glob
import os
import subprocess
from xml.etree import ElementTree

import pytest
from harness import BUSY, REPOSITORY, Failed, RealTime, Skip, build_folder, check, note

SCRIPTS = os.path.join(REPOSITORY, "tests", "conformance", "scripts")
SKIPPED = 77


@dataclasses.dataclass
class Played:
    cases: dict[str, ElementTree.Element]  # by TOPIC/NAME, as the report has them
    disturbance: str | None  # what others did meanwhile


def is_for_the_kernel(path: str) -> bool:
    """Scripts with a line "kernel skip:" name the reason, such as two hours of real time."""
    with open(path, encoding="utf-8") as file:
        return not any(line.startswith("kernel skip:") for line in file)


def names() -> list[str]:
    """TOPIC/NAME of each script that the kernel can play."""
    paths = filter(is_for_the_kernel, glob.glob(os.path.join(SCRIPTS, "*", "*.tcp")))
    return sorted(os.path.relpath(path, SCRIPTS).removesuffix(".tcp") for path in paths)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Played:
    """Plays all scripts at the same time, as each mostly waits; returns the case of each in the report."""
    measured = RealTime()
    report = tmp_path_factory.mktemp("conformance") / "report.xml"
    done = subprocess.run(
        [
            os.path.join(build_folder(), "tests", "conformance", "conformance"),
            *("--runner", "kernel"),
        ],
        env={**os.environ, "GTEST_OUTPUT": f"xml:{report}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    note(done.stdout)
    if done.returncode == SKIPPED:
        raise Skip(done.stdout.strip().splitlines()[-1])
    if not report.exists():
        raise Failed(f"the kernel's runner ended with status {done.returncode}")
    reason = measured.disturbance()
    root = ElementTree.parse(report).getroot()
    cases = {case.get("name"): case for case in root.iter("testcase")}
    return Played(cases, reason)


@pytest.mark.parametrize("name", names())
def test_the_kernel_plays(name: str, played) -> None:
    case = played.cases.get(name)
    check(case is not None, "it was not played")
    skipped, failure = case.find("skipped"), case.find("failure")
    if skipped is not None:
        raise Skip(skipped.get("message"))
    if failure is not None and played.disturbance is not None:
        raise Skip(f"{BUSY}{failure.get('message')}: {played.disturbance}")
    if failure is not None:
        raise Failed(failure.get("message"))
