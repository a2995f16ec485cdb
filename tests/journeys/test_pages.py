"""Journeys through the pages in a real browser: an analyst's first question, an owner's day, the lab."""

import json

import pytest

from journeys.browsing import MODES, axes, check, chromium, sign_in, visit
from server.running import promptly, write_policy


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"), epsilon=1)) as served:
        yield served


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def write(page, sql):
    page.get_by_label("Question").fill(sql)


def test_an_analyst_sees_the_price_asks_gets_error_bars_and_runs_out_of_budget(browser, town, tmp_path):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["ann"])
        page.get_by_role("link", name="What may be asked of town").click()
        assert page.get_by_role("row", name="debt").get_by_text("0 to 1,000").is_visible()
        page.get_by_role("link", name="Ask", exact=True).click()

        # the price and the expected error, before anything is spent
        page.get_by_label("How much").fill("0.4")
        before = page.locator("#before")
        before.get_by_text("ε 0.4").wait_for()
        assert page.locator("#forecast .errorbar").count() == 1
        assert page.locator("#forecast .xtitle").text_content() == "distance from the bounded truth"
        assert before.locator(".left-number").text_content() == "1"

        # the answer, with ± in the table and error bars in the chart
        page.get_by_role("button", name="Ask").click()
        rows = page.locator("#answer tbody tr")
        rows.first.wait_for()
        assert rows.count() == 2
        assert rows.first.text_content().startswith(("Ottawa", "Toronto"))
        assert "±" in rows.first.text_content()
        assert page.locator("#chart .wide svg > title").text_content() == "people by city"
        whiskers = page.locator("#chart .wide polyline[stroke-width='1.5']")  # a line and two caps each
        assert whiskers.count() == 2 * 3
        assert before.locator(".left-number").text_content() == "0.6"
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the receipt").click()
        assert json.loads(download.value.path().read_text())["receipts"][0]["price"] == {"epsilon": "0.4"}

        # the same again is free; what costs more than is left cannot be sent
        before.get_by_text("already answered: free").wait_for()
        page.get_by_label("How much").fill("0.7")
        page.get_by_text("This costs more than is left.").wait_for()
        assert page.get_by_role("button", name="Ask").is_disabled()

        page.get_by_role("link", name="History").click()
        assert axes(page.locator("#spending"))[1] == "total spent (ε)"
        assert page.get_by_role("row").filter(has_text="COUNT(DISTINCT person)").count() == 1


def test_completion_and_refusals_work_from_the_keyboard(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        write(page, "")
        page.keyboard.type("SELECT ci")
        page.get_by_role("option", name="city").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.get_by_label("Question").input_value() == "SELECT city "
        page.keyboard.type(", now() FROM town")
        page.locator("#sql-error").filter(has_text="The time of asking").wait_for()
        assert page.locator(".backdrop mark").text_content() == "now"
        assert page.get_by_role("button", name="Ask").is_disabled()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "example"  # Tab leaves the editor


def test_a_question_survives_a_session_that_ended_while_it_was_written(browser, town):
    sql = "SELECT COUNT(DISTINCT person) AS n FROM town WHERE city <> 'Sault & Ste. Marie'"
    with visit(browser, town.url, expected="401") as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        page.context.clear_cookies()
        write(page, sql)
        page.get_by_text("Sign in to get back where you were.").wait_for()
        page.get_by_label("Token").fill(town.tokens["bob"])
        page.get_by_role("button", name="Sign in").click()
        page.locator("#before").get_by_text("ε 0.1").wait_for()
        assert page.get_by_label("Question").input_value() == sql


def test_an_owner_creates_an_analyst_who_comes_in_until_revoked(browser, town):
    with visit(browser, town.url) as owner, visit(browser, town.url) as analyst:
        sign_in(owner, town.tokens["olga"])
        owner.get_by_role("link", name="Owner").click()
        owner.get_by_label("Name").fill("frida")
        owner.get_by_role("button", name="Create").click()
        token = owner.locator("#new-token").text_content()
        sign_in(analyst, token)
        assert analyst.get_by_text("frida").is_visible()
        owner.get_by_role("button", name="Revoke the tokens of frida").click()
        owner.get_by_role("row", name="frida").get_by_text("all revoked").wait_for()
        analyst.reload()
        analyst.get_by_role("heading", name="Sign in").wait_for()
        owner.goto("/datasets/town/history")
        owner.get_by_role("button", name="Verify the chain").click()
        owner.get_by_text("The chain is valid.").wait_for()


def test_a_visitor_without_an_account_finds_the_lab(browser, town):
    with visit(browser, town.url) as page:
        page.goto("/")
        page.get_by_role("link", name="Explore the ideas in the lab").click()
        page.get_by_role("heading", name="The lab").wait_for()
        page.get_by_role("link", name="The theory: Certified composition").click()
        page.get_by_role("heading", name="Certified composition").wait_for()


def test_sliders_of_the_lab_change_the_pictures_and_the_numbers(browser, town):
    with visit(browser, town.url) as page:
        page.goto("/lab")
        exhibit = page.locator("#neighbours")
        assert axes(exhibit) == ["output y", "probability"]
        before = (
            exhibit.locator(".facts").text_content(),
            exhibit.locator(".trace path").first.get_attribute("d"),
        )
        slider = exhibit.get_by_role("slider", name="privacy loss")
        slider.focus()
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == "0.5"
        page.wait_for_function(
            "([shown, before]) => shown.textContent !== before",
            arg=[exhibit.locator(".facts").element_handle(), before[0]],
        )
        assert exhibit.locator(".trace path").first.get_attribute("d") != before[1]
        assert "error at 95 %" in exhibit.locator(".facts").text_content()
        exhibit.get_by_text("Gaussian").click()
        exhibit.locator(".sub").filter(has_text="Gaussian").wait_for()


def test_the_theme_follows_the_system_until_a_visitor_chooses(browser, town):
    with visit(browser, town.url, "dark") as page:
        page.goto("/lab")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Theme: automatic").click()
        page.get_by_role("button", name="Theme: light").wait_for()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize("mode", MODES)
def test_every_page_is_readable_in_every_mode(browser, town, mode):
    with visit(browser, town.url, mode) as page:
        page.goto("/")
        check(page, mode)
        sign_in(page, town.tokens["olga"])
        check(page, mode)
        for place in ("/datasets/town", "/datasets/town/watches", "/owner", "/theory", "/theory/losses"):
            page.goto(place)
            check(page, mode)
        page.goto("/datasets/town/ask")
        price = f"0.0{1 + list(MODES).index(mode)}"  # a new question in each mode
        page.get_by_label("How much").fill(price)
        page.locator("#before").get_by_text(f"ε {price}").wait_for()
        page.get_by_role("button", name="Ask").click()
        assert page.locator("#chart .wide svg > title").text_content() == "people by city"
        page.get_by_text("The plan", exact=True).click()
        check(page, mode)
        page.goto("/datasets/town/history")
        axes(page.locator("#spending"))
        check(page, mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_lab_is_drawn_and_readable_in_every_mode(browser, town, mode):
    with visit(browser, town.url, mode) as page:
        page.goto("/lab")
        for exhibit in page.locator(".exhibit").all():
            exhibit.scroll_into_view_if_needed()
            assert all(axes(exhibit))
            assert exhibit.locator("math").count() >= 1
            assert exhibit.locator(".facts dd").count() >= 3
        check(page, mode)
