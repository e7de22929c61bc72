#!/usr/bin/env python3
"""The web server of the lab: GET sends files of one folder, PUT takes a file and answers its SHA-256.

An upload is over only when its last byte was read here and the answer is back at the client.
"""

import argparse
import hashlib
import http.server
import json
import os
import socket
import sys
import threading

_CHUNK = 256 * 1024


class _State:
    """The progress of each upload, kept in a file for programs that show progress."""

    def __init__(self, path: str):
        self._path = path
        self._lock = threading.Lock()
        self._received: dict[str, int] = {}

    def set(self, name: str, count: int) -> None:
        self._received[name] = count

    def write(self) -> None:
        with self._lock:
            with open(self._path + ".new", "w", encoding="utf-8") as file:
                json.dump(self._received.copy(), file)
            os.replace(self._path + ".new", self._path)

    def write_for_ever(self) -> None:
        ticks = threading.Event()
        written = None
        while not ticks.wait(0.1):
            if written != self._received:
                written = self._received.copy()
                self.write()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: str
    state: _State

    def do_GET(self) -> None:
        path = os.path.join(self.folder, os.path.basename(self.path))
        try:
            file = open(path, "rb")
        except OSError:
            self.send_error(404)
            return
        with file:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            self.end_headers()
            self.wfile.flush()
            self.connection.sendfile(file)

    def do_PUT(self) -> None:
        name = os.path.basename(self.path)
        length = self.headers.get("Content-Length")
        if length is None or not length.isdigit():
            self.send_error(411)
            return
        digest = hashlib.sha256()
        buffer = memoryview(bytearray(_CHUNK))
        remaining = int(length)
        while remaining > 0:
            count = self.rfile.readinto1(buffer[: min(_CHUNK, remaining)])
            if count == 0:
                self.close_connection = True
                return
            digest.update(buffer[:count])
            remaining -= count
            self.state.set(name, int(length) - remaining)
        answer = digest.hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PUT

    def log_message(self, format: str, *args) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6  # accepts IPv4 as well
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        # A client that was stopped halfway is part of the demo; any other error is a defect here.
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", required=True, help="what GET may read")
    options.add_argument("--state", required=True, help="file for the progress of uploads (JSON)")
    options.add_argument("--ports", type=int, nargs="+", required=True)
    given = options.parse_args()
    _Handler.folder = given.folder
    _Handler.state = _State(given.state)
    servers = [_Server(("::", port), _Handler) for port in given.ports]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    _Handler.state.write()  # appears once all ports listen
    _Handler.state.write_for_ever()


if __name__ == "__main__":
    main()
