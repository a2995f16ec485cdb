"""The routes, over a real socket."""

import json
import math
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.apps.server.http_errors import as_json
from discreet.apps.server.journal import HEADERS
from server.running import promptly, write_policy

COUNT = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    with promptly(write_policy(folder), journal=folder / "journal.jsonl") as served:
        yield served


def test_health_needs_no_token_and_says_nothing_else(town):
    assert town.send("GET", "/health", who=None).json == {"status": "ok"}


def test_data_sets_are_listed_and_described_without_data(town):
    assert town.send("GET", "/api/datasets").json == {
        "datasets": [{"name": "town", "version": "1", "tables": ["town"]}]
    }
    described = town.send("GET", "/api/datasets/town").json
    assert described["tables"]["town"]["columns"]["debt"]["bounds"] == ["0", "1000"]
    assert described["deadline_s"] == 1


def test_an_answer_comes_with_intervals_and_receipt_and_is_free_the_second_time(town):
    before = town.spent().epsilon
    first = town.ask(COUNT, epsilon=0.5)
    again = town.ask(COUNT, epsilon=0.5)
    assert first.status == again.status == 200
    assert [row["city"] for row in first.json["rows"]] == ["Ottawa", "Toronto"]
    assert first.json["charged"] is True
    free = {**first.json["receipt"], "charged": False}
    assert again.json == {**first.json, "charged": False, "receipt": free}
    assert town.spent().epsilon - before == Fraction(1, 2)
    for row, interval in zip(first.json["rows"], first.json["intervals"], strict=True):
        assert interval["n"][0] <= row["n"] <= interval["n"][1]


def test_infinite_labels_reach_the_asker(town):
    beyond = "debt * 1e308 * 1e308"
    reply = town.ask(
        f"SELECT {beyond} AS k, COUNT(*) AS n FROM town GROUP BY {beyond}", epsilon=5, delta=1e-7
    )
    assert reply.status == 200
    assert [row["k"] for row in reply.json["rows"]] == [None]
    assert reply.json["released"][0]["groups"] == [[{"number": "inf"}]]


def test_explain_says_the_price_and_whether_it_is_free_and_charges_nothing(town):
    before = town.spent()
    plan = town.ask("SELECT COUNT(*) AS n FROM town", path="explain", epsilon=0.25).json
    assert plan["price"]["epsilon"] == "1/4"
    assert plan["errors"]["n"] > 0
    assert plan["free"] is False
    assert town.spent() == before
    town.ask("SELECT COUNT(*) AS n FROM town", epsilon=0.25)
    assert town.ask("SELECT COUNT(*) AS n FROM town", path="explain", epsilon=0.25).json["free"] is True


def test_numbers_are_read_exactly_as_they_are_written(town):
    before = town.spent().epsilon
    for part in range(10):
        body = b'{"sql": "SELECT COUNT(*) AS n%d FROM town", "epsilon": 0.1}' % part
        assert town.send("POST", "/api/datasets/town/ask", body=body).status == 200
    assert town.spent().epsilon - before == 1


def test_a_list_is_answered_under_one_charge(town):
    before = town.spent().epsilon
    reply = town.ask([COUNT, "SELECT SUM(debt) AS s FROM town"], epsilon=0.4)
    assert len(reply.json["answers"]) == 2
    assert town.spent().epsilon - before == Fraction(2, 5)


def test_within_finds_the_least_price(town):
    plan = town.ask("SELECT COUNT(*) AS n FROM town", path="explain", within=30).json
    assert plan["errors"]["n"] <= 30
    same = town.ask("SELECT COUNT(*) AS n FROM town", path="explain", within={"n": 30}).json
    assert same["price"] == plan["price"]


def test_a_number_beyond_all_doubles_is_null(town):
    reply = town.ask("SELECT SUM(debt) * 1e300 * 1e300 AS s FROM town", epsilon=1)
    assert reply.json["rows"] == [{"s": None}]
    assert set(reply.json["intervals"][0]["s"]) == {None}


def test_one_key_stands_for_one_request(town):
    before = town.spent().epsilon
    first = town.ask("SELECT COUNT(*) AS k FROM town", epsilon=0.3, key="once")
    again = town.ask("SELECT COUNT(*) AS k FROM town", epsilon=0.3, key="once")
    other = town.ask("SELECT COUNT(*) AS other FROM town", epsilon=0.3, key="once")
    assert again.json["rows"] == first.json["rows"]
    assert (other.status, other.code) == (409, "ledger_conflict")
    assert town.spent().epsilon - before == Fraction(3, 10)
    assert town.ask("SELECT COUNT(*) AS k FROM town", epsilon=0.3, who="bob", key="once").status == 200


def test_what_does_not_fit_the_budget_is_refused_at_once_and_unpaid(town):
    before = town.spent()
    reply = town.ask(COUNT, epsilon=1000)
    assert (reply.status, reply.code) == (409, "budget_exceeded")
    assert town.spent() == before


def test_a_question_outside_the_list_is_422(town):
    reply = town.ask("SELECT * FROM town", epsilon=1)
    assert (reply.status, reply.code) == (422, "unsupported_query")


def test_history_and_receipts_are_ones_own_and_an_owner_sees_all(town):
    charge = town.ask("SELECT COUNT(*) AS mine FROM town", epsilon=0.1, who="ann").json["receipt"]["charge"]
    town.ask("SELECT COUNT(*) AS theirs FROM town", epsilon=0.1, who="bob")
    records = town.send("GET", "/api/datasets/town/history", who="ann").json["history"]
    assert {record["analyst"] for record in records} == {"ann"}
    theirs = town.send("GET", "/api/datasets/town/history", who="bob").json["history"]
    assert charge not in [record["sequence"] for record in theirs]
    every = town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
    assert {"ann", "bob"} <= {record.get("analyst") for record in every}
    path = f"/api/datasets/town/receipts/{charge}"
    assert town.send("GET", path, who="ann").json["receipts"][0]["charge"] == charge
    assert town.send("GET", path, who="olga").status == 200
    missing = town.send("GET", "/api/datasets/town/receipts/999999", who="bob")
    foreign = town.send("GET", path, who="bob")
    assert (foreign.status, foreign.body) == (missing.status, missing.body) == (404, missing.body)


def test_an_owner_sees_every_account_and_an_analyst_what_is_left(town):
    mine = town.send("GET", "/api/datasets/town/budget", who="ann").json
    assert set(mine) == {"budget", "remaining", "exact", "failures"}
    assert mine["budget"] == {"epsilon": 100.0, "delta": 1e-06}
    exact, written = (Fraction(str(part["remaining"]["epsilon"])) for part in (mine["exact"], mine))
    assert 0 <= exact - written < 1e-12  # as decimals: an ask reads 98.45 as written, not as its double
    assert town.send("GET", "/api/datasets/town/budget", who="olga").json["accounts"][0]["account"] == "town"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/people", None),
        ("POST", "/api/people", {"name": "eve", "role": "owner"}),
        ("POST", "/api/people/ann/tokens", {}),
        ("DELETE", "/api/people/ann/tokens", None),
        ("GET", "/api/datasets/town/verify", None),
        ("POST", "/api/datasets/town/shares", {"analyst": "ann", "budget": {"epsilon": 1}, "reason": "x"}),
        ("POST", "/api/datasets/town/approvals/x", {"decision": "approved"}),
        ("POST", "/api/datasets/town/failures/release", {"reason": "x"}),
        ("GET", "/metrics", None),
    ],
)
def test_what_owners_do_is_refused_to_analysts(town, method, path, body):
    reply = town.send(method, path, who="ann", body=body)
    assert (reply.status, reply.code) == (403, "policy_violation")


def test_an_owner_adds_a_person_gives_tokens_and_revokes_them(town):
    token = town.send("POST", "/api/people", who="olga", body={"name": "cleo", "role": "analyst"}).json[
        "token"
    ]
    assert town.send("GET", "/api/me", who=token).json == {"name": "cleo", "role": "analyst"}
    more = town.send("POST", "/api/people/cleo/tokens", who="olga", body={"days": 1}).json["token"]
    people = town.send("GET", "/api/people", who="olga").json["people"]
    (cleo,) = [person for person in people if person["name"] == "cleo"]
    assert len(cleo["tokens"]) == 2
    assert token not in json.dumps(people)
    path = f"/api/people/cleo/tokens/{cleo['tokens'][0]['id']}"
    assert town.send("DELETE", path, who="olga").json == {"revoked": 1}
    assert town.send("DELETE", "/api/people/cleo/tokens", who="olga").json == {"revoked": 1}
    assert town.send("GET", "/api/me", who=more).status == 401


def test_a_share_is_kept_for_one_analyst(tmp_path):
    with promptly(write_policy(tmp_path, epsilon=2)) as town:
        body = {"analyst": "bob", "budget": {"epsilon": 1.5, "delta": 1e-7}, "reason": "the survey"}
        assert town.send("POST", "/api/datasets/town/shares", who="olga", body=body).status == 200
        assert town.ask(COUNT, epsilon=1, who="ann").code == "budget_exceeded"
        assert town.ask(COUNT, epsilon=1, who="bob").status == 200


def test_the_chain_is_verified_and_metrics_count_requests_alone(town):
    town.ask("SELECT COUNT(*) AS verified FROM town", epsilon=0.1)
    town.send("GET", "/health", who=None)
    assert town.send("GET", "/api/datasets/town/verify", who="olga").json["charges"] > 0
    text = town.send("GET", "/metrics", who="olga").body.decode()
    assert 'discreet_requests_total{method="GET",route="/health",status="200"}' in text
    assert 'discreet_budget{dataset="town",measure="epsilon"} 100' in text


def test_methods_that_visitors_make_up_are_counted_as_one(town):
    for number in range(3):
        assert town.send(f"MADE{number}", "/health", who=None).status == 405
    counted = [method for method, _, _ in town.service.journal.counts()]
    assert "OTHER" in counted
    assert not any(method.startswith("MADE") for method in counted)


def test_every_response_carries_the_security_headers(town):
    for path in ("/health", "/api/datasets", "/nowhere", "/api/datasets/town/ask"):
        headers = dict(town.send("GET", path).headers)
        assert headers["content-security-policy"].startswith("default-src 'self'; script-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_the_journal_has_no_token_no_question_and_no_duration(town):
    town.ask("SELECT COUNT(*) AS canary FROM town", epsilon=0.1)
    text = (town.folder / "journal.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[-1]["person"] == "ann"
    assert lines[-1]["route"] == "/api/datasets/{name}/ask"
    assert lines[-1]["charge"] > 0
    known = {
        "time",
        "method",
        "route",
        "status",
        "person",
        "dataset",
        "question",
        "charge",
        "charged",
        "analyst",
    }
    assert {name for line in lines for name in line} <= known | {
        "added",
        "role",
        "of",
        "approval",
        "decision",
    }
    assert not any(token in text for token in town.tokens.values())
    assert "canary" not in text


def test_what_nobody_foresaw_is_one_constant_and_its_words_are_in_no_log(town, monkeypatch, capfd):
    def break_down():
        raise RuntimeError("a secret of the data")

    monkeypatch.setattr(town.service.datasets["town"], "describe", break_down)
    reply = town.send("GET", "/api/datasets/town")
    assert (reply.status, reply.code) == (500, "internal")
    assert set(HEADERS.items()) | {("cache-control", "no-store")} <= set(reply.headers)
    assert b"secret" not in reply.body
    assert "secret" not in "".join(capfd.readouterr())
    assert "secret" not in (town.folder / "journal.jsonl").read_text()


def test_infinite_labels_are_charged_answered_and_the_same_in_the_client(tmp_path):
    """A number that JSON has no word for must not break the reply of a question that was paid for."""
    policy = write_policy(tmp_path)
    text = policy.read_text().replace('shop = { type = "text" }', 'shop = { type = "number" }')
    policy.write_text(text.replace("town.csv", "town.parquet"))
    shops = [(math.inf, -math.inf, 1.5)[i % 3] for i in range(600)]
    frame = pandas.DataFrame({"person": range(600), "debt": 1.0, "city": "Ottawa", "shop": shops})
    frame.to_parquet(tmp_path / "town.parquet")
    sql = "SELECT shop, COUNT(*) AS n FROM town GROUP BY shop"
    with promptly(policy) as town:
        reply = town.ask(sql, epsilon=2, delta=1e-7)
        assert reply.status == 200, reply.body
        assert {row["shop"] for row in reply.json["rows"]} == {None, 1.5}
        labels = [group[0] for group in reply.json["released"][0]["groups"]]
        assert sorted(map(str, labels)) == ["1.5", "{'number': '-inf'}", "{'number': 'inf'}"]
        with dp.connect(town.url, token=town.tokens["ann"]) as remote:
            answer = remote.ask(sql, epsilon=2, delta=1e-7)
        assert answer.charged is False
        assert "from the ledger, free" in str(answer)
        assert "from the ledger, free" in str(answer.receipt)
        assert {row["shop"] for row in answer.rows} == {math.inf, -math.inf, 1.5}


@pytest.mark.parametrize(
    "part", ["discreet.apps.server.rest.questions._answer", "discreet.asking.query_run.restore"]
)
def test_what_breaks_after_the_charge_is_the_one_constant(tmp_path, monkeypatch, part):
    def break_down(*_, **__):
        raise OverflowError("words that quote the data")

    with promptly(write_policy(tmp_path)) as town:
        monkeypatch.setattr(part, break_down)
        reply = town.ask("SELECT COUNT(*) AS n FROM town", epsilon=1)
        assert (reply.status, reply.code) == (503, "engine_failure")
        assert reply.json["error"]["message"].startswith("the question was charged")
        assert town.spent().epsilon == 1


def test_a_number_that_json_has_no_word_for_is_null():
    written = as_json({"a": [math.inf, -math.inf, math.nan, 1.5, (2, None)], "b": {"c": math.inf}}).body
    assert json.loads(written) == {"a": [None, None, None, 1.5, [2, None]], "b": {"c": None}}
