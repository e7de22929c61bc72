"""The memory that gateways hold for flows with undelivered bytes during an outage, and what is left afterwards.

    SATRELAY_BUILD=build /usr/bin/python3 tests/e2e/measurements/owing_flows.py [--flows 10000] [--outage 60]

Every client sends 1,000 octets and its end while the link is away. The server is a process of its own, since one
process may not have so many sockets.
"""

import argparse
import multiprocessing
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import ACCELERATED_PORT, SERVER, Link, check, check_memory_returns, make_lab, note

OWED = 1000
PATIENCE = 120  # seconds until all are open, and until all have ended


class Server:
    """Reads each connection to its end."""

    def __init__(self, lab):
        self.opened, self.ended, self.octets = (multiprocessing.Value("q", 0) for _ in range(3))
        self._listener = lab.server.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((SERVER.ipv4, ACCELERATED_PORT))
        self._listener.listen(4096)
        self._listener.setblocking(False)
        self._process = multiprocessing.Process(target=self._serve, daemon=True)

    def __enter__(self):
        self._process.start()
        self._listener.close()
        return self

    def __exit__(self, *_) -> None:
        self._process.terminate()
        self._process.join()

    def _serve(self) -> None:
        poll = select.epoll()
        poll.register(self._listener, select.EPOLLIN)
        connections: dict[int, socket.socket] = {}
        while True:
            for number, _ in poll.poll():
                if number == self._listener.fileno():
                    accepted, _ = self._listener.accept()
                    connections[accepted.fileno()] = accepted
                    poll.register(accepted, select.EPOLLIN)
                    self.opened.value += 1
                    continue
                received = connections[number].recv(2 * OWED)
                self.octets.value += len(received)
                if not received:
                    poll.unregister(number)
                    connections.pop(number).close()
                    self.ended.value += 1


def connect_all(lab, count: int) -> list[socket.socket]:
    clients = []
    for number in range(count):
        client = lab.client.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.setblocking(False)
        client.connect_ex((SERVER.ipv4, ACCELERATED_PORT))
        clients.append(client)
        if number % 100 == 99:
            time.sleep(0.1)
    return clients


def wait_for(value, count: int) -> float:
    """Returns the seconds that it took."""
    began = time.monotonic()
    while value.value < count and time.monotonic() - began < PATIENCE:
        time.sleep(0.1)
    check(value.value == count, f"{value.value} of {count} after {PATIENCE} s")
    return time.monotonic() - began


def tell_memory(lab, when: str, count: int) -> None:
    for gateway in lab.gateways:
        used = gateway.query("status")["arena_used_bytes"]
        note(f"{when}: {gateway.name} has {used} octets, {used / count:.0f} a flow")


def measure(count: int, outage: float) -> None:
    with make_lab(Link(rtt=0.5)) as lab, Server(lab) as server:
        clients = connect_all(lab, count)
        wait_for(server.opened, count)
        tell_memory(lab, "open", count)
        lab.control_link("outage on")
        time.sleep(5)  # both gateways have noticed the outage
        for client in clients:
            client.sendall(b"x" * OWED)
            client.shutdown(socket.SHUT_WR)
        time.sleep(outage)
        tell_memory(lab, "owing", count)
        lab.control_link("outage off")
        seconds = wait_for(server.ended, count)
        check(server.octets.value == count * OWED, f"{server.octets.value} octets arrived")
        note(f"all {count} have ended {seconds:.1f} s after the outage, with all their octets")
        for client in clients:
            client.close()
        check_memory_returns(lab)
        note("all memory is back")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=int, default=10_000)
    parser.add_argument("--outage", type=float, default=60, metavar="SECONDS")
    arguments = parser.parse_args()
    measure(arguments.flows, arguments.outage)


if __name__ == "__main__":
    main()
