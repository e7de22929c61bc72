"""BIRD: protected BGP sessions between routers, OSPF and BFD, and how soon they notice that the other router is
gone."""

import re
import time

from harness import CLIENT, SERVER

from .conditions import Seen, condition
from .programs import end, run, running
from .sites import Site

_PATIENCE = 60


def _config(own: str, other: str, interface: str, body: str, number: int) -> str:
    version = "ipv6" if ":" in own else "ipv4"
    route = f"2001:db8:{number:x}::/48" if ":" in own else f"10.{number}.0.0/16"
    return f"""router id 10.0.0.{number};
protocol device {{}}
protocol static own {{ {version}; route {route} blackhole; }}
{body.format(own=own, other=other, interface=interface, version=version, me=64500 + number, you=64503 - number)}
"""


_BGP = """protocol bgp far {{
  local {own} as {me}; neighbor {other} as {you};
  strict bind yes; connect delay time 1; hold time 9;
  OPTIONS
  {version} {{ import all; export where source = RTS_STATIC; }};
}}"""
_OSPF = """protocol ospf v2 far {{
  ipv4 {{ import all; export all; }};
  area 0 {{ interface "{interface}" {{ hello 2; dead 8; wait 5; type broadcast; }}; }};
}}"""
_BFD = """protocol bfd {{
  interface "*" {{ min rx interval 500 ms; min tx interval 500 ms; multiplier 5; }};
  neighbor {other} dev "{interface}" local {own};
}}"""


class Routers:
    """Two routers, with addresses of their own."""

    def __init__(self, site: Site, number: int, body: str, version: int = 4):
        if version == 4:
            addresses = (f"203.0.113.{20 + number}", f"203.0.113.{150 + number}")
        else:
            addresses = (f"2001:db8::a:{20 + number}", f"2001:db8::b:{150 + number}")
        length = {4: "24", 6: "64"}[version]
        self._site = site
        self._sockets, self._started = [], []
        folder = site.folder()
        ends = ((site.client, CLIENT, 0), (site.server, SERVER, 1))
        for space, host, at in ends:
            own, other = addresses[at], addresses[1 - at]
            options = ("nodad",) if version == 6 else ()
            space.run("ip", "addr", "add", f"{own}/{length}", "dev", host.interface, *options, check=False)
            config = site.write(folder, f"bird-{at}.conf", _config(own, other, host.interface, body, at + 1))
            self._sockets.append(f"{folder}/{at}.ctl")
            words = ("bird", "-f", "-c", config, "-s", self._sockets[at], "-P", f"{folder}/{at}.pid")
            self._started.append(running(space, *words))

    def __enter__(self):
        self._processes = [each.__enter__() for each in self._started]
        return self

    def __exit__(self, *_):
        for each in self._started:
            each.__exit__(None, None, None)

    def ask(self, *words: str, at: int = 0) -> str:
        return run(self._site.client, "birdc", "-s", self._sockets[at], *words).out

    def wait(self, words: tuple[str, ...], pattern: str, patience: float = _PATIENCE) -> float | None:
        began = time.monotonic()
        while not re.search(pattern, self.ask(*words)):
            if time.monotonic() - began > patience:
                return None
            time.sleep(0.3)
        return time.monotonic() - began

    def kill_far(self) -> None:
        end(self._processes[1])


def _session(site: Site, number: int, options: str, version: int = 4) -> Seen:
    body = _BGP.replace("OPTIONS", options)
    far_route = r"2001:db8:2::/48" if version == 6 else r"10\.2\.0\.0/16"
    with Routers(site, number, body, version) as routers:
        took = routers.wait(("show", "route"), far_route + r"\s+unicast")
        if took is None:
            return Seen(f"no session in {_PATIENCE} s", False)
        time.sleep(20)  # twice the hold time
        established = "Established" in routers.ask("show", "protocols")
        since = re.findall(r"far\s+BGP\s+\S+\s+(\w+)", routers.ask("show", "protocols"))
    return Seen(f"Established, the route is there, after 20 s: {since}", established)


_PRESERVE = "needs a rule with `ttl: preserve`: configuration.md"
for _number, (_name, _options, _version, _known) in enumerate(
    (
        ("BIRD: BGP", "", 4, ""),
        ("BIRD: BGP, IPv6", "", 6, ""),
        ("BIRD: BGP with an MD5 key", 'password "secret";', 4, ""),
        ("BIRD: BGP with an MD5 key, IPv6", 'password "secret";', 6, ""),
        ("BIRD: BGP with TTL security", "ttl security on;", 4, _PRESERVE),
    )
):
    condition(_name, "bird", "birdc", known=_known)(
        lambda site, n=_number, o=_options, v=_version: _session(site, n, o, v)
    )


@condition("BIRD: BGP with two different MD5 keys finds no session", "bird", "birdc")
def _(site):
    body = _BGP.replace("OPTIONS", 'password "secret of {me}";')
    with Routers(site, 6, body) as routers:
        took = routers.wait(("show", "protocols"), "Established", 20)
    return Seen("no session" if took is None else "a session", took is None)


@condition("BIRD: BGP is told at once that the far router was killed", "bird", "birdc")
def _(site):
    with Routers(site, 7, _BGP.replace("OPTIONS", "")) as routers:
        if routers.wait(("show", "protocols"), "Established") is None:
            return Seen("no session", False)
        time.sleep(3)
        routers.kill_far()
        took = routers.wait(("show", "protocols"), r"far\s+BGP\s+\S+\s+(?!up)\w+", 40)
    return Seen("down" if took is not None else "still up after 40 s", took is not None, took)


@condition("BIRD: OSPF", "bird", "birdc")
def _(site):
    with Routers(site, 8, _OSPF) as routers:
        took = routers.wait(("show", "route"), r"10\.2\.0\.0/16\s+unicast")
        return Seen("the far router's route" if took is not None else "no route", took is not None)


@condition("BIRD: BFD", "bird", "birdc")
def _(site):
    with Routers(site, 9, _BFD) as routers:
        took = routers.wait(("show", "bfd", "sessions"), r"\sUp\s")
        time.sleep(10)
        stays = " Up " in routers.ask("show", "bfd", "sessions")
        return Seen("up, and stays so" if stays else "not up", took is not None and stays)
