"""The gauge where analysts have limits and shares: what a visitor may spend, the same on every page."""

import html
import re

import pytest

from server.pages.visiting import COUNT, Visitor
from server.running import promptly, write_policy

GAUGE = re.compile(r'<svg class="gauge" role="img" aria-label="([^"]+)"')
PAGES = (
    "/datasets",
    "/datasets/town",
    "/datasets/town/ask",
    "/datasets/town/watches",
    "/datasets/town/history",
)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    dataset = "per_analyst = { epsilon = 2, delta = 1e-6 }"
    with promptly(write_policy(tmp_path_factory.mktemp("town"), epsilon=6, dataset=dataset)) as served:
        share = {"analyst": "bob", "budget": {"epsilon": 1, "delta": 1e-7}, "reason": "his study"}
        assert served.send("POST", "/api/datasets/town/shares", who="olga", body=share).status < 300
        served.ask(COUNT, who="olga", epsilon=1.5)
        served.ask(COUNT, who="bob", epsilon=0.25)
        yield served


def gauges(town, name, pages=PAGES):
    with Visitor(town) as visitor:
        visitor.signed_in(name)
        return {page: html.unescape(GAUGE.search(visitor.get(page).text)[1]) for page in pages}


def test_who_asked_nothing_has_spent_nothing_on_every_page(town):
    assert set(gauges(town, "ann").values()) == {"you spent 0; 2 of your own limit, ε 2 left"}


def test_a_share_is_ones_own(town):
    assert set(gauges(town, "bob").values()) == {"you spent 0.25; 0.75 of your share, ε 1 left"}


def test_an_owner_sees_the_whole_where_everybodys_charges_are(town):
    whole = "spent by all 1.75; 4.25 of ε 6 left"
    assert set(gauges(town, "olga", ("/owner", "/datasets/town/history")).values()) == {whole}
    assert gauges(town, "olga")["/datasets/town/ask"] == "you spent 1.5; 0.5 of your own limit, ε 2 left"


@pytest.mark.parametrize(("name", "limit", "total"), [("bob", "1", "0.25"), ("olga", "6", "1.75")])
def test_the_picture_of_the_history_says_what_the_gauge_says(town, name, limit, total):
    with Visitor(town) as visitor:
        page = visitor.signed_in(name).get("/datasets/town/history").text
        assert f">limit ε {limit}</text>" in page
        assert re.findall(r"total ([0-9.]+)</title>", page)[-1] == total


def test_after_an_answer_the_gauge_is_that_of_the_same_account(town):
    with Visitor(town) as visitor:
        visitor.signed_in("bob")
        first, again = (visitor.ask(epsilon=0.125).json() for _ in range(2))
        assert first["gauge"]["texts"]["label"] == "you spent 0.375; 0.625 of your share, ε 1 left"
        assert (first["charged"], again["charged"]) == (True, False)
        assert again["gauge"] == first["gauge"]
