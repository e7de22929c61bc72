"""A Linux of its own in QEMU, for what only real PCI devices can show: their drivers, vfio-pci, an IOMMU.

The processor is always emulated (TCG), since a host that offers KVM would prove nothing more here. Loads that take an
emulated processor seconds are sized for that. The guest is Debian's kernel with a root file system in memory. Its first
serial port is the console, kept as a log. On the second port a shell takes commands. NICs are attached to taps. The
other ends of the taps are interfaces of network namespaces.
"""

import base64
import contextlib
import ctypes
import fcntl
import glob
import io
import itertools
import json
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass

from harness import REPOSITORY, Skip, programs
from initramfs import Initramfs
from lab.kernel import Namespace, die_with_parent

QEMU = "qemu-system-x86_64"
MEMORY = 1536  # MiB
# deploy/setup.sh --test-programs leaves vmlinuz and lib/modules of Debian's kernel there.
KERNEL_FOLDER = os.environ.get("SATRELAY_GUEST_KERNEL", "/var/cache/satrelay/guest-kernel")
_COMMAND_SECONDS = 60

_TOOLS = (
    "bash cat chmod ln ls mkdir mount rm sleep stty tail base64 ip modprobe "
    # for bind-ports.sh
    "awk cut dirname env find grep paste readlink sed tr"
).split()
_DRIVERS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_vmxnet3", "net_virtio")
_INIT = """\
#!/bin/bash
export PATH=/usr/sbin:/usr/bin LANG=C HOME=/
chmod 755 /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
ln -s /run /var/run
ln -s /proc/self/fd /dev/fd
mkdir -p /dev/hugepages
mount -t hugetlbfs -o pagesize=2M hugetlbfs /dev/hugepages
ip link set lo up
exec <>/dev/ttyS1 >&0 2>&1
stty raw -echo
echo is up
while read -r number command; do
  eval "$command" </dev/null 2>&1
  status=$?
  echo
  echo "done-$number $status"
done
"""

_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR, _IFF_MULTI_QUEUE = 0x2, 0x1000, 0x4000, 0x100
_numbers = itertools.count()


@dataclass(frozen=True)
class Nic:
    """One NIC of the guest, and the interface at its other end. QEMU gets one tap for each queue."""

    name: str  # for the monitor
    device: str  # for -device
    slot: int  # of the bus
    mac: str
    taps: tuple[io.FileIO, ...]

    @property
    def address(self) -> str:
        return f"0000:00:{self.slot:02x}.0"


class CommandFailed(RuntimeError):
    """A command in the guest ended with an error."""


def need_guest() -> None:
    """Skips the test if this machine cannot run a guest."""
    advice = "deploy/setup.sh --test-programs"
    if shutil.which(QEMU) is None:
        raise Skip(f"{QEMU} is not installed: {advice}")
    if not _kernels():
        raise Skip(f"there is no kernel for a guest in {KERNEL_FOLDER}: {advice}")
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}: {advice}")
    if not os.path.exists("/dev/net/tun"):
        raise Skip("this kernel has no taps (/dev/net/tun)")


def _kernels() -> list[str]:
    return glob.glob(os.path.join(KERNEL_FOLDER, "boot", "vmlinuz-*"))


def make_initramfs(path: str) -> None:
    built = programs()
    image = Initramfs()
    for tool in _TOOLS:
        image.add_program(tool)
    image.add_drivers(_DRIVERS)
    image.add_program(built.satrelayd, "/usr/bin/satrelayd")
    image.add_program(built.satrelayctl, "/usr/bin/satrelayctl")
    for name in ("bind-ports.sh", "progress.sh"):
        image.add_file(os.path.join(REPOSITORY, "deploy", name), f"/opt/satrelay/deploy/{name}")
    modules = os.path.join(KERNEL_FOLDER, "lib", "modules")
    for folder, _, names in os.walk(modules):
        for name in names:
            source = os.path.join(folder, name)
            image.add_file(source, "/usr/lib/modules" + source.removeprefix(modules))
    image.add("/etc/passwd", b"root:x:0:0::/:/bin/bash\nsatrelay:x:999:999::/:/bin/false\n")
    image.add("/etc/group", b"root:x:0:\nsatrelay:x:999:\n")
    image.add("/etc/nsswitch.conf", b"passwd: files\ngroup: files\n")
    for folder in ("/proc", "/sys", "/dev", "/run", "/tmp", "/var"):
        image.add_folder(folder)
    image.add("/init", _INIT.encode(), 0o755)
    image.write(path)


class Guest:
    """A guest runs from boot() to stop(). Its console's output goes to the file `console`."""

    boot_seconds = 120
    kernel_words = "intel_iommu=on"

    def __init__(self, folder: str, nics: list[Nic], console: str):
        self._folder = folder
        self._nics = nics
        self._process: subprocess.Popen | None = None
        self._shell: socket.socket | None = None
        self._monitor: socket.socket | None = None
        self._read = b""
        self._console = console

    # --- up and down ------------------------------------------------------------------------------

    def boot(self) -> None:
        image = os.path.join(self._folder, "initramfs.cpio")
        self._make_initramfs(image)
        argv = self._command_line(image)
        taps = [tap for nic in self._nics for tap in nic.taps]
        with open(os.path.join(self._folder, "qemu.log"), "ab") as log:
            self._process = subprocess.Popen(
                argv,
                pass_fds=[tap.fileno() for tap in taps],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        for tap in taps:
            tap.close()
        self._monitor = self._connect("monitor")
        self._shell = self._connect("shell")
        self._await_reply()
        self._tell_monitor("qmp_capabilities")
        self._read_until(b"is up\n", self.boot_seconds)

    def _make_initramfs(self, path: str) -> None:
        make_initramfs(path)

    def _command_line(self, image: str) -> list[str]:
        # On a busy machine the kernel would measure a wrong frequency, and all its times would be wrong.
        words = f"console=ttyS0 tsc=reliable tsc_early_khz={_tsc_khz()} panic=-1 {self.kernel_words}"
        argv = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "q35"]
        argv += ["-smp", "2", "-m", str(MEMORY), "-display", "none", "-nodefaults", "-no-reboot"]
        argv += ["-kernel", _kernels()[0], "-initrd", image, "-append", words]
        argv += ["-serial", f"file:{self._console}"]
        for name in ("shell", "monitor"):
            path = os.path.join(self._folder, f"{name}.socket")
            argv += ["-chardev", f"socket,id={name},path={path},server=on,wait=off"]
        argv += ["-serial", "chardev:shell", "-mon", "chardev=monitor,mode=control"]
        argv += self._devices()
        for nic in self._nics:
            listed = ":".join(str(tap.fileno()) for tap in nic.taps)
            which = f"fds={listed}" if len(nic.taps) > 1 else f"fd={listed}"
            argv += ["-netdev", f"tap,id=net-{nic.name},{which},vhost=off"]
            own = f"netdev=net-{nic.name},id={nic.name},mac={nic.mac},addr=0x{nic.slot:x}"
            argv += ["-device", f"{nic.device},{own}"]
        return argv

    def _devices(self) -> list[str]:
        return ["-device", "intel-iommu,intremap=on,caching-mode=on"]

    def _connect(self, name: str) -> socket.socket:
        path = os.path.join(self._folder, f"{name}.socket")
        deadline = time.monotonic() + 20
        while True:
            assert self._process is not None
            if self._process.poll() is not None:
                raise CommandFailed(f"QEMU ended with status {self._process.returncode}")
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                end.connect(path)
                return end
            except OSError:
                end.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _hang_up(self) -> None:
        if self._shell is not None:
            self._shell.close()
        self._shell = None

    def stop(self) -> None:
        self._hang_up()
        if self._monitor is not None:
            self._monitor.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for name in ("shell", "monitor"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder, f"{name}.socket"))

    def has_crashed(self) -> bool:
        """Whether QEMU itself has died by a signal that no test sends; programs in the guest do not count."""
        status = self._process.poll() if self._process is not None else None
        return status in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL)

    def log(self, lines: int = 60) -> str:
        """The end of the console's output."""
        with contextlib.suppress(OSError), open(self._console, errors="replace") as log:
            return "".join(log.readlines()[-lines:])
        return ""

    # --- while it runs ----------------------------------------------------------------------------

    def answers(self) -> bool:
        """Whether the guest takes commands. After one late answer it is not waited for again."""
        return self._shell is not None

    def attempt(self, command: str, timeout: float = _COMMAND_SECONDS) -> tuple[int, str]:
        """Runs a command; returns its exit status, and its output on both streams."""
        if self._shell is None:
            raise CommandFailed(f"{command}: the guest does not answer any more")
        number = next(_numbers)
        try:
            self._shell.sendall(f"{number} {command}\n".encode())
        except OSError as error:
            self._hang_up()
            raise CommandFailed(f"{command}: the guest is gone") from error
        text = self._read_until(f"\ndone-{number} ".encode(), timeout).decode(errors="replace")
        status = self._read_until(b"\n", 10)
        return int(status), text.removesuffix("\n")

    def run(self, command: str, timeout: float = _COMMAND_SECONDS) -> str:
        status, text = self.attempt(command, timeout)
        if status != 0:
            raise CommandFailed(f"{command}: exit status {status}: {text}")
        return text

    def write(self, path: str, text: str) -> None:
        encoded = base64.b64encode(text.encode()).decode()
        self.run(f"echo {encoded} | base64 -d >{path}")

    def set_link(self, nic: Nic, up: bool) -> None:
        """Plugs the NIC's cable in, or out."""
        self._tell_monitor("set_link", name=nic.name, up=up)

    def _tell_monitor(self, command: str, **arguments) -> None:
        line = {"execute": command, "arguments": arguments}
        self._monitor.sendall(json.dumps(line).encode() + b"\n")
        reply = self._await_reply()
        while "event" in reply:
            reply = self._await_reply()
        if "error" in reply:
            raise CommandFailed(f"{command}: {reply['error']['desc']}")

    def _await_reply(self) -> dict:
        self._monitor.settimeout(20)
        line = b""
        while not line.endswith(b"\n"):
            line += self._monitor.recv(1)
        return json.loads(line)

    def _read_until(self, end: bytes, timeout: float) -> bytes:
        deadline = time.monotonic() + timeout
        while end not in self._read:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._shell], [], [], max(0, left))
            if not ready:
                self._hang_up()
                raise TimeoutError(f"the guest does not answer within {timeout:g} s")
            part = self._shell.recv(65536)
            if not part:
                self._hang_up()
                raise CommandFailed("the guest has ended")
            self._read += part.replace(b"\r", b"")
        found, self._read = self._read.split(end, 1)
        return found


def _tsc_khz() -> int:
    """The frequency of this machine's time stamp counter, which is the guest's, too."""
    # rdtsc; shl rdx, 32; or rax, rdx; ret
    code = bytes.fromhex("0f31 48c1e220 4809d0 c3")
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(code)
        first_byte = ctypes.c_char.from_buffer(page)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(first_byte))
        ticks, began = read(), time.monotonic_ns()
        time.sleep(0.1)
        khz = (read() - ticks) * 1_000_000 // (time.monotonic_ns() - began)
        del first_byte
    return khz


def open_taps(space: Namespace, interface: str, queues: int = 1) -> tuple[io.FileIO, ...]:
    """A new interface of the namespace. It exists as long as one of its queues is open."""
    kind = _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR | (_IFF_MULTI_QUEUE if queues > 1 else 0)
    request = struct.pack("16sH22x", interface.encode(), kind)
    taps = []
    with space.entered():
        for _ in range(queues):
            tap = open("/dev/net/tun", "r+b", buffering=0)
            taps.append(tap)
            fcntl.ioctl(tap, _TUNSETIFF, request)
    return tuple(taps)
