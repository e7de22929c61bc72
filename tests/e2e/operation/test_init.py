"""satrelayctl init on a terminal, and with a file of answers: it writes the files of two gateways, or nothing."""

import contextlib
import fcntl
import itertools
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import termios
import time

import pytest

from harness import ACCELERATED_PORT, build_folder, check, converse, needs_root, programs
from lab import kernel
from lab.kernel import Namespace
from lab.link import Link

_numbers = itertools.count()


class Session:
    """A program on a terminal of its own, in which Ctrl-C interrupts it."""

    def __init__(self, argv: list[str]):
        self._control, inner = pty.openpty()

        def take_terminal() -> None:
            os.setsid()
            fcntl.ioctl(inner, termios.TIOCSCTTY, 0)

        self._process = subprocess.Popen(
            argv, stdin=inner, stdout=inner, stderr=inner, preexec_fn=take_terminal
        )
        os.close(inner)
        self.shown = ""

    def prompt(self) -> str:
        """Waits for the next question, and returns its line; "" if the program has ended."""
        begin, deadline = len(self.shown), time.monotonic() + 20
        while not re.search(r"[^\n]: $", self.shown[begin:]):
            check(time.monotonic() < deadline, f"no question after {self.shown!r}")
            if not self._read():
                return ""
        return self.shown.rpartition("\n")[2]

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 20
        while text not in self.shown:
            check(time.monotonic() < deadline and self._read(), f"no {text!r} in {self.shown!r}")

    def _read(self) -> bool:
        if not select.select([self._control], [], [], 0.1)[0]:
            return True
        try:
            part = os.read(self._control, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += part.decode(errors="replace").replace("\r\n", "\n")
        return part != b""

    def types(self, keys: str) -> None:
        os.write(self._control, keys.encode())

    def status(self) -> int:
        while self._read():
            pass
        return self._process.wait(20)

    def close(self) -> None:
        os.close(self._control)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def session(argv: list[str]):
    made = Session(argv)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def station():
    """A namespace with the ports eth1 and eth2, and another one with their other ends."""
    number = f"{os.getpid()}-{next(_numbers)}"
    near, far = Namespace(f"satrelay-init-{number}"), Namespace(f"satrelay-init-far-{number}")
    try:
        for space in (near, far):
            space.create()
        for name in ("eth1", "eth2"):
            kernel.join(near, name, far, name)
        yield near, far
    finally:
        near.delete()
        far.delete()


def init(space: Namespace, *options: str) -> list[str]:
    return space.command(programs().satrelayctl, "init", "--look", "0", *options)


def run(space: Namespace, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        init(space, *options), capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
    )


def files_in(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def answer_all(made: Session, answers: dict[str, str]) -> None:
    """Types the answer whose key is in the question, or else Enter, until the program ends."""
    while prompt := made.prompt():
        key = next((each for each in answers if each in prompt), None)
        made.types((answers.pop(key) if key else "") + "\n")


@needs_root
@pytest.mark.lab(Link(rtt=0.05))
def test_two_gateways_run_with_the_files(lab) -> None:
    folder = pathlib.Path(lab.folder) / "etc" / "satrelay"
    argv = lab.topology.gateway_a.command(
        programs().satrelayctl, "init", "--look", "2", "--folder", str(folder)
    )
    answers = {
        "Role": "hub",
        "Name of this site": "teleport",
        "Name of the other site": "ship",
        "Prefixes": "203.0.113.128/25, 2001:db8::b:0/112",
        "Rate of the link": "known",
        "the modem here": "50Mbit",
        "the modem of the other site": "50Mbit",
    }
    with session(argv) as made:
        answer_all(made, answers)
        check(made.status() == 0, made.shown)
        check("wan0 looks like the WAN: packets of another gateway arrive there." in made.shown, made.shown)
        check("Port towards the hosts (LAN) [lan0]: " in made.shown, made.shown)
        print(made.shown)
    check(files_in(folder) == {"gateway.yaml", "psk", "to-ship", "to-ship/gateway.yaml"}, str(files_in(folder)))
    for gateway, file in ((lab.gateway_a, "gateway.yaml"), (lab.gateway_b, "to-ship/gateway.yaml")):
        path = str(folder / file)
        checked = subprocess.run([programs().satrelayd, "-c", path, "--check"], capture_output=True, timeout=20)
        check(checked.returncode == 0, checked.stderr.decode())
        gateway.daemon.stop()
        # Two gateways on one machine need names.
        with open(path, encoding="ascii") as made_file, open(gateway.config_path, "w", encoding="ascii") as used:
            used.write(made_file.read() + f"stats_socket_prefix: {gateway.name}\n")
    lab.start_stations()
    before = lab.gateway_a.counter("flows_accepted")
    converse(lab, ACCELERATED_PORT)
    check(lab.gateway_a.counter("flows_accepted") > before, "the connection was not relayed")
    check(lab.gateway_a.peer()["name"] == "ship", str(lab.gateway_a.peer()))
    log = lab.gateway_a.daemon.log()
    check("can no longer be read" not in log, f"a reload would be refused: {log}")


@needs_root
def test_ctrl_c_at_each_question_writes_nothing(station, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "new"
    asked = []
    with session(init(station[0], "--folder", str(folder))) as made:
        while prompt := made.prompt():
            asked.append(prompt)
            made.types("no\n" if prompt.startswith("Write these files?") else "\n")
        check(made.status() == 1, made.shown)
        check("nothing was written" in made.shown, made.shown)
    check(len(asked) >= 15, f"only {len(asked)} questions: {asked}")
    for number, question in enumerate(asked):
        with session(init(station[0], "--folder", str(folder))) as made:
            for _ in range(number):
                made.prompt()
                made.types("\n")
            check(made.prompt() == question, made.shown)
            made.types("\x03")
            check(made.status() == 130, f"{question}: {made.shown}")
            check("nothing was written" in made.shown, made.shown)
    # While it looks at the traffic.
    looking = station[0].command(programs().satrelayctl, "init", "--folder", str(folder), "--look", "30")
    with session(looking) as made:
        made.wait_for("Looking for 30 s")
        made.types("\x03")
        check(made.status() == 130, made.shown)
    with session(init(station[0], "--folder", str(folder))) as made:
        made.prompt()
        made.types("\x04")
        check(made.status() == 2, made.shown)
    check(files_in(tmp_path) == set(), str(files_in(tmp_path)))


@needs_root
def test_refuses_and_asks_again(station, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "new"
    wrong = ["lo", "eth9", "?"]
    with session(init(station[0])) as made:
        check(made.prompt() == "Folder of the files [/etc/satrelay]: ", made.shown)
        made.types(f"{folder}\n")
        while prompt := made.prompt():
            made.types((wrong.pop(0) if "LAN" in prompt and wrong else "") + "\n")
        check(made.status() == 0, made.shown)
        for text in ("is the loopback", "is not an interface of this machine", "The LAN has hosts"):
            check(text in made.shown, f"{text}: {made.shown}")
    check((folder / "gateway.yaml").stat().st_mode & 0o777 == 0o644, "mode of gateway.yaml")
    check((folder / "psk").stat().st_mode & 0o007 == 0, "others may read the secret")


@needs_root
def test_answers_for_machines(station, tmp_path: pathlib.Path) -> None:
    near, _ = station
    answers, folder = tmp_path / "answers.yaml", tmp_path / "new"
    template = run(near, "--print-answers")
    check(template.returncode == 0, template.stderr)
    answers.write_text(template.stdout, encoding="ascii")
    made = run(near, "--answers", str(answers), "--folder", str(folder))
    check(made.returncode == 0, made.stderr)
    check(len(files_in(folder)) == 4, str(files_in(folder)))
    secret, old = (folder / "psk").read_text("ascii"), (folder / "gateway.yaml").read_text("ascii")

    # A file that is there is kept, and replaced only with a backup.
    made = run(near, "--answers", str(answers), "--folder", str(folder))
    check(made.returncode == 2 and "gateway.yaml exists" in made.stderr, made.stderr)
    answers.write_text(f"folder: {folder}\nsite: other\n", encoding="ascii")
    made = run(near, "--answers", str(answers), "--force")
    check(made.returncode == 0, made.stderr)
    check((folder / "gateway.yaml.backup-1").read_text("ascii") == old, "the backup differs")
    check((folder / "psk").read_text("ascii") == secret, "the secret that is there was replaced")
    check("The gateway other" in (folder / "gateway.yaml").read_text("ascii"), "the file is the old one")


MISTAKES = (
    # The answers, and the message: the place, the cause, the cure.
    ("role: hubb\n", r':1:7: role: "hubb" is not known here; allowed: hub, terminal'),
    ("lan: eth9\n", r':1:6: lan: "eth9" is not an interface of this machine; there are: eth1, eth2'),
    ("lan: eth2\nwan: eth2\n", r':2:6: wan: "eth2" is the LAN port already; write'),
    ("capacity: known\n", r":1:1: send_rate: is missing; answer"),
    ("lann: eth1\n", r":1:1: lann: unknown key; did you mean lan\?"),
    ("secret: /proc\n", r":1:9: secret: /proc: is not a regular file"),
    ("{", r":1:1: is not YAML: "),
)


@needs_root
def test_broken_answers_are_placed(station, tmp_path: pathlib.Path) -> None:
    near, _ = station
    answers, folder = tmp_path / "answers.yaml", tmp_path / "new"
    for text, message in MISTAKES:
        answers.write_text(text, encoding="ascii")
        made = run(near, "--answers", str(answers), "--folder", str(folder))
        check(made.returncode == 2, f"{text!r}: status {made.returncode}")
        check(re.search(re.escape(str(answers)) + message, made.stderr), f"{text!r}: {made.stderr}")
    for options in ((), ("--answers", str(tmp_path)), ("--folder", "etc"), ("--look", "-1")):
        made = run(near, *options)
        check(made.returncode == 2 and made.stderr, f"{options}: {made}")
    check(files_in(tmp_path) == {"answers.yaml"}, str(files_in(tmp_path)))


@needs_root
def test_full_disk_and_a_key_that_is_a_folder(station, tmp_path: pathlib.Path) -> None:
    near, _ = station
    answers, disk = tmp_path / "answers.yaml", tmp_path / "disk"
    answers.write_text("role: hub\n", encoding="ascii")
    disk.mkdir()
    page = os.sysconf("SC_PAGE_SIZE")
    # Each file takes a page of the disk: there is room for none, one or two of the three.
    for pages in (1, 2, 3):
        kernel.run("mount", "-t", "tmpfs", "-o", f"size={pages * page}", "tmpfs", str(disk))
        try:
            (disk / "filler").write_bytes(b"x" * page)
            made = run(near, "--answers", str(answers), "--folder", str(disk / "etc"))
            check(made.returncode == 1, f"{pages}: status {made.returncode}: {made.stderr}")
            check("cannot be written: No space left on device" in made.stderr, made.stderr)
            check(files_in(disk) == {"filler"}, f"{pages}: {files_in(disk)}")
        finally:
            kernel.run("umount", str(disk))
    (disk / "psk").mkdir()
    made = run(near, "--answers", str(answers), "--folder", str(disk))
    check(made.returncode == 2 and f"{disk}/psk is a folder; move it away" in made.stderr, made.stderr)
    check(files_in(disk) == {"psk"}, str(files_in(disk)))


@needs_root
def test_measures_with_satperf(station, tmp_path: pathlib.Path) -> None:
    near, far = station
    for space, own in ((near, "10.77.0.1/24"), (far, "10.77.0.2/24")):
        space.ip("addr", "add", own, "dev", "eth1")
    satperf = os.path.join(build_folder(), "relay", "satperf", "satperf")
    if not os.access(satperf, os.X_OK):
        pytest.skip("satperf is not built")
    # satrelayctl takes the satperf beside it. This one is quicker, and spares the machine.
    program = shutil.copy(programs().satrelayctl, tmp_path)
    beside = tmp_path / "satperf"
    beside.write_text(f'#!/bin/sh\nexec {satperf} "$@" --seconds 2s --rate 20Mbit\n', encoding="ascii")
    beside.chmod(0o755)
    server = far.popen(satperf, "server", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with session(near.command(program, "init", "--look", "0", "--folder", str(tmp_path / "new"))) as made:
            measured = False
            while prompt := made.prompt():
                if "ADDRESS" in prompt:
                    made.types("10.77.0.2\n")
                    measured = True
                elif "Rate of the link" in prompt and not measured:
                    made.types("measure\n")
                elif prompt.startswith("Rate that the modem"):
                    check(re.search(r"\[1?\d.*bit\]: $", prompt), f"no rate is proposed: {made.shown}")
                    made.types("\n")
                else:
                    made.types("\n")
            check(made.status() == 0, made.shown)
            check("The modem here sends" in made.shown, made.shown)
    finally:
        server.terminate()
        server.wait()
