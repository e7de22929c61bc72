"""satpanel behind nginx, with the site that satrelay ships: TLS, headers, the client's address, limits, events."""

import json
import os
import signal
import ssl
import stat
import subprocess
import time
from contextlib import ExitStack

import pytest
from behind_nginx import NAME, Answer, Nowhere, Site, session_cookie, shipped_headers, token_header
from harness import Lab, check, eventually, needs_root, note
from panel import PASSWORD, Panel, program

pytestmark = needs_root

LOGIN = "/api/v1/session"
STREAM = "/api/v1/events/stream"
GOOD = json.dumps({"name": "ann", "password": PASSWORD})
WRONG = json.dumps({"name": "ann", "password": "wrong password"})


@pytest.fixture(scope="module")
def site():
    made = Site()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def panel(site: Site):
    made = site.panel(runner=site.as_its_user())
    try:
        yield made
    finally:
        made.stop()


def run(*argv: str) -> subprocess.CompletedProcess:
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)


def check_headers(answer: Answer, what: str) -> None:
    """The same headers as satpanel sends, each once."""
    for name in shipped_headers():
        check(len(answer.headers(name)) == 1, f"{what}: {name}: {answer.headers(name)}")


def test_socket() -> None:
    """The panel's own user makes the socket for nginx, and for no other user."""
    with ExitStack() as held:
        site = Site()
        held.callback(site.close)

        def start(make=site.panel, **more) -> Panel:
            started = make(runner=site.as_its_user(), **more)
            held.callback(started.process.kill)
            return started

        panel = start()
        mode = stat.S_IMODE(os.stat(site.socket).st_mode)
        check(mode == 0o660, f"mode {mode:o}")
        check("for the group www-data" in panel.log(), panel.log())
        stranger = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
        done = run(*stranger, "curl", "-sS", "--unix-socket", site.socket, "http://panel/")
        check(done.returncode == 7, f"another user of the machine gets in: {done}")

        at_socket = (program(), "--listen", f"unix:{site.socket}", "--users", panel.users)
        second = run(*at_socket)
        check(second.returncode == 1, f"a second panel: {second}")
        check(f"{site.socket}: another process serves it" in second.stderr, second.stderr)
        check(site.ask("GET", "/").status == 200, "the first panel goes on")

        # A killed panel leaves its socket, and the next panel takes its place. nginx needs no reload.
        panel.process.send_signal(signal.SIGKILL)
        panel.process.wait(10)
        check(os.path.exists(site.socket), "a killed panel cannot remove its socket")
        answer = site.ask("GET", "/api/v1/overview")
        check(answer.status == 502 and answer.is_of_nginx, f"no panel: {answer.status}")
        check_headers(answer, "no panel")
        for group, status, words in (
            ("none-such", 2, '--listen-group: this machine has no group "none-such"'),
            ("daemon", 1, "must be a member of the group"),
        ):
            done = run(*site.as_its_user(), *at_socket, "--listen-group", group)
            check(done.returncode == status and words in done.stderr, f"{group}: {done}")
        panel = start()
        check(site.ask("GET", "/").status == 200, "the next panel is not reached")
        panel.stop()
        check(not os.path.exists(site.socket), "the socket is still there")

        panel = start(Panel, gateway=Nowhere, listen=f"unix:{site.socket}")
        mode = stat.S_IMODE(os.stat(site.socket).st_mode)
        check(mode == 0o600, f"without a group it has mode {mode:o}")
        check("--listen-group lets a web server in" in panel.log(), panel.log())
        panel.stop()


def is_spoken(site: Site, version: ssl.TLSVersion) -> bool:
    context = site.context()
    context.minimum_version = context.maximum_version = version
    try:
        site.ask("GET", "/", context=context)
    except (ssl.SSLError, ConnectionError):
        return False
    return True


def test_tls(site: Site, panel: Panel) -> None:
    spoken = {each.name: is_spoken(site, each) for each in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)}
    check(spoken == {"TLSv1_2": False, "TLSv1_3": True}, f"versions: {spoken}")
    connect = ("openssl", "s_client", "-connect", "127.0.0.1:443", "-servername", NAME, "-brief")
    groups = ("X25519", "prime256v1", "secp384r1", "ffdhe2048")
    with site.space.entered():
        spoken = {group: run(*connect, "-groups", group).returncode == 0 for group in groups}
    check([group for group in groups if spoken[group]] == ["X25519", "prime256v1"], f"groups: {spoken}")

    with site.connect(port=80) as plain:
        plain.sendall(b"GET /api/v1/peers?x=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        answer = plain.recv(65536).decode()
    check(answer.startswith("HTTP/1.1 301 "), answer)
    check(f"Location: https://{NAME}/api/v1/peers?x=1\r\n" in answer, answer)


def test_tls_beside_another_site() -> None:
    """nginx takes the versions of TLS from the first site of a port. The panel's site refuses the old one by itself."""
    with ExitStack() as held:
        site = Site(("other.example",))
        held.callback(site.close)
        panel = site.panel()
        held.callback(panel.stop)
        for version, status in ((ssl.TLSVersion.TLSv1_2, 403), (ssl.TLSVersion.TLSv1_3, 200)):
            context = site.context()
            context.minimum_version = context.maximum_version = version
            answer = site.ask("GET", "/", context=context)
            check(answer.status == status, f"{version.name}: {answer.status}")


def test_headers(site: Site, panel: Panel) -> None:
    """nginx sends the headers that satpanel sends, with the same values, also with its own pages."""
    of_panel = site.ask_socket("GET", "/", headers=[("X-Forwarded-Proto", "https")])
    names = shipped_headers()
    check(len(names) == 6 and "Strict-Transport-Security" in names, f"{names}")
    security = [name for name in of_panel.message if "-Policy" in name or name.startswith(("Strict", "X-"))]
    check(sorted(security) == sorted(names), f"satpanel sends {security}, and the site {names}")
    for what, status, is_of_nginx, answer in (
        ("a page", 200, False, site.ask("GET", "/")),
        ("a page that is not there", 404, False, site.ask("GET", "/nothing")),
        ("another name", 421, True, site.ask("GET", "/", host="rebound.example")),
        ("a long body", 413, True, site.ask("POST", LOGIN, body="x" * 65_537)),
        ("a broken request", 400, True, site.ask("GET", "/", headers=[("Host", NAME)])),
        ("a method that nginx refuses", 405, True, site.ask("TRACE", "/")),
    ):
        check(answer.status == status, f"{what}: {answer.status} {answer.body}")
        check(answer.is_of_nginx == is_of_nginx, f"{what}: {answer.body}")
        for name in names:
            check(answer.headers(name) == of_panel.headers(name), f"{what}: {name}: {answer.headers(name)}")
        server = answer.headers("Server")
        check(server == ["nginx"], f"{what}: the version of nginx: {server}")
    with site.connect() as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: panel.example\r\n\r\n")
        text = plain.recv(65536).decode()
    check(text.startswith("HTTP/1.1 400 ") and "nosniff" in text, f"without TLS: {text}")
    longest = site.ask("POST", LOGIN, body='{"name": "' + "x" * 65_500 + '"}')
    check(longest.status == 400, f"a body that satpanel still takes: {longest.status}")
    packed = site.ask("GET", "/api/v1/openapi.json", headers=[("Accept-Encoding", "gzip")])
    check(packed.headers("Content-Encoding") == [], "a token could be guessed from the length of an answer")


def test_login(site: Site, panel: Panel) -> None:
    source = "127.0.0.10"
    answer = site.ask("POST", LOGIN, source, body=GOOD)
    check(answer.status == 200, answer.body)
    cookie = session_cookie(answer)
    check(cookie.startswith("satpanel_443="), cookie)
    check({"HttpOnly", "SameSite=Strict", "Secure"} <= set(cookie.split("; ")), cookie)
    mine = [("Cookie", cookie.split(";")[0]), ("X-CSRF-Token", json.loads(answer.body)["csrf"])]
    # A gateway is not there, so the right to look is enough here.
    check(site.ask("GET", "/api/v1/commands", source, headers=mine).status == 200, "the session is not known")
    check(site.ask("GET", "/api/v1/commands", source).status == 401, "without a session")
    out = site.ask("DELETE", LOGIN, source, body="{}", headers=mine)
    check(out.status == 200 and "Max-Age=0" in session_cookie(out), f"no logout: {out.status} {out.body}")
    check("; Secure" in session_cookie(out), "the cookie that logs out")
    check(site.ask("GET", "/api/v1/commands", source, headers=mine).status == 401, "logged out")
    # At the socket itself nothing says that the connection is encrypted.
    plain = site.ask_socket("POST", LOGIN, body=GOOD)
    check("Secure" not in session_cookie(plain), "Secure without encryption")


def test_forged_addresses(site: Site, panel: Panel) -> None:
    """A client cannot choose the address under which its wrong passwords count."""
    def try_from(source: str, *headers: tuple[str, str], body: str = WRONG) -> int:
        return site.ask("POST", LOGIN, source, body=body, headers=headers).status

    statuses = [try_from("127.0.0.20", ("X-Real-IP", f"192.0.2.{number}")) for number in range(3)]
    statuses += [
        try_from("127.0.0.20", ("X-Real-IP", "192.0.2.4"), ("x-real-ip", "192.0.2.5")),
        try_from("127.0.0.20", ("X-Forwarded-For", "192.0.2.6"), ("X_Real_IP", "192.0.2.7")),
        try_from("127.0.0.20", ("Connection", "X-Real-IP"), ("X-Forwarded-Proto", "ftp")),
    ]
    check(statuses == [401] * 3 + [429] * 3, f"forged addresses: {statuses}")
    check(try_from("127.0.0.21", body=GOOD) == 200, "another client is locked out")

    # satpanel does believe the header at the socket, or the check above would prove nothing.
    def try_at_socket(*addresses: str) -> int:
        headers = [("X-Real-IP", address) for address in addresses]
        return site.ask_socket("POST", LOGIN, body=WRONG, headers=headers).status

    statuses = [try_at_socket(f"198.51.100.{number}") for number in range(5)]
    check(statuses == [401] * 5, f"addresses at the socket: {statuses}")
    statuses = [try_at_socket("198.51.100.9") for _ in range(4)]
    check(statuses == [401] * 3 + [429], f"one address at the socket: {statuses}")
    check(try_at_socket("198.51.100.9", "198.51.100.10") == 400, "two addresses")
    check(try_at_socket("198.51.100.9, 198.51.100.10") == 400, "a list of addresses")

    # A client of a TCP port is not nginx.
    with ExitStack() as held:
        local = Panel(Nowhere)
        held.callback(local.stop)
        argv = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", WRONG]
        argv += ["-H", "Content-Type: application/json", f"http://127.0.0.1:{local.port}{LOGIN}"]
        statuses = [run(*argv, "-H", f"X-Real-IP: 192.0.2.{number}").stdout for number in range(5)]
        check(statuses == ["401"] * 3 + ["429"] * 2, f"a forged address at a port: {statuses}")
        argv[argv.index(WRONG)] = GOOD
        time.sleep(1.1)
        head = run(*argv, "-H", "X-Forwarded-Proto: https", "-D", "-").stdout
        check("Set-Cookie" in head and "Secure" not in head, f"a forged scheme at a port: {head}")


def statuses_of(site: Site, source: str, count: int, head: str) -> list[int]:
    """The statuses of requests that come at once, on one connection."""
    with site.secure(source) as stream:
        request = f"{head}\r\nHost: {NAME}\r\n"
        stream.sendall((request + "\r\n").encode() * (count - 1) + f"{request}Connection: close\r\n\r\n".encode())
        text = b""
        while part := stream.recv(1 << 20):
            text += part
    return [int(line[9:12]) for line in text.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def test_limits_of_requests(site: Site, panel: Panel) -> None:
    head = "HEAD /api/v1/commands HTTP/1.1"
    began = time.monotonic()
    statuses = statuses_of(site, "fd00:0:0:7::2", 600, head)
    took = time.monotonic() - began
    note(f"600 requests of one client: {statuses.count(401)} passed, and {statuses.count(429)} not, in {took:.2f} s")
    check(set(statuses) == {401, 429} and len(statuses) == 600, f"{statuses}")
    passed = statuses.count(401)
    check(passed <= 201 + 50 * took + 1, f"{passed} requests passed in {took:.2f} s")
    # Another /64 of the same /56 is the same client; another /56, and another IPv4 address, are others.
    # A client that is new may send 200 at once.
    sibling = statuses_of(site, "fd00:0:0:8::3", 190, head)
    check(429 in sibling, f"another address of the /56: {sibling}")
    for other in ("fd00:0:0:107::2", "127.0.0.30"):
        check(set(statuses_of(site, other, 50, head)) == {401}, f"{other} has the limit of another client")


def test_limits_of_logins(site: Site, panel: Panel) -> None:
    # Without a body satpanel refuses a login at once, so these are quick enough to come at once.
    answers = [site.ask("POST", LOGIN, "127.0.0.40", headers=[("Content-Length", "0")]) for _ in range(25)]
    refused = [answer for answer in answers if answer.status == 429]
    check(len(refused) >= 5 and answers[0].status == 415, f"{[answer.status for answer in answers]}")
    check(refused[0].is_of_nginx, refused[0].body)
    check_headers(refused[0], "429")
    check(site.ask("GET", LOGIN, "127.0.0.40").status == 200, "the limit of logins holds for other requests")
    check(site.ask("POST", LOGIN, "127.0.0.41", body=GOOD).status == 200, "another client cannot log in")


def open_stream(held: ExitStack, site: Site, panel: Panel, source: str):
    """Returns the connection and the status."""
    stream = held.enter_context(site.secure(source))
    name, value = token_header(panel)
    stream.sendall(f"GET {STREAM} HTTP/1.1\r\nHost: {NAME}\r\n{name}: {value}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        part = stream.recv(65536)
        check(part, f"the stream ends: {head}")
        head += part
    return stream, int(head[9:12])


def test_limits_of_streams(site: Site, panel: Panel) -> None:
    with ExitStack() as held:
        statuses = [open_stream(held, site, panel, "127.0.0.50")[1] for _ in range(17)]
        check(statuses == [200] * 16 + [429], f"streams of one client: {statuses}")
        check(open_stream(held, site, panel, "127.0.0.51")[1] == 200, "another client has no stream")
        check(site.ask("GET", "/", "127.0.0.50").status == 200, "the client has no more than its streams")
    eventually(
        lambda: is_free(site, panel, "127.0.0.50"), 15, "a closed stream makes room for another one"
    )


def is_free(site: Site, panel: Panel, source: str) -> bool:
    with ExitStack() as held:
        return open_stream(held, site, panel, source)[1] == 200


def test_events(site_of_lab: tuple[Site, Panel], lab: Lab) -> None:
    """An event reaches the browser as soon as it happens, not when a buffer is full."""
    site, panel = site_of_lab
    answer = site.ask("POST", LOGIN, body=GOOD)
    mine = [("Cookie", session_cookie(answer).split(";")[0]), ("X-CSRF-Token", json.loads(answer.body)["csrf"])]
    up = lambda: json.loads(site.ask("GET", "/api/v1/overview", headers=mine).body)["up"]  # noqa: E731
    eventually(up, 10, "the panel looks")
    with ExitStack() as held:
        stream, status = open_stream(held, site, panel, "127.0.0.2")
        check(status == 200, f"no stream: {status}")
        done = site.ask("POST", "/api/v1/commands/bypass", body='{"arguments": {"STATE": "on"}}', headers=mine)
        check(done.status == 200, f"bypass: {done.status} {done.body}")
        began = time.monotonic()
        stream.settimeout(8)  # before the stream's next heartbeat could push the event out
        text = b""
        while b"panel:ann" not in text:
            part = stream.recv(65536)
            check(part, f"the stream ends: {text}")
            text += part
        note(f"an event behind nginx: {time.monotonic() - began:.2f} s")
        check(time.monotonic() - began < 5, "the event was held back")
    check(lab.gateway_a.query("status")["new_flows"] == "bypass", "the switch is not thrown")


@pytest.fixture
def site_of_lab(lab: Lab):
    with ExitStack() as held:
        site = Site()
        held.callback(site.close)
        panel = site.panel(lab.gateway_a)
        held.callback(panel.stop)
        yield site, panel


def test_wrong_files(site: Site) -> None:
    """`nginx -t` accepts the site, and names a certificate that is not there."""
    done = run(*site.space.command(*site.command("-t")))
    check(done.returncode == 0, f"{done.stderr}")
    check("warn" not in done.stderr, f"{done.stderr}")
    missing = os.path.join(site.folder, "missing.pem")
    for path in (site.certificate, site.key):
        wrong = site.write_config("wrong.conf", site.site().replace(path, missing))
        done = run(*site.space.command(*site.command("-t", config=wrong)))
        check(done.returncode == 1 and missing in done.stderr, f"{done}")
    # A key that does not belong to the certificate.
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", missing],
        check=True,
        capture_output=True,
    )
    wrong = site.write_config("wrong.conf", site.site().replace(site.key, missing))
    done = run(*site.space.command(*site.command("-t", config=wrong)))
    check(done.returncode == 1 and missing in done.stderr, f"{done}")
