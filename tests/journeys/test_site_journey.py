"""A reader finds a word, follows a link and reads a formula, in light, dark and on a phone."""

import threading

import pytest
import uvicorn

from discreet.apps.cli.documents import build_documentation
from discreet.apps.server.lab import make_lab
from journeys.browsing import check, chromium, visit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address():
    server = uvicorn.Server(
        uvicorn.Config(make_lab(), port=0, log_level="error", timeout_graceful_shutdown=5)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("mode", ["light", "dark", "phone"])
def test_a_reader_finds_a_word_and_reads_its_page(browser, address, mode):
    with visit(browser, address, mode) as page:
        page.goto("/docs")
        check(page, mode)
        page.get_by_role("searchbox").fill("sparse vector")
        page.locator("#found a").first.wait_for()
        page.get_by_role("searchbox").press("Enter")
        page.wait_for_url("**/sparse-vector.html*")
        check(page, mode)
        for place in ("theory/index", "api/curator", "commands", "rest", "glossary", "guide/count"):
            page.goto(f"/docs/{place}.html")
            check(page, mode)
        page.goto("/docs/theory/index.html")
        assert page.locator("math mfrac").first.bounding_box()["height"] > 20  # one above the other


def test_the_list_of_pages_is_open_on_a_wide_screen_and_folded_on_a_phone(browser, address):
    with visit(browser, address) as page:
        page.goto("/docs/guide/count.html")
        page.get_by_role("link", name="Median and quantiles").first.click()
        page.wait_for_url("**/median.html")
    with visit(browser, address, "phone") as page:
        page.goto("/docs/guide/count.html")
        assert not page.locator(".side nav").is_visible()
        page.get_by_text("All pages").click()
        assert page.locator(".side nav").is_visible()


def test_nothing_that_is_searched_for_is_read_as_html(browser, address):
    with visit(browser, address) as page:
        page.goto("/docs")
        page.get_by_role("searchbox").fill("<img src=x onerror=alert(1)>")
        page.get_by_text("Nothing was found").wait_for()
        assert page.locator("#found img").count() == 0


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["light", "dark", "phone"])
def test_every_page_of_the_site_is_readable(browser, address, mode):
    pages = [name for name in build_documentation() if name.endswith(".html")]
    assert len(pages) > 50
    bad = []
    with visit(browser, address, mode) as page:
        for name in pages:
            page.goto(f"/docs/{name}")
            try:
                check(page, mode)
            except AssertionError as error:
                bad.append(str(error).splitlines()[0])
    assert not bad, "\n".join(bad)
