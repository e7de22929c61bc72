"""An upload to a server that reads nothing, then everything. The window closes, and memory stays bounded."""

import hashlib
import random
import threading
import time

from harness import (
    SERVER,
    GatewayOptions,
    Lab,
    RealTime,
    accept,
    check,
    check_memory_returns,
    connect,
    connection,
    listen,
    make_lab,
    note,
)

SIZE = 16_000_000
FLOW_MEMORY = 2 << 20
SOCKET_BUFFER = 128 << 10
PARTLY_FULL_BLOCKS = 64 << 10


def test_slow_reader() -> None:
    options = GatewayOptions(limits={"memory": "64MiB", "flow_memory": f"{FLOW_MEMORY}B"})
    with make_lab(options=options) as lab:
        data = random.Random(7).randbytes(SIZE)
        sent = 0
        with listen(lab.server, SERVER.ipv4, 9001, SOCKET_BUFFER) as server:
            client = connect(lab.client, SERVER.ipv4, 9001, 50, SOCKET_BUFFER)
            accepted = accept(server)

        def upload():
            nonlocal sent
            view = memoryview(data)
            while sent < SIZE:
                sent += client.send(view[sent : sent + 65536])
            client.shutdown(1)

        sender = threading.Thread(target=upload, daemon=True)
        sender.start()
        stalled_at = _wait_until_stalled(lambda: sent)
        note(f"the sender stalled after {stalled_at} bytes")
        # Four shares of a flow: bytes from the LAN, bytes in flight, bytes that have arrived, and bytes that the server
        # has not acknowledged. The hosts' buffers come on top, as kernels count them.
        most = 4 * FLOW_MEMORY + 8 * SOCKET_BUFFER
        check(0 < stalled_at <= most, f"{stalled_at} bytes were taken, more than {most}")
        for gateway in lab.gateways:
            used = gateway.query("status")["arena_used_bytes"]
            note(f"{gateway.name} stores {used} bytes")
            check(
                used <= 2 * FLOW_MEMORY + PARTLY_FULL_BLOCKS,
                f"{gateway.name} stores {used} bytes for one flow",
            )
        window = lab.gateway_a.query("flows")[0]["lan_window_bytes"]
        check(window < 65536, f"gateway A still offers {window} bytes to the stalled client")

        _other_flows_go_on(lab)

        digest = hashlib.sha256()
        count = 0
        while part := accepted.recv(1 << 20):
            digest.update(part)
            count += len(part)
        sender.join()
        check(count == SIZE, f"{count} of {SIZE} bytes arrived")
        check(digest.digest() == hashlib.sha256(data).digest(), "the bytes arrived changed")
        client.close()
        accepted.close()
        check_memory_returns(lab)


def _wait_until_stalled(progress) -> int:
    """Waits until nothing was sent for 3 s."""
    last, since = progress(), time.monotonic()
    while time.monotonic() - since < 3:
        time.sleep(0.1)
        if progress() != last:
            last, since = progress(), time.monotonic()
    return last


def _other_flows_go_on(lab: Lab) -> None:
    measured = RealTime()
    with connection(lab, 9002) as (client, server):
        began = time.monotonic()
        client.sendall(b"hello")
        check(server.recv(16) == b"hello", "another flow's bytes changed")
        seconds = time.monotonic() - began
    measured.check(seconds < 3, f"another flow waited {seconds:.1f} s behind the stalled one")
