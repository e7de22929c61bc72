"""TCP connections that begin, pause and end in all ways, as the programs at both ends see them."""

import contextlib
import errno
import os
import random
import socket
import struct
import threading
import time

from behind_router import BEHIND_ROUTER
from harness import CLIENT, SERVER, accept, connect, listen, receive_all

from .conditions import NotRun, Seen, condition
from .programs import run
from .sites import ECN, SMALL, Site

DATA = random.Random(5).randbytes(300_000)
_ABORT = struct.pack("ii", 1, 0)  # SO_LINGER with which close() resets


@contextlib.contextmanager
def connected(site: Site, address: str = SERVER.ipv4, space=None, receive_buffer: int = 0):
    """The two ends of a connection: the client's, and the server's."""
    port = site.port()
    with listen(space or site.server, address, port, receive_buffer) as listener:
        with connect(site.client, address, port, 60) as near, accept(listener, 60) as far:
            near.settimeout(90)
            far.settimeout(90)
            yield near, far


def told(action) -> str:
    """The error that a program gets, or the data."""
    try:
        given = action()
    except TimeoutError as error:
        return errno.errorcode[error.errno] if error.errno else "silence"
    except OSError as error:
        return errno.errorcode[error.errno] if error.errno else str(error)
    return "end" if given == b"" else f"{len(given)} bytes" if isinstance(given, bytes) else str(given)


def timed(action) -> tuple[str, float]:
    began = time.monotonic()
    return told(action), time.monotonic() - began


def abort(end: socket.socket) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    end.close()


def exchange(near: socket.socket, far: socket.socket) -> Seen:
    """Sends DATA in both directions at the same time, and ends each direction."""
    arrived: dict[str, bytes] = {}
    began = time.monotonic()

    def send(end):
        with contextlib.suppress(OSError):
            end.sendall(DATA)
            end.shutdown(socket.SHUT_WR)

    def receive(name, end):
        with contextlib.suppress(OSError):
            arrived[name] = receive_all(end)

    jobs = [(send, near), (send, far), (receive, "near", near), (receive, "far", far)]
    threads = [threading.Thread(target=job[0], args=job[1:], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    right = arrived == {"near": DATA, "far": DATA}
    what = ", ".join(f"{name}: {len(data):,} bytes" for name, data in sorted(arrived.items()))
    return Seen(what or "nothing", right, time.monotonic() - began)


# --- how hosts are -----------------------------------------------------------------------------------


@condition("TCP: both directions at once", fills=True)
def _(site):
    with connected(site) as (near, far):
        return exchange(near, far)


@condition("TCP: both directions at once, IPv6", fills=True)
def _(site):
    with connected(site, SERVER.ipv6) as (near, far):
        return exchange(near, far)


@condition("TCP: with ECN", fills=True)
def _(site):
    with connected(site, ECN) as (near, far):
        return exchange(near, far)


@condition("TCP: segments of 536 bytes at most", fills=True)
def _(site):
    with connected(site, SMALL) as (near, far):
        return exchange(near, far)


@condition("TCP: behind a router whose way on is narrower", fills=True)
def _(site):
    with connected(site, BEHIND_ROUTER[0], site.behind) as (near, far):
        return exchange(near, far)


@condition("TCP: behind a router whose way on is narrower, IPv6", fills=True)
def _(site):
    with connected(site, BEHIND_ROUTER[1], site.behind) as (near, far):
        return exchange(near, far)


@condition("TCP: a server without timestamps, SACK and window scale", fills=True)
def _(site):
    names = ("tcp_timestamps", "tcp_sack", "tcp_window_scaling")
    try:
        for name in names:
            site.server.write_setting(f"ipv4/{name}", "0")
        with connected(site) as (near, far):
            return exchange(near, far)
    finally:
        for name in names:
            site.server.write_setting(f"ipv4/{name}", "1")


@condition("MPTCP: both directions at once", fills=True)
def _(site):
    protocol, port = 262, site.port()
    try:
        listener = site.server.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    except OSError as error:
        raise NotRun(f"the kernel has no MPTCP ({error.strerror})") from None
    with listener, site.client.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as near:
        listener.bind((SERVER.ipv4, port))
        listener.listen(1)
        near.settimeout(60)
        near.connect((SERVER.ipv4, port))
        with accept(listener, 60) as far:
            return exchange(near, far)


# --- pauses ------------------------------------------------------------------------------------------


@condition("TCP: idle for 60 s, then a question and its answer")
def _(site):
    with connected(site) as (near, far):
        time.sleep(60)
        began = time.monotonic()
        near.sendall(b"question")
        heard = far.recv(100)
        far.sendall(b"answer")
        answer = near.recv(100)
        return Seen(f"{heard!r}, {answer!r}", answer == b"answer", time.monotonic() - began)


@condition("TCP: keep-alives of both ends for 40 s")
def _(site):
    with connected(site) as (near, far):
        for end in (near, far):
            _keep_alive(end, 5)
        time.sleep(40)
        near.sendall(b"question")
        return Seen(told(lambda: far.recv(100)))


def _keep_alive(end: socket.socket, seconds: int) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
        end.setsockopt(socket.IPPROTO_TCP, option, seconds)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)


@condition("TCP: a reader that pauses for 15 s")
def _(site):
    with connected(site, receive_buffer=65_536) as (near, far):
        sender = threading.Thread(target=lambda: (near.sendall(DATA), near.shutdown(socket.SHUT_WR)), daemon=True)
        sender.start()
        time.sleep(15)
        arrived = receive_all(far)
        return Seen(f"{len(arrived):,} bytes", arrived == DATA)


@condition("TCP: half closed for 30 s, then the answer")
def _(site):
    with connected(site) as (near, far):
        near.sendall(b"job")
        near.shutdown(socket.SHUT_WR)
        job = receive_all(far)
        time.sleep(30)
        far.sendall(b"done")
        far.close()
        answer = receive_all(near)
        return Seen(f"{job!r}, {answer!r}", (job, answer) == (b"job", b"done"))


@condition("TCP: the far host vanishes, keep-alives each 5 s")
def _(site):
    with connected(site) as (near, far):
        _keep_alive(near, 5)
        site.vanish(far.getsockname()[1])
        what, seconds = timed(lambda: near.recv(100))
        return Seen(what, what == "ETIMEDOUT", seconds)


@condition("TCP: the far host vanishes while data is on its way, TCP_USER_TIMEOUT 10 s")
def _(site):
    with connected(site) as (near, far):
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 10_000)
        site.vanish(far.getsockname()[1])
        near.sendall(b"question")
        what, seconds = timed(lambda: near.recv(100))
        return Seen(what, what == "ETIMEDOUT", seconds)


# --- ends --------------------------------------------------------------------------------------------


@condition("TCP: the server closes first, with data")
def _(site):
    with connected(site) as (near, far):
        far.sendall(b"all")
        far.close()
        began = time.monotonic()
        heard = receive_all(near)
        return Seen(f"{heard!r} and its end", heard == b"all", time.monotonic() - began)


@condition("TCP: the server resets")
def _(site):
    with connected(site) as (near, far):
        abort(far)
        what, seconds = timed(lambda: near.recv(100))
        return Seen(what, what == "ECONNRESET", seconds)


@condition("TCP: the client resets")
def _(site):
    with connected(site) as (near, far):
        abort(near)
        what, seconds = timed(lambda: far.recv(100))
        return Seen(what, what == "ECONNRESET", seconds)


@condition("TCP: the server resets in the middle of a download")
def _(site):
    with connected(site) as (near, far):
        far.sendall(DATA[:20_000])
        heard = near.recv(20_000)
        while len(heard) < 20_000 and (part := near.recv(20_000)):
            heard += part
        abort(far)
        what, seconds = timed(lambda: near.recv(100))
        return Seen(f"{len(heard)} bytes, {what}", what == "ECONNRESET", seconds)


@condition("TCP: the server leaves with data unread")
def _(site):
    with connected(site) as (near, far):
        near.sendall(b"question")
        far.recv(1)
        far.close()
        what, seconds = timed(lambda: near.recv(100))
        return Seen(what, what == "ECONNRESET", seconds)


@condition("TCP: the reader dies in the middle of an upload")
def _(site):
    with connected(site) as (near, far):
        threading.Timer(3, lambda: abort(far)).start()
        began = time.monotonic()

        def send():
            while True:
                near.sendall(DATA)

        what = told(send)
        return Seen(what, what in ("ECONNRESET", "EPIPE"), time.monotonic() - began)


@condition("TCP: the client leaves in the middle of a download")
def _(site):
    with connected(site) as (near, far):
        threading.Timer(3, lambda: abort(near)).start()
        began = time.monotonic()

        def send():
            while True:
                far.sendall(DATA)

        what = told(send)
        return Seen(what, what in ("ECONNRESET", "EPIPE"), time.monotonic() - began)


@condition("TCP: the server accepts and resets at once")
def _(site):
    port = site.port()
    with listen(site.server, SERVER.ipv4, port) as listener:

        def refuse():
            with contextlib.suppress(OSError):
                abort(accept(listener, 30))

        threading.Thread(target=refuse, daemon=True).start()
        began = time.monotonic()
        with connect(site.client, SERVER.ipv4, port) as near:
            what = told(lambda: near.recv(100))
            return Seen(what, what == "ECONNRESET", time.monotonic() - began)


@condition("TCP: the client connects and closes at once")
def _(site):
    port = site.port()
    with listen(site.server, SERVER.ipv4, port) as listener:
        connect(site.client, SERVER.ipv4, port).close()
        with accept(listener) as far:
            what, seconds = timed(lambda: far.recv(100))
            return Seen(what, what == "end", seconds)


@condition("TCP: the same ports again, after the server has closed first")
def _(site):
    port, own = site.port(), site.port()
    with listen(site.server, SERVER.ipv4, port) as listener:
        heard = []
        for _ in range(2):
            with site.client.socket(socket.AF_INET, socket.SOCK_STREAM) as near:
                near.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                near.settimeout(20)
                near.bind((CLIENT.ipv4, own))
                began = time.monotonic()
                near.connect((SERVER.ipv4, port))
                far = accept(listener)
                far.sendall(b"all")
                far.close()
                heard.append(receive_all(near))
                seconds = time.monotonic() - began
            time.sleep(2)
        return Seen(str(heard), heard == [b"all", b"all"], seconds)


@condition("TCP: urgent data")
def _(site):
    with connected(site) as (near, far):
        near.sendall(b"before")
        near.send(b"!", socket.MSG_OOB)
        time.sleep(3)
        marked = told(lambda: far.recv(1, socket.MSG_OOB))
        near.sendall(b"after")
        near.shutdown(socket.SHUT_WR)
        line = receive_all(far)
        return Seen(f"urgent: {marked}, in line: {line!r}", (marked, line) == ("1 bytes", b"beforeafter"))


@condition("TCP: 60 connections at the same time, each with a question")
def _(site):
    port = site.port()
    with listen(site.server, SERVER.ipv4, port) as listener:

        def answer():
            with contextlib.suppress(OSError):
                for _ in range(60):
                    far = accept(listener, 30)
                    far.sendall(far.recv(100)[::-1])
                    far.close()

        answers: list[bytes] = []

        def ask(number):
            with contextlib.suppress(OSError), connect(site.client, SERVER.ipv4, port) as near:
                near.sendall(b"%03d" % number)
                answers.append(receive_all(near))

        began = time.monotonic()
        threads = [threading.Thread(target=answer, daemon=True)]
        threads += [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        right = sorted(answers) == sorted((b"%03d" % n)[::-1] for n in range(60))
        return Seen(f"{len(answers)} of 60 answers", right, time.monotonic() - began)


@condition("TCP: from the server's side to the client's")
def _(site):
    port = site.port()
    with listen(site.client, CLIENT.ipv4, port) as listener:
        began = time.monotonic()
        with connect(site.server, CLIENT.ipv4, port) as far, accept(listener) as near:
            far.sendall(b"question")
            heard = near.recv(100)
            return Seen(repr(heard), heard == b"question", time.monotonic() - began)


@condition("TCP: each host sees the other's own address and port")
def _(site):
    with connected(site) as (near, far):
        same = near.getsockname() == far.getpeername() and far.getsockname() == near.getpeername()
        return Seen("the hosts' own" if same else "others", same)


@condition("nc -N: a file, its end, and the answer", "nc")
def _(site):
    port = site.port()
    with listen(site.server, SERVER.ipv4, port) as listener:

        def answer():
            with contextlib.suppress(OSError), accept(listener, 30) as far:
                far.sendall(b"%d" % len(receive_all(far)))

        threading.Thread(target=answer, daemon=True).start()
        done = run(site.client, "nc", "-N", SERVER.ipv4, str(port), given=os.urandom(20_000))
        return Seen(f"exit {done.status}, {done.out}", (done.status, done.out) == (0, "20000"), done.seconds)
