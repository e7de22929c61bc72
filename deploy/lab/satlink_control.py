"""Changes the emulated link while it runs, over satlink's control socket."""

import socket


class ControlFailed(RuntimeError):
    """satlink refused a command."""


def send(path: str, command: str, timeout: float = 3) -> str:
    """Sends one command; returns the line of the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(command.encode() + b"\n")
        answer = connection.makefile().readline().strip()
    if answer.startswith("error"):
        raise ControlFailed(f"satlink answered '{answer}' to '{command}'")
    return answer
