"""The first day, as docs/guide.md tells it, from packages on a bare Debian to the first relayed connection.

Two machines have root folders, processes and networks of their own, and no systemd. mmdebstrap makes the bare Debian,
12 or 13, and apt fetches what the packages need. The commands and their times are kept as a transcript, in
meson-logs/first-day-*.txt.

    [client eth0]====[eth1  station-b  eth2]====[satlink]====[eth2  station-a  eth1]====[eth0 server]
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time

import pytest
from harness import REPOSITORY, RealTime, Skip, build_folder, check, eventually, needs_root, note
from lab import kernel
from lab.kernel import Namespace
from lab.machine import make_work_folder

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "e2e", "ports"))
from packaged import packages_of  # noqa: E402

MOST_SECONDS = 600  # from the first command to the first relayed connection
SERVER, CLIENT = "203.0.113.10", "203.0.113.70"
FILE_BYTES = 12_000_000
RATE = "20Mbit"
ANSWERS = f"""\
role: hub
site: teleport
peer: remote
lan: eth1
wan: eth2
peer_lan: eth1
peer_wan: eth2
address: 192.0.2.1/30
peer_address: 192.0.2.2
terminal_hosts: 203.0.113.64/26
overhead: ethernet
capacity: known
send_rate: {RATE}
receive_rate: {RATE}
handshake: local
secret: make
"""
LINK = f"""\
ports:
  a: {{interface: sata, driver: af_packet}}
  b: {{interface: satb, driver: af_packet}}
both: {{rate: {RATE}, delay: 250ms}}
overhead: ethernet
"""
# A command needs these mounts, which a machine has when its kernel has booted.
ENTER = """\
mount -t sysfs sysfs "$0/sys"; mount -t proc proc "$0/proc"; mount -t tmpfs -o mode=755 tmpfs "$0/dev/shm"
exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin HOME=/srv LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$1"
"""

pytestmark = [needs_root, pytest.mark.long, pytest.mark.at_most(3600)]


class Transcript:
    def __init__(self, path: str):
        self._file = open(path, "w", encoding="utf-8")
        self._began = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def add(self, text: str) -> None:
        self._file.write(f"[{self.seconds():6.1f} s] {text.rstrip()}\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class Machine:
    """A root folder and a network. Each command gets a view of its own of processes and mounts."""

    def __init__(self, name: str, root: str, space: Namespace, transcript: Transcript):
        self.name = name
        self.root = root
        self.space = space
        self._transcript = transcript

    def argv(self, command: str, outside: bool = False) -> list[str]:
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, self.root, command]
        return enter if outside else self.space.command(*enter)

    def types(self, command: str, seconds: float = 60, outside: bool = False) -> str:
        """A command of the operator. `outside`: with the network of this machine, for apt."""
        self._transcript.add(f"{self.name}# {command}")
        done = subprocess.run(
            self.argv(command, outside), capture_output=True, text=True, timeout=seconds, check=False
        )
        for line in (done.stdout + done.stderr).splitlines()[-25:]:
            self._transcript.add(f"    {line}")
        check(done.returncode == 0, f"{self.name}: {command}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def starts(self, command: str) -> subprocess.Popen:
        self._transcript.add(f"{self.name}# {command} &")
        log = open(os.path.join(self.root, "srv", f"{command.split()[0]}.log"), "w", encoding="utf-8")
        with log:
            return subprocess.Popen(self.argv(command), stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def write(self, path: str, text: str) -> None:
        self._transcript.add(f"{self.name}: the operator writes {path}:")
        for line in text.splitlines():
            self._transcript.add(f"    {line}")
        with open(self.root + path, "w", encoding="utf-8") as file:
            file.write(text)


def make_root(folder: str, suite: str) -> str:
    """A bare Debian, with the sources of packages that this machine has."""
    root = os.path.join(folder, "station-a")
    made = subprocess.run(
        ["mmdebstrap", "--variant=minbase", suite, root], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        raise Skip(f"mmdebstrap cannot make a Debian: {made.stderr[-500:]}")
    shutil.copy("/etc/resolv.conf", f"{root}/etc/resolv.conf")
    return root


@pytest.fixture(params=("bookworm", "trixie"))
def stations(request):
    if shutil.which("mmdebstrap") is None:
        raise Skip("mmdebstrap is not installed: deploy/setup.sh --test-programs")
    packages = packages_of(REPOSITORY, request.param)
    logs = os.path.join(build_folder(), "meson-logs")
    os.makedirs(logs, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = make_work_folder("first-day", 3_000_000_000)
        stack.callback(shutil.rmtree, folder)
        spaces = {}
        for name in ("client", "station-b", "link", "station-a", "server"):
            spaces[name] = Namespace(f"day{os.getpid()}-{name}")
            spaces[name].create()
            stack.callback(spaces[name].delete)
        kernel.join(spaces["client"], "eth0", spaces["station-b"], "eth1")
        kernel.join(spaces["station-b"], "eth2", spaces["link"], "satb")
        kernel.join(spaces["link"], "sata", spaces["station-a"], "eth2")
        kernel.join(spaces["station-a"], "eth1", spaces["server"], "eth0")
        for name, address in (("client", CLIENT), ("server", SERVER)):
            spaces[name].ip("address", "add", f"{address}/24", "dev", "eth0")
        root = make_root(folder, request.param)
        for package in packages.values():
            shutil.copy(package, f"{root}/srv/")
        transcript = Transcript(os.path.join(logs, f"first-day-{request.param}.txt"))
        stack.callback(transcript.close)
        yield stack, spaces, folder, Machine("station-a", root, spaces["station-a"], transcript), transcript


def until_ended(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def test_from_packages_to_the_first_connection(stations) -> None:
    stack, spaces, folder, a, transcript = stations
    measured = RealTime()
    a.types("apt-get update -q", 300, outside=True)
    names = " ".join(f"./{name}_*.deb" for name in ("satrelay", "satrelay-tools", "satrelay-doc"))
    a.types(f"cd /srv && apt-get install -q -y {names}", 900, outside=True)
    installed = transcript.seconds()
    # Both stations install at the same time. A second run of apt would show nothing else.
    root = os.path.join(folder, "station-b")
    kernel.run("cp", "-a", a.root, root, timeout=300)
    b = Machine("station-b", root, spaces["station-b"], transcript)
    transcript.add("station-b has done the same")

    # The satellite link, of the machine between the stations.
    with open(f"{a.root}/srv/link.yaml", "w", encoding="utf-8") as file:
        file.write(LINK)
    middle = Machine("link", a.root, spaces["link"], transcript)
    stack.callback(until_ended, middle.starts("satlink -c /srv/link.yaml"))

    a.write("/srv/answers.yaml", ANSWERS)
    a.types("satrelayctl init --answers /srv/answers.yaml")
    transcript.add("the operator takes two files to the other station by a private way")
    os.makedirs(f"{b.root}/etc/satrelay", exist_ok=True)
    shutil.copy(f"{a.root}/etc/satrelay/to-remote/gateway.yaml", f"{b.root}/etc/satrelay/gateway.yaml")
    kernel.run("cp", "-a", f"{a.root}/etc/satrelay/psk", f"{b.root}/etc/satrelay/psk")
    for station in (a, b):
        station.types("satrelayd -c /etc/satrelay/gateway.yaml --check")
        stack.callback(until_ended, station.starts("satrelay-supervise run -c /etc/satrelay/gateway.yaml"))
    eventually(lambda: " alive " in peers(a), 30, "the peer is alive")
    b.types("satrelayctl peers")
    a.types("satrelayctl doctor")

    web = os.path.join(folder, "web")
    os.makedirs(web)
    with open(os.path.join(web, "file"), "wb") as file:
        file.write(os.urandom(FILE_BYTES))
    server = spaces["server"].popen(sys.executable, "-m", "http.server", "-d", web, "8080", stderr=subprocess.DEVNULL)
    stack.callback(until_ended, server)
    get = spaces["client"].popen("curl", "-sS", "-o", "/dev/null", "--retry", "5", "--retry-connrefused",
                                 f"http://{SERVER}:8080/file")
    stack.callback(until_ended, get)
    eventually(lambda: CLIENT in b.types("satrelayctl flows"), 20, "satrelayctl flows shows the connection")
    took = transcript.seconds()
    transcript.add(f"the first relayed connection, after {took:.0f} s, {installed:.0f} s of them for apt")
    check(get.wait(60) == 0, "the transfer has failed")
    note(f"{took:.0f} s from the packages to the first relayed connection, {installed:.0f} s of them for apt")
    measured.check(took < MOST_SECONDS, f"{took:.0f} s")


def peers(station: Machine) -> str:
    done = subprocess.run(station.argv("satrelayctl peers"), capture_output=True, text=True, check=False)
    return done.stdout
