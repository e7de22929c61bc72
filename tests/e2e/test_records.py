"""Records of flows: lines in a file, IPFIX as nfcapd and tshark read it, and what becomes of them without either."""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from harness import (
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    Skip,
    check,
    connect,
    connection,
    control,
    eventually,
    make_lab,
    note,
)
from lab.daemon import Daemon

PORT = 4739
DOMAIN = 7
RTT = 0.2
SIZES = (4_000, 90_000, 1_500_000)


def need(*programs: str) -> None:
    for program in programs:
        if not any(
            os.access(os.path.join(folder, program), os.X_OK)
            for folder in os.environ["PATH"].split(":")
        ):
            raise Skip(f"{program} is not installed: deploy/setup.sh --test-programs")


@contextlib.contextmanager
def recording(transport: str):
    """A lab whose gateways record; its folder of records belongs to whoever they run as."""
    with tempfile.TemporaryDirectory(prefix="satrelay-records-") as folder:
        os.chmod(folder, 0o777)
        records = {
            "file": f"{folder}/{{gateway}}.json",
            "rotate_size": "64kB",
            "ipfix": f"{{collector: '127.0.0.1:{PORT}', transport: {transport}, observation_domain: {DOMAIN}}}",
        }
        with make_lab(Link(rtt=RTT), GatewayOptions(records=records)) as lab:
            yield lab, folder


def lines(folder: str, gateway) -> list[dict]:
    path = f"{folder}/{gateway.name}.json"
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]
    return []


def download(lab: Lab, size: int) -> int:
    """The port of the client."""
    with connection(lab, ACCELERATED_PORT) as (client, server):
        client.sendall(b"?")
        check(server.recv(1) == b"?", "the question changed")

        def answer() -> None:
            server.sendall(os.urandom(size))
            server.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=answer)
        sender.start()
        received = 0
        while part := client.recv(1 << 20):
            received += len(part)
        sender.join()
        check(received == size, f"{received} bytes of {size}")
        return client.getsockname()[1]


def reset(lab: Lab) -> int:
    with connection(lab, ACCELERATED_PORT) as (client, server):
        client.sendall(b"x")
        server.recv(1)
        port = client.getsockname()[1]
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        time.sleep(3 * RTT)
    return port


def of_port(records: list[dict], port: int) -> dict:
    found = [each for each in records if each["client_port"] == port]
    check(len(found) == 1, f"{len(found)} records of port {port}")
    return found[0]


def start_nfcapd(lab: Lab, folder: str) -> Daemon:
    os.makedirs(folder, exist_ok=True)
    argv = ["nfcapd", "-b", "127.0.0.1", "-p", str(PORT), "-w", folder, "-v"]
    daemon = lab.start_daemon(f"nfcapd-{os.path.basename(folder)}", lab.gateway_a.space, argv)
    listening = f":{PORT:04X} "
    daemon.wait_until(
        lambda: listening in lab.gateway_a.space.run("cat", "/proc/net/udp"), 10, "it listens"
    )
    return daemon


def nfdump(folder: str) -> dict[int, dict]:
    """What nfcapd has understood, by the port of the client."""
    read = subprocess.run(
        ["nfdump", "-R", folder, "-o", "json"], capture_output=True, text=True, check=True
    )
    return {each["src_port"]: each for each in json.loads(read.stdout or "[]")}


def test_file_and_nfcapd() -> None:
    need("nfcapd", "nfdump")
    with recording("udp") as (lab, folder):
        near, far = lab.gateways
        before = os.path.join(folder, "before")
        collector = start_nfcapd(lab, before)
        # It hears the templates when the gateway finds it, or within their interval.
        said = near.query("records")["exported_messages"]
        eventually(lambda: near.query("records")["exported_messages"] > said, 15, "templates")
        ports = [download(lab, size) for size in SIZES]
        gone = reset(lab)
        for gateway in lab.gateways:
            eventually(lambda: len(lines(folder, gateway)) == 4, 10, f"records of {gateway.name}")
        check_lines(lab, folder, ports, gone)
        eventually(lambda: near.query("records")["exported"] == 4, 10, "all are exported")
        collector.stop()
        seen = nfdump(before)
        note(f"nfdump: {json.dumps(seen[ports[-1]])}")
        for port, size in zip(ports, SIZES):
            flow = seen[port]
            check((flow["in_bytes"], flow["out_bytes"]) == (1, size), f"{size}: {flow}")
            check(flow["src4_addr"] == CLIENT.ipv4 and flow["dst4_addr"] == SERVER.ipv4, "hosts")
            check(flow["dst_port"] == ACCELERATED_PORT, "the port of the server")

        # The far gateway has no collector: its file goes on all the same.
        state = far.query("records")
        check(state["unexported"] > 0 and state["written"] == 4, f"far: {state}")
        state = near.query("records")
        check(state["unwritten"] == state["lost"] == 0, f"near: {state}")
        metrics = control(lab, near, "metrics").stdout
        check("satrelay_records_written_total 4" in metrics, "the metric")
        for size in ("10kB", "100kB", "10MB"):
            counted = f'satrelay_flow_completion_seconds_count{{size="{size}"}} 1'
            check(counted in metrics, f"{size}: it took so long as one of its size")

        # kill -9, and another one in its place.
        collector = start_nfcapd(lab, os.path.join(folder, "killed"))
        os.kill(collector.pid, signal.SIGKILL)
        collector.kill()
        for _ in range(3):
            download(lab, 100)
            time.sleep(0.2)
        eventually(lambda: near.query("records")["unexported"] > 0, 10, "the loss is counted")
        check(near.query("records")["written"] == 7, "the file goes on")
        after = os.path.join(folder, "after")
        collector = start_nfcapd(lab, after)
        connections = near.query("records")["connections"]
        eventually(
            lambda: near.query("records")["connections"] > connections
            or near.query("records")["ipfix"] == "ok",
            10,
            "it is tried again",
        )
        again = download(lab, 2000)
        eventually(lambda: near.query("records")["written"] == 8, 10, "the last record")
        collector.stop()
        check(nfdump(after)[again]["out_bytes"] == 2000, "the new one has heard the templates")


def check_lines(lab: Lab, folder: str, ports: list[int], gone: int) -> None:
    near, far = (lines(folder, gateway) for gateway in lab.gateways)
    for port, size in zip(ports, SIZES):
        one, other = of_port(near, port), of_port(far, port)
        check(one["to_lan_bytes"] == other["from_lan_bytes"] == size, f"{size}: {one} {other}")
        check(one["from_lan_bytes"] == other["to_lan_bytes"] == 1, "the question")
        check(one["encoded_from_peer_bytes"] == other["encoded_to_peer_bytes"], "the link's bytes")
        check(one["encoded_from_peer_bytes"] >= size, "random bytes do not become fewer")
        for record in one, other:
            check(record["client"] == CLIENT.ipv4 and record["server"] == SERVER.ipv4, "hosts")
            check(record["server_port"] == ACCELERATED_PORT, "port")
            check(record["end"] == "finished" and record["established"], f"end: {record}")
            check(record["peer"] == "remote" and record["rule"] == 2, "peer and rule")
        check((one["client_side"], other["client_side"]) == ("lan", "peer"), "sides")
        check(one["first_byte_us"] >= RTT * 1e6, "the server's first byte had to cross twice")
        check(one["duration_us"] > one["first_byte_us"], "it went on")
    check(of_port(near, gone)["end"] == "reset_by_host", "who has reset it")
    check(of_port(far, gone)["end"] == "reset_by_peer", "who has reset it, from the far side")
    note(json.dumps(of_port(near, ports[-1])))


def test_rotation() -> None:
    with recording("udp") as (lab, folder):
        near = lab.gateway_a
        # A line has some 400 bytes, so 64 kB are full after 160.
        for _ in range(200):
            with connect(lab.client, SERVER.ipv4, ACCELERATED_PORT):
                pass  # nobody listens: refused
        eventually(lambda: near.query("records")["written"] == 200, 20, "all are written")
        check(near.query("records")["rotations"] == 1, "one file was full")
        path = f"{folder}/{near.name}.json"
        counted = 0
        for each in (path, f"{path}.1"):
            with open(each, encoding="ascii") as file:
                counted += sum(json.loads(line)["end"] == "refused" for line in file)
        check(counted == 200, f"{counted} records of 200")


def test_tcp_and_stop() -> None:
    need("tshark", "tcpdump")
    with recording("tcp") as (lab, folder):
        near = lab.gateway_a
        eventually(lambda: near.query("records")["ipfix"] == "away", 10, "there is no collector")
        capture = os.path.join(folder, "capture.pcap")
        dump = lab.start_daemon(
            "tcpdump",
            near.space,
            [*"tcpdump -Z root -i lo -U --immediate-mode -w".split(), capture, f"tcp port {PORT}"],
        )
        dump.wait_until(lambda: os.path.exists(capture), 10, "it captures")
        with near.space.socket(socket.AF_INET, socket.SOCK_STREAM) as collector:
            collector.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            collector.bind(("127.0.0.1", PORT))
            collector.listen(2)
            eventually(lambda: near.query("records")["ipfix"] == "ok", 35, "it is connected")
            accepted, _ = collector.accept()
            port = download(lab, 5_000)
            eventually(lambda: near.query("records")["exported"] == 1, 10, "it is exported")
            # What ends with the gateway is written and exported as well.
            with connection(lab, ACCELERATED_PORT) as (client, _):
                last = client.getsockname()[1]
                near.daemon.stop()
            accepted.close()
        check(of_port(lines(folder, near), last)["end"] == "reset_shutdown", "the last record")
        time.sleep(0.3)
        dump.stop()
        rows = decoded(capture)
        note(f"tshark: {rows}")
        check(rows[port] == [1, 5000, "finished"], "the download")
        check(rows[last] == [0, 0, "reset_shutdown"], "the last one")


def decoded(capture: str) -> dict[int, list]:
    """Of each record that tshark finds, by the port of the client: bytes of both, and its end."""
    read = subprocess.run(
        ["tshark", "-r", capture, "-d", f"tcp.port=={PORT},cflow", "-Y", "cflow", "-V"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    check("Malformed" not in read, "tshark finds something malformed")
    rows = {}
    for flow in re.split(r"\n\s+Flow \d+\n", read)[1:]:
        octets = [int(number) for number in re.findall(r"\n\s+Octets: (\d+)", flow)]
        port = int(re.search(r"SrcPort: (\d+)", flow)[1])
        end = re.search(r"Type 9: Value \(hex bytes\): ([0-9a-f ]+)", flow)[1]
        rows[port] = [*octets, bytes.fromhex(end).decode()]
    return rows
