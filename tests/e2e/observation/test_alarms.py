"""Alarms of satpanel. One test shows what a receiver of webhooks gets, also after it was away. Another shows what
Debian's snmpd and snmptrapd report about a gateway with a peer that is killed and returns."""

import hashlib
import hmac
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import pytest
from harness import CLIENT, REPOSITORY, GatewayOptions, Lab, Skip, check, eventually, note, tell
from panel import Client, panel_of, program

QUICK = {"ping_after": "200ms", "suspect_after": "1s", "give_up_after": "2s"}
pytestmark = pytest.mark.lab(options=GatewayOptions(stp=QUICK))

SECRET = b"a secret of this test"


def is_genuine(secret: bytes, headers, body: bytes, now: float) -> bool:
    """Checks a signature as docs/alarms.md describes it."""
    timestamp = headers["X-Satrelay-Timestamp"]
    expected = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    signature = headers["X-Satrelay-Signature"].removeprefix("sha256=")
    return hmac.compare_digest(expected, signature) and abs(now - int(timestamp)) < 300


class Receiver:
    """Accepts what is posted to it; answers the next `busy` posts with 503."""

    def __init__(self, certificate: str = ""):
        self._certificate = certificate
        self.tries: list[tuple[int, dict, bytes]] = []  # the answered status, headers, body
        self.busy = 0
        self._port = 0
        self.open()

    def open(self) -> None:
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # http.server gives the name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = 503 if receiver.busy else 200
                receiver.busy = max(receiver.busy - 1, 0)
                if self.path == "/":
                    receiver.tries.append((status, dict(self.headers), body))
                self.send_response(status)
                if status == 503:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", self._port), Handler)
        if self._certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http{'s' if self._certificate else ''}://127.0.0.1:{self._port}/"

    def taken(self, name: str) -> list[dict]:
        events = [json.loads(body) for status, _, body in list(self.tries) if status == 200]
        return [event for event in events if event["name"] == name]


def write_hooks(folder: str, text: str) -> str:
    secret = os.path.join(folder, "hook-secret")
    with open(secret, "wb") as file:
        file.write(SECRET + b"\n")
    os.chmod(secret, 0o600)
    path = os.path.join(folder, "hooks.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def metric(panel, name: str, webhook: str) -> float:
    text = Client(panel).get("/metrics")
    line = f'satrelay_webhook_{name}{{webhook="{webhook}"}} '
    return next(float(each.removeprefix(line)) for each in text.splitlines() if each.startswith(line))


def test_webhooks(lab: Lab) -> None:
    receiver = Receiver()
    private = Receiver(make_certificate(lab.folder))
    hooks = write_hooks(
        lab.folder,
        f"- {{name: stranger, url: '{private.url}', secret_file: hook-secret, severity: info}}\n"
        f"- {{name: known, url: '{private.url}', secret_file: hook-secret, severity: info,\n"
        "   ca_file: certificate.pem}\n"
        f"- {{name: all, url: '{receiver.url}', secret_file: hook-secret, severity: info}}\n"
        f"- {{name: bad, url: '{receiver.url}bad', secret_file: hook-secret, severity: error}}\n",
    )
    options = ("--webhook", hooks, "--name", "hub-7")
    try:
        with panel_of(lab.gateway_a, users=False, options=options) as panel:
            check_deliveries(lab, receiver, panel)
            check_busy(lab, receiver)
            check_away(lab, receiver, panel)
            check_certificates(private, panel)
            check("webhook all: accepts events again" in panel.log(), panel.log())
            check(SECRET.decode() not in panel.log(), "the log has the secret")
    finally:
        receiver.close()
        private.close()
    wrong = write_hooks(lab.folder, "- url: 'https://a.example/'\n  severity: bad\n")
    done = subprocess.run(
        [program(), "--listen", "127.0.0.1:0", "--webhook", wrong],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check(done.returncode == 2 and "hooks.yaml:2: severity" in done.stderr, done.stderr)


def make_certificate(folder: str) -> str:
    """Makes a self-signed certificate for 127.0.0.1, with its key."""
    path = os.path.join(folder, "certificate.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        + ["-keyout", path, "-out", path + ".new", "-days", "2", "-subj", "/CN=127.0.0.1"]
        + ["-addext", "subjectAltName=IP:127.0.0.1"],
        check=True,
        capture_output=True,
    )
    with open(path, "ab") as both, open(path + ".new", "rb") as certificate:
        both.write(certificate.read())
    return path


def check_certificates(private: Receiver, panel) -> None:
    """A receiver with a certificate that no authority signed gets nothing."""
    check(len(private.taken("bypass_set")) >= 8, "who is vouched for by ca_file gets nothing")
    check(metric(panel, "delivered_events_total", "stranger") == 0, "a stranger got an event")
    check(metric(panel, "is_failing", "stranger") == 1, "that it fails is not told")
    check("webhook stranger: SSL certificate problem" in panel.log(), panel.log())


def switch(lab: Lab, *states: str) -> None:
    for state in states:
        tell(lab, lab.gateway_a, "bypass", state)


def check_deliveries(lab: Lab, receiver: Receiver, panel) -> None:
    switch(lab, "on", "off")
    eventually(lambda: len(receiver.taken("bypass_set")) == 2, 10, "both events are delivered")
    numbers = []
    for _, headers, body in receiver.tries:
        check(is_genuine(SECRET, headers, body, time.time()), f"its signature: {headers}")
        check(not is_genuine(SECRET, headers, body + b" ", time.time()), "of another body")
        check(not is_genuine(SECRET, headers, body, time.time() + 600), "sent again later")
        later = {**headers, "X-Satrelay-Timestamp": str(int(headers["X-Satrelay-Timestamp"]) + 1)}
        check(not is_genuine(SECRET, later, body, time.time()), "the timestamp is not signed")
        event = json.loads(body)
        check(headers["Idempotency-Key"] == f"{event['boot_epoch']}-{event['number']}", "its key")
        check(event["gateway"] == "hub-7" and event["dropped"] == 0, f"{event}")
        numbers.append(event["number"])
    check(numbers == sorted(set(numbers)), f"out of order: {numbers}")
    told = lab.gateway_a.events()[-1]
    posted = receiver.taken("bypass_set")[-1]
    check({key: posted.get(key) for key in told} == told, f"{posted} instead of {told}")
    check(metric(panel, "delivered_events_total", "all") == len(numbers), "it is not counted")
    errors = [event for event in lab.gateway_a.events() if event["severity"] == "error"]
    check(metric(panel, "delivered_events_total", "bad") == len(errors), "it is no error")


def check_busy(lab: Lab, receiver: Receiver) -> None:
    receiver.tries.clear()
    receiver.busy = 2
    switch(lab, "on", "off")
    eventually(lambda: len(receiver.taken("bypass_set")) == 2, 15, "a busy receiver gets them")
    first, second, third, other = receiver.tries
    check([first[0], second[0], third[0], other[0]] == [503, 503, 200, 200], "its answers")
    for again in (second, third):
        check(again[2] == first[2], "another body of the same event")
        key = "Idempotency-Key"
        check(again[1][key] == first[1][key], "another key of the same event")
        check(is_genuine(SECRET, again[1], again[2], time.time()), "a later try is signed, too")
    check(first[1]["X-Satrelay-Timestamp"] < third[1]["X-Satrelay-Timestamp"], "no pause between")
    check(json.loads(other[2])["number"] == json.loads(first[2])["number"] + 1, "out of order")


def check_away(lab: Lab, receiver: Receiver, panel) -> None:
    receiver.tries.clear()
    failed = metric(panel, "failed_tries_total", "all")
    receiver.close()
    switch(lab, "on", "off", "on", "off")
    eventually(lambda: metric(panel, "failed_tries_total", "all") > failed, 10, "nobody is there")
    check(metric(panel, "is_failing", "all") == 1, "that it fails is not told")
    eventually(lambda: metric(panel, "waiting_events", "all") == 4, 5, "the events wait")
    receiver.open()
    eventually(lambda: len(receiver.taken("bypass_set")) == 4, 15, "who was away gets them")
    values = [event["new"] for event in receiver.taken("bypass_set")]
    check(values == ["on", "off", "on", "off"], f"out of order: {values}")
    numbers = [event["number"] for event in receiver.taken("bypass_set")]
    note(f"events {numbers} after {metric(panel, 'failed_tries_total', 'all') - failed:g} vain tries")


# --- SNMP -----------------------------------------------------------------------------------------


def enterprise() -> str:
    with open(os.path.join(REPOSITORY, "deploy", "snmp", "SATRELAY-MIB.txt"), encoding="ascii") as mib:
        return re.search(r"enterprises\(1\) (\d+)", mib.read())[1]


ROOT = f".1.3.6.1.4.1.{enterprise()}.1"
GATEWAY_STATE, PEERS_ALIVE, ALARMS = (f"{ROOT}.1.1.{number}.0" for number in (1, 12, 13))
PORT, PEER, LINK, CLASS, ALARM = (f"{ROOT}.1.{table}.1" for table in (2, 3, 4, 5, 6))
ALIVE = "3"  # satrelayPeerState


def index_of(name: str) -> str:
    return ".".join(str(number) for number in (len(name), *name.encode()))


class Snmp:
    """snmpd and snmptrapd with a folder, ports and an AgentX socket of their own."""

    def __init__(self, folder: str):
        self.folder = folder
        self.socket = os.path.join(folder, "agentx")
        self.traps = os.path.join(folder, "traps")
        # The files that net-snmp keeps and reads stay in the folder.
        self.environment = {
            **os.environ,
            "SNMP_PERSISTENT_DIR": os.path.join(folder, "state"),
            "SNMPCONFPATH": os.path.join(folder, "none"),
            "MIBS": "",
        }
        self.port, self.trap_port = free_udp_port(), free_udp_port()
        self.processes: dict[str, subprocess.Popen] = {}
        self._write(
            "snmpd.conf",
            "rocommunity public 127.0.0.1",
            f"agentXSocket {self.socket}",
            "master agentx",
            f"trap2sink 127.0.0.1:{self.trap_port} public",
        )
        self._write("snmptrapd.conf", "disableAuthorization yes", "format2 %b: %v\\n")
        self.start_trapd()

    def _write(self, name: str, *lines: str) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def _start(self, name: str, port: int, output: str, *options: str) -> None:
        with open(output, "ab") as log:
            self.processes[name] = subprocess.Popen(
                [f"/usr/sbin/{name}", "-f", "-Lo", "-C", "-c", os.path.join(self.folder, f"{name}.conf")]
                + ["-p", os.path.join(self.folder, f"{name}.pid"), *options, f"udp:127.0.0.1:{port}"],
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def start_snmpd(self) -> None:
        # It loads no module that looks at this machine.
        self._start("snmpd", self.port, os.path.join(self.folder, "log"), "-I", "agentx,vacm_conf,usmConf")
        # Any answer will do: until then its socket for agents may be missing.
        eventually(lambda: self.get(f"{ROOT}.1.1.1.0") != "", 15, "snmpd answers")

    def start_trapd(self) -> None:
        self._start("snmptrapd", self.trap_port, self.traps, "-On")

    def stop(self, *names: str) -> None:
        for name in names or list(self.processes):
            process = self.processes.pop(name)
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def walk(self, oid: str, *options: str) -> dict[str, str]:
        """Values by their OIDs."""
        done = self._ask("snmpbulkwalk", "-Onq", *options, oid)
        lines = (line for line in done.splitlines() if line.startswith(oid + "."))
        return {line.split(" ", 1)[0]: line.split(" ", 1)[1].strip('"') for line in lines}

    def get(self, oid: str) -> str:
        return self._ask("snmpget", "-Oqv", oid).strip().strip('"')

    def _ask(self, program_: str, *words: str) -> str:
        *options, oid = words
        return subprocess.run(
            [program_, "-v2c", "-cpublic", "-t1", "-r1", *options, f"127.0.0.1:{self.port}", oid],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=20,
        ).stdout

    def told(self) -> str:
        with open(self.traps, encoding="utf-8", errors="replace") as file:
            return file.read()

    def trap(self, which: int, name: str, since: int = 0) -> str | None:
        """The notification of an event behind number `since`, as snmptrapd has written it."""
        notification = f".1.3.6.1.6.3.1.1.4.1.0 = OID: {ROOT}.0.{which}"
        event = f'{ROOT}.1.7.1.0 = STRING: "{name}"'
        for line in self.told().splitlines():
            number = re.search(rf"{re.escape(ROOT)}\.1\.7\.8\.0 = Gauge32: (\d+)", line)
            if notification in line and event in line and number and int(number[1]) > since:
                return line
        return None


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def test_snmp(lab: Lab) -> None:
    for needed in ("snmpd", "snmptrapd", "snmpbulkwalk"):
        if shutil.which(needed, path="/usr/sbin:/usr/bin") is None:
            raise Skip(f"{needed} is not installed")
    with tempfile.TemporaryDirectory(prefix="satrelay-snmp-") as folder:
        snmp = Snmp(folder)
        options = ("--agentx", snmp.socket, "--name", "hub-7", "--traps", "events")
        try:
            snmp.start_snmpd()
            with panel_of(lab.gateway_a, users=False, options=options) as panel:
                eventually(lambda: "connected to snmpd" in panel.log(), 10, "the panel finds snmpd")
                check_tables(lab, snmp)
                check_events(lab, snmp)
                check_peer_lost(lab, snmp)
                check_snmpd_away(lab, snmp, panel)
        except BaseException:
            with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as log:
                note(log.read() + snmp.told())
            raise
        finally:
            snmp.stop()


def check_tables(lab: Lab, snmp: Snmp) -> None:
    eventually(lambda: snmp.get(PEERS_ALIVE) == "1", 5, "the peer is alive")
    check(snmp.get(GATEWAY_STATE) == "2", "the gateway is not up")
    check(snmp.get(f"{ROOT}.1.1.2.0") == "hub-7", "its name")
    port = index_of("wan")
    eventually(lambda: snmp.get(f"{PORT}.11.{port}") != "0", 5, "bytes were sent")
    frames = int(snmp.get(f"{PORT}.10.{port}"))
    check(0 < frames <= lab.gateway_a.query("ports")["wan"]["tx_frames"], f"{frames} frames")
    check(snmp.get(f"{PORT}.4.{port}") == "2", "the port is not up")
    peer = index_of("remote")
    check(snmp.get(f"{PEER}.4.{peer}") == ALIVE, "the peer is not alive")
    told = lab.gateway_a.peer()
    check(snmp.get(f"{PEER}.2.{peer}") == told["address"], "its address")
    rate = int(snmp.get(f"{PEER}.6.{peer}"))
    check(rate == told["send_rate_bps"] // 1000, f"{rate} kbit/s")
    walk = snmp.walk(ROOT)
    note(f"a walk: {len(walk)} values")
    link = index_of(told["link"])
    check((snmp.get(f"{LINK}.2.{link}"), snmp.get(f"{LINK}.3.{link}")) == ("1", "1"), "peers of the link")
    check(int(snmp.get(f"{LINK}.4.{link}")) > 0, "its round trip")
    for table in (PORT, PEER, LINK, CLASS):
        check(any(oid.startswith(table) for oid in walk), f"no rows of {table}")
    check(snmp.walk(ALARM) == {}, f"something is wrong: {snmp.walk(ALARM)}")
    # The MIB's names work without any other MIB.
    folder = os.path.join(REPOSITORY, "deploy", "snmp")
    named = snmp._ask("snmpwalk", "-M", folder, "-m", "SATRELAY-MIB", f"{ROOT}.1.3.1.4")
    check('satrelayPeerState."remote" = INTEGER: alive(3)' in named, named)


def check_events(lab: Lab, snmp: Snmp) -> None:
    """Events that are no alarms are reported, too, if the operator wants that."""
    switch(lab, "on", "off")
    # An event enters the list a little after the answer to the command.
    eventually(lambda: lab.gateway_a.events()[-1].get("new") == "off", 10, "the switch is an event")
    since = lab.gateway_a.events()[-1]["number"] - 1
    eventually(lambda: snmp.trap(3, "bypass_set", since), 10, "snmptrapd is told of a switch")
    told = snmp.trap(3, "bypass_set", since)
    check('"from on, to off, by root"' in told and f"{ROOT}.1.7.2.0 = INTEGER: 4" in told, told)
    check(f"{ROOT}.1.7.9.0" not in told and snmp.walk(ALARM) == {}, f"it is no alarm: {told}")


def check_peer_lost(lab: Lab, snmp: Snmp) -> None:
    lab.gateway_b.daemon.kill()
    eventually(lambda: snmp.trap(1, "peer_lost"), 15, "snmptrapd is told of the peer lost")
    for value in ('"peer remote"', '"hub-7"', f"{ROOT}.1.7.2.0 = INTEGER: 2"):
        check(value in snmp.trap(1, "peer_lost"), f"no {value} in {snmp.trap(1, 'peer_lost')}")
    alarm = snmp.walk(ALARM)
    check("peer_lost" in alarm.values() and len(alarm) == 7, f"the table of alarms: {alarm}")
    index = next(oid for oid in alarm if oid.startswith(f"{ALARM}.2.")).rpartition(".")[2]
    check(f"{ROOT}.1.7.9.0 = Gauge32: {index}" in snmp.trap(1, "peer_lost"), "its index")
    eventually(lambda: snmp.get(PEERS_ALIVE) == "0", 5, "the table of peers knows, too")
    link = index_of(lab.gateway_a.peer()["link"])
    eventually(lambda: snmp.get(f"{LINK}.3.{link}") == "0", 5, "and that of links")
    lab.gateway_b.start()
    eventually(lambda: snmp.trap(2, "peer_alive"), 15, "snmptrapd is told of its return")
    check(f"{ROOT}.1.7.9.0 = Gauge32: {index}" in snmp.trap(2, "peer_alive"), "its index, again")
    eventually(lambda: snmp.get(ALARMS) == "0", 5, "nothing is wrong any more")
    eventually(lambda: snmp.get(PEERS_ALIVE) == "1", 5, "the peer is alive again")
    check(snmp.told().count('"peer_lost"') == 1, "it is told more than once")


def check_snmpd_away(lab: Lab, snmp: Snmp, panel) -> None:
    snmp.stop("snmpd")
    eventually(lambda: "snmpd is gone" in panel.log(), 10, "the panel misses snmpd")
    since = lab.gateway_a.events()[-1]["number"]
    lab.client.ip("link", "set", CLIENT.interface, "down")
    eventually(lambda: lab.gateway_a.query("ports")["lan"]["link"] == "down", 5, "the port is down")
    lab.client.ip("link", "set", CLIENT.interface, "up")
    snmp.start_snmpd()
    eventually(lambda: snmp.get(GATEWAY_STATE) == "2", 15, "it answers again")
    # Events of that time are reported late, and not lost.
    eventually(lambda: snmp.trap(1, "port_down", since), 5, "snmptrapd is told of the port")
    eventually(lambda: snmp.trap(2, "port_up", since), 5, "and that it is back")
    check("NET-SNMP" not in panel.log() and "agentx master" not in panel.log(), panel.log())
    lines = [line for line in panel.log().splitlines() if "snmpd " in line]
    check(len(lines) == 3, f"not quietly: {lines}")
