"""A working day in a real browser: ask by menus, try, keep, export, compare; approvals from both sides."""

import csv
import json

import pytest

from journeys.browsing import MODES, check, chromium, sign_in, visit
from journeys.hospital import LONG, ask_all, write_hospital
from server.running import promptly


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with promptly(write_hospital(tmp_path_factory.mktemp("hospital"))) as served:
        served.numbers = ask_all(served)
        yield served


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.mark.parametrize("mode", MODES)
def test_from_the_menus_to_every_file_of_the_answer_and_back(browser, house, mode):
    with visit(browser, house.url, mode) as page:
        sign_in(page, house.tokens["bob"])
        page.goto("/datasets/hospital/ask")
        menu = page.locator("#builder")
        menu.get_by_label("What").select_option(label="number of rows")
        menu.get_by_label("by", exact=True).select_option("sex")
        menu.get_by_label("where").select_option("clinic")
        menu.get_by_label("value").select_option(LONG[list(MODES).index(mode)])
        page.get_by_label("How much").fill("0.5")
        page.locator("#before").get_by_text("ε 0.5").first.wait_for()
        page.get_by_role("button", name="Try on invented people").click()
        page.locator("#tried svg:visible").wait_for()
        check(page, mode)
        page.get_by_role("button", name="Ask for ε 0.5").click()
        page.get_by_role("link", name="Open: link, CSV, print").click()
        page.locator("#answer tbody tr").first.wait_for()
        address = page.url
        check(page, mode)

        files = {}
        for name in ("CSV", "JSON", "SVG", "Receipt"):
            with page.expect_download() as download:
                page.get_by_role("link", name=name, exact=True).click()
            files[name] = download.value.path().read_text(encoding="utf-8-sig")
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG").click()
        assert download.value.path().read_bytes().startswith(b"\x89PNG")
        lines = files["CSV"].splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))  # what limits cut
        assert [row["sex"] for row in rows] == ["f", "m", "x"]
        answer = json.loads(files["JSON"])
        assert [str(row["n"]) for row in answer["rows"]] == [row["n"] for row in rows]
        assert "<svg" in files["SVG"]
        assert json.loads(files["Receipt"])["signature"]

        page.goto("/datasets/hospital/history")
        page.locator("tbody tr").first.get_by_role("link").first.click()
        page.locator("#answer tbody tr").first.wait_for()
        assert page.url == address  # reopened by its address, free
        page.get_by_label("Compare with answer").fill(address.rsplit("/", 1)[1])
        page.get_by_role("button", name="Compare").click()
        assert page.get_by_text("cannot be told").count() == 3  # an answer does not differ from itself
        check(page, mode)


@pytest.mark.parametrize("mode", MODES)
def test_two_hundred_groups_and_long_labels_can_be_read(browser, house, mode):
    with visit(browser, house.url, mode) as page:
        sign_in(page, house.tokens["ann"])
        page.goto(f"/datasets/hospital/answers/{house.numbers['many']}")
        assert page.locator("#answer tbody tr").count() == 50
        assert page.get_by_text("Page 1 of 4").is_visible()
        assert page.get_by_text("Pale rows cannot be told from zero.").is_visible()
        page.locator("#answer tbody tr").nth(40).scroll_into_view_if_needed()
        seen = page.locator("#chart svg:visible").evaluate(
            "each => each.getBoundingClientRect().bottom > 200"
        )
        assert seen == (mode != "phone")  # on a wide screen the chart stays beside the rows
        check(page, mode)
        page.get_by_role("link", name="The 20 largest").click()
        assert page.locator("#answer tbody tr").count() == 20
        page.get_by_label("Search the rows").fill("ward 00")
        page.get_by_role("button", name="Search").click()
        assert page.locator("#answer tbody tr").count() == 10
        for shape in ("dots", "heat", "line", "grouped", "tiles", "chosen"):
            page.goto(f"/datasets/hospital/answers/{house.numbers[shape]}")
            assert page.locator("#chart svg:visible").count() == 1
            check(page, mode)


@pytest.mark.parametrize("mode", MODES)
def test_an_approval_is_seen_from_both_sides(browser, house, mode):
    sql, fine = f"SELECT COUNT(*) AS dear_{mode} FROM hospital", f"once a year is fine, {mode}"
    why = f"the yearly report, {mode}"
    with visit(browser, house.url, mode) as analyst, visit(browser, house.url, mode) as owner:
        sign_in(analyst, house.tokens["bob"])
        analyst.goto("/datasets/hospital/ask")
        analyst.get_by_label("Question").fill(sql)
        analyst.get_by_label("How much").fill("5")
        analyst.get_by_text("waits for the owner", exact=True).wait_for()  # said before it is asked
        analyst.get_by_role("button", name="Ask for ε 5").click()
        analyst.get_by_text("Ask again once it is approved.").wait_for()
        analyst.get_by_role("link", name="Waiting").click()
        analyst.get_by_label("Why you need the answer").fill(why)
        analyst.get_by_role("button", name="Tell the owner").click()
        analyst.get_by_text(f"Why: {why}").wait_for()
        check(analyst, mode)

        sign_in(owner, house.tokens["olga"])
        owner.get_by_role("link", name="Owner").click()
        owner.get_by_role("link", name="1 question waits for your decision").click()
        owner.get_by_text(f"Why: {why}").wait_for()
        check(owner, mode)
        owner.get_by_label("Your reason, which bob will read").fill(fine)
        owner.get_by_role("button", name="Approve the question of bob").click()
        owner.get_by_text(fine).wait_for()
        check(owner, mode)

        analyst.reload()
        analyst.get_by_text(fine).wait_for()
        decided = analyst.locator("tr").filter(has_text=fine)
        decided.get_by_role("link", name="Ask it now").click()
        analyst.get_by_role("button", name="Ask for ε 5").click()
        analyst.locator("#answer tbody tr").first.wait_for()


def test_a_question_is_built_tried_asked_and_opened_by_the_keyboard_alone(browser, house):
    with visit(browser, house.url) as page:
        page.goto("/")
        reach(page, "#token")
        page.keyboard.type(house.tokens["ann"])
        page.keyboard.press("Enter")
        page.wait_for_url("**/datasets")
        reach(page, "a[href$='/ask']")
        page.keyboard.press("Enter")
        page.locator("#builder").wait_for()
        reach(page, "#b-by")
        page.keyboard.type("sex")
        reach(page, "#amount")
        page.keyboard.press("Control+A")
        page.keyboard.type("0.25")
        page.locator("#before").get_by_text("ε 0.25").first.wait_for()
        reach(page, "#try")
        page.keyboard.press("Enter")
        page.locator("#tried svg:visible").wait_for()
        reach(page, "#send", key="Shift+Tab")
        page.keyboard.press("Enter")
        page.locator("#answer tbody tr").first.wait_for()
        assert page.evaluate("() => document.activeElement.id") == "answer"
        reach(page, "#open")
        page.keyboard.press("Enter")
        page.wait_for_url("**/answers/*")
        assert page.locator("#answer tbody tr").count() == 3


def reach(page, selector, *, key="Tab"):
    """Go to a control as a keyboard does; it must be seen to have the focus."""
    for _ in range(80):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the keyboard does not reach {selector}")
