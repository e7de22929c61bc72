"""Files over HTTP between the hosts of a lab: curl on the client, file_server.py on the server."""

import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass

from .lab import Lab
from .topology import SERVER

_CURL = ("curl", "--silent", "--show-error", "--globoff", "--noproxy", "*")
_TIMED_OUT = 28  # curl's exit status
_numbers = itertools.count()


@dataclass(frozen=True)
class File:
    """Random bytes from a seed, which do not compress."""

    name: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Outcome:
    bytes: int  # bytes that arrived
    seconds: float
    completed: bool
    sha256_ok: bool  # False if it did not complete
    error: str = ""  # why it did not complete, unless the time was up

    @property
    def goodput(self) -> float:
        return self.bytes * 8 / self.seconds if self.seconds > 0 else 0.0


class Transfer:
    """One curl; look at `arrived()` while it runs."""

    def __init__(self, web: "Web", file: File, direction: str, url: str, most_seconds: float):
        self._web = web
        self._file = file
        self._direction = direction
        self._key = f"{file.name}-{next(_numbers)}"
        self._began = time.monotonic()
        folder = web.lab.folder
        self._output = os.path.join(folder, f"arrived-{self._key}")
        if direction == "download":
            what = ["--output", self._output, f"{url}/{file.name}"]
        else:
            # Without "Expect: 100-continue", which costs a round trip before the first byte.
            what = ["--header", "Expect:", "--upload-file", file.path, f"{url}/{self._key}"]
        self._curl = web.lab.client.popen(
            *_CURL,
            *("--fail", "--max-time", f"{most_seconds:g}"),
            *("--write-out", "\n%{time_total}"),
            *what,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def running(self) -> bool:
        return self._curl.poll() is None

    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def arrived(self) -> int:
        if self._direction == "upload":
            return self._web.uploaded(self._key)
        try:
            return os.stat(self._output).st_size
        except FileNotFoundError:
            return 0

    def finish(self) -> Outcome:
        """Waits for the end, and checks what arrived."""
        stdout, stderr = self._curl.communicate()
        body, _, written = stdout.rpartition("\n")
        status = self._curl.returncode
        seconds = float(written) if status in (0, _TIMED_OUT) and written else self.elapsed()
        error = stderr.strip() if status not in (0, _TIMED_OUT) else ""
        if self._direction == "download":
            count = self.arrived()
            digest = _sha256(self._output) if status == 0 else ""
            if os.path.exists(self._output):
                os.unlink(self._output)
        else:
            count = self._file.size if status == 0 else self._web.settled_upload(self._key)
            digest = body.strip()
        completed = status == 0 and count == self._file.size
        return Outcome(count, seconds, completed, completed and digest == self._file.sha256, error)


class Web:
    """The server of a lab, and clients for it."""

    def __init__(self, lab: Lab, ports: tuple[int, ...]):
        self.lab = lab
        self._folder = os.path.join(lab.folder, "web")
        self._state = os.path.join(lab.folder, "uploads.json")
        os.makedirs(self._folder, exist_ok=True)
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "file_server.py")
        self.daemon = lab.start_daemon(
            "file-server",
            lab.server,
            [
                *(sys.executable, program, "--folder", self._folder, "--state", self._state),
                *("--ports", *map(str, ports)),
            ],
        )
        self.daemon.wait_until(lambda: os.path.exists(self._state), 10, "it listens")

    def make_file(self, name: str, size: int, seed: int = 1) -> File:
        path = os.path.join(self._folder, name)
        digest = hashlib.sha256()
        source = random.Random(seed)
        with open(path, "wb") as file:
            for start in range(0, size, 1 << 20):
                chunk = source.randbytes(min(1 << 20, size - start))
                digest.update(chunk)
                file.write(chunk)
        return File(name, path, size, digest.hexdigest())

    def start(
        self,
        file: File,
        direction: str,
        port: int,
        host: str = SERVER.ipv4,
        most_seconds: float = 60,
    ) -> Transfer:
        name = f"[{host}]" if ":" in host else host
        return Transfer(self, file, direction, f"http://{name}:{port}", most_seconds)

    def uploaded(self, key: str) -> int:
        with open(self._state, encoding="utf-8") as state:
            return json.load(state).get(key, 0)

    def settled_upload(self, key: str) -> int:
        """The bytes of a stopped upload that have arrived. The server writes its figures ten times a second."""
        time.sleep(0.25)
        return self.uploaded(key)


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
