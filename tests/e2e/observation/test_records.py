"""Records of flows: lines in a file, IPFIX as nfcapd and tshark read it, and faults of the file and of the
collector."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import frames
from harness import (
    ACCELERATED_PORT,
    CLIENT,
    SERVER,
    GatewayOptions,
    Lab,
    Link,
    RealTime,
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
ROOM = 32_768  # records that a ring holds
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
    """A lab with gateways that record. Any user may write into its folder of records."""
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
    """Downloads `size` bytes; returns the client's port."""
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


def wait_for_event(gateway, name: str, subject: str, after: dict | None = None) -> dict:
    """The first such event after event `after`."""
    first = after["number"] + 1 if after else 1

    def found() -> list[dict]:
        return [
            event
            for event in gateway.events(first)
            if (event["name"], event["subject"]) == (name, subject)
        ]

    eventually(found, 25, f"{gateway.name} tells of {name}")
    return found()[0]


@contextlib.contextmanager
def losing(host, port: int, one_in: int):
    """Drops one in `one_in` segments with payload from that port before the host gets them."""
    rules = (
        "table inet lossy { chain in { type filter hook input priority 0; "
        f"tcp sport {port} meta length > 600 numgen inc mod {one_in} == {one_in - 1} drop; }}; }}"
    )
    host.run("nft", rules)
    try:
        yield
    finally:
        host.run("nft", "delete", "table", "inet", "lossy")


def test_both_records_tell_of_a_lan_that_loses_segments() -> None:
    need("nft")
    with recording("udp") as (lab, folder):
        near, far = lab.gateways
        # The client's kernel sees large frames, of which there are not many.
        with losing(lab.client, ACCELERATED_PORT, 10):
            port = download(lab, 1_500_000)
        both = []
        for gateway in near, far:
            eventually(
                lambda: any(each["client_port"] == port for each in lines(folder, gateway)),
                20,
                f"{gateway.name} has a record",
            )
            both.append(of_port(lines(folder, gateway), port))
        one, other = both
        note(f"retransmitted: {one['lan_retransmitted']} at the client, {one['far_retransmitted']} at the server")
        check(one["lan_retransmitted"] > 0, f"the LAN has lost nothing: {one}")
        for what in "retransmitted", "repeated":
            check(one[f"lan_{what}"] == other[f"far_{what}"], f"{one} {other}")
            check(one[f"far_{what}"] == other[f"lan_{what}"], f"{one} {other}")


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
    """The records that nfcapd has understood, by the port of the client."""
    read = subprocess.run(
        ["nfdump", "-R", folder, "-o", "json"], capture_output=True, text=True, check=True
    )
    return {each["src_port"]: each for each in json.loads(read.stdout or "[]")}


def test_file_and_nfcapd() -> None:
    need("nfcapd", "nfdump")
    with recording("udp") as (lab, folder):
        near, far = lab.gateways
        # No collector listens to the templates yet.
        failing = wait_for_event(near, "records_failing", "records collector")
        check(failing["severity"] == "warning" and "refused" in failing["detail"], f"{failing}")
        before = os.path.join(folder, "before")
        collector = start_nfcapd(lab, before)
        # The collector gets the templates when the gateway finds it, or within their interval.
        said = near.query("records")["exported_messages"]
        eventually(lambda: near.query("records")["exported_messages"] > said, 15, "templates")
        ports = [download(lab, size) for size in SIZES]
        gone = reset(lab)
        for gateway in lab.gateways:
            eventually(lambda: len(lines(folder, gateway)) == 4, 10, f"records of {gateway.name}")
        check_lines(lab, folder, ports, gone)
        eventually(lambda: near.query("records")["exported"] == 4, 10, "all are exported")
        there = wait_for_event(near, "records_resumed", "records collector", failing)
        check(there["detail"] == "0 records were lost", f"{there}")
        collector.stop()
        seen = nfdump(before)
        note(f"nfdump: {json.dumps(seen[ports[-1]])}")
        for port, size in zip(ports, SIZES):
            flow = seen[port]
            check((flow["in_bytes"], flow["out_bytes"]) == (1, size), f"{size}: {flow}")
            check(flow["src4_addr"] == CLIENT.ipv4 and flow["dst4_addr"] == SERVER.ipv4, "hosts")
            check(flow["dst_port"] == ACCELERATED_PORT, "the port of the server")

        # The far gateway has no collector, but its file is written all the same.
        state = far.query("records")
        check(state["unexported"] > 0 and state["written"] == 4, f"far: {state}")
        state = near.query("records")
        check(state["unwritten"] == state["lost"] == 0, f"near: {state}")
        metrics = control(lab, near, "metrics").stdout
        check("satrelay_records_written_total 4" in metrics, "the metric")
        for size in ("10kB", "100kB", "10MB"):
            counted = f'satrelay_flow_completion_seconds_count{{size="{size}"}} 1'
            check(counted in metrics, f"{size}: it took so long as one of its size")

        # kill -9 of the collector, and another collector in its place.
        collector = start_nfcapd(lab, os.path.join(folder, "killed"))
        os.kill(collector.pid, signal.SIGKILL)
        collector.kill()
        for _ in range(3):
            download(lab, 100)
            time.sleep(0.2)
        eventually(lambda: near.query("records")["unexported"] > 0, 10, "the loss is counted")
        failing = wait_for_event(near, "records_failing", "records collector", there)
        check(near.query("records")["ipfix_trouble"] == failing["detail"], f"{failing}")
        check("refused" in control(lab, near, "records").stdout, "satrelayctl does not show it")
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
        resumed = wait_for_event(near, "records_resumed", "records collector", failing)
        lost = near.query("records")["unexported"]
        check(resumed["detail"] == f"{lost} record{'s were' if lost > 1 else ' was'} lost", resumed)
        check(near.query("records")["ipfix_trouble"] == "", "what is over is told")
        note("\n".join(line for line in near.daemon.log(1000).splitlines() if "records " in line))
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


def open_and_be_refused(lab: Lab, count: int) -> None:
    # No program listens on the port. Once that is known, the server itself refuses.
    for _ in range(count):
        with contextlib.suppress(ConnectionRefusedError):
            connect(lab.client, SERVER.ipv4, ACCELERATED_PORT).close()


def test_rotation() -> None:
    with recording("udp") as (lab, folder):
        near = lab.gateway_a
        # A line has some 450 bytes. So 64 kB are full after 140 lines, or before a batch that is longer than the rest.
        # A batch may be longer than an empty file allows. So there are two batches at least.
        for more, all_of_them in ((120, 120), (80, 200)):
            open_and_be_refused(lab, more)
            eventually(lambda n=all_of_them: near.query("records")["written"] == n, 20, "all are written")
        rotations = near.query("records")["rotations"]
        check(1 <= rotations <= 3, f"{rotations} files were full")
        path = f"{folder}/{near.name}.json"
        counted = 0
        for each in [path, *(f"{path}.{number}" for number in range(1, rotations + 1))]:
            with open(each, encoding="ascii") as file:
                counted += sum(json.loads(line)["end"] == "refused" for line in file)
        check(counted == 200, f"{counted} records of 200")


def test_a_disk_becomes_full_and_has_room_again() -> None:
    with tempfile.TemporaryDirectory(prefix="satrelay-disk-") as disk:
        # Three pages: one for the folder, and two for some 20 lines.
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=12k,mode=777", "none", disk], check=True
        )
        try:
            records = {"file": f"{disk}/{{gateway}}.json"}
            with make_lab(Link(rtt=0.02), GatewayOptions(records=records)) as lab:
                fill_the_disk(lab, disk)
        finally:
            subprocess.run(["umount", disk], check=True)


def fill_the_disk(lab: Lab, disk: str) -> None:
    near = lab.gateway_a
    open_and_be_refused(lab, 60)
    failing = wait_for_event(near, "records_failing", "records file")
    check(failing["detail"] == f"{disk}/{near.name}.json: No space left on device", failing)
    everywhere = ("written", "waiting", "unwritten")
    eventually(lambda: sum(map(near.query("records").get, everywhere)) == 60, 10, "all have ended")
    state = near.query("records")
    check((state["file"], state["file_trouble"]) == ("failing", failing["detail"]), f"{state}")
    check(state["written"] == len(lines(disk, near)), "there is a piece of a line")
    check(state["waiting"] > 0, f"nothing is tried again: {state}")
    subprocess.run(["mount", "-o", "remount,size=1M", disk], check=True)
    # No flow ends any more, and the gateway still notices that there is room.
    resumed = wait_for_event(near, "records_resumed", "records file", failing)
    after = near.query("records")
    check(after["written"] == state["written"] + state["waiting"], f"{state}, then {after}")
    check(after["unwritten"] == state["unwritten"], f"{state}, then {after}")
    state = after
    check(state["written"] == len(lines(disk, near)), "the file is not whole")
    check(resumed["detail"] == f"{state['unwritten']} records were lost", resumed)
    open_and_be_refused(lab, 1)
    eventually(lambda: len(lines(disk, near)) == state["written"] + 1, 10, "the next record")
    check((state["file"], state["file_trouble"]) == ("ok", ""), f"{state}")


def test_a_folder_is_missing_at_the_start_and_made_later() -> None:
    with tempfile.TemporaryDirectory(prefix="satrelay-records-") as folder:
        os.chmod(folder, 0o777)
        missing = os.path.join(folder, "later")
        records = {"file": f"{missing}/{{gateway}}.json"}
        with make_lab(Link(rtt=0.02), GatewayOptions(records=records)) as lab:
            near = lab.gateway_a
            failing = wait_for_event(near, "records_failing", "records file")
            check(failing["detail"].endswith("No such file or directory"), failing)
            os.mkdir(missing)
            os.chmod(missing, 0o777)
            # No host opens a connection.
            resumed = wait_for_event(near, "records_resumed", "records file", failing)
            check(resumed["detail"] == "0 records were lost", resumed)
            check(os.path.exists(f"{missing}/{near.name}.json"), "the file is not there")
            stop_while_the_file_fails(lab, missing)


def stop_while_the_file_fails(lab: Lab, folder: str) -> None:
    """The gateway tries once more to write the records that wait, and stops without waiting for the file."""
    near, far = lab.gateways
    eventually(lambda: far.query("records")["file_trouble"] == "", 15, "far is well, too")
    shutil.rmtree(folder)
    open_and_be_refused(lab, 1)
    for gateway in lab.gateways:
        eventually(lambda: gateway.query("records")["waiting"] == 1, 10, "a record waits")
    check(near.daemon.stop() == 0, "it does not stop in order")
    check("1 were not written in time" in near.daemon.log(100), "nobody is told what is lost")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    check(far.daemon.stop() == 0, "it does not stop in order")
    check(len(lines(folder, far)) == 1, "the last record could be written")


@contextlib.contextmanager
def held(daemon: Daemon, name: str):
    """Stops a thread of that name, as a disk that hangs would. The other threads go on."""
    threads = {}
    for thread in os.listdir(f"/proc/{daemon.pid}/task"):
        with open(f"/proc/{daemon.pid}/task/{thread}/comm", encoding="ascii") as comm:
            threads[comm.read().strip()] = int(thread)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    seize, interrupt, detach, wait_all = 0x4206, 0x4207, 17, 0x40000000
    if libc.ptrace(seize, threads[name], None, None) != 0:
        raise Skip(f"ptrace: {os.strerror(ctypes.get_errno())}")
    check(libc.ptrace(interrupt, threads[name], None, None) == 0, "the thread goes on")
    os.waitpid(threads[name], wait_all)
    try:
        yield
    finally:
        libc.ptrace(detach, threads[name], None, None)


def test_a_writer_that_stands_still_holds_up_no_worker() -> None:
    with tempfile.TemporaryDirectory(prefix="satrelay-records-") as folder:
        os.chmod(folder, 0o777)
        options = GatewayOptions(
            records={"file": f"{folder}/{{gateway}}.json"}, limits={"half_open": "60000"}
        )
        with make_lab(Link(rtt=0.02), options) as lab:
            overflow(lab, folder)


def send_syns(lab: Lab, until) -> None:
    """Sends SYNs from the client's address. Its kernel does not know them, and resets their answers."""
    target = re.search(r"lladdr (\S+)", lab.client.run("ip", "neigh", "show", SERVER.ipv4))[1]
    own = lab.client.run("cat", f"/sys/class/net/{CLIENT.interface}/address").strip()
    head = bytes.fromhex((target + own).replace(":", "")) + b"\x08\x00"
    measured = RealTime()
    with frames.Tap(lab.client, CLIENT.interface) as tap:
        for number in range(3 * ROOM):
            ports = 10_000 + number % 50_000, 9_000 + number // 50_000
            syn = frames.tcp(CLIENT.ipv4, SERVER.ipv4, ports, 0x02)
            tap.send(head + frames.ipv4(CLIENT.ipv4, SERVER.ipv4, 6, syn))
            if number % 200 == 0:
                time.sleep(0.005)
            if number > ROOM and number % 5_000 == 0 and until():
                note(f"after {number} SYNs")
                return
    measured.must(until(), "enough flows end")


def overflow(lab: Lab, folder: str) -> None:
    near = lab.gateway_a
    with connection(lab, ACCELERATED_PORT) as (client, server):
        with held(near.daemon, "flow-records"):
            began = time.monotonic()
            send_syns(lab, until=lambda: near.query("records")["lost"] > 0)
            lost = wait_for_event(near, "records_lost", "records writer")
            check(near.query("records")["waiting"] == ROOM, "the ring has room")
            client.sendall(b"hosts notice nothing")
            check(server.recv(100) == b"hosts notice nothing", "the flow stands still, too")
            note(f"full after {time.monotonic() - began:.1f} s: {lost['detail']}")
        eventually(lambda: near.query("records")["waiting"] == 0, 10, "it is emptied")

        # Flows that the client's kernel resets late end while the file is read.
        def all_written() -> bool:
            return ROOM <= near.query("records")["written"] == len(lines(folder, near))

        eventually(all_written, 10, "what is counted as written is in the file")


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
            # Flows that end with the gateway are recorded and exported as well.
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
    """The records that tshark finds, by the port of the client: bytes of both directions, and the end."""
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
