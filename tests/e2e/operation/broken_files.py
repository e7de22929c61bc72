"""Files that operators write, each with a mistake, and what `satrelayd --check` must tell of each.

A row has a name, the change of GOOD, and the expected lines: the line of the file, the path, and words of the message
that say what is wrong or what to write.
"""

import dataclasses
import os
from collections.abc import Callable

KEY = "ab" * 32
GOOD = """\
ports:
  lan: {interface: lan0}
  wan: {interface: sat0}
gateway:
  address: 192.0.2.1/29
links:
  sat:
    send_rate: 50Mbit
    receive_rate: 10Mbit
    overhead: ethernet
security:
  psk_file: FOLDER/psk
peers:
  - name: remote
    address: 192.0.2.2
    prefixes: [198.51.100.0/24]
    link: sat
rules:
  - {match: {port: 22}, action: bridge}
  - {action: accelerate}
"""
TWELVE = """\
ports:
  lan: {interface: lan0, mtu: 15000}
  van: {interface: sat0}
gateway:
  address: 192.0.2.1
links:
  sat:
    send_rate: 50Mb
    receive_rate: 10Mbit
    overhaed: ethernet
security:
  psk_file: FOLDER/absent
peers:
  - name: the remote one
    address: 192.0.2.2/29
    prefixes: [198.51.100.7/24, all]
rules:
  - {match: {port: ssh}, action: bridge}
  - {action: acelerate}
"""


@dataclasses.dataclass
class Row:
    name: str
    text: str  # FOLDER stands for the folder of the test
    told: list[tuple[int, str, str]]  # line, path, words; line 0: the message names no line
    status: int = 2
    octets: Callable[[bytes], bytes] = bytes  # changes the octets of the text
    # Commands that change a network namespace of the check; they need root.
    network: tuple[str, ...] = ()


def _changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, f"{old} is not once in GOOD"
    return GOOD.replace(old, new)


def bad(name: str, old: str, new: str, line: int, path: str, words: str) -> Row:
    return Row(name, _changed(old, new), [(line, path, words)])


def added(name: str, lines: str, line: int, path: str, words: str) -> Row:
    return Row(name, GOOD + lines + "\n", [(line, path, words)])


def octets(name: str, change: Callable[[bytes], bytes], line: int, path: str, words: str) -> Row:
    return Row(name, GOOD, [(line, path, words)], octets=change)


def doubtful(name: str, old: str, new: str, line: int, path: str, words: str) -> Row:
    return Row(name, _changed(old, new), [(line, path, words)], status=0)


def make_files(folder: str) -> None:
    """Makes the files of secrets that the rows name."""
    for name, text, mode in (
        ("psk", KEY, 0o600),
        ("open", KEY, 0o644),
        ("short", KEY[2:], 0o600),
        ("words", "correct horse battery staple", 0o600),
        ("blank", "", 0o600),
    ):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text and text + "\n")
        os.chmod(path, mode)


RATE = "write a number with bit, kbit, Mbit or Gbit, like 50Mbit"
_SECOND_PEER = "    link: sat\n  - {name: b, address: 192.0.2.3, prefixes: [198.51.100.128/25], link: sat}\n"
_LINK_MAP = "  sat:\n    send_rate: 50Mbit\n    receive_rate: 10Mbit\n    overhead: ethernet\n"
_PEER = "  - name: remote\n    address: 192.0.2.2\n    prefixes: [198.51.100.0/24]\n    link: sat\n"
_LAST_RULE = "  - {action: accelerate}\n"
_RULES = "rules:\n  - {match: {port: 22}, action: bridge}\n  - {action: accelerate}\n"

ROWS = [
    # Units and numbers.
    bad("rate in Mb", "50Mbit", "50Mb", 8, "links.sat.send_rate", RATE),
    bad("rate in Mbps", "50Mbit", "50 Mbps", 8, "links.sat.send_rate", RATE),
    bad("rate in quotes, in m", "50Mbit", '"50m"', 8, "links.sat.send_rate", RATE),
    bad("rate without unit", "50Mbit", "50000000", 8, "links.sat.send_rate", RATE),
    bad("rate with a comma", "50Mbit", "50,5Mbit", 8, "links.sat.send_rate", RATE),
    bad("negative rate", "50Mbit", "-50Mbit", 8, "links.sat.send_rate", RATE),
    bad("no send_rate", "    send_rate: 50Mbit\n", "", 8, "links.sat.send_rate", "is missing; write the rate"),
    bad("overhead with a unit", "overhead: ethernet", "overhead: 18B", 10, "links.sat.overhead", "write ip,"),
    bad("round trip at a link", "overhead: ethernet", "rtt: 550ms", 10, "links.sat.rtt", "unknown key"),
    added("time without unit", "stp: {ping_after: 550}", 21, "stp.ping_after", "like 550ms"),
    added("huge number", "limits: {flows: 99999999999999999999}", 21, "limits.flows", "from 1 to 10000000"),
    added("negative number", "limits: {flows: -5}", 21, "limits.flows", "from 1 to 10000000"),
    added("memory without unit", "limits: {memory: 64}", 21, "limits.memory", "like 64MiB"),
    added("too little memory", "limits: {memory: 64kB}", 21, "limits.memory", "allowed: 1MiB to"),
    added("more memory than there is", "limits: {memory: 900GiB}", 21, "limits.memory", "write less"),
    added("guarantees above the link", "classes: {voice: {guaranteed: 60Mbit}}", 21, "classes", "95% of link sat"),
    added("guarantee in percent", "classes: {voice: {guaranteed: 60%}}", 21, "classes.voice.guaranteed", RATE),
    bad("VLAN out of range", "192.0.2.1/29", "192.0.2.1/29\n  vlan: 5000", 6, "gateway.vlan", "from 1 to 4094"),
    # Names and addresses.
    bad("lan and wan on one port", "sat0", "lan0", 3, "ports.wan.interface", "is the device of ports.lan already"),
    bad("wan misspelt", "wan:", "wna:", 3, "ports.wna", "did you mean wan?"),
    bad("name of a port too long", "lan0", "averyverylongname0", 2, "ports.lan.interface", "like eth1"),
    bad("MAC for a port", "lan0", "00:11:22:33:44:55", 2, "ports.lan.interface", "the name of a kernel interface"),
    bad("address without length", "192.0.2.1/29", "192.0.2.1", 5, "gateway.address", "like 192.0.2.1/30"),
    bad("peer with a length", "192.0.2.2", "192.0.2.2/29", 15, "peers[0].address", "write 192.0.2.2"),
    bad("peer is the gateway", "192.0.2.2", "192.0.2.1", 15, "peers[0].address", "write the far gateway's"),
    bad("peer by host name", "192.0.2.2", "remote.example", 15, "peers[0].address", "write an IPv4 or IPv6"),
    bad("prefix with host bits", "198.51.100.0/24", "198.51.100.7/24", 16, "peers[0].prefixes[0]",
        "write 198.51.100.0/24"),
    bad("prefixes overlap", "    link: sat\n", _SECOND_PEER, 18, "peers[1].prefixes[0]",
        "overlaps 198.51.100.0/24 of peers[0]"),
    bad("link that is not there", "link: sat", "link: sun", 17, "peers[0].link", "there are: sat"),
    bad("class that is not there", "{action: accelerate}", "{action: accelerate, class: bulk}", 20, "rules[1].class",
        "describe it in classes"),
    # The secret.
    bad("key file not there", "FOLDER/psk", "FOLDER/none", 12, "security.psk_file", "satrelayctl keygen"),
    bad("key file is a folder", "FOLDER/psk", "FOLDER", 12, "security.psk_file", "is not a regular file"),
    bad("key file readable by all", "FOLDER/psk", "FOLDER/open", 12, "security.psk_file", "set it to 06"),
    bad("key too short", "FOLDER/psk", "FOLDER/short", 12, "security.psk_file", "62 hexadecimal digits; a key has 64"),
    bad("key is a phrase", "FOLDER/psk", "FOLDER/words", 12, "security.psk_file", "a key is 64 of 0 to 9 and a to f"),
    bad("key file empty", "FOLDER/psk", "FOLDER/blank", 12, "security.psk_file", "satrelayctl keygen"),
    bad("key without a blank", "security:\n  psk_file: FOLDER/psk\n", f"security:{KEY}\n", 11, "",
        "write a blank behind `security:`"),
    bad("key in place of psk_file", "  psk_file", f"  {KEY}: x\n  psk_file", 12, "security",
        "has a key that is no name; allowed here: psk_file"),
    bad("key in place of its file", "FOLDER/psk", KEY, 12, "security.psk_file", "write the path of the file"),
    bad("no security", "security:\n  psk_file: FOLDER/psk\n", "", 12, "peers[0].security", "write {psk_file:"),
    # YAML.
    bad("key given twice", _LAST_RULE, _LAST_RULE + "gateway: {}\n", 21, "gateway", "first in line 4"),
    bad("unknown key", "overhead", "overhaed", 10, "links.sat.overhaed", "did you mean overhead?"),
    bad("list for a map", _LINK_MAP, "  - sat: {send_rate: 50Mbit}\n", 7, "links", "write a map of links by name"),
    bad("map for a list", _PEER, "  remote: {address: 192.0.2.2}\n", 14, "peers", "write a list of far gateways"),
    bad("tab", "    send_rate", "\tsend_rate", 8, "", "indent with blanks"),
    bad("indentation", "    receive_rate", "   receive_rate", 9, "", "indent this line as the other lines"),
    bad("colon missing", "send_rate: ", "send_rate ", 8, "", "a blank behind `send_rate`"),
    bad("blank after the colon missing", "send_rate: ", "send_rate:", 8, "", "a blank behind `send_rate:`"),
    bad("bracket missing", "198.51.100.0/24]", "198.51.100.0/24", 17, "", "] behind the last one"),
    bad("brace missing", "{interface: lan0}", "{interface: lan0", 3, "", "} behind the last one"),
    bad("anchor in itself", "{interface: lan0}", "&a {interface: *a}", 2, "ports.lan.interface", "like eth1"),
    bad("anchor missing", "{interface: lan0}", "*lan", 2, "", "&NAME before the value"),
    bad("empty value", _RULES, "rules:\n", 18, "rules", "write a list of rules"),
    octets("empty file", lambda _: b"", 0, "", "see the samples"),
    octets("two documents", lambda good: good + b"---\nlog: info\n", 22, "", "write one document a file"),
    octets("comma before the first key", lambda good: b"," + good, 1, "", "remove the comma"),
    octets("octets of zero", lambda good: good + b"\0" * 512, 21, "", "write it again"),
    octets("larger than 8 MiB", lambda good: good + b"#" * (9 << 20), 0, "", "is larger than 8MiB"),
    octets("CR LF, and a mistake", lambda good: good.replace(b"50Mbit", b"50Mb").replace(b"\n", b"\r\n"), 8,
           "links.sat.send_rate", RATE),
    octets("UTF-16, and a mistake", lambda good: good.replace(b"50Mbit", b"50Mb").decode().encode("utf-16"), 8,
           "links.sat.send_rate", RATE),
    octets("BOM, and a mistake", lambda good: b"\xef\xbb\xbf" + good.replace(b"50Mbit", b"50Mb"), 8,
           "links.sat.send_rate", RATE),
    # Rules.
    bad("rule without action", "{action: accelerate}", "{match: {port: 80}}", 20, "rules[1].action", "write one of:"),
    bad("rule behind a catch-all", _LAST_RULE, _LAST_RULE + "  - {match: {port: 80}, action: drop}\n", 21, "rules[2]",
        "move it up or remove it"),
    bad("port by name", "port: 22", "port: ssh", 19, "rules[0].match.port", "write a port from 1 to 65535"),
    bad("UDP accelerated", "{port: 22}, action: bridge", "{protocol: udp}, action: accelerate", 19, "rules[0].action",
        "write bridge"),
    doubtful("rule behind one like it", _LAST_RULE, "  - {match: {port: 22}, action: drop}\n" + _LAST_RULE, 20,
             "rules[1]", "move it up or remove it"),
    doubtful("nothing is relayed", _LAST_RULE, "", 19, "rules", "as the last rule"),
    doubtful("catch-all by prefixes", "{port: 22}", '{source: [0.0.0.0/0, "::/0"]}', 20, "rules[1]", "move it up"),
    # The machine.
    added("user not there", "access: {user: nosuch-user}", 21, "access.user", "make it with: useradd"),
    Row("core not there", GOOD + "worker: {cpu: 1023}\n", [(0, "worker.cpu", "write one of")], status=0),
    Row("port not there", GOOD, [(0, "port lan", "correct ports.lan.interface")], status=0),
    Row("port in a bridge", GOOD, [(0, "port lan", "ip link set lan0 nomaster")], status=0, network=(
        "ip link add lan0 type veth peer name sat0", "ip link add br0 type bridge", "ip link set lan0 master br0")),
    # Several at once.
    Row("twelve mistakes", TWELVE, [
        (2, "ports.lan.mtu", "from 576 to 9000"),
        (3, "ports.van", "did you mean wan?"),
        (5, "gateway.address", "like 192.0.2.1/30"),
        (8, "links.sat.send_rate", RATE),
        (10, "links.sat.overhaed", "did you mean overhead?"),
        (12, "security.psk_file", "satrelayctl keygen"),
        (14, "peers[0].name", "write 1 to 32 letters"),
        (15, "peers[0].address", "write 192.0.2.2"),
        (16, "peers[0].prefixes[0]", "write 198.51.100.0/24"),
        (16, "peers[0].prefixes[1]", "like 198.51.100.0/24"),
        (18, "rules[0].match.port", "write a port from 1 to 65535"),
        (19, "rules[1].action", "allowed: accelerate"),
    ]),
]  # fmt: skip
