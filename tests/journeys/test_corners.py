"""The narrowest screen, in the dark; waiting, failing and being refused: what other journeys pass by."""

import pytest

from journeys.browsing import MODES, check, chromium, sign_in, visit
from journeys.hospital import SHAPES, ask_all, write_hospital
from server.running import promptly, running, write_policy

NARROW = {"viewport": {"width": 320, "height": 700}, "color_scheme": "dark"}
FOUR = (
    "SELECT sex, COUNT(*) AS patients, AVG(cost) AS mean_cost, SUM(cost) AS total_cost"
    " FROM hospital GROUP BY sex"
)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with promptly(write_hospital(tmp_path_factory.mktemp("hospital"))) as served:
        served.numbers = ask_all(served)
        wide = served.send("POST", "/api/datasets/hospital/ask", body={"sql": FOUR, "epsilon": 1}).json
        served.numbers["wide"] = wide["receipt"]["charge"]
        yield served


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def places(numbers):
    """Every page of a data set and its owner, and an answer of every shape."""
    names = ("", "/ask", "/watches", "/waiting", "/history", "/report")
    answers = [f"/answers/{numbers[shape]}" for shape in (*SHAPES, "wide")]
    compared = f"/compare?one={numbers['bars']}&other={numbers['wide']}"
    pages = [f"/datasets/hospital{name}" for name in (*names, *answers, compared)]
    return ["/datasets", "/owner", "/receipts", *pages]


def test_at_320_pixels_in_the_dark_nothing_is_cut_off(browser, house, monkeypatch):
    monkeypatch.setitem(MODES, "narrow", NARROW)
    with visit(browser, house.url, "narrow") as page:
        sign_in(page, house.tokens["olga"])
        for place in places(house.numbers):
            page.goto(place)
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, place
            cut = page.evaluate(
                "() => [...document.querySelectorAll('main p, main h1, main h2, main dd, main label')]"
                ".filter((each) => each.offsetParent && each.getBoundingClientRect().right > 320.5"
                " && !each.closest('.visually-hidden')).map((each) => each.textContent.slice(0, 60))"
            )
            assert not cut, (place, cut)


@pytest.mark.parametrize("mode", MODES)
def test_pages_that_say_no_and_pages_without_an_account_are_readable(browser, house, mode):
    with visit(browser, house.url, mode, expected="status of 40") as page:
        for place in ("/login?next=/datasets", "/receipts"):
            page.goto(place)
            check(page, mode)
        page.get_by_label("Receipt, or answer as JSON").fill("no receipt")
        page.get_by_role("button", name="Check").click()
        page.get_by_role("alert").wait_for()
        check(page, mode)
        sign_in(page, house.tokens["ann"])
        for place in ("/datasets/none", "/owner", "/datasets/hospital/compare?one=1&other=999"):
            page.goto(place)
            check(page, mode)
        page.goto("/datasets/hospital/watches")
        page.get_by_label("Threshold").fill("100")
        page.get_by_role("button", name="How sure is it?").click()
        page.get_by_text("Nothing was charged.").wait_for()
        check(page, mode)


def test_the_time_to_the_answer_is_shown_and_a_lost_question_stands_in_red(browser, tmp_path):
    policy = write_policy(tmp_path / "town", deadline_s=2)
    with (
        running(policy) as served,
        visit(browser, served.url, expected="ERR_INTERNET_DISCONNECTED") as page,
    ):
        sign_in(page, served.tokens["ann"])
        page.goto("/datasets/town/ask?sql=SELECT COUNT(*) AS n FROM town&amount=0.5")
        page.get_by_role("button", name="Ask for ε 0.5").click()
        bar = page.get_by_label("Time until the answer")
        bar.wait_for()
        page.wait_for_function("() => document.getElementById('until').value > 0.5")
        assert float(bar.get_attribute("max")) == 2  # one pass: the plan's, whatever the data
        page.locator("#answer tbody tr").first.wait_for()
        assert bar.is_hidden()
        page.get_by_label("How much").fill("0.25")
        page.get_by_role("button", name="Ask for ε 0.25").wait_for()
        page.context.set_offline(True)
        page.get_by_role("button", name="Ask for ε 0.25").click()
        lost = page.get_by_text("The connection was lost while asking.")
        lost.wait_for()
        assert lost.evaluate("each => getComputedStyle(each).color") == "rgb(179, 50, 31)"
        page.context.set_offline(False)
        page.get_by_role("button", name="Ask for ε 0.25").click()
        page.get_by_text("charged ε 0.25").wait_for()


def test_a_new_token_is_copied_and_works(browser, house):
    with visit(browser, house.url, permissions=["clipboard-read", "clipboard-write"]) as page:
        sign_in(page, house.tokens["olga"])
        page.goto("/owner")
        page.get_by_label("Name", exact=True).fill("Zoë Müller")
        page.get_by_role("button", name="Create").click()
        page.get_by_role("button", name="Copy the token").click()
        page.get_by_text("Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator("#new-token").text_content()
    assert house.service.people.identify(copied).name == "Zoë Müller"


def test_an_owner_raises_a_budget_and_gives_the_data_a_new_version_in_the_browser(browser, house):
    with visit(browser, house.url) as page:
        sign_in(page, house.tokens["olga"])
        page.goto("/owner")
        raising = page.get_by_role("form", name="Raise the budget")
        raising.get_by_label("epsilon in all").fill("50")
        raising.get_by_label("delta in all").fill("0.000001")
        raising.get_by_label("Why").fill("the second year")
        raising.get_by_role("button", name="Raise").click()
        page.get_by_text("in the ledger and in the policy file").wait_for()
        changing = page.get_by_role("form", name="Change the policy")
        changing.get_by_label("version of the data").fill("2026")
        changing.get_by_role("button", name="Change").click()
        page.get_by_text("holds from now on").wait_for()
        assert page.locator(".of").first.text_content().endswith("ε = 50")
        page.goto("/datasets")
        assert "version 2026" in page.locator("main").text_content()
        check(page, "light")


def test_an_answer_is_printed_with_its_receipt_and_without_what_one_presses(browser, house):
    with visit(browser, house.url) as page:
        sign_in(page, house.tokens["ann"])
        page.goto(f"/datasets/hospital/answers/{house.numbers['bars']}")
        page.emulate_media(media="print")
        for pressed in (".bar", ".tabs", "#print", "#other", "a.button >> nth=0"):
            assert page.locator(pressed).first.is_hidden(), pressed
        for kept in ("#chart svg:visible", "#answer tbody tr >> nth=0", "#receipt-title", ".digest"):
            assert page.locator(kept).first.is_visible(), kept
        assert page.pdf().count(b"/Type /Page\n") + page.pdf().count(b"/Type /Page ") <= 2
