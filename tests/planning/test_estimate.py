"""Intervals hold the noise-free bounded answer as often as they say.

Each case draws the release 2000 times on fixed exact numbers at 95 % confidence. A true coverage of 95 %
gives
fewer than 1840 hits with probability below 1e-9; intervals of half the width cover 78 % (Laplace) and are
found with probability above 1 - 1e-9.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from discreet.asking.answers import Answer, Receipt
from discreet.asking.planning import ExactTable
from discreet.asking.planning.estimate import NoisyNumber, Variance
from discreet.asking.planning.stages import AddNoise
from discreet.asking.release import release_invented
from discreet.kernel.mechanisms import Gaussian, Laplace
from planning.frozen import plan_of
from queries.bank import BANK

DRAWS, FEWEST = 2000, 1840
VALUES = [100 * k for k in range(400)]  # debts: 0, 100, ... 39 900

CASES = {
    "SELECT COUNT(*) AS x FROM accounts": 400,
    "SELECT COUNT(DISTINCT person) AS x FROM accounts": 400,
    "SELECT SUM(debt) AS x FROM accounts": sum(VALUES),
    "SELECT AVG(debt) AS x FROM accounts": sum(VALUES) / 400,
    "SELECT VARIANCE(debt) AS x FROM accounts": sum((v - sum(VALUES) / 400) ** 2 for v in VALUES) / 399,
    "SELECT STDDEV(debt) AS x FROM accounts": (sum((v - sum(VALUES) / 400) ** 2 for v in VALUES) / 399)
    ** 0.5,
    "SELECT SUM(debt) / COUNT(*) AS x FROM accounts": sum(VALUES) / 400,
    "SELECT SUM(debt) - 1000 * COUNT(*) AS x FROM accounts": sum(VALUES) - 400_000,
}


def totals(plan):
    """The exact numbers of VALUES, one row a person, whatever measures the plan has."""
    return computed(plan.measures)


@cache
def computed(measures):
    found = []
    for measure in measures:
        if not hasattr(measure, "lattice"):
            found.append(len(VALUES))
            continue
        steps = [measure.lattice.place(float(value)) - measure.centre for value in VALUES]
        found.append(sum(step**measure.power for step in steps))
    return ExactTable(((),), (tuple(found),))


def hits(plan, truth, narrow=1):
    count = 0
    receipt = Receipt({})
    for _ in range(DRAWS):
        answer = Answer(plan, release_invented(plan, totals), receipt)
        interval = answer.intervals[0]["x"]
        middle, half = (interval.lower + interval.upper) / 2, interval.width / 2 / narrow
        count += middle - half - 1e-6 <= truth <= middle + half + 1e-6
    return count


@pytest.mark.slow
@pytest.mark.parametrize("text", CASES)
def test_intervals_cover_as_often_as_they_say(text):
    assert hits(plan_of(text, epsilon=2), CASES[text]) >= FEWEST


@pytest.mark.slow
def test_gaussian_noise_is_covered_too():
    plan = plan_of(
        "SELECT COUNT(*) AS x FROM accounts", replace(BANK, budget=(("rho", Fraction(1)),)), rho=0.1
    )
    assert isinstance(plan.sets[0].columns[0].mechanism, Gaussian)
    assert hits(plan, 400) >= FEWEST


@pytest.mark.slow
def test_intervals_of_half_the_width_are_noticed():
    text = "SELECT COUNT(*) AS x FROM accounts"
    assert hits(plan_of(text, epsilon=2), CASES[text], narrow=2) < FEWEST


def test_the_average_alone_needs_half_the_noise_that_it_has_beside_the_sum():
    alone = plan_of("SELECT AVG(debt) AS a FROM accounts", epsilon=1).sets[0].columns
    beside = plan_of("SELECT AVG(debt) AS a, SUM(debt) AS s FROM accounts", epsilon=1).sets[0].columns
    assert len(alone) == len(beside) == 2
    assert 2 * alone[0].mechanism.scale <= beside[0].mechanism.scale + 2


def test_an_average_of_nobody_is_the_centre_of_the_bounds():
    plan = plan_of("SELECT AVG(debt) AS x FROM accounts", epsilon=1000)
    nobody = lambda exact: ExactTable(((),), ((0,) * len(exact.measures),))  # noqa: E731
    values = {
        round(Answer(plan, release_invented(plan, nobody), Receipt({})).rows[0]["x"], -6) for _ in range(20)
    }
    assert values <= {5_000_000.0, 4_000_000.0, 6_000_000.0}


def test_noise_is_laplace_without_delta_and_may_be_gaussian_with_it():
    wide = replace(
        BANK, tables=tuple(replace(t, max_groups=50) if t.name == "accounts" else t for t in BANK.tables)
    )
    text = "SELECT age, COUNT(*) AS n FROM accounts GROUP BY age"
    (pure,) = plan_of(text, wide, epsilon=1).sets[0].columns
    (approximate,) = plan_of(text, wide, epsilon=1, delta=Fraction(1, 10**6)).sets[0].columns
    assert isinstance(pure.mechanism, Laplace)
    assert isinstance(approximate.mechanism, Gaussian)
    assert approximate.mechanism.error() < pure.mechanism.error()


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("released", [(900, 40, 12), (900, -40, 12), (50, 3, 4), (2000, 0, 9)])
def test_an_interval_of_a_spread_holds_it_for_every_number_within_the_parts(released, root):
    """All squares, sums and counts that the noise may have hidden: none gives a spread beyond the ends."""
    noise = Laplace(epsilon=2, sensitivity=1, step=1)
    parts = [NoisyNumber(i, AddNoise(0, i, None, noise, i)) for i in range(3)]
    reading = Variance(*parts, step=Fraction(1), width=10**3, root=root)
    confidence = Fraction(9, 10)
    each = 1 - (1 - confidence) / 3
    ranges = [range(low, high + 1) for low, high in (part.interval(released, each) for part in parts)]
    interval = reading.interval(released, confidence)
    for squares, total, count in product(*ranges):
        spread = max(0.0, (squares - total * total / max(2, count)) / (max(2, count) - 1))
        truth = math.sqrt(spread) if root else spread
        assert interval.lower * (1 - 1e-12) <= truth <= interval.upper * (1 + 1e-12)
