"""A browser without a screen, and the checks that every page of the panel must pass.

Chromium and its driver are Debian's. The tests find what a page shows by its words, as a reader would.
"""

import base64
import contextlib
import os
import shutil
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from harness import check

DRIVER = "/usr/bin/chromedriver"
NARROW, WIDE = 390, 1400

# Lists what a page lacks, one fault a line. Looks at visible elements only.
LACKS = """
const lacks = [];
const isShown = (each) => each.checkVisibility();
const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);
for (const each of all("input, select, textarea")) {
  if (!each.labels.length && !each.ariaLabel) lacks.push(`no label: ${each.outerHTML}`);
}
for (const each of all("button, a")) {
  if (!each.textContent.trim() && !each.ariaLabel) lacks.push(`no name: ${each.outerHTML}`);
}
for (const table of all("table")) {
  if (!table.caption?.textContent.trim()) lacks.push("a table has no caption");
  if (!table.querySelector("thead th[scope=col]")) lacks.push("a table has no heads of columns");
  for (const row of table.tBodies[0].rows) {
    if (!row.querySelector("th[scope=row]")) lacks.push(`a row has no head: ${row.textContent}`);
  }
}
for (const each of all("img")) if (!each.hasAttribute("alt")) lacks.push(`no alt: ${each.src}`);
for (const each of all("svg, canvas")) if (!each.ariaLabel) lacks.push("a picture has no label");
const ids = [...document.querySelectorAll("[id]")].map(({id}) => id);
for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) lacks.push(`twice: #${id}`);
if (all("h1").length !== 1) lacks.push(`${all("h1").length} h1`);
if (all("nav a").length && all("nav a[aria-current=page]").length !== 1) {
  lacks.push("no aria-current");
}
if (document.documentElement.lang !== "en") lacks.push("no language");
const wide = document.documentElement.scrollWidth - innerWidth;
if (wide > 0) {
  const ends = (each) => each.getBoundingClientRect().right;
  const guilty = all("body *").filter((each) => ends(each) > innerWidth + 1);
  lacks.push(`scrolls sideways by ${wide} pixels: ${guilty.at(-1)?.outerHTML.slice(0, 200)}`);
}
return lacks;
"""


class Browser:
    def __init__(self, address: str, screenshots: str | None = None):
        self.address = address
        self._screenshots = screenshots  # a folder, or None for no screenshots
        self._profile = tempfile.mkdtemp(prefix="satpanel-browser-")
        options = Options()
        for word in (
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",  # in containers it is small
            "--hide-scrollbars",
            "--no-first-run",
        ):
            options.add_argument(word)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium refuses to run as root otherwise
        options.add_argument(f"--user-data-dir={self._profile}")
        options.add_experimental_option(
            "prefs",
            {"download.default_directory": self._profile, "download.prompt_for_download": False},
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(20)
        self.driver.set_page_load_timeout(30)

    def close(self) -> None:
        self.driver.quit()
        shutil.rmtree(self._profile, ignore_errors=True)

    # --- where ------------------------------------------------------------------------------------

    def load(self, page: str = "") -> None:
        """Loads the panel anew, as after a reload."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#/{page}")

    def go(self, page: str) -> None:
        """Goes to a page within the panel, which is not loaded anew."""
        self.run("location.hash = arguments[0]", f"#/{page}")

    def resize(self, width: int, height: int = 900) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        self.devtools(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def devtools(self, command: str, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_async(self, script: str):
        """Runs `script` as the body of an async function; returns its result."""
        done = "arguments[arguments.length - 1]"
        return self.driver.execute_async_script(
            f"const done = {done};"
            f"(async () => {{ {script} }})().then(done, (error) => done(String(error)));"
        )

    # --- what is there ----------------------------------------------------------------------------

    def text(self) -> str:
        """All text that can be read, of the page and of dialogs above it."""
        return self.run("return document.body.innerText")

    def wait_for(self, *texts: str, timeout: float = 20) -> None:
        self.wait_until(
            lambda: all(text in self.text() for text in texts), f"reading {texts}", timeout
        )

    def wait_until(self, condition, what: str, timeout: float = 20) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            check(
                time.monotonic() < deadline,
                f"not within {timeout:g} s: {what}; there is: {self.text()}",
            )
            time.sleep(0.05)

    def find(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_soon(self, selector: str):
        """Waits for an element and returns it: a page is drawn a little after the browser went to it."""
        self.wait_until(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector), f"{selector} is there")
        return self.find(selector)

    def press(self, selector: str) -> None:
        self.find_soon(selector)
        self.run("document.querySelector(arguments[0]).click()", selector)

    def fill(self, name: str, text: str) -> None:
        field = self.find_soon(f'main [name="{name}"], dialog [name="{name}"]')
        field.clear()
        field.send_keys(text)

    def choose(self, name: str, word: str) -> None:
        Select(self.find_soon(f'main [name="{name}"], dialog [name="{name}"]')).select_by_value(word)

    def judge(self, what: str) -> None:
        """Checks that nothing is lacking on the page as it is."""
        lacks = self.run(LACKS)
        check(not lacks, f"{what}: {lacks}")

    def settle(self) -> None:
        """Waits until the page has followed a new size."""
        self.run_async("for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);")

    def judge_at_both_widths(self, what: str) -> None:
        for width in (NARROW, WIDE):
            self.resize(width)
            self.settle()
            self.judge(f"{what} at {width} pixels")

    def complaints(self, allowed: str = "") -> list[str]:
        """Messages of the console since the last call, except those with `allowed` in them."""
        lines = [line["message"] for line in self.driver.get_log("browser")]
        return [line for line in lines if not allowed or allowed not in line]

    def screenshot(self, name: str, width: int, most_height: int = 1400) -> None:
        """If screenshots are wanted, saves the whole page as a small file."""
        if self._screenshots is None:
            return
        self.resize(width, 400)
        self.settle()
        height = min(self.run("return document.documentElement.scrollHeight"), most_height)
        self.resize(width, height)
        time.sleep(0.3)  # until charts have their new size
        clip = {
            "x": 0,
            "y": 0,
            "width": width,
            "height": height,
            "scale": 0.7 if width > NARROW else 1,
        }
        png = self.devtools("Page.captureScreenshot", clip=clip)["data"]
        with open(os.path.join(self._screenshots, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(png))

    def downloads(self, suffix: str) -> list[str]:
        names = sorted(name for name in os.listdir(self._profile) if name.endswith(suffix))
        return [os.path.join(self._profile, name) for name in names]

    @property
    def takes_screenshots(self) -> bool:
        return self._screenshots is not None

    # --- with the keyboard alone ------------------------------------------------------------------

    def type(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, name: str, most: int = 60) -> int:
        """Presses Tab until the element with the focus is called `name`; returns how often that took."""
        for times in range(1, most + 1):
            self.type(Keys.TAB)
            focused = self.run(
                "const e = document.activeElement;"
                "return e === document.body ? null : [e.ariaLabel || e.textContent,"
                " getComputedStyle(e).outlineStyle, parseFloat(getComputedStyle(e).outlineWidth)]"
            )
            if focused is None:
                continue
            check(focused[1] != "none" and focused[2] >= 2, f"the focus is not seen: {focused}")
            if focused[0] == name:
                return times
        raise AssertionError(f"Tab does not come to {name}")


@contextlib.contextmanager
def browser_at(address: str, screenshots: str | None = None):
    browser = Browser(address, screenshots)
    try:
        yield browser
    finally:
        browser.close()


def must_be_silent(browser: Browser, allowed: str = "") -> None:
    complaints = browser.complaints(allowed)
    check(not complaints, f"the console says {complaints}")
