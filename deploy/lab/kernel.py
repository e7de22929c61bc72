"""Network namespaces, veth pairs and their few settings that the lab needs."""

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import time

_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_SIOCGIFHWADDR = 0x8927
_libc = ctypes.CDLL(None, use_errno=True)


class CommandFailed(RuntimeError):
    """A program that the lab ran ended with an error."""


def run(*argv: str, check: bool = True, timeout: float = 60) -> str:
    """Runs a program to its end; returns its output on stdout."""
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )
    if check and done.returncode != 0:
        raise CommandFailed(
            f"{' '.join(argv)}: exit status {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def die_with_parent() -> None:
    """For preexec_fn: if a lab's process is killed, no daemon is left that polls a core."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Namespace:
    """One network namespace. `name` is its name in `ip netns`."""

    def __init__(self, name: str):
        self.name = name

    def create(self) -> None:
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")

    def delete(self) -> None:
        """Ends the processes that still run inside, then removes the namespace with its interfaces."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + 3
            for pid in self.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            while self.pids() and time.monotonic() < deadline:
                time.sleep(0.02)
        if self.exists():
            run("ip", "netns", "del", self.name, check=False)

    def exists(self) -> bool:
        return os.path.exists(f"/run/netns/{self.name}")

    def pids(self) -> list[int]:
        """The processes inside, without this one."""
        if not self.exists():
            return []
        listed = run("ip", "netns", "pids", self.name, check=False).split()
        return [int(pid) for pid in listed if int(pid) != os.getpid()]

    def command(self, *argv: str) -> list[str]:
        return ["ip", "netns", "exec", self.name, *argv]

    def run(self, *argv: str, check: bool = True, timeout: float = 60) -> str:
        return run(*self.command(*argv), check=check, timeout=timeout)

    def ip(self, *argv: str) -> str:
        return run("ip", "-n", self.name, *argv)

    def popen(self, *argv: str, keep: bool = False, **options) -> subprocess.Popen:
        """Starts a program inside. The terminal's Ctrl-C does not reach it.

        The lab ends its programs in its own order. Unless `keep` is set, the program also dies with this process.
        """
        return subprocess.Popen(
            self.command(*argv),
            start_new_session=True,
            preexec_fn=None if keep else die_with_parent,
            **options,
        )

    @contextlib.contextmanager
    def entered(self):
        """Meanwhile this thread is inside the namespace, and so are programs and sockets that it creates."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            target = os.open(f"/run/netns/{self.name}", os.O_RDONLY | os.O_CLOEXEC)
            try:
                _set_namespace(target)
            finally:
                os.close(target)
            try:
                yield
            finally:
                _set_namespace(home)
        finally:
            os.close(home)

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """A socket of this namespace for use from outside: it keeps its namespace for life."""
        with self.entered():
            return socket.socket(family, kind, protocol)

    def write_setting(self, path: str, value: str) -> None:
        """Sets /proc/sys/net/<path> of this namespace."""
        with self.entered(), open(f"/proc/sys/net/{path}", "w", encoding="ascii") as setting:
            setting.write(value)

    def read_setting(self, path: str) -> str:
        with self.entered(), open(f"/proc/sys/net/{path}", encoding="ascii") as setting:
            return setting.read().strip()

    def mac(self, interface: str) -> bytes:
        # Uses SIOCGIFHWADDR, since /sys shows the interfaces of its mount's namespace.
        with self.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            request = struct.pack("256s", interface.encode())
            return fcntl.ioctl(handle.fileno(), _SIOCGIFHWADDR, request)[18:24]


def _set_namespace(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


def join(left: Namespace, left_name: str, right: Namespace, right_name: str) -> None:
    """A veth cable between two namespaces, both ends up."""
    run(
        *("ip", "link", "add", left_name, "netns", left.name, "type", "veth"),
        *("peer", "name", right_name, "netns", right.name),
    )
    for space, name in ((left, left_name), (right, right_name)):
        space.ip("link", "set", name, "up")


def switch_off_offloads(space: Namespace, interface: str) -> None:
    """Frames cross as they would on a cable: no merged segments, every checksum computed."""
    space.run("ethtool", "-K", interface, *"tx off tso off gso off gro off".split())
