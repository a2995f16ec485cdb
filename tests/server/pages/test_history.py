"""The history: searched, of one person, with δ, and as a table to keep."""

import csv
import html
import re

import pytest

from discreet.apps.server.pages.dataset_pages import history_csv
from server.pages.visiting import COUNT, Visitor
from server.running import promptly, write_policy

PLACE = "/datasets/town/history"
FOUND = "SELECT shop, COUNT(*) AS n FROM town GROUP BY shop"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        served.ask(COUNT, epsilon=1, who="ann")
        served.ask("SELECT AVG(debt) AS mean FROM town", epsilon=2, who="bob")
        served.ask(FOUND, epsilon=3, delta=1e-8, who="bob")
        share = {"analyst": "ann", "budget": {"epsilon": 1, "delta": 1e-9}, "reason": '=HYPERLINK("x")'}
        assert served.send("POST", "/api/datasets/town/shares", who="olga", body=share).status < 300
        yield served


@pytest.fixture
def olga(town):
    with Visitor(town) as visitor:
        yield visitor.signed_in("olga")


def rows(visitor, **wanted):
    found = re.findall(r"<tr>(.*?)</tr>", visitor.get(PLACE, params=wanted).text, re.DOTALL)
    return [re.sub(r"\s+", " ", html.unescape(each)) for each in found[1:]]


def test_questions_are_searched_and_of_one_person(olga):
    assert len(rows(olga)) == 5
    assert len(rows(olga, who="bob")) == 2
    (found,) = rows(olga, find="avg(DEBT", who="bob")
    assert "AVG(debt)" in found
    assert rows(olga, find="avg(debt", who="ann") == []
    assert rows(olga, find="<b>no</b>") == []


def test_delta_has_a_column_of_its_own_where_there_is_one(town, olga):
    (found,) = rows(olga, find="shop")
    assert ">10⁻⁸<" in found
    with Visitor(town) as ann:
        assert "and δ" not in ann.signed_in("ann").get(PLACE).text


def test_the_table_to_keep_holds_what_the_page_may_show_and_runs_in_no_spreadsheet(town, olga):
    every = list(csv.DictReader(olga.get(f"{PLACE}.csv").text.splitlines()))
    assert [each["analyst"] for each in every] == ["", "ann", "bob", "bob", "ann"]
    assert (every[3]["cost"], every[3]["delta"]) == ("3", "0.00000001")
    assert every[4]["reason"] == 'olga: =HYPERLINK("x")'
    assert "'=HYPERLINK" in history_csv([{"reason": '=HYPERLINK("x")'}])
    with Visitor(town) as ann:
        mine = list(csv.DictReader(ann.signed_in("ann").get(f"{PLACE}.csv").text.splitlines()))
    assert {each["analyst"] for each in mine} == {"ann"}
