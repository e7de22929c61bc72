"""A host behind a router on the server's LAN. The route there carries shorter packets than the rest of the path."""

import contextlib

from harness import SERVER, Lab, eventually
from lab import kernel
from lab.kernel import Namespace

BEHIND_ROUTER = ("203.0.113.200", "2001:db8::b:200")
ROUTER_MTU = 1300


@contextlib.contextmanager
def host_behind_router(lab: Lab):
    """Adds a host behind the server, which becomes a router. The route there carries shorter packets than the rest.

    The interfaces have an MTU of 1500, so the MSS does not show the limit.
    """
    inner = Namespace(f"satrelay-{lab.tag}-inner")
    try:
        inner.create()
        kernel.join(lab.server, "in0", inner, "in1")
        for space, interface in ((lab.server, "in0"), (inner, "in1")):
            kernel.switch_off_offloads(space, interface)
        four, six = BEHIND_ROUTER
        lab.server.ip("addr", "add", "198.51.100.1/24", "dev", "in0")
        lab.server.ip("addr", "add", "2001:db8:1::1/64", "dev", "in0", "nodad")
        inner.ip("addr", "add", f"{four}/32", "dev", "in1")
        inner.ip("addr", "add", f"{six}/128", "dev", "in1", "nodad")
        inner.ip("addr", "add", "2001:db8:1::2/64", "dev", "in1", "nodad")
        inner.ip("route", "add", "198.51.100.0/24", "dev", "in1")
        inner.ip("route", "add", "default", "via", "198.51.100.1", "dev", "in1")
        inner.ip("-6", "route", "add", "default", "via", "2001:db8:1::1", "dev", "in1")
        small = ("mtu", "lock", str(ROUTER_MTU))
        lab.server.ip("route", "add", f"{four}/32", "dev", "in0", *small)
        hop = ("via", "2001:db8:1::2", "dev", "in0")
        lab.server.ip("-6", "route", "add", f"{six}/128", *hop, *small)
        for path in ("ipv4/conf/all/forwarding", f"ipv4/conf/{SERVER.interface}/proxy_arp"):
            lab.server.write_setting(path, "1")
        for path in ("all/forwarding", f"{SERVER.interface}/proxy_ndp"):
            lab.server.write_setting(f"ipv6/conf/{path}", "1")
        lab.server.ip("-6", "neigh", "add", "proxy", six, "dev", SERVER.interface)
        for version, address in (("-4", four), ("-6", six)):
            ping = lab.client.command("ping", version, "-n", "-c", "1", "-W", "1", address)
            eventually(lambda: _succeeds(ping), 20, f"{address} answers the client's ping")
        yield inner
    finally:
        inner.delete()


def _succeeds(argv: list[str]) -> bool:
    try:
        kernel.run(*argv)
    except kernel.CommandFailed:
        return False
    return True
