"""Reads a stats socket: DPDK telemetry, version 2 (one JSON object a command, read-only)."""

import json
import os
import socket


class StatsUnavailable(RuntimeError):
    """There is no stats socket, or it does not answer."""


def socket_path(prefix: str) -> str:
    """Where the DPDK program with this file prefix listens. For root: /var/run/dpdk."""
    runtime = "/var/run"
    if os.geteuid() != 0:
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/tmp")
    return f"{runtime}/dpdk/{prefix}/dpdk_telemetry.v2"


def query(prefix: str, command: str, timeout: float = 3):
    """The value that answers `command`, such as "/satrelay/status"."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(socket_path(prefix))
            longest = json.loads(connection.recv(1024))["max_output_len"]
            connection.send(command.encode())
            answer = json.loads(connection.recv(longest + 1024))
        except (OSError, ValueError, KeyError) as error:
            raise StatsUnavailable(f"{prefix}: {command}: {error}") from error
    value = answer.get(command.partition(",")[0])
    if value is None:  # a program that is just starting has no figures yet
        raise StatsUnavailable(f"{prefix}: {command}: no answer")
    return value
