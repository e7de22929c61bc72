"""A Debian with systemd in QEMU, in which the gateway is installed: for the units of deploy/.

The system is Debian's, with the packages that the programs need. mmdebstrap makes it, which takes two minutes and the
network, and the next tests find it in a cache. `meson install` puts the programs and the units into a copy of it, or a
test puts packages there, and the copy becomes the guest's disk. The disk outlives a reboot and a power cut.

A service of the guest makes two pairs of interfaces for two gateways. Namespaces stand for a host and for a modem:

    [host-0 eth0]====[lan0  gateway  wan0]====[eth0 modem-0]
    [host-1 eth0]====[lan1  gateway  wan1]====[eth0 modem-1]
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from guest import KERNEL_FOLDER, Guest, need_guest
from harness import Skip, build_folder, note
from initramfs import Initramfs

CACHE = os.environ.get("SATRELAY_GUEST_SYSTEM", "/var/cache/satrelay/guest-system")
_SUITE = "bookworm"
_PACKAGES = "systemd systemd-sysv dbus udev kmod procps iproute2 iputils-ping curl".split()
# Drivers of af_packet ports, which no program is linked with.
_DRIVER_PACKAGES = "librte-net-af-packet23 librte-mempool-ring23 librte-bus-vdev23".split()
_PROGRAMS = (
    "satrelayd/satrelayd",
    "supervise/satrelay-supervise",
    "satrelayctl/satrelayctl",
    "satpanel/satpanel",
)
_LIBRARY = re.compile(r"=> (/\S+) \(0x")
_MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
_DISK = "4G"  # a sparse file, of which about 400 MB are written

_INIT = f"""\
#!/bin/bash
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
modprobe -a {" ".join(_MODULES)}
until mount -t ext4 /dev/vda /disk; do sleep 0.2; done
exec switch_root /disk /sbin/init
"""

_SHELL_UNIT = """\
[Unit]
Description=the shell of the test
After=basic.target
[Service]
ExecStart=/usr/local/sbin/test-shell
Environment=LANG=C HOME=/
[Install]
WantedBy=multi-user.target
"""
_SHELL = """\
#!/bin/bash
cd /
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
_WIRES_UNIT = """\
[Unit]
Description=the wires of the test
Before=network-pre.target
Wants=network-pre.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/test-wires
[Install]
WantedBy=multi-user.target
"""
_WIRES = """\
#!/bin/bash -e
# test-wires [PORT]: all ports, or only this one.
wire() {
  [ "$wanted" = "" ] || [ "$wanted" = "$1" ] || return 0
  [ -e "/run/netns/$2" ] || ip netns add "$2"
  # Its MAC stays the same if the wire is made anew, so that the other host still finds it.
  ip link add "$1" type veth peer name eth0 address "$4" netns "$2"
  ip -n "$2" address add "$3/24" dev eth0
  ip -n "$2" link set eth0 up
}
wanted=$1
for n in 0 1; do
  wire "lan$n" "host-$n" 203.0.113.1 "52:54:00:00:0$n:01"
  wire "wan$n" "modem-$n" 203.0.113.2 "52:54:00:00:0$n:02"
done
"""
MODEM = "203.0.113.2"


@dataclass(frozen=True)
class Wire:
    """A pair of ports, and the namespaces of their hosts."""

    number: int

    @property
    def ports(self) -> tuple[str, str]:
        return f"lan{self.number}", f"wan{self.number}"

    @property
    def host(self) -> str:
        return f"host-{self.number}"


def need_system_guest() -> None:
    """Skips the test if this machine cannot run such a guest."""
    need_guest()
    advice = "deploy/setup.sh --test-programs"
    for program in ("mmdebstrap", "mkfs.ext4", "meson", "switch_root"):
        if shutil.which(program) is None:
            raise Skip(f"{program} is not installed: {advice}")
    if not glob.glob(f"{KERNEL_FOLDER}/lib/modules/*/kernel/fs/ext4/ext4.ko"):
        raise Skip(f"the guest's kernel in {KERNEL_FOLDER} is without ext4: {advice}")


class SystemGuest(Guest):
    """Guest.boot() starts the system on the disk in `folder`. It can be started again."""

    boot_seconds = 300
    kernel_words = "systemd.show_status=1"

    def __init__(self, folder: str, console: str):
        super().__init__(folder, [], console)
        self._disk = os.path.join(folder, "disk.ext4")

    def install(self) -> None:
        """Makes the disk, with what `meson install` installs."""
        self.make_disk({*_DRIVER_PACKAGES, *_library_packages()}, _install_build)

    def make_disk(self, packages: set[str], fill: Callable[[str], None]) -> None:
        """Makes the disk: a system with these packages, into whose root folder `fill` puts more."""
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self._disk), prefix="root.") as root:
            _run("tar", "-C", root, "-xpf", _system(packages))
            _prepare(root)
            fill(root)
            _run("truncate", "-s", _DISK, self._disk)
            _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=1", "-d", root, self._disk)

    def power_off(self) -> None:
        """A power cut. Guest.boot() starts the system again."""
        self.stop()

    def await_end(self, seconds: float = 120) -> None:
        """Waits until the system has shut down; QEMU then ends (-no-reboot)."""
        self._process.wait(seconds)
        self.stop()

    def _make_initramfs(self, path: str) -> None:
        image = Initramfs()
        for tool in ("bash", "mount", "modprobe", "sleep", "switch_root"):
            image.add_program(tool)
        modules = os.path.join(KERNEL_FOLDER, "lib", "modules")
        version = os.listdir(modules)[0]
        folder = os.path.join(modules, version)
        wanted = set(glob.glob(f"{folder}/modules.*"))
        for module in _MODULES:
            listed = subprocess.run(
                ["modprobe", "-d", KERNEL_FOLDER, "-S", version, "--show-depends", module],
                capture_output=True, text=True, check=True,
            ).stdout
            wanted.update(re.findall(r"insmod (\S+)", listed))
        for source in sorted(wanted):
            image.add_file(source, f"/usr/lib/modules/{version}/{os.path.relpath(source, folder)}")
        for name in ("/proc", "/sys", "/dev", "/run", "/disk"):
            image.add_folder(name)
        image.add("/init", _INIT.encode(), 0o755)
        image.write(path)

    def _devices(self) -> list[str]:
        # Writes reach the file before the guest knows that they are done, as with a disk without a cache.
        disk = f"file={self._disk},format=raw,if=none,id=disk,cache=writeback"
        return ["-drive", disk, "-device", "virtio-blk-pci,drive=disk"]


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with status {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def _system(packages: set[str]) -> str:
    """A system with these packages, without the gateway, as an archive in the cache."""
    packages = sorted({*_PACKAGES, *packages})
    key = hashlib.sha256(" ".join((_SUITE, *packages)).encode()).hexdigest()[:12]
    archive = f"{CACHE}-{key}.tar"
    if not os.path.exists(archive):
        note(f"mmdebstrap makes {archive}")
        os.makedirs(os.path.dirname(archive), exist_ok=True)
        partial = f"{archive}.{os.getpid()}.tar"
        try:
            _run("mmdebstrap", "--variant=minbase", f"--include={','.join(packages)}", _SUITE, partial)
            os.rename(partial, archive)
        except RuntimeError as error:
            raise Skip(f"mmdebstrap cannot make the guest's system: {error}") from None
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
    return archive


def _library_packages() -> set[str]:
    """The packages of the libraries that the programs are linked with."""
    libraries: set[str] = set()
    for program in _PROGRAMS:
        libraries.update(_LIBRARY.findall(_run("ldd", os.path.join(build_folder(), "relay", program))))
    packages = set()
    for library in libraries:
        for path in (library, os.path.realpath(library), os.path.realpath(library).removeprefix("/usr")):
            found = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                packages.add(found.stdout.split(":")[0])
                break
        else:
            raise Skip(f"{library} is of no package")
    return packages


def _install_build(root: str) -> None:
    _run("meson", "install", "-C", build_folder(), "--no-rebuild", "--quiet", "--destdir", root)


def _prepare(root: str) -> None:
    modules = os.path.join(KERNEL_FOLDER, "lib", "modules")
    shutil.copytree(modules, f"{root}/usr/lib/modules", dirs_exist_ok=True)
    shutil.rmtree(f"{root}/var/log/journal", ignore_errors=True)
    for path, text, mode in (
        # With an empty one systemd would enable all units at the first boot.
        ("etc/machine-id", "5a7e11a75a7e11a75a7e11a75a7e11a7\n", 0o444),
        ("etc/hostname", "guest\n", 0o644),
        ("etc/hosts", "127.0.0.1 localhost guest\n", 0o644),
        ("etc/systemd/journald.conf.d/test.conf", "[Journal]\nStorage=persistent\n", 0o644),
        ("etc/systemd/system/test-shell.service", _SHELL_UNIT, 0o644),
        ("etc/systemd/system/test-wires.service", _WIRES_UNIT, 0o644),
        ("usr/local/sbin/test-shell", _SHELL, 0o755),
        ("usr/local/sbin/test-wires", _WIRES, 0o755),
    ):
        os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
        if os.path.lexists(f"{root}/{path}"):
            os.unlink(f"{root}/{path}")
        with open(f"{root}/{path}", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(f"{root}/{path}", mode)
    _run("systemctl", f"--root={root}", "enable", "test-shell", "test-wires")
    _run("systemctl", f"--root={root}", "mask", "serial-getty@ttyS0", "getty@tty1", "systemd-timesyncd")
    # A system that has been in use when the gateway was installed: systemd has no update to complete at the next boot.
    for stamp in ("etc/.updated", "var/.updated"):
        with open(f"{root}/{stamp}", "w", encoding="utf-8"):
            pass
