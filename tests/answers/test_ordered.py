"""Ranges, cumulative shares and quantiles are sums of what was released, and their intervals hold."""

import numpy as np
import pytest

import discreet as dp
from discreet.asking.answers.ordered import Ordered, in_order
from discreet.errors import InvalidParameter, UnsupportedQuery

AGES = list(range(10, 30))


@pytest.fixture
def book(tmp_path):
    import pandas

    random = np.random.default_rng(1)
    frame = pandas.DataFrame({"age": random.integers(10, 33, 3000), "sex": random.choice(["f", "m"], 3000)})
    keys = {"age": AGES[::-1], "sex": ["f", "m"]}
    with dp.Curator.open(
        frame, name="t", unit=dp.each_row, budget={"rho": 2}, keys=keys, ledger=tmp_path / "x.ledger"
    ) as curator:
        yield curator.book(["age", ("age", "sex")], rho=0.5)


def test_numbers_ascend_and_sums_are_those_of_the_table(book):
    found = book.ordered("age")
    assert found.labels == tuple(AGES)
    assert found.counts.tolist() == [book["age"][age] for age in AGES]
    assert found.cumulative.tolist() == np.cumsum(found.counts).tolist()
    assert found.between(12, 14).value == sum(book["age"][age] for age in (12, 13, 14))
    assert found.between(10, 14).value == found.cumulative[4]
    assert found.between(11, 11).upper - found.between(11, 11).value == pytest.approx(book["age"].reach)
    assert found.between(10, 14).upper == pytest.approx(found.cumulative[4] + found.reach[4])
    assert book.ordered("sex").labels == ("f", "m")


def test_shares_and_quantiles_are_near_the_truth(book):
    found = book.ordered("age")
    assert found.shares[-1].value == pytest.approx(1)
    assert found.shares[9].lower < 0.5 < found.shares[10].upper
    assert abs(found.quantile(0.5).label - 19.5) < 1.6  # the true shares are near even, the noise a few rows
    assert found.quantile(0).label == 10
    assert found.quantile(1).label == 29
    assert found.quantile(0.5).lower <= found.quantile(0.5).label <= found.quantile(0.5).upper


def drawn(generator, counts, covariance, times):
    noise = generator.multivariate_normal(np.zeros(counts.size), covariance, times)
    for each in noise:
        yield Ordered("x", tuple(range(counts.size)), counts + each, covariance, 1.959964, 0.95)


def test_intervals_hold_as_often_as_they_say():
    # 4,000 draws: a share of them has a standard error below 0.0035 at 0.95, so 0.024 is 6.9 of it. Quantiles
    # are labels, and hold at least as often. A reach that is a tenth short gives 0.922.
    generator = np.random.default_rng()
    counts = np.array([30.0, 5, 0, 2, 40, 8, 8, 7])
    covariance = 9 * np.eye(8) - 0.9
    cumulative = counts.cumsum()
    ranges, shares, quantiles = [], [], []
    for found in drawn(generator, counts, covariance, 4000):
        held = found.between(1, 4)
        ranges.append(held.lower <= 47 <= held.upper)
        share = found.shares[4]
        shares.append(share.lower <= cumulative[4] / cumulative[-1] <= share.upper)
        each = found.quantile(0.6)  # of 100 rows the 60th is at label 4
        quantiles.append(each.lower <= 4 <= each.upper)
    assert abs(np.mean(ranges) - 0.95) < 0.024
    assert abs(np.mean(shares) - 0.95) < 0.024
    assert np.mean(quantiles) > 0.95 - 0.024


def test_shares_of_nearly_nobody_are_anything():
    found = Ordered("x", (1, 2), np.array([1.0, -2.0]), np.eye(2), 2.0, 0.95)
    assert [(each.lower, each.upper) for each in found.shares] == [(0, 1), (0, 1)]
    assert found.quantile(0.5).lower == 1
    assert found.quantile(0.5).upper == 2


def test_texts_stay_in_the_order_they_are_declared_in():
    assert in_order(("low", "high", "higher")).tolist() == [0, 1, 2]
    assert in_order((3, 1, 2)).tolist() == [1, 2, 0]


def test_what_has_no_order_is_refused(book, tmp_path):
    found = book.ordered("age")
    for wrong in ((14, 12), (14, 99)):
        with pytest.raises(InvalidParameter, match=r"first|that label"):
            found.between(*wrong)
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        found.quantile(1.5)
    with pytest.raises(InvalidParameter, match="one of the book"):
        book.ordered("nothing")


def test_a_level_of_a_hierarchy_has_an_order_too(tmp_path):
    import pandas

    frame = pandas.DataFrame({"year": np.repeat([1901, 1905, 1912, 1919], 50)})
    decades = [("00s", 1901), ("00s", 1905), ("10s", 1912), ("10s", 1919)]
    with dp.Curator.open(
        frame, name="t", unit=dp.each_row, budget={"rho": 2, }, hierarchies={"decade > year": decades},
        ledger=tmp_path / "x.ledger",
    ) as curator:  # fmt: skip
        book = curator.book(["decade", "year"], rho=0.5)
        found = book.ordered("year")
        assert found.between(1901, 1905).value == book["decade"]["00s"]
        reach = found.between(1901, 1905).upper - found.between(1901, 1905).value
        assert reach == pytest.approx(book["decade"].reach[0])
        assert book.ordered("decade").labels == ("00s", "10s")


def test_laplace_books_have_no_ranges(tmp_path):
    import pandas

    with dp.Curator.open(
        pandas.DataFrame({"age": [10]}), name="t", unit=dp.each_row, budget={"epsilon": 2},
        keys={"age": AGES}, ledger=tmp_path / "y.ledger",
    ) as curator, pytest.raises(UnsupportedQuery, match="Gaussian"):  # fmt: skip
        curator.book(["age"], epsilon=1).ordered("age")
