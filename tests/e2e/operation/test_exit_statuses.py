"""A wrong command line ends in status 2, in every program and script (docs/guide.md, "Exit statuses")."""

import os
import pathlib
import subprocess

import pytest
from harness import REPOSITORY, build_folder, check, programs

PROGRAMS = ("satrelayd", "satrelayctl", "satlink", "satpanel", "satperf", "satlab")
SCRIPTS = (
    "deploy/bind-ports.sh",
    "deploy/build.sh",
    "deploy/demo.sh",
    "deploy/setup.sh",
    "tests/run.sh",
    "tests/bench/compare.sh",
)


def check_refused(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    check(done.returncode == 2, f"{words}: status {done.returncode}: {done.stderr}")
    check(done.stderr != "", f"{words}: says nothing")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    program = os.path.join(build_folder(), "relay", name, name)
    check_refused(program, "--no-such-option")


def test_supervisor() -> None:
    program = programs().satrelay_supervise
    for words in ((), ("nonsense",), ("run",), ("run", "-c"), ("join",), ("part", "lan0")):
        check_refused(program, *words)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str) -> None:
    check_refused(os.path.join(REPOSITORY, name), "--no-such-option")


def test_further_mistakes() -> None:
    for words in ((), ("nonsense",), ("help", "nonsense")):
        check_refused(programs().satrelayctl, *words)
    check_refused(programs().satrelayd)
    check_refused(programs().satlink, "-c", "/dev/null")


def test_a_core_that_does_not_exist(tmp_path: pathlib.Path) -> None:
    """A start is refused before DPDK sees it. --check only warns: the file may be for another machine."""
    with open(os.path.join(REPOSITORY, "config/samples/gateway-minimal.yaml"), encoding="ascii") as file:
        text = file.read()
    path = tmp_path / "gateway.yaml"
    path.write_text(text + "worker: {cpu: 1023}\n", encoding="ascii")
    words = [programs().satrelayd, "-c", str(path)]
    done = subprocess.run([*words, "--check"], capture_output=True, text=True, timeout=20)
    check(done.returncode == 0, f"--check: status {done.returncode}: {done.stderr}")
    check("worker.cpu: core 1023 does not exist" in done.stdout, done.stdout)
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    check(done.returncode == 2, f"status {done.returncode}: {done.stderr}")
    check(f"{path}:" in done.stderr and "write one of" in done.stderr, done.stderr)
    check("Usage" not in done.stderr + done.stdout, "DPDK prints its usage")
