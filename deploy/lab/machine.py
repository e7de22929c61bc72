"""The few things that the lab needs of the machine around its namespaces."""

import contextlib
import fcntl
import os
import pwd
import shutil
import tempfile

from . import units

_BACKLOG = "/proc/sys/net/core/netdev_max_backlog"
_BACKLOG_NEEDED = 16384
_STATE = "/run/satrelay-lab"


class DeepBacklog:
    """Lets veth queue a burst: the kernel's 1000 frames are 12 ms at 1 Gbit/s.

    The setting is the whole machine's. The first lab raises it and the last lab restores it. A container with a network
    of its own does not have the setting, and its labs do without.
    """

    def __init__(self, tag: str):
        self._ticket = os.path.join(_STATE, f"{tag}.lab")
        self._before = os.path.join(_STATE, "netdev_max_backlog")

    def acquire(self) -> None:
        if not os.path.exists(_BACKLOG):
            return
        with _locked():
            os.makedirs(_STATE, exist_ok=True)
            with open(_BACKLOG, encoding="ascii") as setting:
                current = int(setting.read())
            with open(self._ticket, "w", encoding="ascii"):
                pass
            if current < _BACKLOG_NEEDED:
                with open(self._before, "w", encoding="ascii") as before:
                    before.write(str(current))
                _set_backlog(_BACKLOG_NEEDED)

    def release(self) -> None:
        if not os.path.exists(self._ticket):
            return
        with _locked():
            os.unlink(self._ticket)
            others = any(name.endswith(".lab") for name in os.listdir(_STATE))
            if others:
                return
            if os.path.exists(self._before):
                with open(self._before, encoding="ascii") as before:
                    _set_backlog(int(before.read()))
                os.unlink(self._before)
            os.rmdir(_STATE)


def _set_backlog(frames: int) -> None:
    with open(_BACKLOG, "w", encoding="ascii") as setting:
        setting.write(str(frames))


@contextlib.contextmanager
def _locked():
    folder = os.open(os.path.dirname(_STATE), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def make_work_folder(tag: str, bytes_needed: int) -> str:
    """A new folder for files of the lab. It is in memory if there is plenty, so that no disk slows it."""
    memory = "/dev/shm"
    if os.path.isdir(memory) and shutil.disk_usage(memory).free > 4 * bytes_needed + (64 << 20):
        with open("/proc/meminfo", encoding="ascii") as meminfo:
            fields = dict(line.split(":") for line in meminfo)
        if int(fields["MemAvailable"].split()[0]) * 1024 > 6 * bytes_needed + (512 << 20):
            return _passable(tempfile.mkdtemp(prefix=f"satrelay-{tag}-", dir=memory))
    disk = tempfile.gettempdir()
    free, needed = shutil.disk_usage(disk).free, bytes_needed + (16 << 20)
    if free < needed:
        raise OSError(
            f"the lab needs {units.show_size(needed)} for its files, and {disk} has {units.show_size(free)} free: "
            "make room there, or let TMPDIR name another folder"
        )
    return _passable(tempfile.mkdtemp(prefix=f"satrelay-{tag}-"))


def _passable(folder: str) -> str:
    """Lets others pass through the folder, as the gateways reload their files after they have given up root."""
    os.chmod(folder, 0o711)
    return folder


def gateway_user() -> pwd.struct_passwd:
    """The user that a gateway of root becomes by default."""
    try:
        return pwd.getpwnam("satrelay")
    except KeyError:
        return pwd.getpwnam("nobody")


def let_gateways_read(path: str) -> None:
    """Lets only root and the gateways' user read the file."""
    os.chown(path, 0, gateway_user().pw_gid)
    os.chmod(path, 0o640)
