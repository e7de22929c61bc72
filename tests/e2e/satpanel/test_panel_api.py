"""satpanel without a browser: what each role may do, what satpanel answers, and how it bears hostile clients."""

import json
import random
import signal
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from harness import Lab, check, connection, converse, eventually, note
from panel import PASSWORD, Client, panel_of, program

NO_PEER = {"arguments": {"PEER": "nobody", "RATE": "1Mbit"}}
NO_CLASS = {"arguments": {"NAME": "none", "KEY=VALUE": {"weight": "2"}}}
NO_LINK = {"arguments": {"LINK": "none", "WAY": "send", "RATE": "1Mbit"}}
# (method, path, body), and the statuses without a login, for a viewer, an operator and an administrator.
RIGHTS = [
    ("GET", "/api/v1/session", None, (200, 200, 200, 200)),
    ("GET", "/api/v1/openapi.json", None, (200, 200, 200, 200)),
    ("GET", "/", None, (200, 200, 200, 200)),
    ("GET", "/vendor/chart.licence.txt", None, (200, 200, 200, 200)),
    ("GET", "/api/v1/overview", None, (401, 200, 200, 200)),
    ("GET", "/api/v1/alarms", None, (401, 200, 200, 200)),
    ("GET", "/api/v1/flows", None, (401, 200, 200, 200)),
    ("GET", "/api/v1/records", None, (401, 200, 200, 200)),
    ("GET", "/api/v1/events", None, (401, 200, 200, 200)),
    ("GET", "/metrics", None, (401, 200, 200, 200)),
    ("GET", "/api/v1/commands", None, (401, 200, 200, 200)),
    ("POST", "/api/v1/commands/bypass", {"arguments": {"STATE": "off"}}, (401, 403, 200, 200)),
    # If the role suffices, the gateway or the arguments decide.
    ("POST", "/api/v1/commands/set", {"arguments": {"RULE": "9"}}, (401, 403, 400, 400)),
    ("POST", "/api/v1/commands/rate", NO_PEER, (401, 403, 409, 409)),
    ("POST", "/api/v1/commands/class", NO_CLASS, (401, 403, 409, 409)),
    ("POST", "/api/v1/commands/capacity", NO_LINK, (401, 403, 409, 409)),
    ("POST", "/api/v1/capture", {"port": "wan", "packets": 0}, (401, 403, 400, 400)),
    ("POST", "/api/v1/commands/drain", {"arguments": {"TIMEOUT": "-"}}, (401, 403, 403, 400)),
    ("POST", "/api/v1/commands/reload", {}, (401, 403, 403, 200)),
    ("POST", "/api/v1/commands/quit", {}, (401, 404, 404, 404)),
    ("POST", "/api/v1/overview", {}, (405, 405, 405, 405)),
]


def test_users(lab: Lab) -> None:
    check_roles(lab)
    check_wrong_passwords(lab)
    check_without_users(lab)
    check_wrong_files()


def check_roles(lab: Lab) -> None:
    with panel_of(lab.gateway_a) as panel:
        clients = [Client(panel)] + [Client(panel, user) for user in ("vera", "otto", "ann")]
        eventually(lambda: clients[1].get("/api/v1/overview")["up"], 10, "the panel looks")
        for method, path, body, expected in RIGHTS:
            statuses = tuple(client.ask(method, path, body)[0] for client in clients)
            check(statuses == expected, f"{method} {path}: {statuses} instead of {expected}")

        licence = clients[0].get("/vendor/chart.licence.txt")
        check("Permission is hereby granted" in licence, f"no licence: {licence[:200]}")

        # A browser sends only the cookie by itself, for any page.
        forged = dict(clients[3].headers)
        del forged["X-CSRF-Token"]
        bare = Client(panel)
        bare.headers = forged
        status, _ = bare.tell("bypass", STATE="on")
        check(status == 403, f"a request without the token of the session: {status}")
        status, _ = clients[3].ask(
            "POST", "/api/v1/commands/bypass", b"STATE=on", {"Content-Type": "text/plain"}
        )
        check(status == 415, f"a form of another page: {status}")
        status, _ = clients[3].ask("GET", "/api/v1/peers", headers={"Host": "rebound.example"})
        check(status == 421, f"another name of this machine: {status}")
        check(lab.gateway_a.query("status")["new_flows"] == "open", "a forged request was obeyed")

        # A token may read, but logs in nowhere.
        scraper = Client(panel, token=panel.token)
        check("satrelay_up 1" in scraper.get("/metrics"), "no metrics for the token")
        check(scraper.tell("bypass", STATE="on")[0] == 403, "a token of a viewer switches")
        check(Client(panel, token="wrong").ask("GET", "/metrics")[0] == 401, "a wrong token")

        # The streams of a program end with its token, even if nothing happens.
        with socket.create_connection(("127.0.0.1", panel.port)) as stream:
            head = "GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\n"
            stream.sendall(f"{head}Authorization: Bearer {panel.token}\r\n\r\n".encode())
            stream.settimeout(5)
            check(b"text/event-stream" in stream.recv(65536), "no stream")
            panel.manage("user", "remove", "prometheus")
            while not stream.recv(65536).endswith(b"0\r\n\r\n"):
                pass

        # A removed user is logged out at once, and so is a user with a new password, or after a logout.
        panel.manage("user", "add", "ann", "--role", "administrator", password="another one")
        eventually(
            lambda: clients[3].ask("GET", "/api/v1/peers")[0] == 401, 5, "an old password is out"
        )
        panel.manage("user", "remove", "vera")
        eventually(
            lambda: clients[1].ask("GET", "/api/v1/peers")[0] == 401, 5, "a removed user is out"
        )
        check(clients[2].ask("DELETE", "/api/v1/session")[0] == 200, "otto cannot log out")
        check(clients[2].ask("GET", "/api/v1/peers")[0] == 401, "otto has logged out")


def check_wrong_passwords(lab: Lab) -> None:
    with panel_of(lab.gateway_a) as panel:
        statuses = [
            Client(panel).ask("POST", "/api/v1/session", {"name": "ann", "password": "wrong"})[0]
            for _ in range(8)
        ]
        check(statuses[:3] == [401] * 3, f"the first tries: {statuses}")
        check(statuses[3:] == [429] * 5, f"later tries: {statuses}")
        time.sleep(1.1)
        Client(panel, "ann")
        with open(panel.users, encoding="utf-8") as users:
            text = users.read()
        check(PASSWORD not in text + panel.log(), "a password stands somewhere")
        check(panel.token not in text, "a token stands in the file")


def check_wrong_files() -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("users:\n- {name: ann, role: chief}\n")
        file.flush()
        for options in (["--users", file.name], ["--users", "/nowhere"], ["--webhook", "/nowhere"]):
            done = subprocess.run(
                [program(), "--listen", "127.0.0.1:0", *options],
                capture_output=True,
                text=True,
                timeout=20,
            )
            check(done.returncode == 2, f"{options}: {done.returncode} {done.stderr}")
            check(options[1] in done.stderr, f"{options}: {done.stderr}")


def check_without_users(lab: Lab) -> None:
    with panel_of(lab.gateway_a, users=False) as panel:
        client = Client(panel)
        eventually(lambda: client.get("/api/v1/overview")["up"], 10, "the panel looks")
        check(client.get("/api/v1/session")["role"] == "viewer", "not a viewer")
        status, body = client.tell("bypass", STATE="on")
        check(status == 403 and "--users" in body["detail"], f"{status} {body}")


def capture_of(client: Client, lab: Lab) -> tuple[int, bytes]:
    with ThreadPoolExecutor(1) as pool:
        wish = {"port": "lan", "filter": "tcp port 9004", "packets": 3, "seconds": 10}
        asked = pool.submit(client.ask, "POST", "/api/v1/capture", wish)
        time.sleep(0.5)
        converse(lab, 9004)
        return asked.result(20)


def check_event_stream(panel, client: Client) -> None:
    with socket.create_connection(("127.0.0.1", panel.port)) as stream:
        stream.sendall(
            b"GET /api/v1/events/stream HTTP/1.1\r\n"
            + f"Host: 127.0.0.1:{panel.port}\r\nCookie: ".encode()
            + client.headers["Cookie"].encode()
            + b"\r\n\r\n"
        )
        check(b"text/event-stream" in stream.recv(65536), "no stream")
        client.tell("bypass", STATE="on")
        text = events_of(stream)
        line = next(line for line in text.splitlines() if line.startswith("data: {\"number"))
        check(json.loads(line[6:])["user"] == "panel:ann", line)


def test_answers(lab: Lab) -> None:
    near = lab.gateway_a
    with panel_of(near) as panel:
        client = Client(panel, "ann")
        eventually(lambda: client.get("/api/v1/overview")["up"], 10, "the panel looks")
        with connection(lab, 9001) as (user, server):
            user.sendall(b"hello")
            check(server.recv(10) == b"hello", "bytes changed")
            page = client.get("/api/v1/flows?sort=-age_ms&filter=9001")
            check(page["total"] == 1, f"one flow: {page}")
            flow = client.get(f"/api/v1/flows/{page['entries'][0]['id']}")
            check(flow["server_port"] == 9001, f"{flow}")
            check(client.get("/api/v1/flows?filter=9002")["total"] == 0, "a flow that is not")
            status, _ = client.ask("GET", "/api/v1/flows/999999")
            check(status == 404, f"no such flow: {status}")
        waits = client.get("/api/v1/histograms?filter=class_relayed_wait_us")
        check(waits["total"] > 0 and "le_100" in waits["entries"][0], f"{waits}")
        status, body = client.ask("GET", "/api/v1/peers?sorted=name")
        check(status == 400 and "sorted" in body["detail"], f"{status} {body}")
        status, body = client.ask("GET", "/api/v1/explain?source=here&destination=there")
        check(status == 400 and "here" in body["detail"], f"{status} {body}")

        # A switch changes the next connection, and the events name the user.
        thrown = (("on", "bypass"), ("on", "bypass"), ("off", "open"), ("on", "bypass"))
        for state, new_flows in thrown:
            check(client.tell("bypass", STATE=state) == (200, {"answer": "ok"}), f"bypass {state}")
            seen = client.get("/api/v1/overview")["status"]["new_flows"]
            check(seen == new_flows, f"the answer behind bypass {state} is of before: {seen}")
        told = [each for each in near.events() if each["name"] == "bypass_set"]
        values = [(each["old"], each["new"]) for each in told]
        changes = [("off", "on"), ("on", "off"), ("off", "on")]
        check(values == changes, f"what was so already is told, or a change is not: {values}")
        before = near.counter("bridged_bypass")
        converse(lab, 9003)
        check(near.counter("bridged_bypass") > before, "the connection was not bridged")
        latest = client.get("/api/v1/bridged-connections?filter=9003")["entries"][0]
        check(latest["reason"] == "bridged_bypass", f"it is told as {latest}")
        check(client.tell("bypass", STATE="off")[0] == 200, "bypass off")
        status, body = client.tell("rate", PEER="nobody", RATE="1Mbit")
        check(status == 409, f"a peer that is not: {status} {body}")
        status, body = client.tell("rate", PEER="remote", RATE="1Mbit\ndrain")
        check(status == 400, f"two commands in one: {status} {body}")

        check_event_stream(panel, client)
        told = client.get("/api/v1/events")["events"]
        who = [event.get("user") for event in told if event.get("new") is not None]
        check("panel:ann" in who, f"nobody has thrown the switch: {told}")

        status, file = capture_of(client, lab)
        check(status == 200 and file.startswith(b"\n\r\r\n"), f"no capture: {status}")
        who = {each["name"]: each["user"] for each in near.events() if "capture" in each["name"]}
        both = {"capture_begun": "panel:ann", "capture_ended": "panel:ann"}
        check(who == both, f"who has captured: {who}")
        status, body = client.ask("POST", "/api/v1/capture", {"port": "lan", "filter": "tpc"})
        check(status == 409 and "tpc" in body["detail"], f"a wrong filter: {status} {body}")

        hour = "/api/v1/history?span=hour"
        eventually(
            lambda: len(client.get(hour)["samples"]["time"]) >= 2, 5, "there is a history"
        )
        history = client.get(hour)
        check(history["step_seconds"] == 1, "an hour of seconds")
        latest = history["samples"]["time"][-1]
        later = client.get(f"/api/v1/history?span=hour&since={latest}")["samples"]["time"]
        check(all(time_ > latest for time_ in later), f"since {latest}: {later}")
        kept = client.get("/api/v1/history/gateway?of=peer&name=remote")
        later = len(near.query("history,peer,remote,0,100"))
        check(later - kept["total"] in (0, 1), f"{later} points, and {kept}")
        paths = client.get("/api/v1/openapi.json")["paths"]
        for name in ("bypass", "drain", "set"):
            check(f"/api/v1/commands/{name}" in paths, f"{name} is not described")
        check_answers(client)

        # The gateway dies. The panel says so, and works again when the gateway does.
        near.daemon.kill()
        eventually(
            lambda: not client.get("/api/v1/overview")["up"], 10, "the panel misses its gateway"
        )
        status, body = client.ask("GET", "/api/v1/peers")
        check(status == 502 and "gateway" in body["detail"], f"{status} {body}")
        check("satrelay_up 0" in client.get("/metrics"), "metrics of a dead gateway")
        near.start()
        eventually(
            lambda: client.get("/api/v1/overview")["up"], 20, "the panel finds its gateway again"
        )


def check_answers(client: Client) -> None:
    """Checks that each answer has the parts that its description names."""
    description = client.get("/api/v1/openapi.json")
    described = 0
    for path, methods in description["paths"].items():
        content = methods.get("get", {"responses": {"200": {}}})["responses"]["200"].get("content")
        if content is None or "{" in path or path.endswith("/explain"):
            continue
        check_schema(
            client.get(path), content["application/json"]["schema"], description["components"], path
        )
        described += 1
    check(described >= 9, f"{described} answers are described")


def check_schema(value, schema: dict, components: dict, where: str) -> None:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        schema = components["schemas"][name]
        missing = set(schema["properties"]) ^ set(value)
        check(not missing, f"{where}, {name}: {missing} is on one side only")
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    check(isinstance(value, tuple(kinds[each] for each in named)), f"{where}: {value} is no {named}")
    if isinstance(value, list):
        for each in value:
            check_schema(each, schema["items"], components, where)
    if isinstance(value, dict):
        for key, each in value.items():
            inner = schema.get("properties", {}).get(key) or schema["additionalProperties"]
            check_schema(each, inner, components, f"{where}.{key}")


def events_of(stream: socket.socket) -> str:
    text = b""
    stream.settimeout(10)
    while b"bypass" not in text:
        part = stream.recv(65536)
        if not part:
            break
        text += part
    return text.decode()


def malformed(seed: random.Random) -> bytes:
    """Bytes that are no request, or a request with a fault."""
    noise = bytes(seed.randrange(256) for _ in range(seed.randrange(1, 300)))
    return seed.choice(
        [
            noise,
            b"GET " + noise + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + noise + b"\r\n\r\n",
            b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Length: 99999999999999999999\r\n\r\n{}",
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\n"
            b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n" + b"[" * 200_000,
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60_000,
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
            + b"[" * 30_000
            + b"]" * 30_000,
            b"GET /%00%ff%2e%2e/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /assets/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /api/v1/flows?count=" + noise + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
    )


def answer_to(request: bytes, port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as stream:
        try:
            stream.sendall(request)
            stream.shutdown(socket.SHUT_WR)
            return stream.recv(65536)
        except OSError:  # it was cut off before the end
            return b""


def test_hostile_clients(lab: Lab) -> None:
    """Malformed requests, 1,000 silent connections, and clients that ask properly meanwhile."""
    with panel_of(lab.gateway_a) as panel:
        client = Client(panel, "ann")
        eventually(lambda: client.get("/api/v1/overview")["up"], 10, "the panel looks")
        before = lab.gateway_a.query("status")
        seed = random.Random(20)
        requests = [malformed(seed) for _ in range(200)]
        with ThreadPoolExecutor(20) as pool:
            for answer in pool.map(lambda request: answer_to(request, panel.port), requests):
                check(b"root:" not in answer, "a file of the machine was read")
                check(not answer.startswith(b"HTTP/1.1 500"), f"{answer[:200]}")
        check(client.get("/api/v1/overview")["up"], "after malformed requests")
        # From a user with the right to give commands: arguments nested as deep as a body has room for.
        deep = b'{"arguments": {"STATE": ' + b"[" * 32_000 + b"]" * 32_000 + b"}}"
        status, body = client.ask("POST", "/api/v1/commands/bypass", deep)
        check(status == 400, f"arguments that are nested: {status} {body}")

        crowd = []
        try:
            for _ in range(1000):
                stream = socket.create_connection(("127.0.0.1", panel.port), timeout=20)
                stream.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
                crowd.append(stream)
            began = time.monotonic()
            client.get("/api/v1/overview")
            note(f"an answer behind 1,000 slow clients: {time.monotonic() - began:.1f} s")
        finally:
            for stream in crowd:
                stream.close()
        check(panel.resident_bytes() < 100_000_000, f"{panel.resident_bytes()} bytes resident")
        after = lab.gateway_a.query("status")
        check(after["boot_epoch"] == before["boot_epoch"], "the gateway was started anew")
        check(after["age_ms"] < 1000, "the worker is held up")
        panel.process.send_signal(signal.SIGINT)
