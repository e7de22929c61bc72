"""The programs of test_programs.py, unchanged: HTTP, FTP, ssh, scp, rsync and nc, with a file of 1 MB."""

import os
import shutil
import time

from harness import SERVER, Failed
from program_table import PROGRAMS, Program, ProgramFailed, Visit

from .conditions import Seen, condition
from .sites import Site

_VERSIONS = {"": SERVER.ipv4, ", IPv6": SERVER.ipv6}
# Programs that run once more, over IPv6, and on a VLAN.
_AGAIN = ("curl: download", "FTP passive: get", "FTP active: get", "rsync: pull")
_TAGGED = ("curl: download", "curl: upload (PUT)", "ssh: command, both ways")


def _visit(site: Site, program: Program, address: str) -> Seen:
    began = time.monotonic()
    try:
        arrivals = program.run(Visit(site.lab, site.servers, address, site.folder()))
    except (ProgramFailed, Failed) as error:
        return Seen(str(error).splitlines()[0], False)
    seconds = time.monotonic() - began
    equal = all(sent == arrived for sent, arrived in arrivals)
    _forget(site.files.incoming)
    return Seen("what was sent" if equal else "other bytes", equal, seconds)


def _forget(folder: str) -> None:
    """Empties the folder, so that the next run brings everything again."""
    for entry in os.scandir(folder):
        shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)


def _list(program: Program, label: str, address: str, vlan: bool) -> None:
    name = program.name + label + (", on a VLAN" if vlan else "")

    @condition(name, fills=True, vlan=vlan)
    def _(site):
        return _visit(site, program, address)


for _program in PROGRAMS:
    if _program.name == "iperf3 -P 32":
        continue  # through such a link not each of 32 streams sends anything in its one second
    for _label, _address in _VERSIONS.items():
        if not _label or _program.name in _AGAIN:
            _list(_program, _label, _address, False)
    if _program.name in _TAGGED:
        _list(_program, "", SERVER.ipv4, True)
