"""A dry run spends nothing, reads nothing, and shows what limits, bounds and noise do."""

import pandas
import pytest

import discreet as dp
from discreet.asking import resources

DECLARED = {
    "unit": "person",
    "types": {"shop": "text"},
    "bounds": {"debt": (0, 100), "age": (18, 100)},
    "keys": {"city": ["Ottawa", "Toronto"]},
}


def absent(tmp_path, **more):
    """A curator of data that does not exist."""
    declared = {**DECLARED, "budget": {"epsilon": 1, "delta": 1e-6}, "max_groups": 2, "max_rows": 3, **more}
    return dp.Curator.open(tmp_path / "people.parquet", **declared)


def test_it_needs_no_data_and_leaves_no_ledger(tmp_path):
    dry = absent(tmp_path).dry_run("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=1)
    assert [row["city"] for row in dry.rows] == ["Ottawa", "Toronto"]
    assert "nothing was charged" in str(dry)
    assert list(tmp_path.iterdir()) == []


def test_data_that_is_there_is_neither_run_nor_charged_for(tmp_path, monkeypatch):
    frame = pandas.DataFrame({"person": [1, 2], "city": ["Ottawa"] * 2, "debt": [1.0, 2.0]})
    with dp.Curator.open(
        frame, name="people", unit="person", budget={"epsilon": 1}, ledger=tmp_path / "a"
    ) as curator:
        monkeypatch.setattr(type(curator.resources.engine()), "run", lambda *_: pytest.fail("read the data"))
        monkeypatch.setattr(resources.Ledger, "charge", lambda *_: pytest.fail("charged"))
        curator.dry_run("SELECT COUNT(*) AS n FROM people", epsilon=1)
        assert curator.remaining == dp.PureDP(1)


def test_limits_that_nobody_reaches_leave_nothing_out(tmp_path):
    curator = absent(tmp_path, max_rows=1000)
    dry = curator.dry_run(
        "SELECT city, COUNT(*) AS n, SUM(debt) AS s FROM people GROUP BY city", epsilon=1, rows=3, beyond=0
    )
    assert all(row["every_row"] == row["bounded"] for row in dry.rows)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("SELECT COUNT(*) AS x FROM people", {"rows": 30}),
        ("SELECT SUM(debt) AS x FROM people", {"rows": 1, "beyond": 0.5}),
    ],
)
def test_rows_over_a_limit_and_values_over_a_bound_are_seen_to_be_cut(tmp_path, text, changed):
    (row,) = absent(tmp_path).dry_run(text, epsilon=1, **changed).rows
    assert row["bounded"] < 0.8 * row["every_row"]


def test_the_noise_is_that_of_the_plan(tmp_path):
    curator = absent(tmp_path)
    dry = curator.dry_run("SELECT COUNT(*) AS n FROM people", epsilon=0.1, people=500, confidence=1 - 1e-10)
    (row,) = dry.rows
    assert row["error"] == pytest.approx(dry.plan.errors["n"], abs=1)
    assert abs(row["released"] - row["bounded"]) <= row["error"]  # false alarm 1e-10


def test_as_many_people_as_are_expected_are_in_proportion_to_the_noise(tmp_path):
    dry = absent(tmp_path, population=10**6).dry_run(
        "SELECT COUNT(DISTINCT person) AS n FROM people", epsilon=1
    )
    assert abs(dry.rows[0]["bounded"] - 10**6) < 1000
    assert dry.people == dry.rows[0]["bounded"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(debt) AS m, STDDEV(debt) AS s, MEDIAN(age) AS q, MODE(city) AS c FROM people",
        "SELECT shop, COUNT(*) AS n FROM people GROUP BY shop",
        "SELECT AVG(d) AS m FROM (SELECT person, SUM(debt) AS d FROM people GROUP BY person) AS x",
        "SELECT city, COUNT(*) / 2 AS n FROM people GROUP BY city HAVING n > 1000000 ORDER BY n LIMIT 1",
    ],
)
def test_every_kind_of_question_is_rehearsed(tmp_path, text):
    dry = absent(tmp_path).dry_run(text, epsilon=1, people=200)
    assert len(dry.rows) >= 1 or "shop" in text
    assert str(dry)


def test_invented_rows_meet_through_foreign_keys_and_public_tables(tmp_path):
    curator = dp.Curator.open(
        {"accounts": tmp_path / "a.parquet", "payments": tmp_path / "p.parquet"},
        unit={"accounts": "person", "payments": ("Accounts", {"account": "id"})},  # in any case
        keys={"accounts": {"city": ["Ottawa", "Toronto"]}},
        public={"cities": (tmp_path / "c.csv", "city")},
        budget={"epsilon": 1},
        max_rows=100,
    )
    joined = "FROM payments JOIN accounts ON account = id"
    (row,) = curator.dry_run(f"SELECT COUNT(*) AS n {joined}", epsilon=1, people=50, rows=4).rows
    assert row["every_row"] >= 50  # each person has at least one payment
    (same,) = curator.dry_run("SELECT COUNT(DISTINCT person) AS n FROM accounts", epsilon=1, people=50).rows
    assert same["bounded"] == 50


@pytest.mark.parametrize(
    "wrong", [{"people": 0}, {"rows": 0}, {"rows": 1.5}, {"beyond": 2}, {"people": True}]
)
def test_beliefs_that_cannot_be_are_refused(tmp_path, wrong):
    with pytest.raises(dp.InvalidParameter):
        absent(tmp_path).dry_run("SELECT COUNT(*) AS n FROM people", epsilon=1, **wrong)


def test_how_many_values_there_are_is_rehearsed(tmp_path):
    (row,) = absent(tmp_path).dry_run("SELECT COUNT(DISTINCT city) AS n FROM people", epsilon=1).rows
    assert row["every_row"] == row["bounded"] == len(DECLARED["keys"]["city"])
