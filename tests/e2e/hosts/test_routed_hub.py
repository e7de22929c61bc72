"""A hub and two terminals in subnets of their own: files between real hosts behind routers."""

import hashlib
import os
import random
import subprocess

from harness import check, eventually, note, watch
from routed_lab import ADDRESSES, RoutedLab

PORT = 8080
SIZE = 1_500_000
_CURL = ("curl", "--silent", "--show-error", "--fail", "--globoff", "--noproxy", "*", "--max-time")


def curl(lab: RoutedLab, host: str, *words: str) -> bytes:
    command = lab.host(host).command(*_CURL, "40", *words)
    done = subprocess.run(command, capture_output=True, timeout=60)
    check(done.returncode == 0, f"curl at host {host}: {done.stderr.decode()}")
    return done.stdout


def exchange(lab: RoutedLab, client: str, address: str, path: str, digest: str) -> None:
    name = f"[{address}]" if ":" in address else address
    url = f"http://{name}:{PORT}/{os.path.basename(path)}"
    arrived = hashlib.sha256(curl(lab, client, url)).hexdigest()
    check(arrived == digest, f"{url} arrived changed at host {client}")
    answer = curl(lab, client, "--header", "Expect:", "--upload-file", path, f"{url}-back")
    check(answer.decode() == digest, f"the upload of host {client} to {url} arrived changed")


def files_cross_routers(lab: RoutedLab, path: str, digest: str) -> None:
    hub = lab.gateways["hub"]
    for number, terminal in enumerate(("one", "two")):
        host = str(number + 1)
        for address in (ADDRESSES[host].ipv4, ADDRESSES[host].ipv6):
            exchange(lab, "h", address, path, digest)
        for address in (ADDRESSES["h"].ipv4, ADDRESSES["h"].ipv6):
            exchange(lab, host, address, path, digest)
        gateway = lab.gateways[terminal]
        check(gateway.counter("flows_from_peer") == 4, f"{terminal} opened other than 4 flows")
        check(gateway.counter("flows_established") == 4, f"{terminal} took other than 4 flows")
        streams = hub.query("peers")[number]["counters"]
        check(
            streams["streams_opened"] >= 4 and streams["streams_accepted"] >= 4,
            f"the hub's flows with {terminal} went elsewhere: {streams}",
        )
        note(f"8 files between the hub and {terminal}, IPv4 and IPv6, hashes equal")
    check(hub.counter("flows_unreachable") == 0, "a host of a LAN was not found")


def terminals_reach_each_other_unrelayed(lab: RoutedLab, path: str, digest: str) -> None:
    before = lab.gateways["one"].counter("bridged_no_peer_prefix")
    exchange(lab, "1", ADDRESSES["2"].ipv4, path, digest)
    check(
        lab.gateways["one"].counter("bridged_no_peer_prefix") > before,
        "a connection between terminals was not bridged by name",
    )


def hosts_behind_routers_are_reset(lab: RoutedLab) -> None:
    """A terminal restarts without its journal. It looks for the hosts of its old flows on the LAN."""
    terminal = lab.gateways["one"]
    server = lab.host("1").popen("python3", "-c", _IDLE_SERVER, stdout=subprocess.PIPE, text=True)
    check(server.stdout.readline() == "listening\n", "the idle server does not listen")
    client = lab.host("h").popen(
        "python3", "-c", _IDLE_CLIENT.format(address=ADDRESSES["1"].ipv4), stdout=subprocess.PIPE
    )
    check(server.stdout.readline() == "accepted\n", "the idle connection was not accepted")
    terminal.daemon.kill()
    terminal.forget_runtime_files()
    terminal.start()
    seconds = eventually(lambda: server.poll() is not None, 20, "the idle server is reset")
    check(server.stdout.readline() == "reset\n", "the idle server saw another end")
    eventually(lambda: client.poll() is not None, 10, "the idle client is reset")
    note(f"an idle server behind a router was reset {seconds:.1f} s after the restart")
    check(terminal.counter("orphans_silent") == 0, "a host was not found")


_IDLE_SERVER = """
import socket
listener = socket.create_server(("", 9001))
print("listening", flush=True)
end, _ = listener.accept()
print("accepted", flush=True)
try:
    end.recv(1)
except ConnectionResetError:
    print("reset", flush=True)
"""
_IDLE_CLIENT = """
import socket
end = socket.create_connection(("{address}", 9001))
try:
    end.recv(1)
except ConnectionResetError:
    pass
"""


def test_routed_hub() -> None:
    with watch(RoutedLab()) as lab:
        web = os.path.join(lab.folder, "web")
        os.makedirs(web)
        path = os.path.join(web, "file.bin")
        content = random.Random(1).randbytes(SIZE)
        with open(path, "wb") as file:
            file.write(content)
        for host in ADDRESSES:
            lab.file_server(host, web, PORT)
        digest = hashlib.sha256(content).hexdigest()
        files_cross_routers(lab, path, digest)
        terminals_reach_each_other_unrelayed(lab, path, digest)
        hosts_behind_routers_are_reset(lab)
