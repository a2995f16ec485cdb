"""Books over REST and from afar: the same tables, charged once, at their deadline."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.apps.server.request_bodies import read_book
from discreet.errors import InvalidParameter, PolicyViolation, UnsupportedQuery
from server.running import UNHURRIED, promptly, running, write_policy

PATH = "/api/datasets/town/book"
BOOK = {
    "tables": [["city"], [], "SELECT debt > 500 AS much, city, COUNT(*) AS n FROM town GROUP BY much, city"]
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        yield served


def test_a_book_is_answered_charged_once_and_free_again(town):
    before = town.spent().epsilon
    first = town.send("POST", PATH, body={**BOOK, "epsilon": 0.5})
    again = town.send("POST", PATH, body={**BOOK, "epsilon": 0.5})
    assert (first.status, again.status) == (200, 200)
    assert town.spent().epsilon - before == Fraction(1, 2)
    assert (first.json["charged"], again.json["charged"]) == (True, False)
    assert first.json["tables"] == again.json["tables"]
    cities, total, both = first.json["tables"]
    assert cities["labels"] == [["Ottawa", "Toronto", "(rest)"]]
    assert sum(cities["values"]) == total["values"]
    assert [sum(column) for column in zip(*both["values"], strict=True)] == cities["values"] or [
        sum(row) for row in both["values"]
    ] == cities["values"]


def test_explaining_charges_nothing_and_says_whether_it_is_free(town):
    before = town.spent()
    plan = town.send("POST", f"{PATH}/explain", body={**BOOK, "epsilon": 0.25}).json
    assert plan["free"] is False
    assert plan["errors"]["city"] > 0
    assert town.spent() == before
    town.send("POST", PATH, body={**BOOK, "epsilon": 0.25})
    assert town.send("POST", f"{PATH}/explain", body={**BOOK, "epsilon": 0.25}).json["free"] is True


def test_a_remote_book_is_the_local_one(town):
    tables = {"city": 2, (): 1}
    with dp.connect(town.url, token=town.tokens["bob"]) as remote:
        plan = remote.explain_book(tables, epsilon=0.5, delta=1e-8)
        book = remote.book(tables, epsilon=0.5, delta=1e-8)
        assert book.charged
        assert not remote.book(tables, epsilon=0.5, delta=1e-8).charged
        assert book.receipt.facts["plan"] == plan.sentences()
        assert book["city"].values.sum() == book[()].values
        assert abs(float(book[()].values) - 400) < 6.2 * book[()].variance ** 0.5  # one in 10^9
        with pytest.raises(UnsupportedQuery, match="declared keys"):
            remote.book(["shop"], epsilon=0.5)


def test_a_retry_with_the_same_key_is_not_charged_again(town):
    before = town.spent().epsilon
    for _ in range(2):
        reply = town.send("POST", PATH, body={"tables": [["city"]], "epsilon": 0.125}, idempotency_key="one")
        assert reply.status == 200
    assert town.spent().epsilon - before == Fraction(1, 8)


def test_the_page_of_a_books_charge_has_its_receipt(town):
    found = town.send("POST", PATH, body={"tables": [["city"]], "epsilon": 0.0625}).json
    charge = found["receipt"]["charge"]
    receipts = town.send("GET", f"/api/datasets/town/receipts/{charge}").json
    assert "rho" in str(receipts) or "epsilon" in str(receipts)


def test_a_dear_book_waits_for_an_owner(tmp_path):
    policy = write_policy(tmp_path, server="approve_above = { epsilon = 1 }")
    with promptly(policy) as served:
        body = {"tables": [["city"]], "epsilon": 2}
        waiting = served.send("POST", PATH, body=body)
        assert waiting.status == 202
        assert served.spent().epsilon == 0
        path = f"/api/datasets/town/approvals/{waiting.json['approval']}"
        served.send("POST", path, who="olga", body={"decision": "approved"})
        assert served.send("POST", PATH, body=body).status == 200
        assert served.spent().epsilon == 2
        with dp.connect(served.url, token=served.tokens["bob"]) as remote, pytest.raises(PolicyViolation):
            remote.book(["city"], epsilon=3)


def test_a_book_beyond_the_cells_or_the_time_of_the_policy_is_refused_before_it_is_charged(tmp_path):
    with promptly(write_policy(tmp_path / "few", server="max_cells = 3")) as served:
        reply = served.send("POST", PATH, body={**BOOK, "epsilon": 1})
        assert (reply.status, reply.code) == (422, "unsupported_query")
        assert served.spent().epsilon == 0


def test_a_book_leaves_at_its_deadline(tmp_path):
    import time

    with running(write_policy(tmp_path, deadline_s=6), limits=UNHURRIED) as served:
        started = time.monotonic()
        assert served.send("POST", PATH, body={"tables": [["city"]], "epsilon": 1}).status == 200
        assert time.monotonic() - started >= 6


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"epsilon": 1}, 400),
        ({"tables": [], "epsilon": 1}, 400),
        ({"tables": "city", "epsilon": 1}, 400),
        ({"tables": [["city"]] * 1001, "epsilon": 1}, 400),
        ({"tables": [["city"] * 13], "epsilon": 1}, 400),
        ({"tables": [[3]], "epsilon": 1}, 400),
        ({"tables": [["city"]], "epsilon": 1, "rho": 1}, 400),
        ({"tables": [["city"]], "weights": [1, 2], "epsilon": 1}, 400),
        ({"tables": [["city"]], "weights": [-1], "epsilon": 1}, 400),
        ({"tables": [["city"]], "limit": 1.5, "epsilon": 1}, 400),
        ({"tables": [["city"]], "aim": "least", "rho": 1}, 400),
        ({"tables": [["city"]], "other": 1, "epsilon": 1}, 400),
        ({"tables": [["shop"]], "epsilon": 1}, 422),
    ],
)
def test_what_is_no_book_is_refused(town, body, status):
    before = town.spent()
    assert town.send("POST", PATH, body=body).status == status
    assert town.spent() == before


def test_bodies_are_the_same_request_when_they_are_written_alike():
    body = b'{"tables": [["city"], []], "weights": [2, 1], "rho": 0.1}'
    assert read_book(body, UNHURRIED) == read_book(body, UNHURRIED)
    assert read_book(body, UNHURRIED).tables == {("city",): 2, (): 1}
    with pytest.raises(InvalidParameter):
        read_book(b'{"tables": [["city"]], "tables": []}', UNHURRIED)
