"""curl, nginx and Chromium: transfers, refusals, connections that are kept, and connections that are left."""

import json
import os
import re
import threading

from harness import SERVER, accept, listen
from program_servers import digest

from .conditions import Seen, condition
from .programs import Done, run
from .sites import (
    DROPPED,
    DROPPED6,
    HTTP2,
    IMPATIENT,
    NGINX,
    PROHIBITED,
    PROHIBITED6,
    PROHIBITED6_TOO,
    PROHIBITED_TOO,
    PROXY,
    RESET,
    RESET6,
    RESET6_TOO,
    UNREACHABLE,
    Site,
    walled,
)

HTTP = f"http://{SERVER.ipv4}"
HTTP6 = f"http://[{SERVER.ipv6}]"
_CURL = ("curl", "--silent", "--show-error", "--noproxy", "*")
_TOLD = "%{json}"
_PATIENT = ("--max-time", "20")
_ACCEPTED_FIRST = "the gateway answers before the server refuses: guide.md, Refused connections"
_REPEATS = "the gateway has answered, and repeats its SYN for 183 s: guide.md, ICMP errors"


def curl(site: Site, *argv: str, given: bytes | None = None) -> tuple[Done, list[dict]]:
    """Runs curl; returns what it says about each of its transfers, as JSON."""
    done = run(site.client, *_CURL, "--write-out", f"\n{_TOLD}\n", *argv, given=given)
    told = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    return done, told


def fetch(site: Site, *argv: str, right: int = 0) -> Seen:
    """One transfer; `right` is the expected exit status."""
    done, told = curl(site, "--globoff", "--output", "/dev/null", *argv)
    if not told:
        return Seen(f"exit {done.status}: {done.last_words}", False)
    last = told[-1]
    what = f"exit {done.status}, {last['http_code']}, {last['size_download']:,} bytes"
    if done.status != 0:
        words = done.last_words.removeprefix(f"curl: ({done.status}) ")
        words = re.sub(r" after \d+ (ms|milliseconds)| port \d+", "", words)
        what = f"exit {done.status}: {words}"
    return Seen(what, done.status == right, sum(each["time_total"] for each in told))


@condition("curl: one small object", "curl")
def _(site):
    return fetch(site, f"{HTTP}/objects/1")


@condition("curl: one small object, IPv6", "curl")
def _(site):
    return fetch(site, f"{HTTP6}/objects/1")


@condition("curl: 10 MB", "curl", fills=True)
def _(site):
    path = os.path.join(site.files.root, "ten-million.bin")
    with open(path, "wb") as file:
        file.write(os.urandom(10_000_000))
    arrived = os.path.join(site.folder(), "arrived")
    done, told = curl(site, "--output", arrived, f"{HTTP}/ten-million.bin")
    equal = done.status == 0 and digest(arrived) == digest(path)
    return Seen(f"exit {done.status}, same bytes: {equal}", equal, done.seconds)


@condition("curl: a part of a file (range)", "curl")
def _(site):
    arrived = os.path.join(site.folder(), "part")
    done, _ = curl(site, "--range", "500000-519999", "--output", arrived, f"{HTTP}/file.bin")
    with open(site.files.file, "rb") as file:
        equal = file.read()[500_000:520_000] == _bytes(arrived)
    return Seen(f"exit {done.status}, same 20,000 bytes: {equal}", equal, done.seconds)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@condition("curl: POST that waits for 100 Continue", "curl")
def _(site):
    body = f"@{site.files.file}"
    told = ("--header", "Expect: 100-continue", "--data-binary", body)
    return fetch(site, *told, f"{HTTP}:{NGINX}/posted")


@condition("curl: a POST that is too large for the server is told so", "curl")
def _(site):
    return fetch(site, "--header", "Expect:", "--data-binary", f"@{site.files.file}", f"{HTTP}:{NGINX}/small")


@condition("curl: two requests over one connection, idle for 30 s between", "curl")
def _(site):
    return _twice(site, NGINX)


@condition("curl: the server closes the idle connection before the second request", "curl")
def _(site):
    return _twice(site, IMPATIENT)


def _twice(site: Site, port: int) -> Seen:
    url = f"{HTTP}:{port}/objects/"
    sent = ("--output", "/dev/null", f"{url}1", "--output", "/dev/null", f"{url}2")
    done, told = curl(site, "--rate", "2/m", *sent)
    codes = [each["http_code"] for each in told]
    opened = sum(each["num_connects"] for each in told)
    seconds = told[-1]["time_total"] if told else None
    return Seen(f"exit {done.status}, {codes}, {opened} connections", codes == [200, 200], seconds)


@condition("curl: HTTP/2, 100 objects over one connection", "curl", fills=True)
def _(site):
    arrived = site.folder()
    done, told = curl(
        *(site, "--http2", "--cacert", site.certificate, "--parallel", "--parallel-max", "100"),
        *("--no-progress-meter", "--output", f"{arrived}/#1"),
        f"https://{SERVER.ipv4}:{HTTP2}/objects/[0-99]",
    )
    equal = sum(
        _bytes(f"{arrived}/{n}") == _bytes(f"{site.files.objects}/{n}")
        for n in range(100)
        if os.path.exists(f"{arrived}/{n}")
    )
    opened = sum(each["num_connects"] for each in told)
    versions = sorted({each["http_version"] for each in told})
    what = f"exit {done.status}, {equal} of 100 objects, {opened} connections, HTTP {versions}"
    return Seen(what, equal == 100, done.seconds)


@condition("curl: text that nginx has compressed", "curl")
def _(site):
    name = next(n for n in sorted(os.listdir(f"{site.files.tree}/folder 1")) if n.endswith(".txt"))
    return fetch(site, "--compressed", f"{HTTP}:{NGINX}/gzip/folder%201/{name}")


@condition("nginx: a proxy with kept connections to the far server", "curl")
def _(site):
    urls = [word for n in range(8) for word in ("--output", "/dev/null", f"http://127.0.0.1:{PROXY}/objects/{n}")]
    done, told = curl(site, *urls)
    codes = {each["http_code"] for each in told}
    return Seen(f"exit {done.status}, {len(told)} answers of {codes}", codes == {200}, done.seconds)


@condition("curl --tcp-fastopen", "curl")
def _(site):
    """The first transfer fetches the cookie."""
    fetch(site, "--tcp-fastopen", f"{HTTP}/objects/1")
    return fetch(site, "--tcp-fastopen", f"{HTTP}/objects/1")


@condition("curl: TFTP", "curl", "dnsmasq")
def _(site):
    return fetch(site, f"tftp://{SERVER.ipv4}/objects/1")


# --- refusals ---------------------------------------------------------------------------------------


def _walled(site: Site, port: int, version: int = 4) -> str:
    """A URL at the firewall's port. The client knows the MAC already, as if it had met the server before."""
    four, six = walled(port)
    run(site.client, "ping", f"-{version}", "-n", "-c", "1", "-W", "5", four if version == 4 else six)
    return f"http://{four}:{port}/" if version == 4 else f"http://[{six}]:{port}/"


@condition("curl: nobody listens", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, f"{HTTP}:{site.port()}/", right=7)


@condition("curl: nobody listens, IPv6", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, f"{HTTP6}:{site.port()}/", right=7)


@condition("curl: nobody listens, the second time", "curl")
def _(site):
    port = site.port()
    fetch(site, f"{HTTP}:{port}/")
    return fetch(site, f"{HTTP}:{port}/", right=7)


@condition("curl: an address that no host has", "curl")
def _(site):
    return fetch(site, "http://203.0.113.222/", right=7)


@condition("curl: an address behind the far router that no host has", "curl")
def _(site):
    return fetch(site, "--max-time", "20", "http://203.0.113.201/", right=7)


@condition("curl: a firewall that drops", "curl", known=_REPEATS)
def _(site):
    return fetch(site, "--connect-timeout", "8", *_PATIENT, _walled(site, DROPPED), right=28)


@condition("curl: a firewall that answers admin-prohibited", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, *_PATIENT, _walled(site, PROHIBITED), right=7)


@condition("curl: a firewall that answers admin-prohibited, IPv6", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, *_PATIENT, _walled(site, PROHIBITED, 6), right=7)


@condition("curl: a firewall that answers admin-prohibited, the second time", "curl")
def _(site):
    fetch(site, *_PATIENT, _walled(site, PROHIBITED_TOO))
    return fetch(site, *_PATIENT, _walled(site, PROHIBITED_TOO), right=7)


@condition("curl: a firewall that answers host-unreachable", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, *_PATIENT, _walled(site, UNREACHABLE), right=7)


@condition("curl: a firewall that resets", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return fetch(site, _walled(site, RESET), right=7)


@condition("curl: happy eyeballs, IPv6 is dropped", "curl", known=_REPEATS)
def _(site):
    return _happy_eyeballs(site, DROPPED6)


@condition("curl: happy eyeballs, IPv6 is reset", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return _happy_eyeballs(site, RESET6)


@condition("curl: happy eyeballs, IPv6 is reset, the second time", "curl")
def _(site):
    fetch(site, _walled(site, RESET6_TOO, 6))
    return _happy_eyeballs(site, RESET6_TOO)


@condition("curl: happy eyeballs, IPv6 is prohibited", "curl", known=_ACCEPTED_FIRST)
def _(site):
    return _happy_eyeballs(site, PROHIBITED6)


@condition("curl: happy eyeballs, IPv6 is prohibited, the second time", "curl")
def _(site):
    fetch(site, *_PATIENT, _walled(site, PROHIBITED6_TOO, 6))
    return _happy_eyeballs(site, PROHIBITED6_TOO)


def _happy_eyeballs(site: Site, port: int) -> Seen:
    _walled(site, port, 6)
    with _page_server(site, port):
        name = f"site.example:{port}:[{walled(port)[1]}],{SERVER.ipv4}"
        return fetch(site, *_PATIENT, "--resolve", name, f"http://site.example:{port}/")


def _page_server(site: Site, port: int):
    """A minimal server, of IPv4 only."""
    listener = listen(site.server, SERVER.ipv4, port)

    def serve():
        try:
            with accept(listener, 30) as accepted:
                accepted.recv(4096)
                accepted.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\npage")
        except OSError:
            pass

    threading.Thread(target=serve, daemon=True).start()
    return listener
