#!/usr/bin/env python3
"""Compares deploy/wireshark/stp.lua in tshark with the project's own parsers, packet by packet.

Usage: dissector_test.py STP_CAPTURE STP_LUA. Exit status 77 where tshark is missing.
"""

import ipaddress
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP_STATUS = 77
PREFIX = "satstp."
OF_FRAMES = {"unknown_frame", "open.undecoded", "block.undecoded"}
FINDINGS = ["crc.bad", "malformed", "cut_short", "other_version", *sorted(OF_FRAMES)]
LUA_ERRORS = ["_ws.lua.error", "_ws.lua.text"]
SEPARATOR = "|"

# Text that a person reads: some lines of the detailed view, by capture.
WORDS = {
    "frames": [
        "    HELLO 1 epoch 1700000000000000002 peer 1700000000000000001 answers 1",
        "        Boot epoch: 1700000000000000002 (2023-11-14 22:13:20 UTC)",
        "        Frame type: FEEDBACK (0x03)",
        "        Delay since then: 1500 microseconds",
        "        Arrived, by the reporter's clock (low 32 bits): 4000000000 microseconds",
        "        Interval to the next report: 25 milliseconds",
        "        UDP payload received: 123456789012 bytes",
        "        Pairs: 2",
        "        Pairs: 65535 (a bitmap follows)",
        "        Missing 17 to 17 (1)",
        "        Received 18 to 29 (12)",
        "        Capacity: 16384 bit/s (0.016384 Mbit/s)",
        "        Reason: host_reset (1)",
        "        [Padding: 700 bytes]",
        "            Client: 198.51.100.7",
        "            Server: 2001:db8:b::9",
        "                .... ..1. = Acknowledgments: end to end: True",
        "            Admission: draining (2)",
        "            .... .... .... .... .... .... .... .1.. = Understands CODED and REPAIR: True",
        "        Block: zstd, 6 bytes",
        "        [Expert Info (Note/Undecoded): Unknown frame]",
    ],
    "damaged": ["        [Expert Info (Error/Checksum): Bad CRC32C, expected 0x"],
}


class Tshark:
    """tshark with a home of its own, and without root's rights: some builds run no scripts as root."""

    def __init__(self, folder: pathlib.Path, script: pathlib.Path):
        self.folder = folder
        self.script = folder / "script" / script.name
        shutil.copytree(script.parent, self.script.parent)
        shutil.copytree(script.parent, folder / "installed" / ".local/lib/wireshark/plugins")
        (folder / "plain").mkdir()
        self.user = {}
        if os.geteuid() == 0:
            self.user = {"user": 65534, "group": 65534, "extra_groups": []}
        for root, _, _ in os.walk(folder):
            os.chmod(root, 0o755)

    def run(self, *arguments: str, installed: bool = False) -> str:
        """Returns the output; tshark must not complain."""
        home = self.folder / ("installed" if installed else "plain")
        command = ["tshark", *arguments]
        if not installed:
            command += ["-X", f"lua_script:{self.script}"]
        done = subprocess.run(
            command, env={"HOME": str(home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            cwd=home, capture_output=True, text=True, errors="replace", check=False, timeout=60,
            **self.user)
        complaints = [line for line in done.stderr.splitlines() if "dangerous" not in line]
        if done.returncode != 0 or complaints:
            raise RuntimeError(f"tshark {' '.join(arguments[:4])} ...: status {done.returncode}\n"
                               + "\n".join(complaints[:20]))
        return done.stdout


def read_lines(path: pathlib.Path) -> list[dict]:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def normal(kind: str, value: str) -> str:
    """The value of a field of this type, in one normal form."""
    if kind == "FT_BOOLEAN":
        return {"True": "1", "False": "0"}.get(value, value)
    if kind in ("FT_BYTES", "FT_ETHER"):
        return value.replace(":", "").lower()
    if kind == "FT_IPv6":
        return str(ipaddress.ip_address(value))
    if kind.startswith("FT_UINT"):
        return str(int(value, 0))
    return value


class DissectorTest(unittest.TestCase):
    folder: pathlib.Path
    tshark: Tshark
    types: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        for line in cls.tshark.run("-G", "fields").splitlines():
            parts = line.split("\t")
            if parts[0] == "F" and parts[2].startswith(PREFIX):
                cls.types[parts[2].removeprefix(PREFIX)] = parts[3]

    def fields_with_values(self) -> list[str]:
        return [name for name, kind in self.types.items() if kind != "FT_NONE"]

    def dissect(self, name: str, *more: str) -> list[dict]:
        """For each packet: info, findings, errors of Lua and the values of each field."""
        names = self.fields_with_values()
        wanted = ["_ws.col.Info", "_ws.malformed", *LUA_ERRORS, *[PREFIX + n for n in FINDINGS + names]]
        text = self.tshark.run(
            "-n", "-r", str(self.folder / f"{name}.pcap"), *more, "-T", "fields",
            "-E", "occurrence=a", "-E", f"aggregator={SEPARATOR}",
            *[argument for field in wanted for argument in ("-e", field)])
        packets = []
        for line in text.splitlines():
            columns = line.split("\t")
            info, malformed = columns[:2]
            errors, rest = columns[2:2 + len(LUA_ERRORS)], columns[2 + len(LUA_ERRORS):]
            findings = sorted(name for name, text in zip(FINDINGS, rest, strict=False) if text)
            values = rest[len(FINDINGS):]
            # Wireshark itself calls a packet malformed if a read goes beyond its end.
            if malformed and "malformed" not in findings:
                errors.append(malformed)
            packets.append({
                "info": info,
                "errors": [error for error in errors if error],
                "findings": findings,
                "fields": {n: [normal(self.types[n], v) for v in value.split(SEPARATOR)]
                           for n, value in zip(names, values, strict=True) if value},
            })
        return packets

    def compare(self, name: str) -> list[dict]:
        expected = read_lines(self.folder / f"{name}.jsonl")
        packets = self.dissect(name)
        self.assertEqual(len(packets), len(expected))
        wrong = []
        for number, (packet, wanted) in enumerate(zip(packets, expected, strict=True), 1):
            differences = [f"Lua: {error}" for error in packet["errors"]]
            if not wanted["is_stp"]:
                if packet["fields"] or packet["findings"]:
                    differences.append("taken for STP")
            else:
                findings = set(packet["findings"])
                # Gateways drop a malformed packet whole; the dissector shows the frames before the fault.
                if "malformed" in wanted["findings"]:
                    findings -= OF_FRAMES
                if findings != set(wanted["findings"]):
                    differences.append(f"findings {sorted(findings)}, not {wanted['findings']}")
            if wanted["fields_known"]:
                if packet["info"] != wanted["info"]:
                    differences.append(f"info {packet['info']!r}, not {wanted['info']!r}")
                for field in sorted(packet["fields"].keys() | wanted["fields"].keys()):
                    found = packet["fields"].get(field)
                    known = wanted["fields"].get(field)
                    if known is not None:
                        known = [normal(self.types.get(field, ""), value) for value in known]
                    if found != known:
                        differences.append(f"{field} {found}, not {known}")
            if differences:
                wrong.append(f"packet {number}: " + "; ".join(differences)[:600])
        if wrong:
            self.fail(f"{len(wrong)} of {len(packets)} packets:\n" + "\n".join(wrong[:10]))
        return packets

    def check_words(self, name: str) -> None:
        text = self.tshark.run("-n", "-r", str(self.folder / f"{name}.pcap"), "-c", "500",
                               "-V", "-O", "satstp")
        for words in WORDS[name]:
            self.assertTrue(re.search("^" + re.escape(words), text, re.MULTILINE), words)

    def test_gateways_with_faults_between_them(self):
        packets = self.compare("scenario")
        seen = {kind for packet in packets for kind in packet["fields"].get("frame.type", [])}
        for kind in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x43, 0x44, 0x47, 0x48):
            self.assertIn(str(kind), seen)
        self.assertTrue(seen & {"16", "17", "18", "19"})  # DATA has four types
        for block in ("0", "1"):
            self.assertTrue(any(block in packet["fields"].get("block.kind", []) for packet in packets))
        self.assertTrue(any("entry.length" in packet["fields"] for packet in packets))
        self.assertTrue(any("mtu_probe" in packet["fields"] for packet in packets))
        self.assertFalse(any(packet["findings"] for packet in packets))

    def test_every_frame_and_field(self):
        packets = self.compare("frames")
        seen = {field for packet in packets for field in packet["fields"]} | {"crc.expected"}
        self.assertEqual(sorted(set(self.fields_with_values()) - seen), [], "never seen")
        self.check_words("frames")

    def test_damaged_packets(self):
        packets = self.compare("damaged")
        for finding in ("crc.bad", "malformed"):
            self.assertGreater(sum(finding in packet["findings"] for packet in packets), 500)
        self.check_words("damaged")

    def test_installed_as_a_plugin(self):
        text = self.tshark.run("-r", str(self.folder / "frames.pcap"), "-Y", "satstp.hello.echo == 1",
                               "-T", "fields", "-e", "satstp.hello_number", installed=True)
        self.assertEqual(text.split(), ["1"] * 5)  # as often as examples.cc greets

    def test_ports_are_a_preference(self):
        elsewhere = self.dissect("frames", "-c", "100", "-o", "satstp.ports:9000-9003")
        self.assertFalse(any(packet["fields"] for packet in elsewhere))
        both = self.dissect("frames", "-c", "100", "-o", "satstp.ports:9000,7878")
        self.assertTrue(all(packet["fields"] for packet in both))

    def test_it_knows_every_reason_of_a_reset(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        lua = (root / "deploy/wireshark/satstp/names.lua").read_text()
        header = (root / "pep/stp/types.h").read_text()
        reasons = lua[lua.index("local REASONS"):].split("}")[0]
        named = {int(number): name for number, name in re.findall(r'\[(\d+)\] = "(\w+)"', reasons)}
        enum = header[header.index("enum class ResetReason"):].split("};")[0]
        known = {int(number): re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
                 for name, number in re.findall(r"k(\w+) = (\d+)", enum)}
        self.assertGreater(len(known), 5)
        self.assertEqual(named, known)

    def test_the_checksum_need_not_be_verified(self):
        packets = self.dissect("frames", "-c", "100", "-o", "satstp.verify_crc:FALSE")
        self.assertEqual({status for packet in packets
                          for status in packet["fields"].get("crc.status", [])}, {"2"})


def main() -> int:
    capture, script = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if shutil.which("tshark") is None:
        print("tshark is not installed (deploy/setup.sh --test-programs installs it)")
        return SKIP_STATUS
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout
    if "with Lua" not in re.sub(r"\s+", " ", version):
        print("this tshark was built without Lua")
        return SKIP_STATUS
    with tempfile.TemporaryDirectory(prefix="satrelay-dissector-") as name:
        folder = pathlib.Path(name)
        subprocess.run([capture, folder], check=True)
        DissectorTest.folder = folder
        DissectorTest.tshark = Tshark(folder, script)
        return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
