"""satlink measured from outside: delay, rate, loss, faults, frames untouched, control."""

import contextlib
import math
import os
import random
import socket
import stat
import struct
import subprocess
import time
from collections.abc import Callable

import frames
import pytest
from frames import Tap, checksum
from harness import Failed, RealTime, check, eventually, needs_root, note, promptly
from lab import telemetry
from satlink.path import Path, finish

pytestmark = needs_root

DELAY_MS = 50
SEGMENT = 1400
HEADER = bytes.fromhex("020000000002020000000001")  # destination, source


def near(value: float, expected: float, bound: float, what: str, judge=check) -> None:
    """`judge` is check(), or the check() of the RealTime in which the value was measured."""
    note(f"   {what}: {value:.6g} (expected {expected:.6g} within {bound:.3g})")
    judge(abs(value - expected) <= bound, f"{what}: {value} is not {expected} +- {bound}")


def five_sigma(count: int, share: float) -> float:
    return 5 * math.sqrt(count * share * (1 - share)) + 1


# --- what the model promises, on real ports -------------------------------------------------------


# The kernel moves frames over veth in a thread that waits for its turn like any other. So other work on the machine
# appears as delay. An error of the link itself would appear in every attempt.
DELAY_ATTEMPTS = 6


def delay(path: Path) -> None:
    """Both directions at once, at a modest rate."""
    promptly(path.satlink)
    for attempt in range(1, DELAY_ATTEMPTS):
        try:
            measure_delay(path, check)
            return
        except Failed as failed:
            note(f"attempt {attempt}: {failed}")
    measure_delay(path, RealTime().check)


def measure_delay(path: Path, judge) -> None:
    size, rate = 200, 2_000_000
    receivers = [
        path.start_receiver(path.right, "s1", 1.0),
        path.start_receiver(path.left, "s0", 1.0),
    ]
    senders = [
        path.start_sender(path.left, "s0", size, rate, 4, prompt=True),
        path.start_sender(path.right, "s1", size, rate, 4, prompt=True),
    ]
    serialised_ms = (size + 24) * 8 / 100e6 * 1e3
    outcomes = [(finish(sender), finish(receiver)) for sender, receiver in zip(senders, receivers)]
    for way, (sent, seen) in zip(("a_to_b", "b_to_a"), outcomes):
        judge(seen["frames"] == sent["sent"], f"{way}: {seen['frames']} of {sent['sent']} arrive")
        check(seen["out_of_order"] == 0, f"{way}: {seen['out_of_order']} frames out of order")
        for percentile in ("p01", "p50", "p99"):
            expected = DELAY_MS + serialised_ms
            measured = seen["delay_ms"][percentile]
            near(measured, expected, 1.0, f"{way}: delay {percentile} in ms", judge)


def rate(path: Path) -> None:
    for megabits in (10, 200):
        path.control(f"set a_to_b rate {megabits}Mbit")
        before, measured = path.counters()["a_to_b"]["dropped_queue"], RealTime()
        _, seen = path.measure(1514, megabits * 1.2e6, 3, idle=0.7)
        what = f"rate in Mbit/s at {megabits}Mbit"
        near(seen["rate"] / 1e6, megabits, megabits * 0.01, what, measured.check)
        dropped = path.counters()["a_to_b"]["dropped_queue"] - before
        measured.check(dropped > 0, "a sender above the rate overruns the queue")
    path.control("set a_to_b rate 100Mbit")


def loss(path: Path) -> None:
    # LinkDirection.* (tests/unit/relay/link) has the same for other shares.
    share = 0.2
    path.control(f"set both loss {share}")
    before, measured = path.counters()["a_to_b"], RealTime()
    sent, seen = path.measure(100, 8_000_000, 2.5, idle=0.7)
    after = path.counters()["a_to_b"]
    lost = sent["sent"] - seen["frames"]
    # A receiver that gets no processor loses some more.
    expected, sigmas = sent["sent"] * share, five_sigma(sent["sent"], share)
    near(lost, expected, sigmas, f"lost at {share}", measured.check)
    counted = after["dropped_loss"] - before["dropped_loss"]
    near(counted, expected, sigmas, f"counted at {share}")
    measured.check(counted == lost, f"the counter says {counted}, not {lost}")
    path.control("set both loss 0")


def outage(path: Path) -> None:
    # The measurement begins here, since frames are waited for only for a limited time.
    judge = RealTime().check
    with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
        frame = HEADER + b"\x88\xb5" + bytes(60)
        left.send(frame)
        judge(right.receive(0.3) == [frame], "a frame passes before the outage")
        path.control("outage on")
        for _ in range(10):
            left.send(frame)
        right.send(frame)
        judge(right.receive(0.3) == [], "nothing passes in an outage")
        judge(left.receive(0.1) == [], "nor the other way")
        path.control("outage a_to_b off")
        left.send(frame)
        right.send(frame)
        judge(right.receive(0.3) == [frame], "one direction comes back")
        judge(left.receive(0.1) == [], "the other is still out")
        path.control("outage off")
        right.send(frame)
        judge(left.receive(0.3) == [frame], "and comes back as well")
    counters = path.counters()
    judge(counters["a_to_b"]["dropped_outage"] == 10, "a_to_b counts what the outage took")
    judge(counters["b_to_a"]["dropped_outage"] == 2, "b_to_a as well")
    for port in ("port_a", "port_b"):
        check(counters[port]["tx_down"] == 0, f"{port} says what an interface that is down drops")


# --- frames untouched -----------------------------------------------------------------------------


def odd_frames(mtu: int) -> dict[str, bytes]:
    body = bytes(i * 31 % 251 for i in range(mtu))
    fragment = bytes.fromhex("45000204abcd2000401100000a0000010a000002") + body[:496]
    rest = bytes.fromhex("45000204abcd003e401100000a0000010a000002") + body[:496]
    return {
        "full size": HEADER + b"\x08\x00" + body,
        "shortest": HEADER + b"\x88\xb5" + body[:46],
        "802.1Q": HEADER + b"\x81\x00\x60\x64\x08\x00" + body[:100],
        "802.1Q, full size": HEADER + b"\x81\x00\x0f\xfe\x08\x00" + body,
        "802.1Q, priority tag": HEADER + b"\x81\x00\xe0\x00\x08\x06" + body[:46],
        "802.1ad": HEADER + b"\x88\xa8\x00\x05\x08\x00" + body[:80],
        "802.1ad with 802.1Q": HEADER + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00" + body,
        "802.1Q twice": HEADER + b"\x81\x00\x00\x05\x81\x00\x00\x06\x08\x00" + body[:80],
        "BPDU": bytes.fromhex("0180c2000000020000000001002642420300") + body[:46],
        "LLDP": bytes.fromhex("0180c200000e02000000000188cc") + body[:70],
        "LACP": bytes.fromhex("0180c20000020200000000018809") + body[:110],
        "pause": bytes.fromhex("0180c200000102000000000188080001ffff") + body[:42],
        "ARP": bytes.fromhex("ffffffffffff0200000000010806") + body[:46],
        "broadcast IPv4": b"\xff" * 6 + HEADER[6:] + b"\x08\x00" + body[:60],
        "IPv6": HEADER + b"\x86\xdd" + body[:200],
        "MPLS": HEADER + b"\x88\x47" + body[:200],
        "PPPoE": HEADER + b"\x88\x64" + body[:200],
        "unknown": HEADER + b"\x12\x34" + body[:333],
        "first IPv4 fragment": HEADER + b"\x08\x00" + fragment,
        "last IPv4 fragment": HEADER + b"\x08\x00" + rest,
    }


def untouched(path: Path) -> None:
    with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
        for source, sink in ((left, right), (right, left)):
            sink.receive(0.05)
            odd, measured = odd_frames(path.mtu), RealTime()
            for frame in odd.values():
                source.send(frame)
            seen = sink.receive(0.4)
            # A changed frame is none of these; a late frame is missing.
            check(all(frame in odd.values() for frame in seen), f"other frames: {seen}")
            for name, frame in odd.items():
                measured.check(frame in seen, f"{name} passes untouched")
            measured.check(len(seen) == len(odd), f"{len(seen)} of {len(odd)} frames come out")
        note(f"   {len(odd)} kinds of frames each way, byte for byte")


def only_the_wire(path: Path) -> None:
    """Frames that the kernel of the link's own machine sends on a port do not cross the link."""
    frame = HEADER + b"\x88\xb5" + b"from this machine" + bytes(40)
    with Tap(path.middle, "la") as inside, Tap(path.right, "s1") as right:
        inside.send(frame)
        check(frame not in right.receive(0.3), "an outgoing frame of port a is not received")


def unfinished_checksums(path: Path) -> None:
    """Hosts on the same machine leave checksums to a NIC, so the port completes them."""
    path.left.ip("address", "add", "10.66.0.1/24", "dev", "s0")
    path.right.ip("address", "add", "10.66.0.2/24", "dev", "s1")
    path.left.run("ethtool", "-K", "s0", "tx", "on")
    try:
        with path.left.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            with path.right.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.bind(("10.66.0.2", 5555))
                other.settimeout(3)
                for size in (1, 100, 1472):
                    one.sendto(b"x" * size, ("10.66.0.2", 5555))
                    check(other.recv(2000) == b"x" * size, f"a datagram of {size} B arrives")
        finished = path.counters()["port_a"]["rx_checksums_finished"]
        check(finished >= 3, f"{finished} checksums completed")
        # Datagrams of several fragments cross unchanged.
        with path.left.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            with path.right.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.bind(("10.66.0.2", 5556))
                other.settimeout(3)
                one.sendto(b"y" * 8000, ("10.66.0.2", 5556))
                check(other.recv(9000) == b"y" * 8000, "a fragmented datagram arrives")
    finally:
        path.left.run("ethtool", "-K", "s0", "tx", "off")
        path.left.ip("address", "flush", "dev", "s0")
        path.right.ip("address", "flush", "dev", "s1")


# --- large frames ---------------------------------------------------------------------------------

NEAR, FAR = ("10.66.0.1", "fd66::1"), ("10.66.0.2", "fd66::2")
TAGGED = (b"", bytes.fromhex("8100e064"), bytes.fromhex("88a800c881000064"))
FIN, PSH, ACK, ECE, CWR = 0x01, 0x08, 0x10, 0x40, 0x80


def large_frames():
    """Frames of hosts with offloads: name, frame, kind, and where the transport header begins."""
    noise = random.Random(5)
    for version, (near_end, far_end) in enumerate(zip(NEAR, FAR)):
        for tags in TAGGED:
            for name, protocol, flags in (
                ("TCP", 6, ACK | PSH),
                ("TCP that ends, ECN", 6, ACK | FIN | PSH | ECE | CWR),
                ("UDP", 17, 0),
            ):
                data = noise.randbytes(5 * SEGMENT + 77)
                if protocol == 6:
                    whole = frames.tcp(near_end, far_end, (5000, 5001), flags, data=data)
                else:
                    whole = frames.udp(near_end, far_end, data)
                whole = frames.unfinished(near_end, far_end, protocol, whole)
                if version == 0:
                    packet = frames.ipv4(
                        near_end, far_end, protocol, whole, fragment=0x4000, identification=0xFFFE
                    )
                else:
                    packet = frames.ipv6(near_end, far_end, protocol, whole)
                head = HEADER + tags + (b"\x08\x00" if version == 0 else b"\x86\xdd")
                kind = frames.UDP if protocol == 17 else (frames.TCP4, frames.TCP6)[version]
                if flags & CWR:
                    kind |= frames.ECN
                transport = len(head) + len(packet) - len(whole)
                yield f"{name} over IPv{4 + 2 * version}, {len(tags) // 4} tags", head + packet, kind, transport


def cut_as_the_kernel_does(path: Path) -> None:
    """The kernel is the reference: it cuts the same frames for an interface that cannot."""
    switches = ("tx", "tso", "gso", "tx-udp-segmentation")
    with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
        for name, frame, kind, transport in large_frames():
            pieces = []
            before = path.counters()["port_a"]["rx_large"]
            for state in ("on", "off"):
                for switch in switches:
                    path.left.run("ethtool", "-K", "s0", switch, state, check=False)
                try:
                    left.send_large(frame, kind, transport, SEGMENT)
                except OSError as error:
                    note(f"   {name}: this kernel does not send it: {error}")
                    break
                pieces.append([seen for seen in right.receive(0.3) if seen[:12] == HEADER])
            else:
                ours, kernels = pieces
                large = path.counters()["port_a"]["rx_large"] - before
                check(large == 1, f"{name}: {large} large frames came in, instead of one")
                check(len(ours) == 6, f"{name}: cut into {len(ours)} frames")
                for number, (mine, other) in enumerate(zip(ours, kernels)):
                    check(mine == other, f"{name}, {number}: {mine.hex()}\nkernel: {other.hex()}")
                check(len(ours) == len(kernels), f"{name}: the kernel makes {len(kernels)}")
    counters = path.counters()
    check(counters["a_to_b"]["dropped_mtu"] == 0, "a large frame went into the link")
    check(counters["port_a"]["rx_merged"] == 0, "a large frame was dropped")


def longer_than_the_mtu(path: Path) -> None:
    """Pieces longer than the MTU do not fit the link. Those of TCP are cut to fit."""
    name, frame, kind, transport = next(large_frames())
    before = path.counters()["port_a"]
    # The same with urgent data, which cannot be cut as a run of bytes.
    urgent = bytearray(frame)
    urgent[transport + 13] |= 0x20
    with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
        for switch in ("tx", "tso", "gso"):
            path.left.run("ethtool", "-K", "s0", switch, "on")
        left.send_large(frame, kind, transport, 3000)
        pieces = [seen for seen in right.receive(0.3) if seen[:12] == HEADER]
        left.send_large(bytes(urgent), kind, transport, 3000)
        check(not [f for f in right.receive(0.3) if f[:12] == HEADER], "urgent data comes out")
    header = transport + 20
    check(max(map(len, pieces)) == 1514, f"{name}: pieces of {[len(piece) for piece in pieces]}")
    whole = b"".join(piece[header:] for piece in pieces)
    check(whole == frame[header:], f"{name}: the bytes are not the same")
    after = path.counters()["port_a"]
    check(after["rx_oversized"] == before["rx_oversized"] + 1, f"{name}: not counted")
    check(after["rx_merged"] == before["rx_merged"] + 1, f"{name}: not counted as rx_merged")


def test_large_frames_are_cut() -> None:
    with Path("both: {rate: unlimited, delay: 5ms}", port_b=", large_frames: no") as path:
        cut_as_the_kernel_does(path)
        longer_than_the_mtu(path)


def test_large_frames_are_made_again() -> None:
    """If no piece was lost, a frame that was cut before the link leaves it as one frame again."""
    with Path("both: {rate: unlimited, delay: 5ms}") as path:
        for switch in ("tx", "tso", "gso"):
            path.left.run("ethtool", "-K", "s0", switch, "on")
        _, frame, kind, transport = next(large_frames())
        with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
            left.send_large(frame, kind, transport, SEGMENT)
            seen = [f for f in right.receive(0.3) if f[:12] == HEADER]
        counters = path.counters()
        check(counters["a_to_b"]["frames_in"] >= 6, "the link was shown pieces")
        check(seen == [frame], f"{len(seen)} frames came out, of {[len(f) for f in seen]} bytes")
        check(counters["port_b"]["tx_large"] == 1, "it is not counted")


# --- control --------------------------------------------------------------------------------------


def ask(path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(3)
        client.connect(path.control_path)
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(65536):
                answer += part
        return answer


def control(path: Path) -> None:
    mode = stat.S_IMODE(os.stat(path.control_path).st_mode)
    check(mode == 0o600, f"the control socket has mode {mode:o}")
    for bad in (b"\n", b"set both rate 5zonk\n", b"\0\xff\n", b"x" * 200 + b"\n", b"counters 1\n"):
        check(ask(path, bad).startswith(b"error: "), f"{bad[:20]!r} is refused")
    check(ask(path, b"x" * 5000).startswith(b"error: "), "an endless line is refused")
    check(ask(path, b"outage off\nset both loss 0\n") == b"ok\nok\n", "two commands at once")
    check(ask(path, b"quit\noutage on\n") == b"ok\n", "quit ends the connection")
    check(b"outage" in ask(path, b"help\n"), "help helps")
    idle = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(10)]
    for client in idle:
        client.connect(path.control_path)
    time.sleep(0.3)
    for client in idle:
        client.close()
    time.sleep(0.3)
    check(path.control("outage off") == "ok", "ten silent clients do no harm")
    tool = [path.program, "--control", path.control_path]
    done = subprocess.run([*tool, "set both loss 0"], capture_output=True, text=True)
    check((done.returncode, done.stdout) == (0, "ok\n"), "satlink --control does it")
    done = subprocess.run([*tool, "set", "both", "loss", "2"], capture_output=True, text=True)
    check(done.returncode == 1 and done.stdout.startswith("error: "), "and says what failed")
    done = subprocess.run(
        [path.program, "--control", path.control_path + "x", "help"], capture_output=True, text=True
    )
    check(done.returncode == 1 and "control socket" in done.stderr, "or that nobody listens")


def stats_socket(path: Path) -> None:
    """The same counters on DPDK's telemetry socket."""
    told = telemetry.query(path.tag, "/satlink/counters")
    counters = path.counters()
    check(set(told) == set(counters) - {"uptime_ms"}, f"sections {sorted(told)}")
    for section, values in told.items():
        check(values == counters[section], f"{section}: {values} is not {counters[section]}")


def check_option(path: Path) -> None:
    done = subprocess.run([path.program, "-c", path.config_path, "--check"], capture_output=True)
    check(done.returncode == 0, "--check accepts the configuration")
    bad = os.path.join(path.folder.name, "bad.yaml")
    with open(bad, "w", encoding="ascii") as file:
        file.write("ports: {a: {interface: la}, b: {interface: lb}}\nboth: {rate: 5zonk}\n")
    done = subprocess.run([path.program, "-c", bad, "--check"], capture_output=True, text=True)
    check(done.returncode == 2 and "bad.yaml:2:" in done.stderr, "--check names the place")


def idle_and_stop(path: Path) -> None:
    time.sleep(0.5)
    measured = RealTime()
    before, began = sum(path.satlink.cpu_seconds()), time.monotonic()
    time.sleep(3)
    share = (sum(path.satlink.cpu_seconds()) - before) / (time.monotonic() - began)
    note(f"   idle: {share * 100:.1f}% of one core")
    measured.check(share < 0.03, f"satlink uses {share * 100:.1f}% of one core while idle")
    for way in ("a_to_b", "b_to_a"):
        c = path.counters()[way]
        gone = sum(count for name, count in c.items() if name.startswith("dropped"))
        entered = c["frames_in"] + c["duplicated"]
        check(entered == c["frames_out"] + gone + c["frames_in_flight"], f"{way}: all accounted")
    # Stopped with frames in flight, which it must free.
    with Tap(path.left, "s0") as left:
        for _ in range(50):
            left.send(HEADER + b"\x88\xb5" + bytes(100))
    began, measured = time.monotonic(), RealTime()
    status = path.satlink.stop()
    took = time.monotonic() - began
    measured.check(took < 2, f"SIGTERM ends it after {took:.1f} s")
    measured.check(status == 0, f"SIGTERM ends it with status {status}")
    check(not os.path.exists(path.control_path), "its control socket is gone")


def run(*steps: Callable[[Path], None]) -> None:
    with Path(f"both: {{rate: 100Mbit, delay: {DELAY_MS}ms}}") as path:
        for step in steps:
            began = time.monotonic()
            step(path)
            note(f"ok: {step.__name__.replace('_', ' ')} ({time.monotonic() - began:.1f} s)")


@pytest.mark.alone
def test_delay_rate_and_loss() -> None:
    run(delay, rate, loss)


def test_clean_link() -> None:
    run(outage, untouched, only_the_wire, unfinished_checksums, control, stats_socket, check_option, idle_and_stop)


def test_faulty_link() -> None:
    share = 0.1
    faults = f"reorder: {share}, reorder_by: 5ms, duplicate: {share}, corrupt: {share}"
    count = 3000
    with Path(f"both: {{rate: 100Mbit, delay: 20ms, {faults}}}") as path:
        with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
            measured = RealTime()
            for number in range(count):
                body = number.to_bytes(4, "big") * 20
                left.send(HEADER + b"\x88\xb5" + body)
                if number % 100 == 0:
                    time.sleep(0.005)
            seen = right.receive(1.0)
        corrupted = duplicated = late = highest = 0
        numbers = set()
        for frame in seen:
            # The number is in the frame 20 times: one flipped bit leaves 19.
            words = [frame[i : i + 4] for i in range(14, 94, 4)]
            number = int.from_bytes(max(set(words), key=words.count), "big")
            sent = HEADER + b"\x88\xb5" + number.to_bytes(4, "big") * 20
            flipped = sum((a ^ b).bit_count() for a, b in zip(frame, sent))
            check(flipped <= 1 and len(frame) == len(sent), f"{flipped} bits flipped in one frame")
            corrupted += flipped
            duplicated += number in numbers
            late += number < highest and number not in numbers
            numbers.add(number)
            highest = max(highest, number)
        judge = measured.check
        judge(len(numbers) == count, f"{len(numbers)} of {count} frames arrive")
        bound = five_sigma(count, share)
        near(corrupted, count * share, bound, "frames with one flipped bit", judge)
        near(duplicated, count * share, bound, "duplicates", judge)
        counters = path.counters()["a_to_b"]
        judge(counters["corrupted"] == corrupted, "the corrupted are counted")
        judge(counters["duplicated"] == duplicated, "the duplicates are counted")
        near(counters["reordered"], count * share, bound, "reordered")
        judge(late > 0, "some frames arrive behind later ones")


def test_jumbo_link() -> None:
    with Path("both: {rate: 1Gbit, delay: 20ms}", mtu=9000) as path:
        untouched(path)
        measured = RealTime()
        sent, seen = path.measure(9014, 300e6, 1, idle=0.7)
        measured.check(seen["frames"] == sent["sent"], f"{seen['frames']} of {sent['sent']} jumbo frames")


def test_changing_link() -> None:
    """A step of the rate and an outage at their times, seen in the frames that come out."""
    overhead = 24  # of Ethernet, beyond a frame without its FCS
    size, step_at, out_at = 1514, 3.0, 4.5
    changes = (
        f"changes:\n  - {{at: {step_at}s, direction: a_to_b, rate: 5Mbit}}\n"
        f"  - {{at: {out_at}s, direction: a_to_b, outage: 500ms}}"
    )
    with Path("both: {rate: 20Mbit, delay: 20ms, queue: 50kB}", changes) as path:
        ready, measured = time.monotonic(), RealTime()
        receiver = path.start_receiver(path.right, "s1", 1.5)
        sender = path.start_sender(path.left, "s0", size, 24e6, 6)
        samples = []  # (seconds since ready, satlink's counters)
        while time.monotonic() < ready + 6:
            samples.append((time.monotonic() - ready, path.counters()["a_to_b"]))
            time.sleep(0.05)
        finish(sender), finish(receiver)

        def rate_between(begin: float, end: float) -> float:
            inside = [sample for sample in samples if begin < sample[0] < end]
            measured.must(len(inside) > 1, f"{len(inside)} samples from {begin} s to {end} s")
            (start, first), *_, (stop, last) = inside
            frames = last["frames_out"] - first["frames_out"]
            return frames * (size + overhead) * 8 / (stop - start)

        steps = [when for when, counted in samples if counted["rate_bps"] == 5_000_000]
        measured.must(steps, "the rate steps")
        near(steps[0], step_at, 0.5, "the rate steps after seconds", measured.check)
        near(rate_between(1.0, 2.7) / 1e6, 20, 1, "Mbit/s before the step", measured.check)
        near(rate_between(3.4, 4.3) / 1e6, 5, 0.5, "Mbit/s behind it", measured.check)
        lost = path.counters()["a_to_b"]["dropped_outage"]
        expected = 0.5 * 5e6 / 8 / (size + overhead)
        near(lost, expected, 5, "frames lost in the outage", measured.check)
        check(path.counters()["b_to_a"]["rate_bps"] == 20_000_000, "the other way stays")


def test_priorities() -> None:
    """A full queue drops accepted frames for frames of a higher priority."""
    def frame(dscp: int, number: int) -> bytes:
        header = struct.pack("!BBHIBBH8x", 0x45, dscp << 2, 1044, 0, 64, 17, 0)
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        return HEADER + b"\x08\x00" + header + number.to_bytes(4, "big") + bytes(1020)

    start_low, high = 0b001011, 0
    with Path("both: {rate: 100kbit, queue: 12kB}", "discipline: priority") as path:
        with Tap(path.left, "s0") as left, Tap(path.right, "s1") as right:
            judge = RealTime().check
            for number in range(20):
                left.send(frame(start_low, number))
            for number in range(20, 25):
                left.send(frame(high, number))
            seen = [int.from_bytes(each[34:38], "big") for each in right.receive(2)]
        counters = path.counters()["a_to_b"]
        judge([n for n in seen if n >= 20] == [20, 21, 22, 23, 24], f"all that matter: {seen}")
        check(seen == sorted(seen), f"in their order: {seen}")
        judge(seen[:1] == [0], f"from the first one on: {seen}")
        note(f"   {len(seen)} of 25 frames arrive")
        judge(0 < counters["queue_full_start_low"] == 25 - len(seen), f"{counters}")
        judge(counters["dropped_queue"] == 25 - len(seen), "and they are all that was dropped")


def test_refused() -> None:
    """A start that cannot work ends with status 1 and a sentence."""
    with Path("both: {rate: 1Mbit}") as path:
        second = path.middle.run(path.program, "-c", path.config_path, check=False)
        check(second == "", "a second one on the same control socket prints nothing")
        done = subprocess.run(
            path.left.command(path.program, "-c", path.config_path), capture_output=True, text=True
        )
        check(done.returncode == 1, f"status {done.returncode} without the interfaces")
        check("there is no interface la" in done.stderr, f"says why: {done.stderr}")
        eventually(lambda: path.control("outage off") == "ok", 3, "the first one works on")
