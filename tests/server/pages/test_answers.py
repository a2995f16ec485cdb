"""Answers that stay: their address, their files, who may see them, signed receipts, two compared."""

import html
import json
import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from discreet.asking.answers import check_receipt
from discreet.errors import LedgerConflict
from server.pages.visiting import COUNT, Visitor
from server.running import promptly, write_policy


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        yield served


@pytest.fixture
def visitor(town):
    with Visitor(town) as someone:
        yield someone


def test_the_form_asks_without_a_script_and_leads_to_an_answer_that_stays_free(town, visitor):
    visitor.signed_in("ann")
    fields = {"sql": COUNT, "kind": "epsilon", "amount": "0.5", "confidence": "0.9"}
    reply = visitor.send_form("/datasets/town/ask", seen_at="/datasets/town/ask", **fields)
    address = reply.headers["location"]
    spent = town.spent()
    assert (reply.status_code, address.rpartition("/")[0]) == (303, "/datasets/town/answers")
    page = visitor.get(address).text
    assert all(word in page for word in ("Ottawa", "± holds with 90% confidence", "ε 0.5", "from the ledger"))
    found = visitor.get(address + ".json").json()
    said, header, first, *_ = visitor.get(address + ".csv").text.splitlines()
    assert said.startswith("# at most 1 row of a unit")
    assert (header, first.partition(",")[0]) == ("city,n,n_lower,n_upper", "Ottawa")
    assert visitor.get(address + ".svg").text.startswith("<svg")
    assert address in visitor.get("/datasets/town/history").text
    token = {"authorization": f"Bearer {town.tokens['ann']}"}
    assert httpx.get(town.url + address + ".json", headers=token).json() == found
    assert town.spent() == spent
    assert town.tokens["ann"] not in page


def test_a_form_that_cannot_be_asked_says_why_and_charges_nothing(town, visitor):
    visitor.signed_in("ann")
    spent = town.spent()
    for change in ({"amount": "-1"}, {"amount": ""}, {"sql": "SELECT person FROM town"}, {"kind": "x"}):
        fields = {"sql": COUNT, "kind": "epsilon", "amount": "0.5", "confidence": "0.95", **change}
        reply = visitor.send_form("/datasets/town/ask", seen_at="/datasets/town/ask", **fields)
        assert reply.status_code in (400, 422)
        assert 'role="alert"' in reply.text
    assert town.spent() == spent


def test_only_the_asker_and_owners_see_an_answer_and_others_learn_nothing(town, visitor):
    charge = town.ask(COUNT, who="ann", epsilon=0.25).json["receipt"]["charge"]
    for kind in ("", ".json", ".csv", ".receipt"):
        seen = [
            town.send("GET", f"/datasets/town/answers/{charge}{kind}", who=who)
            for who in ("ann", "olga", "bob")
        ]
        missing = town.send("GET", f"/datasets/town/answers/99999{kind}", who="bob")
        assert [each.status for each in seen] == [200, 200, 404]
        assert seen[2].body == missing.body
    assert town.send("GET", f"/datasets/town/answers/{charge}.json", who=None).status == 401
    assert visitor.get(f"/datasets/town/answers/{charge}").headers["location"].startswith("/login")


def test_a_signed_receipt_holds_and_any_change_of_it_or_of_the_rows_is_noticed(town, visitor):
    charge = town.ask(COUNT, who="ann", epsilon=0.3).json["receipt"]["charge"]
    answer = town.send("GET", f"/datasets/town/answers/{charge}.json").json
    receipt = town.send("GET", f"/datasets/town/answers/{charge}.receipt").json
    key = town.send("GET", "/receipts/key", who=None).body.decode().strip()
    assert check_receipt(answer, key=key).has_rows
    assert check_receipt(receipt, key=key).receipt["asker"] == "ann"
    assert "salt" not in receipt  # few rows could be guessed from a digest without a secret
    answer["rows"][0]["n"] += 1
    receipt["receipt"]["asker"] = "bob"
    for changed in (answer, receipt):
        with pytest.raises(LedgerConflict):
            check_receipt(changed, key=key)
    assert visitor.post("/receipts", data={"receipt": json.dumps(receipt)}).status_code == 409
    receipt["receipt"]["asker"] = "ann"
    assert "The signature is valid" in visitor.post("/receipts", data={"receipt": json.dumps(receipt)}).text


def test_two_answers_are_compared_by_both_of_their_intervals(town, visitor):
    visitor.signed_in("ann")
    debt = "SELECT city, COUNT(*) AS n FROM town WHERE debt > 900 GROUP BY city"
    one, other, again = (
        town.ask(sql, who="ann", epsilon=price).json["receipt"]["charge"]
        for sql, price in ((COUNT, 9), (debt, 9), (COUNT, 8))
    )
    different = visitor.get(f"/datasets/town/compare?one={one}&other={other}").text
    assert different.count(">yes<") == 2
    assert "at least 90% confidence" in different
    assert visitor.get(f"/datasets/town/compare?one={one}&other={again}").text.count(">yes<") <= 2
    assert "Not found" in visitor.get(f"/datasets/town/compare?one={one}&other=99999").text


def test_groups_that_are_too_small_are_said_to_be_hidden(town, visitor):
    visitor.signed_in("ann")
    charge = town.ask("SELECT shop, COUNT(*) AS n FROM town GROUP BY shop", who="ann", epsilon=1).json[
        "receipt"
    ]
    assert (
        "groups of few people are not shown" in visitor.get(f"/datasets/town/answers/{charge['charge']}").text
    )


def test_an_answer_that_analysts_share_does_not_say_who_asked(tmp_path):
    with promptly(write_policy(tmp_path, dataset="share_answers = true")) as house:
        charge = house.ask(COUNT, who="ann", epsilon=0.5).json["receipt"]["charge"]
        for kind in ("", ".json", ".receipt"):
            seen = house.send("GET", f"/datasets/town/answers/{charge}{kind}", who="bob")
            assert seen.status == 200
            assert b"ann" not in seen.body
        assert (
            house.send("GET", f"/datasets/town/answers/{charge}.json", who="olga").json["receipt"]["asker"]
            == "ann"
        )


def test_a_revoked_token_another_scheme_and_impossible_numbers_get_nothing(town, visitor):
    charge = town.ask(COUNT, who="ann", epsilon=0.25).json["receipt"]["charge"]
    address = f"{town.url}/datasets/town/answers/{charge}.json"
    for given in (f"Basic {town.tokens['ann']}", "Bearer dp_wrong", "Bearer", town.tokens["ann"]):
        assert httpx.get(address, headers={"authorization": given}).status_code == 401
    for number in ("0", "9" * 18, "9" * 40):
        for kind in ("", ".json", ".exe", ".csv?part=0", ".csv?part=é"):
            assert (
                town.send("GET", f"/datasets/town/answers/{number}{kind.replace('é', '%C3%A9')}").status
                == 404
            )
    assert town.send("GET", f"/datasets/town/answers/{charge}.csv?part=2").status == 404


def test_whoever_is_signed_in_keeps_the_frame_on_a_page_that_says_no(visitor):
    visitor.signed_in("ann")
    page = visitor.get("/datasets/town/answers/99999")
    assert page.status_code == 404
    assert "Sign out" in page.text
    refused = visitor.get("/owner")
    assert refused.status_code == 403
    assert "Sign out" in refused.text


def test_beside_a_median_its_neighbours_are_one_click_away_and_not_charged_by_it(town, visitor):
    visitor.signed_in("ann")
    sql = 'SELECT city, MEDIAN(debt) AS "the middle" FROM town GROUP BY city'
    charge = town.ask(sql, who="ann", epsilon=0.5).json["receipt"]["charge"]
    page = html.unescape(visitor.get(f"/datasets/town/answers/{charge}").text)
    assert "between it and the exact one" in page  # how far in ranks, in words
    link = re.search(r'href="([^"]+)">Ask for the 45% and 55% quantiles', page)[1]
    spent = town.spent()
    asked = parse_qs(urlsplit(link).query)["sql"][0]
    assert 'QUANTILE(debt, 0.45) AS "the middle_45"' in asked
    assert "QUANTILE" in html.unescape(visitor.get(link).text)
    assert town.spent() == spent
    rows = town.ask(asked, who="ann", epsilon=50).json["rows"]
    assert all(row["the middle_45"] <= row["the middle"] <= row["the middle_55"] for row in rows)
    other = town.ask(COUNT, who="ann", epsilon=0.5).json["receipt"]["charge"]
    assert "45% and 55%" not in visitor.get(f"/datasets/town/answers/{other}").text
