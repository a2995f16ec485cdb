"""Books with levels: totals are sums at every level, intervals hold, and tidy numbers agree."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.asking.answers.book import STEPS
from discreet.asking.answers.consistent_levels import agree_nested, estimate_nested
from discreet.asking.planning import plan_book
from discreet.asking.policy import from_arguments
from discreet.errors import UnsupportedQuery
from discreet.kernel.randomness import fresh_source
from planning.test_book_levels import LEAVES, PATHS
from planning.test_nested import dense, matrix, workload

TABLES = ["region", "state", ("sex", "county")]


@pytest.fixture
def curator(tmp_path):
    import pandas

    random = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {"county": random.choice([*LEAVES, "nowhere"], 3000), "sex": random.choice(["f", "m"], 3000)}
    )
    with dp.Curator.open(
        frame, name="people", unit=dp.each_row, budget={"rho": 2}, keys={"sex": ["f", "m"]},
        hierarchies={"region > state > county": PATHS}, ledger=tmp_path / "x.ledger",
    ) as opened:  # fmt: skip
        yield opened


def parts(book):
    """Yield every total with the sum of its parts."""
    ends = {"region": (0, 4, 7), "state": (0, 3, 4, 6, 7)}
    for plain in ((), ("sex",)):
        county = book[(*plain, "county")].steps
        for level, starts in ends.items():
            yield book[(*plain, level)].steps, np.add.reduceat(county, starts, axis=-1)
        yield book[plain].steps, county.sum(axis=-1)
        yield book[plain].steps, book[(*plain, "region")].steps.sum(axis=-1)
    for level in ("region", "state", "county"):
        yield book[level].steps, book["sex", level].steps.sum(axis=0)


def test_totals_are_sums_at_every_level_and_the_book_is_kept(curator):
    book = curator.book(TABLES, rho=0.5)
    for total, added in parts(book):
        assert (total == added).all()
    again = curator.book(TABLES, rho=0.5)
    assert not again.charged
    assert (again["state"].steps == book["state"].steps).all()
    assert curator.book(["state", ("sex", "county")], rho=0.5).charged


def test_tidy_numbers_agree_at_every_level(curator):
    book = curator.book(TABLES, rho=0.01)
    tidy = book.tidy()
    county = tidy["sex", "county"]
    assert (county >= 0).all()
    assert (np.add.reduceat(county, (0, 4, 7), axis=1) == tidy["sex", "region"]).all()
    assert (county.sum(axis=0) == tidy["county"]).all()
    assert county.sum() == tidy[()]
    with pytest.raises(UnsupportedQuery, match="holds all others"):
        curator.book(["county", ("sex", "region")], rho=0.01).tidy()["county"]


def test_files_and_json_have_an_interval_for_each_label(curator, tmp_path):
    book = curator.book(TABLES, rho=0.5)
    book.save(tmp_path / "book", tidy=True)
    lines = (tmp_path / "book" / "002-state.csv").read_text().splitlines()
    assert lines[0] == "state,count,count_lower,count_upper"
    assert [line.split(",")[0] for line in lines[1:]] == ["CA", "WA", "NY", "NJ", "(rest)"]
    ends = np.array([[float(each) for each in line.split(",")[1:]] for line in lines[1:]])
    assert ends[:, 2] - ends[:, 0] == pytest.approx(book["state"].reach)
    assert len(set(book["state"].reach.tolist())) > 1
    assert len(book.to_json()["tables"][1]["reach"]) == 5
    assert "at most" in str(book)
    assert (tmp_path / "book" / "002-state.svg").exists()


def test_estimates_are_those_of_dense_least_squares():
    found = workload()
    plan, generator = found.design(), np.random.default_rng(1)
    shape = {each: [found.sizes[one] for one in each] for each in found.sets}
    measured = {each: generator.normal(size=shape[each]) for each in plan.shares}
    said = sum(
        float(share) * matrix(found, each).T @ measured[each].reshape(-1)
        for each, share in plan.shares.items()
    )
    inverse = dense(found, plan)
    estimates = estimate_nested(plan, measured)
    for each in found.sets:
        assert estimates[each].reshape(-1) == pytest.approx(matrix(found, each) @ inverse @ said)
    agreed = agree_nested(found, estimates, STEPS)
    for each, table in agreed.items():
        assert table / STEPS == pytest.approx(estimates[each], abs=1e-3)


def test_intervals_hold_as_often_as_they_say():
    # 2,000 books. A cell's share of these has a standard error below 0.0049: 0.034 is 6.9 of them, which one
    # of 33 cells is beyond less than once in 10^9, and so is the mean, of half that error at most, beyond
    # 0.012 (correlated as cells are). A reach that is a tenth short gives a mean of 0.922.
    policy = from_arguments(
        id="t", sources={"t": None}, unit=dp.each_row, budget={"rho": 1}, keys={"sex": ["f", "m"]},
        hierarchies={"region > state > county": PATHS},
    )  # fmt: skip
    plan = plan_book(TABLES, policy, rho=Fraction(1, 2))
    design, source = plan.noise.design, fresh_source()
    held = {each: [] for each in plan.book.tables}
    for _ in range(2000):
        measured = {}
        for columns, noise in plan.noise.mechanisms.items():
            shape = [plan.noise.workload.sizes[each] for each in columns]
            zeros = np.zeros(int(np.prod(shape)), dtype=np.int64)
            measured[columns] = np.array(noise.draw(zeros, source)).reshape(shape) / plan.noise.one
        tables = estimate_nested(design, measured)
        for each, shares in held.items():
            shares.append(np.abs(tables[each]) <= plan.reach(each))
    cells = np.concatenate([np.mean(each, axis=0).reshape(-1) for each in held.values()])
    assert np.abs(cells - 0.95).max() < 0.034
    assert abs(cells.mean() - 0.95) < 0.012
