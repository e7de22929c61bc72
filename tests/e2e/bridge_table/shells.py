"""ssh and rsync: a user at a terminal, tunnels, and servers that die."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import termios
import time

from harness import SERVER
from program_servers import digest, listens

from .conditions import Seen, condition
from .programs import end, finish, run, start, wait_until
from .sites import NGINX, Site


def _ssh(site: Site, *options: str, address: str = SERVER.ipv4) -> tuple[str, ...]:
    return (
        *("ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"),
        *("-o", "KexAlgorithms=curve25519-sha256", "-i", site.servers.client_key),
        *("-o", f"UserKnownHostsFile={site.servers.known_hosts}", *options, f"root@{address}"),
    )


@condition("ssh: a command", "ssh")
def _(site):
    done = run(site.client, *_ssh(site), "echo here; exit 3")
    return Seen(f"exit {done.status}, {done.out.strip()!r}", (done.status, done.out) == (3, "here\n"), done.seconds)


@condition("ssh: a command, IPv6", "ssh")
def _(site):
    done = run(site.client, *_ssh(site, address=SERVER.ipv6), "echo here; exit 3")
    return Seen(f"exit {done.status}, {done.out.strip()!r}", (done.status, done.out) == (3, "here\n"), done.seconds)


class Terminal:
    """ssh at a terminal of its own."""

    def __init__(self, site: Site, *words: str):
        master, slave = pty.openpty()
        self._master = master
        self.resize(24, 80)
        self.process = start(
            site.client, *_ssh(site, "-tt"), *words, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)
        self.process.wait()
        os.close(self._master)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: bytes) -> None:
        os.write(self._master, text)

    def read_until(self, text: bytes, patience: float = 20) -> float:
        """Reads until the text has come; returns how long that took."""
        began = time.monotonic()
        while text not in self.text:
            left = began + patience - time.monotonic()
            if left <= 0 or not select.select([self._master], [], [], left)[0]:
                raise TimeoutError(f"{text!r} is not there, but {self.text[-200:]!r}")
            try:
                self.text += os.read(self._master, 4096)
            except OSError:
                raise EOFError(f"{text!r} is not there, but {self.text[-200:]!r}") from None
        self.text = self.text.partition(text)[2]
        return time.monotonic() - began


@condition("ssh: keys at a terminal are echoed", "ssh")
def _(site):
    with Terminal(site, "stty -icanon min 1; echo ready; exec cat >/dev/null") as terminal:
        terminal.read_until(b"ready")
        time.sleep(2)
        echoes = []
        for key in b"satellite":
            terminal.type(bytes([key]))
            echoes.append(terminal.read_until(bytes([key])))
    return Seen(f"{len(echoes)} of 9 keys", len(echoes) == 9, statistics.median(echoes))


@condition("ssh: the terminal's size follows the window's", "ssh")
def _(site):
    with Terminal(site, "trap 'stty size' WINCH; stty size; while :; do sleep 0.1; done") as terminal:
        terminal.read_until(b"24 80")
        time.sleep(1)
        terminal.resize(50, 132)
        os.killpg(terminal.process.pid, signal.SIGWINCH)
        seconds = terminal.read_until(b"50 132")
    return Seen("50 132", True, seconds)


@condition("ssh: Ctrl-C ends a program that prints", "ssh", fills=True)
def _(site):
    with Terminal(site, "trap 'echo caught; exit' INT; while :; do echo 0123456789; done") as terminal:
        terminal.read_until(b"0123456789")
        time.sleep(1)
        terminal.type(b"\x03")
        seconds = terminal.read_until(b"caught", 60)
    return Seen("caught", True, seconds)


@condition("ssh: a forwarded port (-L)", "ssh", "curl")
def _(site):
    near = site.port()
    forward = ("-N", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{near}:127.0.0.1:{NGINX}")
    return _through(site, forward, site.client, near)


@condition("ssh: a port forwarded back (-R)", "ssh", "curl")
def _(site):
    far = site.port()
    forward = ("-N", "-o", "ExitOnForwardFailure=yes", "-R", f"127.0.0.1:{far}:{SERVER.ipv4}:{NGINX}")
    return _through(site, forward, site.server, far)


def _through(site: Site, forward: tuple[str, ...], space, port: int) -> Seen:
    tunnel = start(site.client, *_ssh(site, *forward))
    try:
        wait_until(lambda: listens(space, port), 30, "the tunnel is there")
        arrived = os.path.join(site.folder(), "arrived")
        url = f"http://127.0.0.1:{port}/objects/7"
        done = run(space, "curl", "-sS", "--noproxy", "*", "-o", arrived, url)
        equal = done.status == 0 and digest(arrived) == digest(f"{site.files.objects}/7")
        return Seen(f"exit {done.status}, same bytes: {equal}", equal, done.seconds)
    finally:
        end(tunnel)
        finish(tunnel, time.monotonic())


@condition("ssh: idle for 40 s, asked each 5 s whether it lives", "ssh")
def _(site):
    alive = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2")
    done = run(site.client, *_ssh(site, *alive), "sleep 40; echo here")
    return Seen(f"exit {done.status}, {done.out.strip()!r}", (done.status, done.out) == (0, "here\n"), done.seconds)


@condition("ssh: the server's process is killed", "ssh")
def _(site):
    began = time.monotonic()
    client = start(site.client, *_ssh(site), "echo $PPID; exec sleep 60")
    killed = int(client.stdout.readline())
    time.sleep(1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(killed, signal.SIGKILL)
    since = time.monotonic()
    done = finish(client, began)
    right = done.status == 255 and "closed" in done.err
    return Seen(f"exit {done.status}: {done.last_words}", right, time.monotonic() - since)


@condition("sftp: a file there and back", "sftp")
def _(site):
    there, back = os.path.join(site.files.incoming, "by-sftp"), os.path.join(site.folder(), "back")
    words = f"put {site.files.objects}/9 {there}\nget {there} {back}\n".encode()
    done = run(site.client, "sftp", "-q", *_ssh(site, "-b", "-")[1:], given=words)
    equal = done.status == 0 and digest(back) == digest(f"{site.files.objects}/9")
    return Seen(f"exit {done.status}, same bytes: {equal}", equal, done.seconds)


@condition("rsync over ssh: a tree", "rsync", "ssh", fills=True)
def _(site):
    arrived = site.folder()
    shell = " ".join(_ssh(site)[:-1])
    source = f"root@{SERVER.ipv4}:{site.files.tree}/"
    done = run(site.client, "rsync", "-a", "-e", shell, source, f"{arrived}/tree/")
    equal = done.status == 0 and digest(f"{arrived}/tree") == digest(site.files.tree)
    return Seen(f"exit {done.status}, same tree: {equal}", equal, done.seconds)
