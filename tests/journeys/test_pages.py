"""Journeys through the pages in a real browser: an analyst's first question, an owner's day, the lab."""

import json

import pytest

from discreet.apps.server.lab.exhibits import EXHIBITS
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
        assert page.locator("#errors dt").text_content() == "people"
        assert "of the bounded truth, in 95 of 100 cases" in page.locator("#errors dd").text_content()
        before.get_by_text("guesses right after this answer in at most").wait_for()
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
        assert page.locator("#spending .wide svg > title").text_content() == "Budget spent"
        assert page.get_by_role("row").filter(has_text="COUNT(DISTINCT person)").count() == 1


def test_completion_and_refusals_work_from_the_keyboard(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        write(page, "")
        page.keyboard.type("SELECT ci")
        page.locator("#suggestions").get_by_role("option", name="city").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.get_by_label("Question").input_value() == "SELECT city "
        page.keyboard.type(", now() FROM town")
        page.locator("#sql-error").filter(has_text="The time of asking").wait_for()
        assert page.locator(".backdrop mark").text_content() == "now"
        assert page.get_by_role("button", name="Ask").is_disabled()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"  # Tab leaves the editor


def test_a_question_is_built_from_menus_in_step_with_its_sql(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        sql, menu = page.get_by_label("Question"), page.locator("#builder")
        assert menu.get_by_label("by", exact=True).input_value() == "city"  # the example is understood
        menu.get_by_label("What").select_option(label="mean debt")
        menu.get_by_label("where").select_option("city")
        menu.get_by_label("value").select_option("Toronto")
        menu.get_by_label("by", exact=True).select_option("")
        assert sql.input_value() == "SELECT AVG(debt) AS mean\nFROM town\nWHERE city = 'Toronto'"
        page.locator("#errors").get_by_text("mean").wait_for()  # planned as written
        assert page.locator(".backdrop .t-call").text_content() == "AVG"
        assert page.locator(".backdrop .t-text").text_content() == "'Toronto'"

        write(page, "SELECT COUNT(*) AS n FROM town WHERE debt >= 500")
        assert menu.get_by_label("What").input_value() == "COUNT(*)"
        assert menu.get_by_label("where").input_value() == "debt"
        assert menu.get_by_label("value").input_value() == "500"
        write(page, "SELECT COUNT(*) AS n, SUM(debt) AS s FROM town WHERE debt > 5 OR city = 'Ottawa'")
        menu.get_by_text("Written by hand").wait_for()
        menu.get_by_label("What").select_option(label="number of rows")
        assert sql.input_value() == "SELECT COUNT(*) AS n\nFROM town\nWHERE debt >= 500"

        write(page, "")
        page.keyboard.press("Escape")
        page.get_by_text("Columns", exact=True).click()
        page.get_by_role("button", name="debt number").click()
        assert sql.input_value() == "debt"


def test_a_question_is_tried_on_invented_people_and_nothing_is_charged(browser, town):
    spent = town.spent()
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        page.get_by_role("button", name="Try on invented people").click()
        page.locator("#tried").get_by_text("noise, in 30 draws, moves one by up to").wait_for()
        drawing = page.locator("#tried .wide svg")
        assert drawing.locator("> title").text_content().startswith("people, on ")
        assert drawing.locator("circle[fill-opacity='0.28']").count() == 2 * 30
        page.get_by_text("Nothing was charged, and no data was read.").wait_for()
    assert town.spent() == spent


def test_without_a_script_one_sees_the_price_tries_asks_and_keeps_the_answer(browser, town):
    with visit(browser, town.url, java_script_enabled=False) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        page.get_by_label("How much").fill("0.125")
        page.get_by_role("button", name="Try on invented people").click()
        assert page.locator("#price-facts dd").first.text_content().strip() == "ε 0.125"
        assert page.locator("#tried svg").count() == 2
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_url("**/answers/*")
        assert page.locator("#answer tbody tr").count() == 2
        page.get_by_role("link", name="History").click()
        page.locator("#spending svg:visible").wait_for()


def test_the_first_paint_of_ask_is_light(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        sizes = []
        network.on("Network.loadingFinished", lambda done: sizes.append(done["encodedDataLength"]))
        page.goto("/datasets/town/ask")
        page.locator("#before").get_by_text("ε 0.1").first.wait_for()
        assert len(sizes) >= 6
        assert 0 < sum(sizes) < 300_000, sizes


def test_offline_is_said_in_words_and_the_price_comes_back_with_the_connection(browser, town):
    with visit(browser, town.url, expected="ERR_INTERNET_DISCONNECTED") as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        page.locator("#before").get_by_text("ε 0.1").first.wait_for()
        page.context.set_offline(True)
        page.get_by_label("How much").fill("0.0625")
        page.get_by_text("The server cannot be reached.").wait_for()
        page.context.set_offline(False)
        page.locator("#before").get_by_text("ε 0.0625").first.wait_for()
        assert page.locator("#sql-error").text_content() == ""


def test_a_click_on_ask_is_not_lost_while_completions_are_shown(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        write(page, "")
        page.keyboard.type("SELECT city, COUNT(*) AS n FROM town GROUP BY cit")
        page.keyboard.type("y")
        page.locator("#before").get_by_text("ε 0.1").first.wait_for()
        page.keyboard.press("Backspace")
        page.keyboard.type("y")
        page.wait_for_function("() => !document.getElementById('send').disabled")
        page.locator("#send").scroll_into_view_if_needed()
        place = page.locator("#send").bounding_box()
        page.mouse.move(place["x"] + 10, place["y"] + 10)
        page.mouse.down()  # the editor loses the focus here: nothing may move
        page.mouse.up()
        page.locator("#answer tbody tr").first.wait_for()


def test_after_a_price_too_high_nothing_of_it_stays(browser, town):
    with visit(browser, town.url) as page:
        sign_in(page, town.tokens["bob"])
        page.goto("/datasets/town/ask")
        page.get_by_label("How much").fill("50")
        page.get_by_text("This costs more than is left.").wait_for()
        for amount in ("-1", ""):
            page.get_by_label("How much").fill(amount)
            page.get_by_text("How much must be a number above 0").wait_for()
            assert page.locator("#gauge .next.over").count() == 0
            assert page.locator("#state").text_content() == ""
        page.get_by_label("How much").fill("0.1")
        page.locator("#before").get_by_text("ε 0.1").first.wait_for()
        write(page, "")
        page.wait_for_function("() => !document.getElementById('price-facts').children.length")
        assert page.locator("#sql-error").text_content() == ""


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
    with visit(browser, town.url, expected="403") as owner, visit(browser, town.url) as analyst:
        sign_in(owner, town.tokens["olga"])
        owner.get_by_role("link", name="Owner").click()
        owner.get_by_label("Name", exact=True).fill("frida")
        owner.get_by_role("button", name="Create").click()
        token = owner.locator("#new-token").text_content()
        sign_in(analyst, token)
        assert analyst.get_by_text("frida").is_visible()
        owner.get_by_text("Revoke the tokens of frida").click()
        analyst.reload()
        assert analyst.get_by_text("frida").is_visible()  # one click revokes nothing
        owner.get_by_role("button", name="Yes, revoke all tokens of frida").click()
        owner.get_by_role("row", name="frida").get_by_text("all revoked").wait_for()
        analyst.reload()
        analyst.get_by_role("heading", name="Sign in").wait_for()
        owner.get_by_text("Revoke the tokens of olga").click()
        owner.get_by_role("button", name="Yes, revoke all tokens of olga").click()
        owner.get_by_text("the last owner must keep a token").wait_for()
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
        assert "error at 95%" in exhibit.locator(".facts").text_content()
        exhibit.get_by_text("Gaussian").click()
        exhibit.locator(".sub").filter(has_text="Gaussian").wait_for()


@pytest.mark.parametrize("mode", MODES)
def test_without_a_script_the_lab_has_pictures_numbers_and_a_form(browser, town, mode):
    with visit(browser, town.url, mode) as page:
        for exhibit in EXHIBITS:
            page.goto(f"/lab/{exhibit.name}")
            check(page, mode)
    with visit(browser, town.url, mode, java_script_enabled=False) as page:
        for exhibit in EXHIBITS:
            page.goto("/lab")
            page.get_by_role("link", name=f"Show “{exhibit.title}”").click()
            page.locator("figure svg").wait_for()
            assert page.locator(".facts dd").count() >= 3, exhibit.name
        page.goto("/lab/composition")
        before = page.locator(".facts").text_content(), page.locator("figure").inner_html()
        page.get_by_label("k releases").select_option("300")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**/lab/composition?*k=300*")
        assert page.get_by_label("k releases").input_value() == "300"
        assert page.locator(".facts").text_content() != before[0]
        assert page.locator("figure").inner_html() != before[1]
        page.goto("/lab/sparse-vector")
        first = page.locator("figure").inner_html()
        page.get_by_role("button", name="Draw again").click()
        page.wait_for_url("**draw=1")
        assert page.locator("figure").inner_html() != first


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
        for place in ("/datasets/town", "/datasets/town/watches", "/datasets/town/report", "/owner"):
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
        page.locator("#spending svg:visible").wait_for()
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
