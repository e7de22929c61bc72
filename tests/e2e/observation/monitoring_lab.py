"""Debian's Prometheus and Alertmanager beside a lab, with the files of deploy/monitoring.

Both programs, their targets and the webhook are in a namespace of their own, which has only loopback. The gateways'
stats sockets are files, and reachable from there.
"""

import contextlib
import http.client
import http.server
import json
import os
import shutil
import socket
import threading
import time
import urllib.parse
from dataclasses import dataclass

from harness import REPOSITORY, Skip, check
from lab import kernel
from lab.daemon import Daemon

FILES = os.path.join(REPOSITORY, "deploy", "monitoring")
# The names and addresses in deploy/monitoring/prometheus.yaml and alertmanager.yaml.
INSTANCES = ("teleport", "remote")
_TARGETS = ("teleport.example:8440", "remote.example:8440")
_WEBHOOK_PORT = 9099
_PROMETHEUS_PORT, _ALERTMANAGER_PORT = 9090, 9093


class _Server(http.server.ThreadingHTTPServer):
    """Listens inside a namespace, and serves from a thread of this process."""

    daemon_threads = True

    def __init__(self, space: kernel.Namespace, port: int, handler):
        super().__init__(("127.0.0.1", port), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = space.socket(self.address_family, self.socket_type)
        self.server_bind()
        self.server_activate()
        self.address = f"127.0.0.1:{port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


@dataclass(frozen=True)
class Told:
    """An alert as the webhook got it."""

    at: float  # time.monotonic()
    status: str  # firing, resolved
    labels: dict[str, str]
    annotations: dict[str, str]


class Webhook:
    def __init__(self, space: kernel.Namespace):
        self.told: list[Told] = []
        told = self.told

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    what = (alert["status"], alert["labels"], alert["annotations"])
                    told.append(Told(time.monotonic(), *what))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = _Server(space, _WEBHOOK_PORT, Handler)

    def first(self, status: str, name: str, **labels: str) -> Told | None:
        for each in self.told:
            wanted = {"alertname": name, **labels}
            if each.status == status and wanted.items() <= each.labels.items():
                return each
        return None

    def close(self) -> None:
        self._server.close()


class Monitoring:
    """A context: everything runs inside it, and is gone behind it.

    `targets(space)` is a context, too. It gives the addresses to scrape, one for each of INSTANCES. Scraping and
    grouping happen each second, more often than in the shipped files.
    """

    def __init__(self, folder: str, tag: str, targets):
        for program in ("prometheus", "prometheus-alertmanager"):
            if not shutil.which(program):
                raise Skip(f"{program} is not installed (deploy/setup.sh --test-programs)")
        self._folder = os.path.join(folder, "monitoring")
        self._space = kernel.Namespace(f"satrelay-{tag}-monitoring")
        self._targets = targets
        self._stack = contextlib.ExitStack()
        self.daemons: list[Daemon] = []

    def __enter__(self) -> "Monitoring":
        with self._stack:
            os.makedirs(self._folder)
            self._space.create()
            self._stack.callback(self._space.delete)
            self.webhook = Webhook(self._space)
            self._stack.callback(self.webhook.close)
            self._configure(self._stack.enter_context(self._targets(self._space)))
            self._start(
                "alertmanager",
                *("prometheus-alertmanager", f"--config.file={self._path('alertmanager.yaml')}"),
                f"--storage.path={self._path('alertmanager-data')}",
                f"--web.listen-address=127.0.0.1:{_ALERTMANAGER_PORT}",
                "--cluster.listen-address=",
            )
            self._start(
                "prometheus",
                *("prometheus", f"--config.file={self._path('prometheus.yaml')}"),
                f"--storage.tsdb.path={self._path('prometheus-data')}",
                f"--web.listen-address=127.0.0.1:{_PROMETHEUS_PORT}",
            )
            for daemon, port in zip(self.daemons, (_ALERTMANAGER_PORT, _PROMETHEUS_PORT)):
                daemon.wait_until(lambda: self._is_ready(port), 30, "it is ready")
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _configure(self, addresses: list[str]) -> None:
        changes = [("_interval: 15s", "_interval: 1s"), *zip(_TARGETS, addresses)]
        self._copy("prometheus.yaml", changes)
        for name in ("satrelay-alerts.yaml", "satrelay-recording.yaml"):
            self._copy(name, [])
        changes = [("group_wait: 5s", "group_wait: 1s"), ("group_interval: 1m", "group_interval: 1s")]
        self._copy("alertmanager.yaml", changes)

    def _copy(self, name: str, changes: list[tuple[str, str]]) -> None:
        with open(os.path.join(FILES, name), encoding="utf-8") as file:
            text = file.read()
        for before, after in changes:
            check(before in text, f"{name} no longer says {before}")
            text = text.replace(before, after)
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def _start(self, name: str, *argv: str) -> None:
        daemon = Daemon(name, self._space, list(argv), self._path(f"{name}.log"))
        daemon.start()
        self._stack.callback(daemon.stop)
        self.daemons.append(daemon)

    def logs(self) -> str:
        return "\n".join(f"--- {daemon.name}\n{daemon.log(20)}" for daemon in self.daemons)

    # --- Prometheus' HTTP API ---------------------------------------------------------------------

    def _get(self, port: int, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.sock = self._space.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.sock.settimeout(10)
        try:
            connection.sock.connect(("127.0.0.1", port))
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _is_ready(self, port: int) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self._get(port, "/-/ready")[0] == 200
        return False

    def _api(self, path: str, **parameters) -> dict:
        status, body = self._get(
            _PROMETHEUS_PORT, f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        )
        answer = json.loads(body)
        check(answer["status"] == "success", f"{parameters}: {status} {answer.get('error')}")
        return answer["data"]

    def query(self, expression: str) -> list[dict]:
        """Its present value, one entry for each series."""
        return self._api("query", query=expression)["result"]

    def query_range(self, expression: str, seconds: float) -> list[dict]:
        """Its values within the last seconds."""
        now = time.time()
        return self._api(
            "query_range", query=expression, start=now - seconds, end=now, step=1
        )["result"]

    def targets(self) -> dict[str, dict]:
        """Prometheus' report on each target, by instance."""
        return {each["labels"]["instance"]: each for each in self._api("targets")["activeTargets"]}
