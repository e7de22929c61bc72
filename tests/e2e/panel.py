"""satpanel beside a gateway of a lab, and clients of satpanel."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import tempfile
import time

from harness import Failed, build_folder, check

PASSWORD = "correct horse"
USERS = {"ann": "administrator", "otto": "operator", "vera": "viewer"}


def program() -> str:
    return os.path.join(build_folder(), "relay", "satpanel", "satpanel")


class Panel:
    """A satpanel process on any free port, or where `listen` says.

    It runs in the test's own namespace, or in another one. `runner` is a program that starts it, as another user.
    """

    def __init__(
        self,
        gateway,
        users: bool = True,
        options: tuple[str, ...] = (),
        space=None,
        listen: str = "127.0.0.1:0",
        runner: tuple[str, ...] = (),
    ):
        self._folder = tempfile.TemporaryDirectory(prefix="satpanel-")
        self.users = os.path.join(self._folder.name, "users.yaml")
        self._log = os.path.join(self._folder.name, "log")
        argv = [*runner, program(), "--listen", listen, "--socket", gateway.stats_socket, *options]
        self.token = ""
        if users:
            for name, role in USERS.items():
                self.manage("user", "add", name, "--role", role, password=PASSWORD)
            self.token = self.manage("token", "add", "prometheus").strip()
            argv += ["--users", self.users]
        if runner:
            os.chmod(self._folder.name, 0o755)
            os.chmod(self.users, 0o644)
        with open(self._log, "wb") as log:
            start = subprocess.Popen if space is None else lambda argv, **how: space.popen(*argv, **how)
            self.process = start(argv, stderr=log, stdin=subprocess.DEVNULL)
        self.port = self._wait_for_port()  # 0 at a UNIX socket

    def manage(self, *words: str, password: str = "") -> str:
        done = subprocess.run(
            [program(), *words, "--users", self.users],
            input=password + "\n",
            capture_output=True,
            text=True,
            timeout=20,
        )
        check(done.returncode == 0, f"{words}: {done.stderr}")
        return done.stdout

    def _wait_for_port(self) -> int:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if found := re.search(r"listens at (?:http://\S+:(\d+)/|unix:)", self.log()):
                return int(found[1] or 0)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise Failed(f"satpanel does not listen: {self.log()}")

    def log(self) -> str:
        with open(self._log, encoding="utf-8") as log:
            return log.read()

    def cpu_seconds(self) -> float:
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("satpanel does not end") from None
        text = self.log()
        self._folder.cleanup()
        check(status == 0, f"satpanel ended with status {status}: {text}")


@contextlib.contextmanager
def panel_of(gateway, **options):
    panel = Panel(gateway, **options)
    try:
        yield panel
    finally:
        panel.stop()


class Client:
    """A client that keeps its cookie, as a browser does."""

    def __init__(
        self,
        panel: Panel | int,  # or its port
        user: str | None = None,
        password: str = PASSWORD,
        token: str = "",
    ):
        self._port = panel if isinstance(panel, int) else panel.port
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        if user is not None:
            status, body = self.ask(
                "POST", "/api/v1/session", {"name": user, "password": password}
            )
            check(status == 200, f"{user} cannot log in: {body}")
            self.headers["X-CSRF-Token"] = body["csrf"]

    def ask(self, method: str, path: str, body=None, headers=None) -> tuple[int, object]:
        """Returns the status, and the answer: JSON, text or bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        sent = {**self.headers, **(headers or {})}
        data = None
        if body is not None or method != "GET":
            data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if cookie := answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.split(";")[0]
        type_ = answer.getheader("Content-Type", "")
        if "json" in type_:
            return answer.status, json.loads(content)
        return answer.status, content.decode() if "text" in type_ else content

    def get(self, path: str):
        status, body = self.ask("GET", path)
        check(status == 200, f"{path}: {status} {body}")
        return body

    def tell(self, command: str, **arguments) -> tuple[int, object]:
        named = {name.replace("__", "="): value for name, value in arguments.items()}
        return self.ask("POST", f"/api/v1/commands/{command}", {"arguments": named})


def tell_all(gateway, *lines: str) -> None:
    """Sends lines to the control socket of a gateway, over one connection."""
    path = os.path.join(os.path.dirname(gateway.stats_socket), "control.sock")
    with socket.socket(socket.AF_UNIX) as connected, connected.makefile("rw") as stream:
        connected.connect(path)
        for line in lines:
            stream.write(line + "\n")
            stream.flush()
            answer = stream.readline()
            check(answer == "ok\n", f"{line}: {answer}")
