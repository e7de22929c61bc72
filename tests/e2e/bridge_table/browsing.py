"""Chromium, without a screen: a page that consists of many objects."""

import html
import os
import re

from harness import SERVER

from .conditions import Seen, condition
from .programs import run
from .sites import HTTP2, NGINX, Site

_OBJECTS = 60
# When everything has been fetched, the page itself shows how much has come, and in which time.
_PAGE = """<!doctype html><title>objects</title><p id="told">loading</p><script>
const names = [...Array({count}).keys()];
const begun = performance.now();
Promise.all(names.map(async (name) => (await (await fetch(`/objects/${{name}}`)).arrayBuffer()).byteLength))
  .then((sizes) => sizes.reduce((sum, size) => sum + size, 0))
  .then((sum) => `told ${{sum}} bytes in ${{Math.round(performance.now() - begun)}} ms`, (error) => `told ${{error}}`)
  .then((text) => {{ document.getElementById("told").textContent = text; document.title = "over"; }});
</script>
"""


def _page(site: Site, url: str, *options: str) -> Seen:
    with open(os.path.join(site.files.root, "page.html"), "w", encoding="ascii") as file:
        file.write(_PAGE.format(count=_OBJECTS))
    wanted = sum(os.path.getsize(f"{site.files.objects}/{n}") for n in range(_OBJECTS))
    done = run(
        *(site.client, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
        *("--no-proxy-server", "--ignore-certificate-errors", f"--user-data-dir={site.folder()}"),
        *("--virtual-time-budget=600000", *options, f"{url}/page.html"),
    )
    told = re.search(r"told (.*?)</p>", done.out)
    if not told:
        return Seen(f"exit {done.status}: the page is not complete", False)
    counted = re.fullmatch(r"(\d+) bytes in (\d+) ms", html.unescape(told[1]))
    if not counted:
        return Seen(told[1], False)
    return Seen(f"{int(counted[1]):,} bytes", int(counted[1]) == wanted, done.seconds)


@condition(f"Chromium: a page of {_OBJECTS} objects, HTTP/1.1", "chromium", fills=True)
def _(site):
    return _page(site, f"http://{SERVER.ipv4}:{NGINX}")


@condition(f"Chromium: a page of {_OBJECTS} objects, HTTP/2", "chromium", fills=True)
def _(site):
    return _page(site, f"https://{SERVER.ipv4}:{HTTP2}")


@condition(f"Chromium: a page of {_OBJECTS} objects, HTTP/1.1 over IPv6", "chromium", fills=True)
def _(site):
    return _page(site, f"http://[{SERVER.ipv6}]:{NGINX}")
