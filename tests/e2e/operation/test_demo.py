"""The demo from its arguments to its clean-up, with small runs, and with Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from harness import REPOSITORY, build_folder, check, eventually, heed, needs_root, note, programs
from lab.machine import make_work_folder
from panel import Client

DEMO = os.path.join(REPOSITORY, "deploy/lab/demo.py")
QUICK = ("--rate", "100Mbit", "--rtt", "100ms", "--loss", "0.1", "--size", "2MB")


def demo(*argv: str) -> list[str]:
    return [sys.executable, "-B", DEMO, "--build", build_folder(), *argv]


def namespaces_of(pid: int) -> list[str]:
    if not os.path.isdir("/run/netns"):
        return []
    return [name for name in os.listdir("/run/netns") if name.startswith(f"satrelay-{pid}-")]


def test_wrong_arguments_are_told() -> None:
    for argv, word in (
        (("--rate", "50"), "--rate"),
        (("--rate", "fast"), "Mbit"),
        (("--rtt", "550"), "--rtt"),
        (("--loss", "101"), "--loss"),
        (("--size", "20"), "MB"),
        (("--driver", "pci"), "af_xdp"),
        (("--json", "/nonexistent/folder/file"), "--json"),
        (("--runs", "sideways"), "relayed"),
        (("--speed", "9"), "--speed"),
    ):
        done = subprocess.run(
            demo(*argv), capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        )
        check(done.returncode == 2, f"{argv}: status {done.returncode}")
        check(word in done.stderr, f"{argv}: '{word}' is not in: {done.stderr}")


@needs_root
def test_all_runs_with_table_and_json() -> None:
    programs()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.json")
        process = subprocess.Popen(
            demo(*QUICK, "--json", path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        output, _ = process.communicate(timeout=240)
        note(output)
        check(process.returncode == 0, f"the demo ended with status {process.returncode}")
        check(not namespaces_of(process.pid), "the demo left namespaces behind")
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    check(set(result) == {"link", "runs"}, f"the JSON has {set(result)}")
    keys = {"path", "congestion_control", "direction", "bytes", "seconds", "completed"}
    keys |= {"goodput_bps", "sha256_ok"}
    seen = set()
    for run in result["runs"]:
        check(set(run) == keys, f"a run has {set(run)}")
        seen.add((run["path"], run["direction"]))
        if run["path"] == "relayed":
            check(run["completed"] and run["sha256_ok"] and run["bytes"] == 2_000_000, str(run))
    both = {(path, way) for path in ("direct", "relayed") for way in ("download", "upload")}
    check(seen == both, f"only {seen} were run")


@needs_root
@pytest.mark.parametrize(("number", "seconds"), ((signal.SIGINT, 5), (signal.SIGTERM, 0), (signal.SIGHUP, 0)))
def test_interrupt_leaves_nothing(number: signal.Signals, seconds: float) -> None:
    process = subprocess.Popen(
        demo(*QUICK, "--size", "200MB", "--runs", "relayed"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed,
    )
    eventually(lambda: len(namespaces_of(process.pid)) == 5, 20, "the demo builds its lab")
    time.sleep(seconds)
    check(process.poll() is None, "the demo ended before it could be interrupted")
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    check(process.returncode == 128 + number, f"status {process.returncode} after {number.name}: {output}")
    check("Traceback" not in output, output)
    check(not namespaces_of(process.pid), "an interrupted demo left namespaces behind")
    check(not os.path.exists(f"/run/satrelay-lab/{process.pid}.lab"), "it left its state behind")


def test_a_disk_that_is_too_small_is_told() -> None:
    with pytest.raises(OSError, match=r"the lab needs .* for its files, and .* has .* free"):
        make_work_folder("0", 1 << 60)


@needs_root
def test_a_container_without_the_setting_of_the_backlog() -> None:
    code = "from lab.machine import DeepBacklog as Deep; Deep('0').acquire(); Deep('0').release()"
    words = ["unshare", "--net", sys.executable, "-B", "-c", code]
    done = subprocess.run(words, cwd=os.path.join(REPOSITORY, "deploy"), capture_output=True, text=True, timeout=20)
    check(done.returncode == 0, done.stderr)
    check(not os.path.exists("/run/satrelay-lab/0.lab"), "a lab's ticket is left")


@needs_root
def test_panel_beside_a_kept_lab() -> None:
    process = subprocess.Popen(
        demo(*QUICK, "--runs", "relayed,download", "--panel"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout.read()
    process.wait(60)
    pid = None
    try:
        check(process.returncode == 0, output)
        found = re.search(r"(http://127\.0\.0\.1:(\d+)/)   user demo, password (\S+)", output)
        check(found, f"no panel is named: {output}")
        pid = listener_of(int(found[2]))
        check(os.stat(f"/proc/{pid}").st_uid != 0, "the panel runs as root")
        client = Client(int(found[2]), "demo", found[3])
        shown = client.get("/api/v1/peers")
        check('"state": "alive"' in json.dumps(shown), f"it shows {shown}")
        status, body = client.tell("bypass", STATE="on")
        check(status == 200, f"its user may not switch: {status} {body}")
        status, _ = Client(int(found[2])).ask(
            "POST", "/api/v1/session", {"name": "demo", "password": "another one"}
        )
        check(status in (401, 403), f"another password is taken: {status}")
    finally:
        down = subprocess.run(
            demo("--down", str(process.pid)), capture_output=True, text=True, timeout=30
        )
    check(down.returncode == 0, down.stderr)
    check(pid is not None and not os.path.exists(f"/proc/{pid}/exe"), "--down leaves the panel")
    check(not namespaces_of(process.pid), "--down left namespaces behind")
    left = [name for name in os.listdir("/dev/shm") if name.startswith(f"satrelay-{process.pid}-")]
    check(not left, f"--down leaves {left}")


def listener_of(port: int) -> int:
    told = subprocess.run(
        ["ss", "-Hltnp", f"sport = :{port}"], capture_output=True, text=True, timeout=20
    ).stdout
    return int(re.search(r"pid=(\d+)", told)[1])


@needs_root
def test_kept_lab_can_be_used_and_taken_down() -> None:
    process = subprocess.Popen(
        demo(*QUICK, "--runs", "relayed,download", "--keep"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # Not communicate(): what stays up must not hold our pipe, and the test shows that.
    output = process.stdout.read()
    process.wait(60)
    try:
        check(process.returncode == 0, output)
        check(len(namespaces_of(process.pid)) == 5, "the lab did not stay up")
        check("--down" in output, "it does not say how to take the lab down")
        url = "http://203.0.113.130:8080/random.bin"
        client = f"satrelay-{process.pid}-client"
        used = subprocess.run(
            ["ip", "netns", "exec", client, "curl", "-sf", "-o", "/dev/null", url],
            timeout=30,
        )
        check(used.returncode == 0, "the kept lab carries nothing")
    finally:
        down = subprocess.run(
            demo("--down", str(process.pid)), capture_output=True, text=True, timeout=30
        )
    check(down.returncode == 0, down.stderr)
    check(not namespaces_of(process.pid), "--down left namespaces behind")
    again = subprocess.run(
        demo("--down", str(process.pid)), capture_output=True, text=True, timeout=30
    )
    check(again.returncode == 1, "taking down twice is told")
