"""deploy/bind-ports.sh: the arguments that it takes, and its messages. test_nics.py makes it bind real devices."""

import os
import subprocess

import pytest
from harness import REPOSITORY, check

SCRIPT = os.path.join(REPOSITORY, "deploy", "bind-ports.sh")


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, timeout=60)


def test_help() -> None:
    done = run("--help")
    check(done.returncode == 0, f"status {done.returncode}")
    for word in ("status", "bind", "restore", "--hugepages", "--dry-run", "--force"):
        check(word in done.stdout, f"{word} is not explained")


@pytest.mark.parametrize(
    ("status", "words", "message"),
    (
        (2, ("--frobnicate",), "unknown option: --frobnicate"),
        (2, ("unbind", "eth0"), "unknown command: unbind"),
        (2, ("bind",), "bind needs at least one port"),
        (2, ("status", "eth0"), "status takes no ports"),
        (2, ("bind", "lo", "--hugepages"), "--hugepages needs a number of MiB"),
        (2, ("bind", "lo", "--hugepages", "1G"), '--hugepages is "1G"'),
        (1, ("bind", "lo", "--hugepages", "0900", "--dry-run"), "lo: no PCI device is behind"),
        (1, ("bind", "no-such-port", "--dry-run"), "no-such-port: there is neither such an interface"),
        (1, ("bind", "ffff:ff:1f.7", "--dry-run"), "ffff:ff:1f.7: there is neither such an interface"),
        (1, ("bind", "lo", "--dry-run"), "lo: no PCI device is behind this interface"),
    ),
)
def test_mistakes(status: int, words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    if "this machine has no PCI bus" in done.stderr:
        pytest.skip("this machine has no PCI bus")
    check(done.returncode == status, f"{words}: status {done.returncode}")
    check(message in done.stderr, f"{words}: {done.stderr}")


def test_status() -> None:
    for words in ((), ("status",)):
        done = run(*words)
        check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        check("PORT" in done.stdout or "no PCI bus" in done.stdout, done.stdout)
