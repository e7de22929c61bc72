"""A root file system in memory for a guest: programs of this machine with the libraries that they need.

Files have the same paths as on this machine (below /usr, as Debian has it), so that programs find each other. The
archive is not compressed, since an emulated processor would take longer to unpack it than to read it.
"""

import glob
import os
import re
import shutil
import stat
import subprocess

_LINKS = {name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")}
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")


class Missing(RuntimeError):
    """This machine lacks something that the guest needs."""


class Initramfs:
    def __init__(self):
        self._files: dict[str, tuple[int, bytes]] = {}  # path without the first /: mode, bytes
        for name, target in _LINKS.items():
            self._files[name] = (stat.S_IFLNK | 0o777, target.encode())

    def add(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self._add_folders(os.path.dirname(path))
        self._files[path.lstrip("/")] = (stat.S_IFREG | mode, content)

    def add_folder(self, path: str, mode: int = 0o755) -> None:
        self._add_folders(os.path.dirname(path))
        self._files.setdefault(path.lstrip("/"), (stat.S_IFDIR | mode, b""))

    def add_link(self, path: str, target: str) -> None:
        self._add_folders(os.path.dirname(path))
        self._files[path.lstrip("/")] = (stat.S_IFLNK | 0o777, target.encode())

    def add_file(self, source: str, path: str = "") -> None:
        """Adds a file; of a symbolic link, also the file behind it."""
        behind = os.path.realpath(source)
        if not path and _below_usr(behind) != _below_usr(source):
            self.add_link(_below_usr(source), _below_usr(behind))
            source = behind
        with open(source, "rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            self.add(_below_usr(path or source), file.read(), mode)

    def add_program(self, name: str, path: str = "") -> None:
        """Adds a program by its name or path, or a shared library, and all libraries that it is linked with."""
        found = shutil.which(name)
        source = name if os.path.isabs(name) else found
        if source is None or not os.path.exists(source):
            raise Missing(f"{name} is not installed")
        self.add_file(source, path)
        listed = subprocess.run(["ldd", source], capture_output=True, text=True, check=False).stdout
        for library in _LIBRARY.findall(listed):
            if _below_usr(library).lstrip("/") not in self._files:
                self.add_file(library)

    def add_drivers(self, names: tuple[str, ...]) -> None:
        """Adds drivers of DPDK, which loads all that are in its folder."""
        folders = glob.glob("/usr/lib/*/dpdk/pmds-*")
        if not folders:
            raise Missing("DPDK's drivers (libdpdk-dev) are not installed")
        for name in names:
            self.add_program(os.path.join(folders[0], f"librte_{name}.so"))

    def write(self, path: str) -> None:
        """Writes cpio's format "newc" (the kernel's Documentation/driver-api/early-userspace)."""
        with open(path, "wb") as archive:
            for number, name in enumerate(sorted(self._files), 1):
                mode, content = self._files[name]
                _write_entry(archive, number, name, mode, content)
            _write_entry(archive, 0, "TRAILER!!!", 0, b"")

    def _add_folders(self, path: str) -> None:
        path = path.strip("/")
        while path and path not in self._files:
            self._files[path] = (stat.S_IFDIR | 0o755, b"")
            path = os.path.dirname(path)


def _below_usr(path: str) -> str:
    first = path.split("/")[1]
    return f"/usr{path}" if first in _LINKS else path


def _write_entry(archive, number: int, name: str, mode: int, content: bytes) -> None:
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    archive.write(header + bytes(-len(header) % 4))
    archive.write(content + bytes(-len(content) % 4))
