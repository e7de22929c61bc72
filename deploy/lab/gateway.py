"""One gateway of a lab: its daemon, its configuration and its reports."""

import os
import shutil
import time

from . import telemetry
from .daemon import Daemon
from .kernel import Namespace


class Gateway:
    def __init__(self, name: str, space: Namespace, program: str, yaml: str, folder: str):
        self.name = name  # also the DPDK file prefix
        self.space = space
        self.config_path = os.path.join(folder, f"{name}.yaml")
        with open(self.config_path, "w", encoding="ascii") as config:
            config.write(yaml)
        self.daemon = Daemon(
            name,
            space,
            [program, "-c", self.config_path],
            os.path.join(folder, f"{name}.log"),
        )

    @property
    def stats_socket(self) -> str:
        return telemetry.socket_path(self.name)

    def start(self, keep: bool = False, timeout: float = 20) -> None:
        self.daemon.start(keep)
        self.daemon.wait_until(self.answers, timeout, "the stats socket answers")

    def forget_runtime_files(self) -> None:
        shutil.rmtree(os.path.dirname(self.stats_socket), ignore_errors=True)

    def query(self, what: str):
        """The present "status", "ports", "peers", "rules", "flows" or "counters".

        The worker publishes about ten times a second. An answer from before the question is not accepted.
        """
        asked = time.monotonic()
        while True:
            age = telemetry.query(self.name, "/satrelay/status")["age_ms"] / 1000
            if time.monotonic() - age > asked + 0.002:
                answer = telemetry.query(self.name, f"/satrelay/{what}")
                # DPDK has no list of dicts, so these are keyed by position.
                return list(answer.values()) if what in ("peers", "rules", "flows") else answer
            if time.monotonic() - asked > 3:
                raise telemetry.StatsUnavailable(f"{self.name}: its figures are {age:g} s old")
            time.sleep(0.02)

    def events(self, first: int = 1) -> list[dict]:
        """Its events, from number `first` on."""
        found = []
        while page := telemetry.query(self.name, f"/satrelay/events,{first},100"):
            found += page.values()
            first = found[-1]["number"] + 1
        return found

    def answers(self) -> bool:
        try:
            telemetry.query(self.name, "/satrelay/status")
        except telemetry.StatsUnavailable:
            return False
        return True

    def peer(self) -> dict:
        """Its only peer."""
        return self.query("peers")[0]

    def peer_alive(self) -> bool:
        try:
            return self.peer()["state"] == "alive"
        except (telemetry.StatsUnavailable, LookupError):
            return False

    def wait_for_peer(self, timeout: float) -> None:
        self.daemon.wait_until(self.peer_alive, timeout, "its peer is alive")

    def counters(self) -> dict[str, int]:
        return self.query("counters")

    def counter(self, name: str) -> int:
        return self.counters()[name]
