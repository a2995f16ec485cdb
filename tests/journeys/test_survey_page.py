"""The static survey page in a real browser: read, take part, see what is sent; and all vectors there."""

import json
import re
from pathlib import Path

import pytest
from discreet.local import write_page

import discreet as dp
from journeys.browsing import check, chromium, visit

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "tests" / "local" / "vectors.json").read_text())
pytestmark = pytest.mark.slow

RUN = """async (groups) => {
  let same = 0;
  for (const { protocol, cases } of groups) {
    for (const { value, words, report } of cases) {
      const left = words.map((word) => BigInt("0x" + word));
      const found = await discreetLocal._draw(protocol, value, () => left.shift());
      if (JSON.stringify(found) === JSON.stringify(report) && left.length === 0) same += 1;
    }
  }
  return same;
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def page_url(tmp_path):
    return write_page(tmp_path / "page").as_uri()


def test_chromium_gives_the_reports_of_the_vectors(browser, page_url):
    with visit(browser, page_url.rsplit("/", 1)[0]) as page:
        page.goto(page_url)
        assert page.evaluate(RUN, VECTORS) == sum(len(group["cases"]) for group in VECTORS)


@pytest.mark.parametrize("mode", ["light", "dark", "phone"])
def test_one_takes_part_and_sees_what_leaves_the_browser(browser, page_url, mode, tmp_path):
    with visit(browser, page_url.rsplit("/", 1)[0], mode) as page:
        page.goto(page_url)
        check(page, mode)
        socks, skipped = page.locator("#socks"), page.locator("#skipped-lectures")
        socks.get_by_role("button", name="Make my report").click()
        assert "Choose an answer" in socks.get_by_role("status").text_content()
        socks.get_by_label("yes").check()
        socks.get_by_role("button", name="Make my report").click()
        sent = socks.get_by_label("What leaves this browser")
        sent.wait_for()
        text = sent.text_content()
        report = json.loads(text)
        assert set(report) == {"survey", "report"}
        assert report["report"] in ("yes", "no")
        assert page.locator("#spent").text_content() == "1"
        skipped.get_by_label(re.compile("How many")).fill("3")
        skipped.get_by_role("button", name="Make my report").click()
        place = skipped.get_by_label("What leaves this browser")
        place.wait_for()
        assert dp.local.number(bounds=(0, 15), epsilon=1).estimate(
            [json.loads(place.text_content())["report"]]
        )
        check(page, mode)
        with page.expect_download() as waiting:
            socks.get_by_role("button", name="Save these bytes").click()
        assert waiting.value.path().read_text() == f"{text}\n"
        page.reload()  # the same bytes are kept, and no second report can be made
        assert page.locator("#socks").get_by_label("What leaves this browser").text_content() == text
        assert page.locator("#socks").get_by_role("button", name="Make my report").is_disabled()
        assert page.locator("#spent").text_content() == "2"


def test_several_questions_and_free_text_are_answered_on_a_phone(browser, tmp_path):
    asked = {"Drink": {"values": ["tea", "coffee"]}, "Age": {"bounds": (0, 100)}}
    surveys = [
        {
            "id": "about",
            "title": "About you",
            "question": "Two questions",
            "protocol": dp.local.Questions(asked, epsilon=1),
        },
        {
            "id": "site",
            "title": "Site",
            "question": "Which page?",
            "protocol": dp.local.choice(domain=1 << 16, seed="june", epsilon=1),
        },
    ]
    url = write_page(tmp_path, surveys).as_uri()
    with visit(browser, url.rsplit("/", 1)[0], "phone") as page:
        page.goto(url)
        about, site = page.locator("#about"), page.locator("#site")
        about.get_by_label("tea").check()
        about.get_by_role("button", name="Make my report").click()
        assert "Choose an answer" in about.get_by_role("status").text_content()
        about.get_by_label(re.compile("Age")).fill("30")
        about.get_by_role("button", name="Make my report").click()
        site.get_by_label("Which page?").fill("/Käse")
        site.get_by_role("button", name="Make my report").click()
        for part, survey in ((about, surveys[0]), (site, surveys[1])):
            sent = part.get_by_label("What leaves this browser")
            sent.wait_for()
            assert survey["protocol"].collect([json.loads(sent.text_content())["report"]]).reports == 1
        check(page, "phone")
        assert page.locator("#spent").text_content() == "2"


def test_a_survey_that_costs_more_than_allowed_draws_nothing(browser, tmp_path):
    drink = {"id": "drink", "title": "Drink", "question": "Tea or coffee?"}
    dear = drink | {"protocol": dp.local.choice(values=["tea", "coffee"], epsilon=2)}
    url = write_page(tmp_path, [dear], per_survey=1).as_uri()
    with visit(browser, url.rsplit("/", 1)[0]) as page:
        page.goto(url)
        page.get_by_label("tea").check()
        page.get_by_role("button", name="Make my report").click()
        page.get_by_text("Nothing was drawn").wait_for()
        assert page.locator("#spent").text_content() == "0"
    with pytest.raises(dp.InvalidParameter):
        write_page(tmp_path, [{"protocol": dear["protocol"]}])
