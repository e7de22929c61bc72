"""The panel in a browser: real gateways, satpanel and Chromium, each page on a phone and on a desk.

`--screenshots FOLDER` leaves a picture of each page there, as in docs/images.
"""

import contextlib
import os
import pathlib
import re
import threading
import time

import pytest
from browser import NARROW, WIDE, Browser, browser_at, must_be_silent
from harness import (BRIDGED_PORT, SERVER, GatewayOptions, Lab, Link, RealTime, check, connection, converse,
                     eventually, note, tell)
from panel import PASSWORD, Client, Panel, panel_of, tell_all
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.lab(Link(rate=20_000_000, rtt=0.2, loss=0.005), GatewayOptions())

QUESTION = "explain?source=203.0.113.10&destination=203.0.113.130:8080"
# Each page by its address, with the words that it shows once it has its data.
PAGES = {
    "": ("All is well.", "remote", "alive"),
    "link": ("Rate of the link", "Round trip", "relayed"),
    "flows": ("203.0.113.10:", "203.0.113.130:8080"),
    QUESTION: (
        "It is relayed.",
        "The far host is behind peer remote",
        "bridged_not_tcp",
        f"> 203.0.113.130:{BRIDGED_PORT}",
    ),
    "switches": ("Bypass", "Functions of rules", "Capacity of links", "accelerate"),
    "events": ("peer_alive", "Live: new events appear by themselves."),
    "capture": ("Capture settings",),
}
NAMES = {QUESTION: "explain", "": "overview"}
MOST_BYTES = 200_000  # for a first visit, without charts
# Chromium itself logs each answer that is an error.
NO_GATEWAY = "status of 502"


@pytest.fixture(scope="module")
def panel(shared_lab):
    with panel_of(shared_lab.gateway_a) as made:
        yield made


@pytest.fixture(scope="module")
def shared_browser(panel, request):
    with browser_at(address_of(panel), request.config.getoption("--screenshots")) as made:
        yield made


@pytest.fixture
def browser(shared_browser):
    """A browser without a cookie, wide and light."""
    shared_browser.driver.get("about:blank")
    shared_browser.devtools("Network.clearBrowserCookies")
    shared_browser.resize(WIDE)
    shared_browser.prefer("light")
    shared_browser.complaints()
    return shared_browser


def address_of(panel: Panel) -> str:
    return f"http://127.0.0.1:{panel.port}/"


def log_in(browser: Browser, user: str, page: str = "") -> None:
    browser.load(page)
    browser.wait_for("Password")
    browser.fill("name", user)
    browser.fill("password", PASSWORD + Keys.ENTER)
    browser.wait_for(f"{user} (", "Log out")


@contextlib.contextmanager
def slow_download(lab: Lab):
    """A flow that waits for its client, which reads nothing any more."""
    with connection(lab, 8090) as (client, server):
        server.settimeout(1)
        with contextlib.suppress(TimeoutError):
            for _ in range(200):
                server.send(b"slow" * 16_384)
        yield


@contextlib.contextmanager
def uploads(lab: Lab):
    """Uploads data that compresses to half."""
    over = threading.Event()
    data = b"".join(os.urandom(512) + bytes(512) for _ in range(64))
    with connection(lab, 8080) as (client, server):
        client.settimeout(0.2)
        server.settimeout(0.2)

        def pump(work) -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    work()

        threads = [
            threading.Thread(target=pump, args=(work,))
            for work in (lambda: client.send(data), lambda: server.recv(1 << 20))
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()


# --- pages ---------------------------------------------------------------------------------------


def test_without_data(lab: Lab, panel: Panel, browser: Browser) -> None:
    """A gateway that has just begun."""
    browser.load()
    browser.wait_for("Log in")
    browser.judge_at_both_widths("login")
    log_in(browser, "vera")
    for page, words in {
        "flows": "No connection is relayed now.",
        "flows?filter=nobody": "No flow has this text.",
        "flow/999999": "This flow is over.",
        "link?span=day": "There is no history yet.",
        "switches": "The events that are kept contain no change by a user.",
    }.items():
        browser.go(page)
        browser.wait_for(words)
        browser.judge_at_both_widths(page)
    browser.go("events")
    browser.wait_for("peer_alive")
    browser.find("input[type=search]").send_keys("no such words")
    browser.wait_for("No event matches.")
    must_be_silent(browser, "status of 404")


def weight_of(browser: Browser) -> int:
    return browser.run(
        "return ['resource', 'navigation'].flatMap((type) => performance.getEntriesByType(type))"
        ".filter(({name}) => !name.includes('/api/') && !name.includes('/vendor/'))"
        ".reduce((sum, each) => sum + each.transferSize, 0)"
    )


def test_pages_with_data(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "ann")
    browser.load()
    browser.wait_for("All is well.")
    weight = weight_of(browser)
    note(f"a first visit loads {weight} bytes, charts not counted")
    check(0 < weight < MOST_BYTES, f"{weight} bytes")
    converse(lab, BRIDGED_PORT, times=10)
    with uploads(lab), slow_download(lab):
        time.sleep(3)
        for page, words in PAGES.items():
            browser.go(page)
            browser.wait_for(*words)
            browser.judge_at_both_widths(page)
            if page == "flows" and browser.takes_screenshots:
                time.sleep(4)  # rates come with the second answer
            name = NAMES.get(page, page)
            browser.screenshot(f"panel-{name}", WIDE)
            if page == "":
                browser.screenshot(f"panel-{name}-narrow", NARROW, 1100)
        browser.go("")
        box_of_picture = "return document.querySelector('svg.picture').getAttribute('viewBox')"
        browser.wait_for("All is well.")
        for width, drawn in ((NARROW, "0 0 360 "), (WIDE, "0 0 1180 ")):
            browser.resize(width)
            browser.wait_until(
                lambda: browser.run(box_of_picture).startswith(drawn),
                f"the picture is for {width} pixels",
            )
        browser.wait_until(
            lambda: re.search(
                r"out [1-9][0-9.]* Mbit/s",
                browser.run("return document.querySelector('svg.picture').textContent"),
            ),
            "the picture has rates",
        )
        one_flow(lab, browser)
        charts_in_both_schemes(browser)
    must_be_silent(browser)


def one_flow(lab: Lab, browser: Browser) -> None:
    """Finds a flow by its text, sorts the list, and asks what the flow waits for."""
    slow = next(f for f in lab.gateway_a.query("flows") if f["to_lan_bytes"] > f["from_lan_bytes"])
    browser.go("flows")
    browser.wait_for("203.0.113.10:")
    browser.find("main input[type=search]").send_keys(str(slow["client"]))
    browser.wait_until(lambda: "filter=203.0.113.10" in browser.driver.current_url, "it searches")
    head = "//th[.//button[text()='to lan']]"
    browser.driver.find_element("xpath", head + "//button").click()
    browser.wait_until(
        lambda: browser.driver.find_element("xpath", head).get_attribute("aria-sort"),
        "it is sorted",
    )
    browser.press(f"a[href='#/flow/{slow['id']}']")
    browser.wait_for("the host does not read, or reads more slowly than bytes arrive", "peer remote")
    browser.wait_until(lambda: "now -" not in browser.text(), "it has rates")
    browser.judge_at_both_widths("one flow")
    browser.screenshot("panel-flow", WIDE)
    browser.resize(WIDE)


def test_too_many_flows_to_sort(lab: Lab, panel: Panel, browser: Browser) -> None:
    """satpanel answers so above 20,000 flows: the list still works, and the page says why it is not sorted."""
    log_in(browser, "vera", "explain")
    browser.wait_for("Bridged frames")
    browser.run("""
      const fetch_ = window.fetch;
      window.fetch = (address, ...more) => {
        if (!/\\/flows\\?.*(sort|filter)=/.test(address)) return fetch_(address, ...more);
        window.refused = (window.refused ?? 0) + 1;
        return Promise.resolve(new Response('{"detail": "too many"}', {status: 409}));
      };
    """)
    with connection(lab, 8080):
        browser.go("flows")
        browser.wait_for("There are too many flows to sort or to search.", "203.0.113.130:8080")
        check(browser.run("return window.refused") >= 1, "it did not ask for them sorted")
        check("request failed" not in browser.text(), "an error")
        check(not browser.run("return document.querySelector('[aria-sort]')"), "called sorted")
        browser.judge_at_both_widths("flows without order")
    must_be_silent(browser)
    browser.load()


def charts_in_both_schemes(browser: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    browser.go("link")
    browser.wait_until(
        lambda: browser.run("return document.querySelectorAll('canvas').length") == 10, "charts"
    )
    browser.prefer("dark")
    browser.judge("dark")
    check(browser.run(colour) != light, "dark is as light")
    browser.screenshot("panel-link-dark", WIDE)
    browser.prefer("light")


def test_without_charts(panel: Panel, browser: Browser) -> None:
    """Without the chart library the tables have everything."""
    browser.devtools("Network.enable")
    browser.devtools("Network.setBlockedURLs", urls=["*/vendor/*"])
    try:
        log_in(browser, "vera", "link")
        browser.wait_for("There are no charts", "Means of the last hour", "relayed")
        browser.judge_at_both_widths("without charts")
        check(browser.run("return document.querySelectorAll('canvas').length") == 0, "a chart")
    finally:
        browser.devtools("Network.setBlockedURLs", urls=[])
    must_be_silent(browser, "/vendor/chart.min.js")


def test_while_it_is_fetched(panel: Panel, browser: Browser) -> None:
    """Over a slow path to satpanel every page says what it waits for."""
    log_in(browser, "vera", "capture")
    browser.devtools("Network.enable")
    slow = {"latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.devtools("Network.emulateNetworkConditions", offline=False, **slow)
    try:
        for page in PAGES:
            if page != "capture":  # it fetches nothing that it shows
                browser.go(page)
                browser.wait_for("Fetching", timeout=1.4)
        browser.judge_at_both_widths("fetching")
    finally:
        browser.devtools(
            "Network.emulateNetworkConditions", offline=False, **{**slow, "latency": 0}
        )
    must_be_silent(browser)


def test_gateway_killed_in_between(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "ann")
    browser.wait_for("All is well.")
    lab.gateway_a.daemon.kill()
    browser.wait_for("The gateway does not answer since")
    check(browser.find(".stale").is_displayed(), "what was seen before is gone")
    browser.judge_at_both_widths("overview of a killed gateway")
    for page in PAGES:
        browser.go(page)
        browser.wait_for("The gateway does not answer since")
        browser.judge_at_both_widths(f"{page} of a killed gateway")
    browser.go("")
    browser.screenshot("panel-gone", NARROW)
    browser.go("switches")
    browser.press("[data-command=bypass] button")
    browser.wait_until(lambda: browser.find("#result").text, "a switch says that it was not thrown")
    browser.go("flows")
    browser.wait_for("The gateway does not answer.")
    lab.gateway_a.start()
    browser.wait_for("No connection is relayed now.", "gateway up")
    check("does not answer" not in browser.text(), "an alarm of before")
    browser.go("switches")
    browser.wait_for("Functions of rules", "accelerate")
    must_be_silent(browser, NO_GATEWAY)
    lab.wait_for_peers()


# --- switches ------------------------------------------------------------------------------------


def test_switches_by_keyboard(lab: Lab, panel: Panel, browser: Browser) -> None:
    """Sets bypass without a mouse: the next connection is bridged, and the page says so."""
    near = lab.gateway_a
    log_in(browser, "otto")
    browser.wait_for("All is well.")
    check(browser.tab_to("Skip to the content", 20) >= 1, "no way to skip")
    browser.type(Keys.ENTER)
    check(browser.run("return document.activeElement.id") == "content", "nothing is skipped")
    browser.load()
    browser.wait_for("All is well.")
    browser.tab_to("Controls")
    browser.type(Keys.ENTER)
    browser.wait_for("New flows are bridged while bypass is on")
    note(f"{browser.tab_to('Bypass on')} times Tab to the switch")
    before = near.counter("bridged_bypass")
    browser.type(Keys.SPACE)
    browser.wait_for("Bypass on: ok", "gateway: bypass is on", "panel:otto")
    converse(lab, 8080)
    check(near.counter("bridged_bypass") > before, "the connection was not bridged")
    browser.go("explain")
    browser.wait_for("bridged_bypass", "The latest connections", f"> {SERVER.ipv4}:8080")
    browser.go("")
    browser.wait_for("Bypass is on: new connections are bridged")
    browser.go("switches")
    browser.wait_for("New flows are bridged while bypass is on")
    browser.press("[aria-label='Bypass off']")
    browser.wait_for("Bypass off: ok")
    accepted = near.counter("flows_accepted")
    converse(lab, 8080)
    check(near.counter("flows_accepted") > accepted, "the connection was not relayed")
    must_be_silent(browser)


def test_switches_of_rules(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "otto", "switches")
    browser.wait_for("accelerate")
    browser.press("[aria-label='Change rule 2']")
    browser.wait_for("New values; the others stay unchanged")
    browser.judge_at_both_widths("the dialogue")
    browser.choose("compress", "off")
    browser.screenshot("panel-change", WIDE)
    browser.press("dialog button.main")
    browser.wait_for("Change rule 2: ok", "yes, until the next reload")
    rule = lab.gateway_a.query("rules")[1]
    check((rule["compress"], rule["changed"]) == ("off", "yes"), f"{rule}")
    browser.wait_for("rule 2", "panel:otto")

    # The page shows a refusal in the gateway's words, and nothing has changed.
    browser.press("[aria-label='Change link sat']")
    browser.fill("RATE", "90Mbit")
    browser.press("dialog button.main")
    browser.wait_for("The request failed.")
    browser.judge("a refusal")
    browser.type(Keys.ESCAPE)
    browser.wait_until(
        lambda: not browser.run("return document.querySelector('dialog')"), "it closes"
    )
    browser.press("[aria-label='Change peer remote']")
    browser.fill("RATE", "5Mbit")
    browser.press("dialog button.main")
    browser.wait_for("Change peer remote: ok")
    eventually(lambda: lab.gateway_a.peer()["send_rate_bps"] < 5_100_000, 5, "less is sent")

    # The present rate of a link is shown beside the button.
    usual = ["configured", "configured", "5.00 Mbit/s"]  # the operator has set that the peer is sent no more
    browser.wait_until(lambda: capacities(browser) == usual, "as configured")
    browser.press("[aria-label='Change link sat']")
    browser.fill("RATE", "10Mbit")
    browser.press("dialog button.main")
    browser.wait_for("Change link sat: ok")
    browser.wait_until(lambda: capacities(browser)[0] == "10.0 Mbit/s", "it is shown")
    tell(lab, lab.gateway_a, "capacity", "sat", "receive", "4Mbit")
    tell(lab, lab.gateway_a, "bypass", "on")
    browser.load("switches")
    both = ["10.0 Mbit/s", "4.00 Mbit/s", "5.00 Mbit/s"]
    browser.wait_until(lambda: capacities(browser) == both, "still, loaded anew")

    # The page's statement about a reload is true.
    browser.wait_for("Functions of rules and classes hold until the next reload")
    tell(lab, lab.gateway_a, "reload")
    rule = lab.gateway_a.query("rules")[1]
    check((rule["compress"], rule["changed"]) == ("auto", "no"), f"{rule}")
    check(lab.gateway_a.query("status")["new_flows"] == "bypass", "bypass has not outlasted it")
    for words, most in (
        (("rate", "remote", "configured"), 10_000_000),
        (("capacity", "sat", "send", "configured"), 20_000_000),
    ):
        rate = lab.gateway_a.peer()["send_rate_bps"]
        check(rate <= most / 2, f"{words} was not in force behind the reload: {rate}")
        tell(lab, lab.gateway_a, *words)
    check(lab.gateway_b.peer()["announced_bps"] == 4_000_000, "the far gateway has forgotten")
    check(capacities(browser)[1] == "4.00 Mbit/s", f"{capacities(browser)}")
    tell(lab, lab.gateway_a, "capacity", "sat", "receive", "configured")
    tell(lab, lab.gateway_a, "bypass", "off")
    browser.wait_until(lambda: capacities(browser)[:2] == usual[:2], "as before")
    must_be_silent(browser, "status of 409")


def capacities(browser: Browser) -> list[str]:
    """The shown figures of the one link: the rate set for each way, and what it sends now."""
    return browser.run(
        "return ['send', 'receive', 'sends now'].map((way) => document.querySelector("
        "`[data-command=capacity] td[data-title='${way}']`)?.textContent)"
    )


def test_asks_before_what_interrupts(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "ann", "switches")
    browser.wait_for("accelerate")
    browser.press("[data-command=drain] button")
    browser.wait_for("This interrupts connections.", "Yes, drain")
    check(browser.run("return document.activeElement.textContent") == "Cancel", "Enter would drain")
    browser.type(Keys.ENTER)
    browser.wait_until(
        lambda: not browser.run("return document.querySelector('dialog')"), "it closes"
    )
    check(lab.gateway_a.query("status")["new_flows"] == "open", "it drains all the same")
    must_be_silent(browser)


# --- roles ---------------------------------------------------------------------------------------


def test_roles(lab: Lab, panel: Panel, browser: Browser) -> None:
    browser.load("capture")
    browser.wait_for("Password")
    browser.fill("name", "vera")
    browser.fill("password", "wrong" + Keys.ENTER)
    browser.wait_for("Not logged in.")
    log_in(browser, "vera", "capture")
    browser.wait_for(
        "View only.", "This needs the role operator; vera has the role viewer."
    )
    check(not browser.find("main button[type=submit]").is_enabled(), "vera may capture")
    browser.judge_at_both_widths("capture of a viewer")
    browser.go("switches")
    browser.wait_for("View only.", "accelerate")
    check(
        not browser.run(
            "return [...document.querySelectorAll('main button')].some((b) => !b.disabled"
            " && b.checkVisibility())"
        ),
        "vera may switch",
    )
    browser.judge_at_both_widths("switches of a viewer")
    browser.screenshot("panel-viewer", NARROW, 1100)
    browser.resize(WIDE)

    browser.press("#logout")
    browser.wait_for("Password")
    log_in(browser, "otto", "switches")
    browser.wait_for("This needs the role administrator; otto has the role operator.")
    check(not browser.find("[data-command=drain] button").is_enabled(), "otto may drain")
    check(browser.find("[aria-label='Bypass on']").is_enabled(), "otto may not bypass")

    # A session that ends in between leads to the login, and then back to the page.
    browser.devtools("Network.clearBrowserCookies")
    browser.wait_for("Password")
    browser.fill("name", "otto")
    browser.fill("password", PASSWORD + Keys.ENTER)
    browser.wait_for("otto (operator)", "Functions of rules")
    must_be_silent(browser, "status of 401")


# --- events while a page is open -----------------------------------------------------------------


def test_events_as_they_happen(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "vera", "events")
    browser.wait_for("Live: new events appear by themselves.")
    check("receive 15Mbit" not in browser.text(), "it is there already")
    tell(lab, lab.gateway_a, "capacity", "sat", "receive", "15Mbit")
    browser.wait_for("receive configured → receive 15Mbit", "capacity_set", timeout=5)
    check(
        browser.run("return document.querySelector('.events li code').textContent")
        == "capacity_set",
        "the latest is not the first",
    )
    browser.screenshot("panel-events", WIDE, 1000)
    browser.find("main input[type=search]").send_keys("capacity_set")
    browser.wait_until(
        lambda: "peer_alive" not in browser.text() and "capacity_set" in browser.text(),
        "it is filtered",
    )

    # More events than a page holds.
    tell(lab, lab.gateway_a, "capacity", "sat", "receive", "configured")
    tell_all(lab.gateway_a, *(f"rate remote {rate}kbit" for rate in range(19_001, 19_251)))
    tell_all(lab.gateway_a, "rate remote configured")
    browser.find("main input[type=search]").send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)
    browser.wait_for("19250kbit → configured")  # so satpanel has all of them
    browser.load("events")
    browser.wait_for("19250kbit → configured")
    check("peer_alive" not in browser.text(), "all are there at once")
    # A value from before, older than the events that are shown.
    browser.find("main input[type=search]").send_keys("configured 19001kbit")
    browser.wait_for("No event matches.")
    browser.press("section[aria-label='List of events'] > button")
    browser.wait_for("configured → 19001kbit")
    browser.judge_at_both_widths("older events")
    browser.find("main input[type=search]").send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)
    browser.wait_for("peer_alive")
    check(
        not browser.find("section[aria-label='List of events'] > button").is_displayed(),
        "there are still older ones",
    )
    must_be_silent(browser)


def test_an_alarm_takes_away_all_is_well(lab: Lab, panel: Panel, browser: Browser) -> None:
    """An alarm that the page cannot find by itself, but that satpanel's list of alarms has."""
    log_in(browser, "otto")
    browser.wait_for("All is well.")
    tell(lab, lab.gateway_a, "capacity", "sat", "send", "5Mbit")
    cut = (
        "Peer remote: the send rate stays below the configured rate of the link (5.0 Mbit/s of 20.0 Mbit/s",
        "Check the modem; satrelayctl peers shows the rate.",
    )
    browser.wait_for(*cut, timeout=10)
    check("All is well." not in browser.text(), "all is well beside it")
    browser.judge_at_both_widths("an alarm")
    (alarm,) = Client(panel, "vera").get("/api/v1/alarms?filter=remote&sort=-since_ms")["entries"]
    told = {name: alarm[name] for name in ("name", "severity", "subject", "matter")}
    check(
        told
        == {
            "name": "rate_cut",
            "severity": "warning",
            "subject": "peer remote",
            "matter": "rate",
        },
        f"{alarm}",
    )
    tell(lab, lab.gateway_a, "capacity", "sat", "send", "configured")
    browser.wait_for("All is well.", timeout=10)
    check(Client(panel, "vera").get("/api/v1/alarms")["total"] == 0, "it is not over")
    must_be_silent(browser)


def test_asks_nothing_unseen(panel: Panel, browser: Browser) -> None:
    log_in(browser, "vera", "explain")
    browser.wait_for("gateway up", "Bridged frames")
    asked = (
        "return performance.getEntriesByType('resource')"
        ".filter(({name}) => name.includes('/api/')).length"
    )
    hide = (
        "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    browser.run(hide, True)
    time.sleep(1)  # for answers that are in flight
    before = browser.run(asked)
    time.sleep(2.2)
    check(browser.run(asked) == before, "a page that nobody sees asks")
    browser.run(hide, False)
    browser.wait_until(lambda: browser.run(asked) >= before + 4, "it asks again", 5)


def test_capture(lab: Lab, panel: Panel, browser: Browser) -> None:
    log_in(browser, "otto", "capture")
    browser.fill("filter", "tcp port 8080 and")
    browser.press("main button[type=submit]")
    browser.wait_for("The request failed.")
    browser.fill("filter", "tcp port 8080")
    browser.fill("seconds", "3")
    measured = RealTime()  # the conversation must end within these seconds
    browser.press("main button[type=submit]")
    browser.wait_for("Capturing at port lan")
    converse(lab, 8080)
    browser.wait_for("The file was downloaded.")
    browser.wait_until(lambda: browser.downloads(".pcapng"), "the file is there", 5)
    content = pathlib.Path(browser.downloads(".pcapng")[0]).read_bytes()
    check(content[:4] == b"\n\r\r\n", f"no pcapng: {content[:16]}")
    measured.check(len(content) > 5_000, f"the conversation is not in it: {len(content)} bytes")
    must_be_silent(browser, "status of 4")
