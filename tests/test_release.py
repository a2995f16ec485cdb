"""What is released of groups that nobody declared: those of many people, and never that of one."""

import pandas
import pytest

import discreet as dp

# With ε = 4 and δ = 2^-40 a key of one person is shown with probability 2^-40, one of 200 people always.
ALONE, TOGETHER, DELTA = 60, 200, 2.0**-40


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("aggregate", ["SUM(debt)", "COUNT(DISTINCT person)"])
def test_keys_of_one_person_stay_hidden_and_large_ones_are_shown(tmp_path, relation, aggregate):
    """A false alarm in less than 10⁻⁹ of runs: 60 keys, each with 2^-40."""
    names = [f"alone {k}" for k in range(ALONE)] + ["together"] * TOGETHER
    data = pandas.DataFrame({"person": range(len(names)), "job": names, "debt": [1.0] * len(names)})
    declared = {
        "unit": "person",
        "bounds": {"debt": (0, 1)},
        "relation": relation,
        "budget": dp.ApproxDP(9, 0.1),
    }
    with dp.Curator.open(data, name="people", ledger=tmp_path / "x.ledger", **declared) as curator:
        sql = f"SELECT job, {aggregate} AS n FROM people GROUP BY job"
        shown = [row["job"] for row in curator.ask(sql, epsilon=4, delta=DELTA).rows]
    assert shown == ["together"]


@pytest.mark.parametrize("limits", [{"max_groups": 1}, {"limit": 1}, {}], ids=str)
def test_every_number_has_noise_whatever_bounds_it(tmp_path, limits):
    """At epsilon 0.1 a number is the exact one in less than 1 of 20 runs; 12 of 12 in less than 1e-15."""
    cities = [f"c{k}" for k in range(12)]
    data = pandas.DataFrame({"person": range(TOGETHER), "city": (cities * TOGETHER)[:TOGETHER]})
    declared = {"unit": "person", "keys": {"city": cities}, "budget": 1, **limits}
    with dp.Curator.open(data, name="people", ledger=tmp_path / "x.ledger", **declared) as curator:
        answer = curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=0.1)
    assert {row["city"]: row["n"] for row in answer.rows} != data["city"].value_counts().to_dict()


@pytest.mark.parametrize("limits", [{"max_groups": 1}, {}], ids=str)
def test_numbers_keep_their_columns_though_the_count_that_shows_keys_is_drawn_first(tmp_path, limits):
    """At epsilon 50 the noise on either is below 30, but for a probability below 1e-9."""
    data = pandas.DataFrame({"person": range(TOGETHER), "job": "together", "debt": 100.0})
    declared = {"unit": "person", "bounds": {"debt": (0, 100)}, "budget": dp.ApproxDP(99, 0.1), **limits}
    with dp.Curator.open(data, name="people", ledger=tmp_path / "x.ledger", **declared) as curator:
        sql = "SELECT job, SUM(debt) AS s, COUNT(DISTINCT person) AS n FROM people GROUP BY job"
        (row,) = curator.ask(sql, epsilon=50, delta=DELTA).rows
    assert abs(row["s"] - 100 * TOGETHER) < 1000
    assert abs(row["n"] - TOGETHER) < 30
