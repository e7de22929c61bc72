"""A satlink between two namespaces, alone. Nothing else touches the frames.

    left [s0]--------[la  satlink  lb]--------[s1] right
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from harness import build_folder, check

from lab import kernel, satlink_control
from lab.daemon import Daemon
from lab.kernel import Namespace


class Path:
    """Context manager; `directions` and `more` are YAML, as link.yaml takes them."""

    def __init__(
        self,
        directions: str,
        more: str = "",
        mtu: int = 1500,
        driver: str = "af_packet",
        port_b: str = "",  # more keys of port b
    ):
        self.tag = f"sl{os.getpid()}"
        self.left = Namespace(f"{self.tag}-left")
        self.middle = Namespace(f"{self.tag}-middle")
        self.right = Namespace(f"{self.tag}-right")
        self.mtu = mtu
        self.folder = tempfile.TemporaryDirectory(prefix="satlink-")
        self.control_path = os.path.join(self.folder.name, "control")
        self.config_path = os.path.join(self.folder.name, "link.yaml")
        with open(self.config_path, "w", encoding="ascii") as config:
            config.write(
                f"ports:\n"
                f"  a: {{interface: la, driver: {driver}, mtu: {mtu}}}\n"
                f"  b: {{interface: lb, driver: {driver}, mtu: {mtu}{port_b}}}\n"
                f"{directions}\n{more}\n"
                f"control_socket: {self.control_path}\n"
                f"stats_socket_prefix: {self.tag}\n"
            )
        self.program = os.path.join(build_folder(), "relay", "satlink", "satlink")
        self.probe = os.path.join(build_folder(), "tests", "e2e", "satlink", "frame_probe")
        self.satlink = Daemon(
            "satlink",
            self.middle,
            [self.program, "-c", self.config_path],
            os.path.join(self.folder.name, "log"),
        )

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self._remove)
            for space in (self.left, self.middle, self.right):
                space.create()
                for scope in ("all", "default"):
                    space.write_setting(f"ipv6/conf/{scope}/disable_ipv6", "1")
            for host, host_end, link_end in ((self.left, "s0", "la"), (self.right, "s1", "lb")):
                kernel.join(host, host_end, self.middle, link_end)
                # The kernel's own limit on packet sockets leaves room for one 802.1Q tag only.
                host.ip("link", "set", host_end, "mtu", str(self.mtu + 8))
                kernel.switch_off_offloads(host, host_end)
            self.satlink.start()
            self.satlink.wait_until(
                lambda: "ready: " in self.satlink.log(), 30, "ready\n" + self.satlink.log()
            )
            stack.pop_all()
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.satlink.log(), flush=True)
        self._remove()

    def _remove(self):
        self.satlink.stop()
        for space in (self.left, self.middle, self.right):
            space.delete()
        self.folder.cleanup()
        # DPDK leaves the folder of its stats socket behind.
        shutil.rmtree(f"/var/run/dpdk/{self.tag}", ignore_errors=True)

    def control(self, command: str) -> str:
        return satlink_control.send(self.control_path, command)

    def counters(self) -> dict:
        return json.loads(self.control("counters"))

    def start_receiver(self, space, interface: str, idle: float) -> subprocess.Popen:
        receiver = space.popen(
            *(self.probe, "receive", interface, "--idle", str(idle)),
            stdout=subprocess.PIPE,
            text=True,
        )
        check(receiver.stdout.readline() == "ready\n", "frame_probe receive starts")
        return receiver

    def start_sender(
        self, space, interface: str, size: int, rate: float, seconds: float, prompt: bool = False
    ) -> subprocess.Popen:
        """`prompt`: the sender does not wait for its turn between reading the clock and sending."""
        return space.popen(
            *(("chrt", "--rr", "2") if prompt else ()),
            *(self.probe, "send", interface, "--size", str(size)),
            *("--rate", str(rate), "--seconds", str(seconds)),
            stdout=subprocess.PIPE,
            text=True,
        )

    def measure(self, size: int, rate: float, seconds: float, idle: float = 1.5) -> tuple:
        """Sends frames from left to right; returns the reports of the sender and of the receiver."""
        receiver = self.start_receiver(self.right, "s1", idle)
        sender = self.start_sender(self.left, "s0", size, rate, seconds)
        return finish(sender), finish(receiver)


def finish(process: subprocess.Popen) -> dict:
    text = process.communicate(timeout=60)[0]
    check(process.returncode == 0, f"{process.args} ended with {process.returncode}")
    return json.loads(text)
