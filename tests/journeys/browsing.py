"""A real Chromium, as Debian ships it, and what every page must be: quiet, wide enough, readable."""

import contextlib
import shutil

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

FLAGS = [
    "--no-sandbox",  # Chromium refuses to run as root with one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MODES = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "has_touch": True},
}
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 29)", "phone": "rgb(255, 255, 255)"}


@contextlib.contextmanager
def chromium():
    """A browser while the block runs."""
    place = shutil.which("chromium")
    assert place, "the journeys need a Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def visit(browser, url, mode="light", expected="", **more):
    """A fresh visitor. At the end the browser must have had nothing to complain about, but for what is
    expected."""
    context = browser.new_context(base_url=url, **MODES[mode], **more)
    page = context.new_page()
    page.set_default_timeout(60_000)  # a machine may be busy
    complaints = []
    page.on(
        "console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request", lambda sent: None if sent.url.startswith((url, "blob:")) else complaints.append(sent.url)
    )
    yield page
    unexpected = [each for each in complaints if not expected or expected not in each]
    assert not unexpected, unexpected
    context.close()


def sign_in(page, token):
    page.goto("/")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/datasets")


def check(page, mode):
    """What holds for every page in every mode: no sideways scrolling, its paper, nothing for axe to say."""
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= MODES[mode]["viewport"]["width"], f"{page.url} is {width} wide"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == PAPER[mode]
    found = Axe().run(page, context={"exclude": [[".plot"]]}).response["violations"]
    words = [f"{each['id']}: {[node['html'][:200] for node in each['nodes']][:4]}" for each in found]
    assert not found, f"{page.url} in {mode}: {words}"


def axes(figure):
    """The titles of a drawn figure's axes, as the browser shows them."""
    figure.locator(".xtitle").first.wait_for()
    return [figure.locator(f".{name}title").first.text_content() for name in ("x", "y")]
