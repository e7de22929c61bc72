"""satrelayctl tech-support makes one archive of a real gateway, without secrets, and always a complete one."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import tarfile
import tempfile
import time

import pytest

from harness import SERVER, GatewayOptions, Lab, check, converse, eventually, heed

pytestmark = pytest.mark.lab(options=GatewayOptions(security="psk"))
TOP = "satrelay-tech-support/"
LISTINGS = ("status", "ports", "peers", "rules", "classes", "counters")


def command(lab: Lab, file: str, *options: str, socket: str = "", config: str = "") -> list[str]:
    # Inside the gateway's namespace, which has its interfaces.
    return lab.gateway_a.space.command(
        *(lab.programs.satrelayctl, "--socket", socket or lab.gateway_a.stats_socket),
        *("tech-support", file, "--config", config or lab.gateway_a.config_path, *options),
    )


def read(path: str) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {
            each.name.removeprefix(TOP): archive.extractfile(each).read()
            for each in archive
            if each.isfile()
        }


@contextlib.contextmanager
def folder():
    """A folder for the archive, and for the temporary files of the program that makes it."""
    with tempfile.TemporaryDirectory(prefix="satrelay-support-") as path:
        yield path


def test_has_all_of_a_gateway(lab: Lab) -> None:
    with open(lab.gateway_a.config_path, encoding="ascii") as file:
        configuration = file.read()
    with open(lab.psk_file, encoding="ascii") as file:
        secret = file.read().strip()
    with folder() as path:
        file = os.path.join(path, "a.tar.gz")
        # A secret in a wrong place: in a file that is not the gateway's own.
        config = os.path.join(path, "gateway.yaml")
        with open(config, "w", encoding="ascii") as out:
            out.write(f"{configuration}psk: {secret}\n# {secret}\n")
        begin = time.monotonic()
        process = subprocess.Popen(
            command(lab, file, config=config),
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": path},
        )
        for _ in range(2):  # while it captures on the LAN, and then on the WAN
            time.sleep(3)
            converse(lab, 9001)
            time.sleep(2)
        _, told = process.communicate(timeout=60)
        took = time.monotonic() - begin
        check(process.returncode == 0, told)
        check("a.tar.gz is written" in told and "waits 10 s" in told, told)
        check(took >= 10, f"the two readings cannot be 10 s apart after {took:.1f} s")
        check(os.stat(file).st_mode & 0o777 == 0o600, "others may read it")
        check(sorted(os.listdir(path)) == ["a.tar.gz", "gateway.yaml"], f"{os.listdir(path)}")
        files = read(file)
        judge(files, configuration, secret)
        # An existing file is replaced only with --force.
        again = subprocess.run(command(lab, file), capture_output=True, text=True, timeout=20)
        check(again.returncode == 1 and "--force" in again.stderr, again.stderr)


def judge(files: dict[str, bytes], configuration: str, secret: str) -> None:
    text = {name: content.decode(errors="replace") for name, content in files.items()}
    manifest = text["MANIFEST"]
    for name, content in text.items():
        check(secret not in content and secret.upper() not in content, f"{name} has the secret")
        check(name == "MANIFEST" or f"  {name}  " in manifest, f"MANIFEST lacks {name}: {manifest}")
    check(text["configuration.yaml"] == f"{configuration}psk: LEFT-OUT\n# LEFT-OUT\n", "changed")
    check("psk_file: /" in text["configuration.yaml"], "where the secret is may be told")
    found = {name: json.loads(text[f"{name}.json"]) for name in LISTINGS}
    check(found["peers"][0]["state"] == "alive", f"{found['peers']}")
    check("flows.json" not in files, "who speaks with whom was not asked for")
    later = json.loads(text["counters-later.json"])
    changes = json.loads(text["difference.json"])
    check(10 <= changes["seconds"] < 20, f"{changes['seconds']} s apart")
    grown = later["flows_established"] - found["counters"]["flows_established"]
    check(grown == 2 == changes["counters"]["flows_established"], f"{changes}")
    events = [json.loads(line) for line in text["events.json"].splitlines()]
    check(any(each["name"] == "peer_alive" for each in events), f"{events}")
    check("DPDK " in text["versions.txt"] and "Debian" in text["versions.txt"], text["versions.txt"])
    for words in ("lan0\n", "wan0\n", "tcp-segmentation-offload: "):
        check(words in text["network.txt"], f"{words!r} is not in {text['network.txt']}")
    for words in ("sockets, cores, threads", "node0  cpus", "MemTotal", "hugepages", "isolated"):
        check(words in text["machine.txt"], f"{words!r} is not in {text['machine.txt']}")
    for port in ("lan", "wan"):
        check(f"capture-{port}.pcapng" in files, manifest)
        capture = files[f"capture-{port}.pcapng"]
        check(capture[:4] == b"\x0a\x0d\x0d\x0a" and len(capture) > 500, f"{port}: {capture[:100]}")
    check(bytes(map(int, SERVER.ipv4.split("."))) in files["capture-lan.pcapng"], "no frame of it")
    check(max(lengths(files["capture-lan.pcapng"])) == 96, "more than heads, or nothing")
    check("[peer_alive]" in text.get("log.txt", ""), f"{text.get('log.txt')}: {manifest}")
    running = next(each for each in text["versions.txt"].splitlines() if "satrelayd " in each)
    check(running.split()[1] == f"{found['status']['version']},", running)


def lengths(pcapng: bytes) -> list[int]:
    """How many bytes are kept of each frame."""
    found, at = [], 0
    while at < len(pcapng):
        kind, size = struct.unpack_from("=II", pcapng, at)
        if kind == 6:  # Enhanced Packet Block
            found.append(struct.unpack_from("=I", pcapng, at + 20)[0])
        at += size
    return found


def test_is_made_without_a_gateway(lab: Lab) -> None:
    with folder() as path:
        file = os.path.join(path, "a.tar.gz")
        begin = time.monotonic()
        done = subprocess.run(
            command(lab, file, socket="/nonexistent/socket"), capture_output=True, text=True, timeout=60
        )
        check(done.returncode == 0 and "continues without" in done.stderr, done.stderr)
        check(time.monotonic() - begin < 8, "it waited for figures that cannot come")
        files = read(file)
        check(b"no gateway runs at /nonexistent/socket" in files["MANIFEST"], f"{files['MANIFEST']}")
        check("configuration.yaml" in files and "machine.txt" in files, f"{set(files)}")


def test_a_gateway_that_hangs(lab: Lab) -> None:
    """The gateway's stats socket takes connections, but never answers."""
    with folder() as path:
        os.kill(lab.gateway_b.daemon.pid, signal.SIGSTOP)
        try:
            done = subprocess.run(
                command(lab, os.path.join(path, "a.tar.gz"), socket=lab.gateway_b.stats_socket),
                capture_output=True,
                text=True,
                timeout=60,
            )
        finally:
            os.kill(lab.gateway_b.daemon.pid, signal.SIGCONT)
        check(done.returncode == 0, done.stderr)
        check(b"overloaded or stuck" in read(os.path.join(path, "a.tar.gz"))["MANIFEST"], "no reason")


def test_interruption_leaves_nothing(lab: Lab) -> None:
    with folder() as path:
        process = subprocess.Popen(
            command(lab, os.path.join(path, "a.tar.gz")),
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": path},
            preexec_fn=heed,
        )
        eventually(lambda: len(os.listdir(path)) == 2, 10, "it has its folder and a file")
        private = next(each for each in os.scandir(path) if each.is_dir())
        check(private.stat().st_mode & 0o777 == 0o700, "others may look into its folder")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, told = process.communicate(timeout=20)
        check(process.returncode == 130 and "no archive was written" in told, told)
        check(time.monotonic() - begin < 5, "it does not end at once")
        check(os.listdir(path) == [], f"it leaves {os.listdir(path)}")
