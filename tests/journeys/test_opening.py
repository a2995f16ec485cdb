"""An owner's first day: from a file and nothing else to the first answer, each action counted."""

import random

import pytest

from journeys.browsing import MODES, check, chromium, sign_in, visit
from journeys.test_working_day import reach
from server.running import UNHURRIED, prompt, running

MOST_ACTIONS = 25


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visits(tmp_path):
    draw, path = random.Random(3), tmp_path / "visits.csv"
    rows = [
        f"{n // 2},{draw.randint(0, 99)},{draw.randint(0, 5000)},{draw.choice(['North', 'South'])},2025-03-01"
        for n in range(2000)
    ]
    path.write_text("\n".join(["patient,age,cost,clinic,day", *rows]) + "\n")
    return path


class Counted:
    """Does what an owner's hand does, and counts it: a click, a choice, a field filled in."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def __call__(self, act, *values):
        self.actions += 1
        return act(*values)


@pytest.mark.parametrize("mode", MODES)
def test_from_a_file_and_nothing_else_to_the_first_answer(browser, tmp_path, visits, mode):
    folder = tmp_path / "house"
    with running(None, folder=folder, limits=UNHURRIED) as served, prompt(served):
        with visit(browser, served.url, mode) as page:
            do = Counted(page)
            page.goto("/")
            do(page.get_by_label("Token").fill, served.tokens["olga"])
            do(page.get_by_role("button", name="Sign in").click)
            page.wait_for_url("**/datasets")
            check(page, mode)
            do(page.get_by_role("link", name="Open the first data set").click)
            check(page, mode)
            do(page.get_by_label("CSV, TSV").set_input_files, visits)
            page.wait_for_url("**/owner/new?file=visits.csv")
            for name, low, high in (("age", "0", "120"), ("cost", "0", "10000")):
                column = page.get_by_role("group", name=name)
                do(column.get_by_label("From").fill, low)
                do(column.get_by_label("to", exact=True).fill, high)
            do(page.get_by_role("group", name="clinic").get_by_label("Labels").fill, "North, South")
            do(page.get_by_label("Rows of a person that count").fill, "2")
            do(page.get_by_role("button", name="ε 2").click)
            page.get_by_text("in at most 88.1 of 100 cases").wait_for()
            page.locator("#tried svg:visible").first.wait_for()  # the dry run beside
            page.locator("#first-question").get_by_text("clinic").wait_for()
            check(page, mode)
            do(page.get_by_role("button", name="Open the data set").click)
            page.wait_for_url("**/datasets/visits/ask?sql=*")
            do(page.get_by_role("button", name="Ask for ε 0.1").click)
            page.locator("#answer tbody tr").first.wait_for()
            assert page.locator("#answer tbody tr").count() == 2
            assert do.actions <= MOST_ACTIONS, do.actions
        text = (folder / "visits.toml").read_text()
        assert 'unit = "patient"' in text  # guessed from the header
        assert "budget = { epsilon = 2, delta = 0.000001 }" in text


def test_what_is_wrong_is_said_while_it_is_typed_and_by_a_refusal(browser, tmp_path, visits):
    visits.write_text(visits.read_text() + "1,not a number,3,North,2025-03-01\n")
    with running(None, folder=tmp_path / "house", limits=UNHURRIED) as served:
        with visit(browser, served.url, expected="403 (Forbidden)") as page:
            sign_in(page, served.tokens["olga"])
            page.goto("/owner/new")
            page.get_by_label("CSV, TSV").set_input_files(visits)
            age = page.get_by_role("group", name="age")
            age.get_by_label("From").fill("0")
            page.get_by_text("must have two ends").wait_for()
            assert page.get_by_role("button", name="Open the data set").is_disabled()
            age.get_by_label("to", exact=True).fill("120")
            page.locator("#first-question").get_by_text("patient").wait_for()
            page.get_by_role("button", name="Open the data set").click()
            said = page.get_by_role("alert").text_content()
            assert "age" in said
            assert "not a number" not in said  # no value of the data
            assert age.get_by_label("From").input_value() == "0"  # what was typed stays
            check(page, "light")
        assert not served.service.datasets


def test_a_file_is_sent_again_after_the_connection_came_back(browser, tmp_path, visits):
    with (
        running(None, folder=tmp_path / "house", limits=UNHURRIED) as served,
        visit(browser, served.url, expected="ERR_INTERNET_DISCONNECTED") as page,
    ):
        sign_in(page, served.tokens["olga"])
        page.goto("/owner/new")
        page.context.set_offline(True)
        page.get_by_label("CSV, TSV").set_input_files(visits)
        page.get_by_text("The server cannot be reached").wait_for()
        page.context.set_offline(False)
        page.get_by_label("CSV, TSV").set_input_files(visits)
        page.wait_for_url("**/owner/new?file=visits.csv")


@pytest.mark.parametrize("mode", MODES)
def test_a_data_set_is_opened_asked_and_kept_without_a_script(browser, tmp_path, visits, mode):
    folder = tmp_path / "house"
    with (
        running(None, folder=folder, limits=UNHURRIED) as served,
        prompt(served),
        visit(browser, served.url, mode, java_script_enabled=False, expected="") as page,
    ):
        visits.rename(folder / "visits.csv")
        sign_in(page, served.tokens["olga"])
        page.get_by_role("link", name="Open the first data set").click()
        page.get_by_role("link", name="visits.csv").click()
        page.get_by_role("group", name="age").get_by_label("From").fill("0")
        page.get_by_role("group", name="age").get_by_label("to", exact=True).fill("120")
        page.get_by_role("group", name="clinic").get_by_label("Labels").fill("North, South")
        page.get_by_label("Rows of a person that count").fill("2")
        page.get_by_role("button", name="See what it means").click()
        page.locator("#tried svg:visible").first.wait_for()  # the dry run
        assert page.get_by_role("group", name="age").get_by_label("to", exact=True).input_value() == "120"
        page.get_by_role("button", name="Open the data set").click()
        page.wait_for_url("**/datasets/visits/ask?sql=*")
        page.get_by_role("button", name="Show the price").click()
        assert page.locator("#price-facts dd").first.text_content().strip() == "ε 0.1"
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_url("**/answers/*")
        assert page.locator("#answer tbody tr").count() == 2
        for name in ("CSV", "JSON", "SVG", "Receipt"):
            with page.expect_download() as download:
                page.get_by_role("link", name=name, exact=True).click()
            assert download.value.path().stat().st_size > 100


def test_a_data_set_is_opened_by_the_keyboard_alone(browser, tmp_path, visits):
    folder = tmp_path / "house"
    with (
        running(None, folder=folder, limits=UNHURRIED) as served,
        prompt(served),
        visit(browser, served.url) as page,
    ):
        visits.rename(folder / "visits.csv")
        sign_in(page, served.tokens["olga"])
        reach(page, "a[href='/owner/new']")
        page.keyboard.press("Enter")
        page.wait_for_url("**/owner/new")
        reach(page, "a[href$='file=visits.csv']")
        page.keyboard.press("Enter")
        page.wait_for_url("**/owner/new?file=visits.csv")
        for field, text in (
            ("#limit", "2"),
            ("#low-1", "0"),
            ("#high-1", "120"),
            ("#keys-3", "North, South"),
        ):
            reach(page, field)
            page.keyboard.press("Control+A")
            page.keyboard.type(text)
        reach(page, ".odds-of[data-epsilon='2']")
        page.keyboard.press("Enter")
        page.get_by_text("in at most 88.1 of 100 cases").wait_for()
        reach(page, "#open-it")
        page.keyboard.press("Enter")
        page.wait_for_url("**/datasets/visits/ask?sql=*")
        page.locator("#send:enabled").wait_for()
        reach(page, "#send")
        page.keyboard.press("Enter")
        page.locator("#answer tbody tr").first.wait_for()
