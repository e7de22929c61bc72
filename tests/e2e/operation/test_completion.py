"""A real bash and a real zsh complete the words of satrelayctl and satrelayd, on a terminal."""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from harness import check, programs

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bind 'set show-all-if-ambiguous on'"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; unsetopt list_ambiguous"),
}
ANSWERS = {
    "/satrelay/peers": {
        "0": {"name": "ship-one", "link": "sat"},
        "1": {"name": "ship-two", "link": "sat"},
    },
    "/satrelay/rules": {"0": {"rule": 1, "name": "web"}, "1": {"rule": 2, "name": ""}},
    "/satrelay/classes": {"0": {"name": "voice"}, "1": {"name": "$(touch pwned)"}},
}


@contextlib.contextmanager
def gateway(folder: str, answers: bool = True):
    """A stats socket with these names, or a socket that takes connections and never answers."""
    path = os.path.join(folder, "socket" if answers else "silent")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(8)

        def serve():
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                with client:
                    client.send(b'{"version":"DPDK 22.11.11","pid":1,"max_output_len":16384}')
                    while answers and (asked := client.recv(1000).decode()):
                        name, first = asked.split(",")[:2]
                        reply = ANSWERS[name] if first == "0" else {}
                        client.send(json.dumps({name: reply}).encode())
                    if not answers:
                        client.recv(1000)
                        time.sleep(2)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield path
        listening.shutdown(socket.SHUT_RDWR)


class Terminal:
    """An interactive shell that has read the script, in a folder of its own."""

    def __init__(self, shell: str, folder: str):
        argv, settings = SHELLS[shell]
        control, inner = pty.openpty()
        self._control = control
        self.shell = shell
        self._process = subprocess.Popen(
            argv,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=folder,
            env={
                "PATH": ":".join(
                    [*(os.path.dirname(each) for each in (programs().satrelayctl, programs().satrelayd)),
                     "/usr/bin", "/bin"]
                ),
                "TERM": "dumb",
                "HOME": folder,
                "PS1": "> ",
                "COLUMNS": "200",
            },
            start_new_session=True,
        )
        os.close(inner)
        self._marks = 0
        script = subprocess.run(
            [programs().satrelayctl, "completion", shell], capture_output=True, timeout=20, check=True
        )
        with open(os.path.join(folder, f"completion.{shell}"), "wb") as file:
            file.write(script.stdout)
        self._do(f"{settings}\r")
        self._do(f"source ./completion.{shell}\r")

    def _do(self, keys: str) -> str:
        """All that the terminal shows from these keys on, until the shell has processed them."""
        self._marks += 1
        mark = f"done-{self._marks}-"
        # The mark is whole only in the command's output, not in the typed line.
        os.write(self._control, f"{keys}\x15echo done-''{self._marks}-\r".encode())
        shown, deadline = "", time.monotonic() + 20
        # Reads up to the next prompt: the shell may draw twice what is typed before it.
        while not re.search(rf"\n{mark}(.|\n)*> ", shown.replace("\r", "\n")):
            check(time.monotonic() < deadline, f"after {keys!r} the shell shows {shown!r}")
            if select.select([self._control], [], [], 0.1)[0]:
                shown += os.read(self._control, 65536).decode(errors="replace")
        return shown

    def tab(self, line: str) -> set[str]:
        """All words on the terminal after TAB: the line that was typed, completed, and the choices."""
        return set(self._do(f"{line}\t").replace("\x07", "").split())

    def close(self) -> None:
        os.close(self._control)
        self._process.kill()
        self._process.wait()


@pytest.mark.parametrize("shell", SHELLS)
def test_completes(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    with tempfile.TemporaryDirectory() as folder, gateway(folder) as path:
        os.mkdir(os.path.join(folder, "captures"))
        terminal = Terminal(shell, folder)
        try:
            judge(terminal, f"satrelayctl --socket {path}")
        finally:
            terminal.close()
        check(not os.path.exists(os.path.join(folder, "pwned")), "a name was run as a command")


def judge(terminal: Terminal, program: str) -> None:
    def offers(line: str, wanted: set[str], unwanted: set[str] = frozenset()) -> None:
        seen = terminal.tab(line)
        check(wanted <= seen, f"{line}: {wanted - seen} is not offered: {seen}")
        check(not unwanted & seen, f"{line}: {unwanted & seen} is offered: {seen}")

    # Commands, and commands that begin as typed.
    offers("satrelayctl ", {"status", "tech-support", "class"}, {"completion-names"})
    offers("satrelayctl c", {"capture", "capacity", "class", "counters"}, {"status"})
    # Options of a command and of all commands.
    offers("satrelayctl capture --", {"--port", "--filter", "--json"}, {"--severity"})
    # Choices, in both spellings.
    offers("satrelayctl capture --port ", {"lan", "wan"})
    offers("satrelayctl events --severity=w", {"--severity=warning"}, {"--severity=error"})
    offers("satrelayctl events --follow --severity ", {"error", "warning"})
    offers("satrelayctl help tech", {"tech-support"})
    # Settings, each offered once.
    offers("satrelayctl set 1 compress=", {"off", "auto"} if terminal.shell == "bash" else {"compress=off"})
    offers("satrelayctl set 1 compress=off ack=l", {"ack=local"})
    offers("satrelayctl set 1 window=mirror ", {"ack=local", "close=local"}, {"window=rewrite"})
    offers("satrelayctl class voice wei", {"weight="})
    # Names of the gateway that was given. A name that a shell would not take as a word is not offered.
    offers(f"{program} rate ", {"ship-one", "ship-two"})
    offers(f"{program} capacity ", {"sat"})
    offers(f"{program} capacity sat ", {"send", "receive"})
    offers(f"{program} set ", {"web", "2"})
    offers(f"{program} class ", {"voice"})
    # Files.
    offers("satrelayctl capture --write capt", {"captures/"})
    # satrelayd: its options, files, and the keys of gateway.yaml, which it lists itself.
    offers("satrelayd --c", {"--config", "--check"}, {"--keys"})
    offers("satrelayd --", {"--force", "--version", "--help"})
    offers("satrelayd --config capt", {"captures/"})
    offers("satrelayd --keys stp.f", {"stp.fec", "stp.feedback.mode"}, {"stp.port"})
    offers("satrelayd --keys links.NAME.s", {"links.NAME.send_rate"})
    # zsh shows and inserts brackets as it reads them.
    rules = "rules[]" if terminal.shell == "bash" else "rules\\[\\]"
    offers(f"satrelayd --keys {rules}.m", {f"{rules}.match.port", f"{rules}.mptcp"}, {f"{rules}.name"})
    offers("satrelayd --keys=stp.po", {"--keys=stp.port"})


@pytest.mark.parametrize("shell", SHELLS)
def test_waits_for_no_gateway(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    with tempfile.TemporaryDirectory() as folder, gateway(folder, answers=False) as path:
        terminal = Terminal(shell, folder)
        try:
            begin = time.monotonic()
            terminal.tab(f"satrelayctl --socket {path} rate ")
            took = time.monotonic() - begin
            check(took < 1.8, f"a gateway that does not answer holds the terminal for {took:.1f} s")
        finally:
            terminal.close()
