"""Puts a host of the lab on a VLAN, or on a VLAN in a VLAN, as the access port of a switch does.

Frames that leave the host's interface get the tags. Only frames with these tags come in, and lose them. So the cable
carries the VLAN, and the host does not know it. Two programs for the kernel's traffic control (clsact) do this, so that
it works in kernels without VLAN devices, too.
"""

import ctypes
import os
import platform
import socket
import struct
from collections.abc import Callable

from .kernel import CommandFailed, Namespace

_SYSCALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280}  # bpf(2)
_PROG_LOAD, _SCHED_CLS = 5, 3
_VLAN_PUSH, _VLAN_POP = 18, 19  # helper functions
_VLAN_PRESENT, _VLAN_TCI = 20, 24  # offsets in struct __sk_buff
_CUSTOMER_TAG, _SERVICE_TAG = 0x8100, 0x88A8
_PASS, _DROP = 0, 2  # TC_ACT_OK, TC_ACT_SHOT

_RTM_NEWTFILTER = 44
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_EXCL, _NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
_NLMSG_ERROR = 2
_INGRESS, _EGRESS = 0xFFFFFFF2, 0xFFFFFFF3  # of clsact
_TCA_KIND, _TCA_OPTIONS = 1, 2
_TCA_BPF_FD, _TCA_BPF_NAME, _TCA_BPF_FLAGS, _ACT_DIRECT = 6, 7, 8, 1
_ETH_P_ALL = 3


def make_access_port(space: Namespace, interface: str, vlans: tuple[int, ...]) -> None:
    """One or two VLANs, the outer one first. From here on the interface has no other traffic."""
    # The tags are in the frame, as on a cable.
    for feature in ("tx-vlan-hw-insert", "tx-vlan-stag-hw-insert"):
        space.run("ethtool", "-K", interface, feature, "off")
    # Kernels accept frames with one tag beyond the MTU of an interface.
    space.ip("link", "set", interface, "mtu", str(1500 + 4 * (len(vlans) - 1)))
    space.run("tc", "qdisc", "add", "dev", interface, "clsact")
    for direction, name, steps in (
        (_EGRESS, "tag", _tag(vlans)),
        (_INGRESS, "untag", _untag(vlans)),
    ):
        program = _load(_assemble(steps))
        try:
            _attach(space, interface, direction, name, program)
        finally:
            os.close(program)  # the filter holds it


# --- the two programs -----------------------------------------------------------------------------


def _instruction(code: int, to: int = 0, source: int = 0, offset: int = 0, value: int = 0) -> bytes:
    return struct.pack("=BBhi", code, to | source << 4, offset, value)


def _set(register: int, value: int) -> bytes:
    return _instruction(0xB7, register, value=value)


def _copy(to: int, source: int) -> bytes:
    return _instruction(0xBF, to, source)


def _load_word(to: int, source: int, offset: int) -> bytes:
    return _instruction(0x61, to, source, offset)


def _mask(register: int, value: int) -> bytes:
    return _instruction(0x57, register, value=value)


def _call(helper: int) -> bytes:
    return _instruction(0x85, value=helper)


def _drop_if_equal(register: int, value: int) -> Callable[[int], bytes]:
    return lambda skip: _instruction(0x15, register, offset=skip, value=value)


def _drop_unless_equal(register: int, value: int) -> Callable[[int], bytes]:
    return lambda skip: _instruction(0x55, register, offset=skip, value=value)


_EXIT = _instruction(0x95)


def _assemble(steps: list) -> bytes:
    """One instruction a step. A step that may drop gets the number of instructions to skip for that."""
    passing = [_set(0, _PASS), _EXIT]
    dropping = [_set(0, _DROP), _EXIT]
    to_drop = len(steps) + len(passing)
    code = [
        step(to_drop - number) if callable(step) else step for number, step in enumerate(steps, 1)
    ]
    return b"".join(code + passing + dropping)


def _tag(vlans: tuple[int, ...]) -> list:
    steps = [_copy(6, 1)]  # register 1 has the frame, and is lost in calls
    for number, vlan in enumerate(reversed(vlans)):
        kind = _CUSTOMER_TAG if number == 0 else _SERVICE_TAG
        steps += [
            _copy(1, 6),
            _set(2, socket.htons(kind)),
            _set(3, vlan),
            _call(_VLAN_PUSH),
            _drop_unless_equal(0, 0),
        ]
    return steps


def _untag(vlans: tuple[int, ...]) -> list:
    steps = [_copy(6, 1)]
    for vlan in vlans:
        steps += [
            _load_word(2, 6, _VLAN_PRESENT),
            _drop_if_equal(2, 0),
            _load_word(2, 6, _VLAN_TCI),
            _mask(2, 0xFFF),
            _drop_unless_equal(2, vlan),
            _copy(1, 6),
            _call(_VLAN_POP),
            _drop_unless_equal(0, 0),
        ]
    return steps


def _load(code: bytes) -> int:
    """Loads the program; returns its file descriptor."""
    log = ctypes.create_string_buffer(65536)
    held = [ctypes.create_string_buffer(text, len(text)) for text in (code, b"BSD\0")]
    code_address, license_address = map(ctypes.addressof, held)
    attributes = struct.pack(
        "=IIQQIIQII",
        *(_SCHED_CLS, len(code) // 8, code_address, license_address),
        *(1, len(log), ctypes.addressof(log), 0, 0),
    )
    number = _SYSCALL.get(platform.machine())
    if number is None:
        raise CommandFailed(f"the number of bpf(2) on {platform.machine()} is not known")
    libc = ctypes.CDLL(None, use_errno=True)
    argument = ctypes.create_string_buffer(attributes, len(attributes))
    program = libc.syscall(number, _PROG_LOAD, argument, len(attributes))
    if program < 0:
        why = os.strerror(ctypes.get_errno())
        raise CommandFailed(f"the kernel takes no VLAN program: {why}\n{log.value.decode()}")
    return program


# --- netlink --------------------------------------------------------------------------------------


def _attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + bytes(-length % 4)


def _attach(space: Namespace, interface: str, direction: int, name: str, program: int) -> None:
    with space.entered():
        index = socket.if_nametoindex(interface)
    options = (
        _attribute(_TCA_BPF_FD, struct.pack("=I", program))
        + _attribute(_TCA_BPF_NAME, name.encode() + b"\0")
        + _attribute(_TCA_BPF_FLAGS, struct.pack("=I", _ACT_DIRECT))
    )
    priority_and_protocol = 1 << 16 | socket.htons(_ETH_P_ALL)
    body = (
        struct.pack("=BxHiIII", 0, 0, index, 0, direction, priority_and_protocol)
        + _attribute(_TCA_KIND, b"bpf\0")
        + _attribute(_TCA_OPTIONS, options)
    )
    flags = _NLM_F_REQUEST | _NLM_F_ACK | _NLM_F_EXCL | _NLM_F_CREATE
    header = struct.pack("=IHHII", 16 + len(body), _RTM_NEWTFILTER, flags, 1, 0)
    with space.socket(socket.AF_NETLINK, socket.SOCK_RAW) as netlink:
        netlink.settimeout(5)
        netlink.sendto(header + body, (0, 0))
        answer = netlink.recv(65536)
    kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    if kind != _NLMSG_ERROR or error != 0:
        raise CommandFailed(f"{interface}: the filter '{name}': {os.strerror(-error)}")
