"""satpanel at its socket, and the real nginx with the site that satrelay ships in front of it."""

import contextlib
import http.client
import itertools
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile

from harness import REPOSITORY, check, eventually
from lab.kernel import Namespace
from panel import Panel

SITE = os.path.join(REPOSITORY, "deploy", "nginx", "satpanel.conf")
NAME = "panel.example"
SOCKET = "/run/satpanel/panel.sock"
CERTIFICATE, KEY = "/etc/satrelay/panel.pem", "/etc/satrelay/panel.key"
# Clients have addresses of their own, also within one /64 and within another.
ADDRESSES = ("fd00::1/128", "fd00:0:0:7::2/128", "fd00:0:0:8::3/128", "fd00:0:0:107::2/128")


_numbers = itertools.count()


class Nowhere:
    stats_socket = "/nowhere/dpdk_telemetry.v2"


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status = response.status
        self.message = response.msg
        self.body = response.read().decode()

    def headers(self, name: str) -> list[str]:
        return self.message.get_all(name, [])

    @property
    def is_of_nginx(self) -> bool:
        return "<center>nginx</center>" in self.body


class Site:
    """nginx in a namespace of its own, at its usual ports, and the folder of the panel's socket."""

    def __init__(self, other_names: tuple[str, ...] = ()):
        """There is another site, with TLS 1.2, for each of the other names. It comes before the panel's."""
        self._held = contextlib.ExitStack()
        self.space = Namespace(f"satrelay-nginx-{os.getpid()}-{next(_numbers)}")
        try:
            self.folder = self._held.enter_context(tempfile.TemporaryDirectory(prefix="satpanel-nginx-"))
            os.chmod(self.folder, 0o711)
            # The panel's user makes the socket here, as in its RuntimeDirectory.
            self.runtime = os.path.join(self.folder, "run")
            os.mkdir(self.runtime)
            shutil.chown(self.runtime, "nobody", "nogroup")
            self.socket = os.path.join(self.runtime, "panel.sock")
            self._make_certificate()
            self.config = self.write_config("nginx.conf", "".join(map(self._other_site, other_names)) + self.site())
            self.space.create()
            self._held.callback(self.space.delete)
            for address in ADDRESSES:
                self.space.ip("address", "add", address, "dev", "lo", "nodad")
            self._start()
        except BaseException:
            self._held.close()
            raise

    def close(self) -> None:
        self._held.close()

    def panel(self, gateway=Nowhere, **more) -> Panel:
        options = ("--listen-group", "www-data", *more.pop("options", ()))
        return Panel(gateway, listen=f"unix:{self.socket}", options=options, **more)

    def as_its_user(self) -> tuple[str, ...]:
        """Starts the panel as its unit does: its user is in the group www-data."""
        return ("setpriv", "--reuid=nobody", "--regid=nogroup", "--groups=www-data", "--no-new-privs")

    def site(self) -> str:
        """The shipped file, with the paths of this test."""
        with open(SITE, encoding="utf-8") as file:
            text = file.read()
        for path, ours in ((SOCKET, self.socket), (CERTIFICATE, self.certificate), (KEY, self.key)):
            check(text.count(f"{path};") == 1, f"{path} stands {text.count(path)} times in the site")
            text = text.replace(path, ours)
        return text

    def _other_site(self, name: str) -> str:
        return (
            f"server {{\n  listen 443 ssl;\n  server_name {name};\n  ssl_protocols TLSv1.2 TLSv1.3;\n"
            f"  ssl_certificate {self.certificate};\n  ssl_certificate_key {self.key};\n}}\n"
        )

    def write_config(self, name: str, sites: str) -> str:
        """nginx.conf as Debian has it, as far as it matters to a site."""
        temporary = "".join(
            f"  {kind}_temp_path {self.folder}/nginx-{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                "daemon off;\nuser www-data;\nworker_processes 1;\nerror_log stderr;\n"
                f"pid {self.folder}/nginx.pid;\nevents {{ worker_connections 768; }}\n"
                "http {\n  access_log off;\n  gzip on;\n  gzip_types application/json text/css;\n"
                f"{temporary}{sites}\n}}\n"
            )
        return path

    def _make_certificate(self) -> None:
        self.certificate, self.key = (os.path.join(self.folder, f"panel.{end}") for end in ("pem", "key"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            + ["-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
            + ["-keyout", self.key, "-out", self.certificate],
            check=True,
            capture_output=True,
        )

    def _start(self) -> None:
        log = os.path.join(self.folder, "nginx.log")
        with open(log, "wb") as out:
            nginx = self.space.popen(*self.command(), stderr=out, stdin=subprocess.DEVNULL)
        self._held.callback(nginx.wait, 10)
        self._held.callback(nginx.terminate)

        def listens() -> bool:
            if nginx.poll() is not None:
                with open(log, encoding="utf-8") as told:
                    check(False, f"nginx does not start: {told.read()}")
            with contextlib.suppress(OSError), self.connect():
                return True
            return False

        eventually(listens, 10, "nginx listens")

    def command(self, *options: str, config: str = "") -> list[str]:
        nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        return [nginx, "-e", "stderr", "-p", self.folder, "-c", config or self.config, *options]

    def connect(self, source: str = "127.0.0.1", port: int = 443) -> socket.socket:
        """A TCP connection of a client that has the address `source`."""
        is_v6 = ":" in source
        stream = self.space.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_STREAM)
        stream.settimeout(20)
        try:
            stream.bind((source, 0))
            stream.connect(("fd00::1" if is_v6 else "127.0.0.1", port))
        except OSError:
            stream.close()
            raise
        return stream

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)

    def secure(self, source: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
        return (context or self.context()).wrap_socket(self.connect(source), server_hostname=NAME)

    def ask(self, method: str, path: str, source: str = "127.0.0.1", **more) -> Answer:
        """Asks through nginx."""
        with self.secure(source, more.pop("context", None)) as stream:
            return _ask(stream, method, path, **more)

    def ask_socket(self, method: str, path: str, **more) -> Answer:
        """Asks the panel itself, as nginx does."""
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(20)
            stream.connect(self.socket)
            return _ask(stream, method, path, **more)


def _ask(stream, method: str, path: str, body: str = "", headers=(), host: str = NAME) -> Answer:
    """`headers` are pairs, so that a header can be there twice."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    with contextlib.suppress(ConnectionError):  # nginx refuses a long body before its end
        stream.sendall("\r\n".join([*lines, "", body]).encode())
    response = http.client.HTTPResponse(stream, method=method)
    response.begin()
    return Answer(response)


def session_cookie(answer: Answer) -> str:
    found = answer.headers("Set-Cookie")
    check(len(found) == 1, f"cookies: {found}")
    return found[0]


def token_header(panel: Panel) -> tuple[str, str]:
    return "Authorization", f"Bearer {panel.token}"


def shipped_headers() -> list[str]:
    """The names of the headers that the site sends with every answer."""
    with open(SITE, encoding="utf-8") as file:
        return re.findall(r"^ *add_header (\S+) ", file.read(), re.MULTILINE)
