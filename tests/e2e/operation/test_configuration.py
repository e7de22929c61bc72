"""A wrong configuration is refused with the place of the mistake, before anything is changed. Needs no root."""

import glob
import os
import re
import resource
import subprocess
import tempfile
import time

from harness import REPOSITORY, RealTime, build_folder, check, note, programs

GOOD = """\
ports: {lan: {interface: lan0, driver: af_packet}, wan: {interface: sat0, driver: af_packet}}
gateway: {address: 192.0.2.1/30}
links: {sat: {send_rate: 50Mbit, receive_rate: 50Mbit, overhead: ethernet}}
peers: [{name: remote, address: 192.0.2.2, prefixes: [198.51.100.0/24], link: sat}]
rules: [{match: {port: 22}, action: bridge}, {action: accelerate}]
security: none
"""
# The mistake, how it changes GOOD, the line that must be named, and a word that must be in the message.
MISTAKES = (
    ("unknown key", ("overhead: ethernet", "overhaed: ethernet"), 3, "overhaed"),
    ("wrong unit", ("send_rate: 50Mbit", "send_rate: 50Mb"), 3, "send_rate"),
    ("unknown link", ("link: sat}", "link: sun}"), 4, "sun"),
    ("unknown driver", ("lan0, driver: af_packet", "lan0, driver: af_pocket"), 1, "driver"),
    ("bad prefix", ("198.51.100.0/24", "198.51.100.0/42"), 4, "prefixes"),
    ("unknown action", ("action: bridge", "action: brigde"), 5, "brigde"),
    ("no peers", ("peers: [{", "peers: []\n#[{"), 4, "peers"),
    ("no word about security", ("security: none\n", ""), 4, "security"),
    ("no such key file", ("security: none", "security: {psk_file: /nonexistent/psk}"), 6, "psk"),
    (
        "more memory than any machine has",
        ("security: none\n", "security: none\nlimits: {memory: 900GiB}\n"),
        7,
        "this machine has",
    ),
    ("no YAML", ("rules: [{", "rules: [{{{"), 5, ""),
)


def run(*argv: str):
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=20, preexec_fn=spare_the_machine
    )


def spare_the_machine() -> None:
    """Limits memory: a program that wrongly reads an endless file must not take the memory of others."""
    most = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def test_samples_pass() -> None:
    samples = sorted(glob.glob(os.path.join(REPOSITORY, "config/samples/*.yaml")))
    check(samples, "there are no samples")
    with tempfile.TemporaryDirectory() as folder:
        # The samples name a file of keys that exists only on its readers' machines.
        key, copy = os.path.join(folder, "psk"), os.path.join(folder, "sample.yaml")
        made = run(programs().satrelayctl, "keygen", key)
        check(made.returncode == 0, made.stderr)
        for sample in samples:
            program = programs().satlink if "link" in os.path.basename(sample) else programs().satrelayd
            with open(sample, encoding="utf-8") as original, open(copy, "w", encoding="utf-8") as file:
                file.write(original.read().replace("/etc/satrelay/psk", key))
            done = run(program, "-c", copy, "--check")
            check(done.returncode == 0, f"{sample} was refused: {done.stderr}")


def test_mistakes_are_placed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gateway.yaml")
        for name, (old, new), line, word in MISTAKES:
            check(old in GOOD, f"{name}: the test no longer fits its own sample")
            with open(path, "w", encoding="utf-8") as file:
                file.write(GOOD.replace(old, new, 1))
            for options in (["--check"], []):
                done = run(programs().satrelayd, "-c", path, *options)
                told = done.stderr
                check(done.returncode > 0, f"{name}: status {done.returncode}\n{told}")
                place = re.search(rf"{re.escape(path)}:(\d+):(\d+): (.*)", told)
                check(place, f"{name}: no file:line:column in: {told}")
                check(int(place[1]) == line, f"{name}: line {place[1]} instead of {line}: {told}")
                check(word in place[3], f"{name}: '{word}' is not in: {told}")
            note(f"{name}: {place[0].removeprefix(folder + '/')}")


def test_a_missing_file_is_named() -> None:
    for program in (programs().satrelayd, programs().satlink):
        done = run(program, "-c", "/nonexistent/gateway.yaml")
        check(done.returncode > 0, f"status {done.returncode} for a missing file")
        check("/nonexistent/gateway.yaml" in done.stderr, f"not named in: {done.stderr}")


def test_what_never_ends_is_not_read() -> None:
    satlab = os.path.join(build_folder(), "relay", "satlab", "satlab")
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        endless = os.path.join(folder, "endless.yaml")
        with open(endless, "w", encoding="ascii") as file:
            file.truncate(1 << 40)
        for file in ("/dev/zero", fifo, folder, endless):
            for argv in (
                (programs().satrelayd, "--check", "-c", file),
                (programs().satrelayd, "-c", file),
                (programs().satlink, "-c", file),
                (satlab, "run", file),
            ):
                began, measured = time.monotonic(), RealTime()
                done = run(*argv)
                seconds = time.monotonic() - began
                check(done.returncode > 0, f"{argv}: status {done.returncode}: {done.stderr}")
                check(f"{file}: " in done.stderr, f"{argv}: not named in: {done.stderr}")
                measured.check(seconds < 5, f"{argv} took {seconds:.1f} s")
            note(f"{done.stderr.strip()}")
