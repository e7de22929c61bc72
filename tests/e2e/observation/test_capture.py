"""satrelayctl capture: packets for Wireshark from either port, encrypted and decrypted, while traffic goes on."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import pytest
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    GatewayOptions,
    Lab,
    Link,
    REPOSITORY,
    Skip,
    check,
    connection,
    control,
    converse,
    echo,
    note,
    receive_all,
)

WORDS = b"what the hosts say to each other"
DISSECTOR = os.path.join(REPOSITORY, "deploy", "wireshark", "stp.lua")


def begun(gateway) -> int:
    """How many captures have begun."""
    return [event["name"] for event in gateway.events()].count("capture_begun")


class Capture:
    """Runs satrelayctl capture in the background, until it has what it was asked for, or until Ctrl-C."""

    def __init__(self, lab: Lab, gateway, *words: str):
        self.folder = tempfile.mkdtemp(prefix="satrelay-capture-")
        self.file = os.path.join(self.folder, "capture.pcapng")
        before = begun(gateway)
        self.process = subprocess.Popen(
            [lab.programs.satrelayctl, "--socket", gateway.stats_socket, "capture"]
            + ["--write", self.file, *words],
            stderr=subprocess.PIPE,
            text=True,
        )
        gateway.daemon.wait_until(lambda: begun(gateway) > before, 5, "it captures")
        time.sleep(0.3)  # the worker notices at its next round

    def end(self, interrupt: bool = True) -> str:
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        _, says = self.process.communicate(timeout=20)
        check(self.process.returncode == 0, f"capture: {says}")
        return says

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def tshark(file: str, *words: str) -> str:
    if shutil.which("tshark") is None:
        raise Skip("tshark is not installed")
    done = subprocess.run(
        ["tshark", "-X", f"lua_script:{DISSECTOR}", "-o", "satstp.encrypted:TRUE", "-r", file, *words],
        capture_output=True,
        text=True,
        timeout=60,
    )
    check(done.returncode == 0, done.stderr)
    return done.stdout


def lan(lab: Lab) -> None:
    near = lab.gateway_a
    words = f"tcp port {ACCELERATED_PORT} and host {CLIENT.ipv4}"
    with Capture(lab, near, "--port", "lan", "--filter", words) as capture:
        with connection(lab, ACCELERATED_PORT) as (client, server):
            echo(client, server, WORDS)
            converse(lab, 9002)  # not in the filter
        time.sleep(0.3)
        says = capture.end()
        fields = ("-T", "fields", "-e", "tcp.dstport", "-e", "tcp.payload", "-e", "frame.packet_flags")
        rows = [row.split("\t") for row in tshark(capture.file, *fields).splitlines()]
        check(says.startswith(f"{len(rows)} packets written"), f"{len(rows)} rows; {says}")
        check(len(rows) >= 5, f"only {len(rows)} packets: {rows}")
        ports = {row[0] for row in rows}
        check(ports & {str(ACCELERATED_PORT)} and "9002" not in ports, f"ports: {ports}")
        check(any(row[1] == WORDS.hex() for row in rows), "the payload is not there")
        ways = {int(row[2], 16) & 3 for row in rows}
        check(ways == {1, 2}, f"both ways should be marked: {ways}")


def wan(lab: Lab) -> None:
    near = lab.gateway_a
    for plain in (False, True):
        more = ["--decrypted"] if plain else []
        with Capture(lab, near, "--port", "wan", "--filter", "udp port 7878", *more) as capture:
            with connection(lab, ACCELERATED_PORT) as (client, server):
                echo(client, server, WORDS)
                echo(server, client, b"and back")
            time.sleep(0.5)
            capture.end()
            with open(capture.file, "rb") as file:
                check((WORDS in file.read()) == plain, f"the words, decrypted: {plain}")
            text = tshark(capture.file)
            note(f"--- {'decrypted' if plain else 'as on the link'}\n" + "\n".join(text.splitlines()[:6]))
            if plain:
                check("OPEN" in text and "DATA" in text, text)
                check("[malformed]" not in text and "encrypted bytes" not in text, text)
                # Packets in both directions.
                sources = set(tshark(capture.file, "-T", "fields", "-e", "ip.src").split())
                check(len(sources) == 2, f"packets of both gateways: {sources}")
            else:
                check("encrypted bytes" in text and "[malformed]" not in text, text)


def limits(lab: Lab) -> None:
    near = lab.gateway_a
    with Capture(lab, near, "--port", "wan", "--packets", "20", "--snaplen", "60") as capture:
        another = control(lab, near, "capture", "--port", "lan", "--write", "/dev/null")
        check(another.returncode == 1 and "another capture runs" in another.stderr, another.stderr)
        with connection(lab, ACCELERATED_PORT) as (client, server):
            sender = threading.Thread(target=lambda: (client.sendall(bytes(300_000)), client.shutdown(1)))
            sender.start()
            receive_all(server)
            sender.join()
        says = capture.end(interrupt=False)
        check(says == "20 packets written\n", says)
        lengths = tshark(capture.file, "-T", "fields", "-e", "frame.cap_len").split()
        check(len(lengths) == 20 and max(map(int, lengths)) <= 60, f"lengths: {lengths}")
    done = control(lab, near, "capture", "--port", "lan", "--seconds", "1", "--write", "/dev/null")
    check(done.returncode == 0 and "packets written" in done.stderr, done.stderr)
    for words, says in (
        (("--port", "lan", "--filter", "tcp prot 80"), 'filter "tcp prot 80": '),
        (("--port", "lan", "--decrypted"), "nothing is encrypted on the LAN"),
    ):
        refused = control(lab, near, "capture", "--write", "/dev/null", *words)
        check(refused.returncode == 1 and says in refused.stderr, f"{words}: {refused.stderr}")
    # A client that is killed leaves nothing behind: the next client is served.
    with Capture(lab, near, "--port", "wan") as capture:
        capture.process.kill()
        capture.process.wait()
    time.sleep(0.5)
    done = control(lab, near, "capture", "--port", "lan", "--seconds", "1", "--write", "/dev/null")
    check(done.returncode == 0, done.stderr)


@pytest.mark.lab(Link(rtt=0.1), GatewayOptions(security="psk", modes={"compress": "off"}))
def test_captures(lab: Lab) -> None:
    lan(lab)
    wan(lab)
    limits(lab)
    converse(lab, 9003)
    check(json.loads(control(lab, lab.gateway_a, "status", "--json").stdout)["flows"] >= 0, "it lives")
