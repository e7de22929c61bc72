"""The panel without a gateway, and the parts of its pages."""

import glob
import os
import re

import pytest
from browser import Browser, browser_at, must_be_silent
from harness import REPOSITORY, check
from panel import panel_of

ASSETS = os.path.join(REPOSITORY, "relay", "satpanel", "assets")
PAGES = ("", "link", "flows", "explain", "switches", "events", "capture")


class Nowhere:
    stats_socket = "/nowhere/dpdk_telemetry.v2"


@pytest.fixture(scope="module")
def panel():
    with panel_of(Nowhere, users=False) as made:
        yield made


@pytest.fixture(scope="module")
def browser(panel):
    with browser_at(f"http://127.0.0.1:{panel.port}/") as made:
        yield made


def test_no_gateway(browser: Browser) -> None:
    """A panel that has never seen a gateway says so on every page."""
    for page in PAGES:
        browser.load(page)
        browser.wait_for("view only", "The gateway does not answer since")
        browser.judge_at_both_widths(f"{page} of no gateway")
    must_be_silent(browser, "status of 502")


# The same numbers as in tests/unit/relay/text/numbers_test.cc.
NUMBERS = [
    ("binaryBytes(1023)", "1023 B"),
    ("binaryBytes(1536)", "1.50 KiB"),
    ("binaryBytes(67108864)", "64.0 MiB"),
    ("binaryBytes(1073741823)", "1.00 GiB"),
    ("bitRate(0)", "0 bit/s"),
    ("bitRate(999.6)", "1.00 kbit/s"),
    ("bitRate(9996000)", "10.0 Mbit/s"),
    ("bitRate(46912345)", "46.9 Mbit/s"),
    ("bitRate(2e12)", "2.00 Tbit/s"),
    ("duration(0)", "0 us"),
    ("duration(551400)", "551 ms"),
    ("duration(59999999)", "60.0 s"),
    ("duration(61000000)", "1 min 01 s"),
    ("duration(7380000000)", "2 h 03 min"),
    ("duration(180000000000)", "2 d 02 h"),
    ("count(999)", "999"),
    ("count(1234567)", "1 234 567"),
    ("share(10000)", "1.00%"),
    ("share(123)", "0.01%"),
    ("percent(0.5, 1)", "50.0%"),
    ("bitRate(undefined)", "-"),
    ("duration(null)", "-"),
]


def test_numbers_are_those_of_satrelayctl(browser: Browser) -> None:
    browser.load()
    calls = ", ".join(f"units.{call}" for call, _ in NUMBERS)
    said = browser.run_async(f"const units = await import('/assets/units.js'); return [{calls}];")
    wrong = [
        (call, got, wanted)
        for (call, wanted), got in zip(NUMBERS, said, strict=True)
        if got != wanted
    ]
    check(not wrong, f"{wrong}")


def test_hostile_names(browser: Browser) -> None:
    """The names of peers and hosts are shown as text, wherever they are."""
    browser.load()
    said = browser.run_async("""
      const {Table} = await import("/assets/table.js");
      const {make} = await import("/assets/dom.js");
      const {picture} = await import("/assets/picture.js");
      const {RateMeter} = await import("/assets/rates.js");
      const hit = "window.wasHit = true";
      const evil = `<img src=x onerror="${hit}"><script>${hit}</script>`;
      const table = new Table(evil, [{title: evil, cell: () => evil}, {title: "x", cell: () =>
        ({text: evil, href: "#/"})}], {key: () => 1});
      table.update([{}]);
      const counters = {bytes_in: 1, bytes_out: 1};
      const status = {uptime_ms: 1, flows: 1, arena_bytes: 1, arena_used_bytes: 0, peers: {},
        new_flows: evil};
      const peer = {name: evil, link: evil, state: evil, address: evil, counters};
      const drawn = picture({status, ports: {}, peers: [peer]}, new RateMeter(), false);
      document.body.append(table.element, drawn, make("p", {title: evil}, evil));
      await new Promise((resolve) => setTimeout(resolve, 300));
      return [document.querySelectorAll("table img, svg img, p[title] img, body script").length,
        window.wasHit ?? null, table.element.textContent.includes(evil)];
    """)
    check(said == [0, None, True], f"{said}")
    must_be_silent(browser, "status of 502")
    for path in glob.glob(os.path.join(ASSETS, "*")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
            r"|https?://(?!www\.w3\.org/2000/svg)| style=| on[a-z]+=",
            text,
        )
        check(not found, f"{os.path.basename(path)} has {found and found[0]}")


# Colors of text and background, by the names of style.css.
PAIRS = [
    ("ink", "page"),
    ("ink", "sheet"),
    ("soft", "page"),
    ("soft", "sheet"),
    ("accent", "sheet"),
    ("accent", "page"),
    ("accent-ink", "accent"),
    ("bar-ink", "bar"),
    ("good", "good-wash"),
    ("warn", "warn-wash"),
    ("bad", "bad-wash"),
    ("ink", "good-wash"),
    ("ink", "warn-wash"),
    ("ink", "bad-wash"),
    ("ink", "accent-wash"),
    ("sheet", "bad"),
    ("accent", "accent-wash"),
]


def luminance(colour: str) -> float:
    """The luminance by WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast() -> None:
    with open(os.path.join(ASSETS, "style.css"), encoding="utf-8") as file:
        light, dark = re.findall(r":root \{(.*?)\}", file.read(), re.DOTALL)
    for scheme in (light, dark):
        colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", scheme))
        for text, ground in PAIRS:
            bright, dim = sorted(
                (luminance(colours[text]), luminance(colours[ground])), reverse=True
            )
            ratio = (bright + 0.05) / (dim + 0.05)
            check(
                ratio >= 4.5, f"{text} {colours[text]} on {ground} {colours[ground]}: {ratio:.2f}"
            )


def test_panel_gone(panel, browser: Browser) -> None:
    """The last test of the file, since it ends the panel."""
    browser.load()
    browser.wait_for("The gateway does not answer since")
    panel.process.terminate()
    browser.wait_for("satpanel does not answer since")
    browser.judge_at_both_widths("a panel that is gone")
