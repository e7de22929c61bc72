"""Changes the emulated link while it runs, over satlink's control socket."""

import socket


class ControlFailed(RuntimeError):
    """satlink did not do what it was asked."""


def send(path: str, command: str, timeout: float = 3) -> str:
    """One command, one line of answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(command.encode() + b"\n")
        answer = connection.makefile().readline().strip()
    if answer.startswith("error"):
        raise ControlFailed(f"satlink answered '{answer}' to '{command}'")
    return answer
