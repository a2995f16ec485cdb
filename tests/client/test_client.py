"""The same face over HTTP as in this process."""

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest

import discreet as dp
from discreet.asking.client.transport import Transport, write_object
from server.running import promptly, write_policy

COUNT = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        yield served


@pytest.fixture
def ann(town):
    return dp.connect(town.url, token=town.tokens["ann"])


def test_the_plan_is_the_one_a_local_curator_makes(town, ann):
    local = town.service.datasets["town"]._curator
    assert ann.policy == local.resources.known
    for question in (
        COUNT,
        "SELECT SUM(debt) AS s FROM town",
        "SELECT shop, COUNT(*) FROM town GROUP BY shop",
    ):
        remote, here = ann.explain(question, epsilon=0.5), local.explain(question, epsilon=0.5)
        assert str(remote) == str(here)
        assert remote.loss.to_json() == here.loss.to_json()


def test_an_answer_has_rows_intervals_receipt_and_every_confidence(ann, tmp_path):
    answer = ann.ask(COUNT, epsilon=0.5)
    assert [row["city"] for row in answer.rows] == ["Ottawa", "Toronto"]
    assert answer.receipt.facts["question"].startswith("SELECT city")
    assert set(answer.records(confidence=0.99)[0]) == {"city", "n", "n_lower", "n_upper"}
    assert min(row["n"] for row in answer.non_negative().rows) >= 0
    answer.save(tmp_path / "kept")
    assert (tmp_path / "kept" / "answer.csv").exists()
    assert list(answer.to_pandas()["city"]) == ["Ottawa", "Toronto"]


def test_what_is_selected_from_an_answer_comes_over_the_wire(ann):
    counted = ann.ask(COUNT, epsilon=0.25)
    share = "100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY COUNT(*)) AS r"
    answer = ann.ask(f"SELECT city, COUNT(*) AS n, {share} FROM town GROUP BY city", epsilon=0.25)
    assert not answer.charged
    assert [row["n"] for row in answer.rows] == [row["n"] for row in counted.rows]
    assert sum(row["share"] for row in answer.rows) == pytest.approx(100)
    assert answer.marked == ("r",)
    huge = "*".join(["(n * n + 1000000000)"] * 6)
    failed = ann.ask(f"SELECT {huge} AS x FROM ({COUNT}) AS t", epsilon=0.25)
    assert failed.failure is not None
    assert failed.columns == ("city", "n")


def test_lists_and_builders_are_asked_as_they_are(ann):
    built = ann.table("town").where(dp.column("debt") > 10).group_by("city").count()
    first, second = ann.ask([built, "SELECT COUNT(*) AS n FROM town"], epsilon=0.5)
    assert [row["city"] for row in first.rows] == ["Ottawa", "Toronto"]
    assert set(second.rows[0]) == {"n"}


def test_found_bounds_and_weights_cross_the_wire(ann, tmp_path):
    sql = "SELECT COUNT(*) AS n, SUM(1 / debt) AS s FROM town"
    with promptly(write_policy(tmp_path)) as patient:
        remote = dp.connect(patient.url, token=patient.tokens["ann"])
        answer = remote.ask(sql, epsilon=0.5, bounds="auto", split={"n": 2})
    assert answer.plan.search.found is not None
    assert "Bounds found" in str(answer.receipt)
    assert "split n 2" in answer.plan.asked
    for wrong in ({"bounds": "none"}, {"split": {"m": 1}}):
        with pytest.raises(dp.InvalidParameter):
            ann.ask("SELECT COUNT(*) AS n FROM town", epsilon=0.5, **wrong)


def test_a_number_beyond_all_doubles_comes_back_as_it_is(ann):
    assert ann.ask("SELECT SUM(debt) * 1e300 * 1e300 AS s FROM town", epsilon=1).rows[0]["s"] == float("inf")


def test_remaining_and_history_are_exact(town, ann):
    before = ann.remaining.epsilon
    ann.ask("SELECT COUNT(*) AS exact FROM town", epsilon=Decimal("0.1"))
    assert isinstance(ann.remaining, dp.ApproxDP)
    assert before - ann.remaining.epsilon == Fraction(1, 10)
    assert ann.history[-1].cost == "0.1"
    assert {record.analyst for record in ann.history} == {"ann"}


def test_a_watch_over_http(ann):
    watch = ann.watch(threshold=100, epsilon=2)
    assert watch.test("SELECT COUNT(*) FROM town WHERE person < 0") is False
    assert watch.test(ann.table("town").count()) is True
    assert watch.finished
    with pytest.raises(dp.Finished):
        watch.test("SELECT COUNT(*) FROM town")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda ann: ann.ask("SELECT * FROM town", epsilon=1), dp.UnsupportedQuery),
        (lambda ann: ann.ask(COUNT, epsilon=5000), dp.BudgetExceeded),
        (lambda ann: ann.ask(COUNT, epsilon=0), dp.InvalidParameter),
        (lambda ann: ann.ask(COUNT, epsilon=True), dp.InvalidParameter),
        (lambda ann: ann.ask(COUNT, epsilon=Fraction(1, 3)), dp.InvalidParameter),
        (lambda ann: ann.ask(COUNT, key="k" * 300, epsilon=1), dp.InvalidParameter),
        (lambda ann: ann.watch(threshold=1, epsilon=-1), dp.InvalidParameter),
    ],
)
def test_errors_are_the_ones_a_local_curator_raises(ann, call, error):
    with pytest.raises(error):
        call(ann)


def test_a_token_that_is_not_valid_and_a_name_that_is_not_there(town):
    with pytest.raises(dp.Unauthenticated):
        dp.connect(town.url, token="dp_" + "A" * 43)
    with pytest.raises(dp.InvalidParameter):
        dp.connect(town.url, token=town.tokens["ann"], dataset="nowhere")


def test_a_question_above_the_price_says_that_it_waits(tmp_path):
    with promptly(write_policy(tmp_path, server="approve_above = { epsilon = 0.5 }")) as town:
        ann = dp.connect(town.url, token=town.tokens["ann"])
        with pytest.raises(dp.PolicyViolation) as waiting:
            ann.ask(COUNT, epsilon=1)
        assert waiting.value.fields["state"] == "waiting"


@pytest.mark.parametrize("url", ["ftp://x", "http://example.org", "http://10.0.0.1:8000", "x", "https://"])
def test_a_token_is_never_sent_in_the_clear_to_another_machine(url):
    with pytest.raises(dp.InvalidParameter):
        Transport(url, token="dp_x", timeout_s=1, patience_s=0)


@pytest.fixture
def lost(monkeypatch):
    """The first reply to an ask or to the opening of a watch: it is lost on the way, and kept here."""
    once, kept = Transport._once, []

    def lose_the_first(self, method, path, *rest):
        reply = once(self, method, path, *rest)
        if path[-1] in ("ask", "watch") and not kept:
            kept.append(reply)
            raise ConnectionResetError
        return reply

    monkeypatch.setattr(Transport, "_once", lose_the_first)
    return kept


def test_a_watch_whose_first_reply_is_lost_is_paid_for_once_and_may_be_stopped(ann, lost):
    before = ann.remaining.epsilon
    watch = ann.watch(threshold=100, epsilon=Decimal("0.5"))
    assert lost[0][1] == {"watch": watch._name}
    assert before - ann.remaining.epsilon == Fraction(1, 2)
    watch.stop()
    with pytest.raises(dp.InvalidParameter):
        watch.test("SELECT COUNT(*) FROM town")


def test_a_retry_after_a_lost_reply_is_not_charged_twice(ann, lost):
    before = ann.remaining.epsilon
    answer = ann.ask("SELECT COUNT(*) AS lost FROM town", epsilon=0.2)
    assert lost[0][1]["rows"] == [dict(row) for row in answer.rows]
    assert before - ann.remaining.epsilon == Fraction(1, 5)


def test_a_server_that_is_gone_is_an_engine_failure():
    with pytest.raises(dp.EngineFailure):
        dp.connect("http://127.0.0.1:9", token="dp_x", patience_s=0)


def test_numbers_are_written_exactly():
    sent = write_object({"a": 0.1, "b": Decimal("1e-30"), "c": Fraction(3, 8), "d": 10**30})
    assert sent == b'{"a":0.1,"b":1e-30,"c":0.375,"d":1e+30}'


def test_dates_come_back_as_dates(tmp_path):
    policy = write_policy(tmp_path)
    policy.write_text(policy.read_text() + 'day = { type = "date", keys = ["2026-01-01", "2026-01-02"] }\n')
    text = (tmp_path / "town.csv").read_text().splitlines()
    rows = [f"{line},{'day' if number == 0 else '2026-01-01'}" for number, line in enumerate(text)]
    (tmp_path / "town.csv").write_text("\n".join(rows) + "\n")
    with promptly(policy) as town:
        answer = dp.connect(town.url, token=town.tokens["ann"]).ask(
            "SELECT day, COUNT(*) AS n FROM town GROUP BY day", epsilon=1
        )
    assert [row["day"] for row in answer.rows] == [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]
