"""Approvals from both sides: what is asked and why, the price, the error, the budget; never the answer."""

import html
import re
from fractions import Fraction

import pytest

from server.pages.visiting import COUNT, Visitor
from server.running import promptly, write_policy


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    with promptly(write_policy(folder, epsilon=9, server="approve_above = { epsilon = 1 }")) as served:
        yield served


@pytest.fixture
def ann(town):
    with Visitor(town) as visitor:
        yield visitor.signed_in("ann")


@pytest.fixture
def olga(town):
    with Visitor(town) as visitor:
        yield visitor.signed_in("olga")


@pytest.fixture
def bob(town):
    with Visitor(town) as visitor:
        yield visitor.signed_in("bob")


WAITING = "/datasets/town/waiting"


def shown(visitor):
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", visitor.get(WAITING).text)))


def ask(visitor, epsilon):
    reply = visitor.ask(COUNT, epsilon=epsilon)
    assert reply.status_code == 202
    return reply.json()["waiting"]["id"]


def decide(olga, approval, decision, reason):
    path = f"/owner/datasets/town/approvals/{approval}"
    return olga.send_form(path, seen_at=WAITING, decision=decision, reason=reason)


def test_both_sides_see_the_question_its_reason_price_error_and_effect(ann, olga, bob):
    approval = ask(ann, 2)
    why = {"reason": "Where to open a\nclinic <b>"}
    assert ann.send_form(f"{WAITING}/{approval}/reason", seen_at=WAITING, **why).status_code == 303
    for words in (shown(ann), shown(olga)):
        assert "Why: Where to open a clinic <b>" in words
        assert "price ε 2" in words
        assert "ε 9 is left before, 7 after" in words
        assert re.search("expected error of n ± [0-9.]+", words)
    assert "<b>" not in ann.get(WAITING).text
    assert COUNT not in shown(bob)
    assert bob.send_form(f"{WAITING}/{approval}/reason", seen_at=WAITING, reason="mine").status_code == 404


def test_a_decision_is_an_entry_of_the_ledger_and_its_reason_reaches_the_asker(town, ann, olga):
    approval = ask(ann, 3)
    assert decide(olga, approval, "denied", "too much at once").status_code == 303
    assert "denied by olga too much at once" in shown(ann)
    records = town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
    assert [each["kind"] for each in records].count("decision") >= 1
    assert olga.send_form("/datasets/town/verify", seen_at="/datasets/town/history").status_code == 200
    assert (
        "The chain is valid."
        in olga.send_form("/datasets/town/verify", seen_at="/datasets/town/history").text
    )


def test_what_is_approved_is_asked_by_its_link_and_counted_once(town, ann, olga):
    approval, before = ask(ann, 4), town.spent()
    decide(olga, approval, "approved", "")
    page = ann.get(WAITING).text
    link = html.unescape(re.search(r'<a href="([^"]+)">Ask it now', page)[1])
    assert COUNT in html.unescape(ann.get(link).text)
    assert town.spent() == before  # a decision pays for nothing
    assert ann.ask(COUNT, epsilon=4).status_code == 200
    assert "approved, asked by olga" in shown(ann)


def test_only_an_owner_decides_and_a_reason_is_bounded(ann, olga):
    approval = ask(ann, 1.5)
    path = f"/owner/datasets/town/approvals/{approval}"
    assert ann.send_form(path, seen_at=WAITING, decision="approved").status_code == 403
    assert decide(olga, approval, "approved", "x" * 501).status_code == 400
    assert "price ε 1.5" in shown(ann)


def test_the_report_for_an_ethics_board_counts_what_the_ledger_has(town, ann, olga):
    town.ask("SELECT COUNT(*) AS n FROM town WHERE debt < 7", epsilon=0.5)
    records = town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
    mine = [each for each in records if each["kind"] == "charge" and each["analyst"] == "ann"]
    words = re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", olga.get("/datasets/town/report").text)))
    spent = f"{float(sum(Fraction(each['cost']) for each in mine)):.6g}"
    assert f"ann {len(mine)} {len(mine)} {spent} " in words
    assert "recomputed for this page and is valid" in words
    assert "after the whole budget: all." in words or "after the whole budget: 100" in words
    assert "wait for an owner" in words
    assert ann.get("/datasets/town/report").status_code == 403
