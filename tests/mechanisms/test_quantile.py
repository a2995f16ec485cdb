import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from oracles import mechanism_laws as oracle


def gaps(mechanism, values):
    return mechanism._gaps(*mechanism._in_steps(values))


VALUES = st.lists(st.integers(-2, 12) | st.floats(-2, 12), max_size=8)


@settings(max_examples=80, deadline=None)
@given(VALUES, st.fractions(0, 1, max_denominator=7), st.sampled_from(["add/remove", "replace"]))
def test_runs_of_points_carry_the_law_of_the_definition(values, q, relation):
    mechanism = dp.Quantile(epsilon=1, quantile=q, bounds=(0, 10), step=1, relation=relation)
    starts, sizes, scores = gaps(mechanism, values)
    assert sizes.sum() == mechanism.points == 11
    weights = [
        float(mechanism._factor * int(score))
        for score, size in zip(scores, sizes, strict=True)
        for _ in range(size)
    ]
    law = np.exp(np.array(weights) - max(weights))
    assert law / law.sum() == pytest.approx([float(p) for p in oracle.quantile(mechanism, values).values()])
    assert starts[0] == 0


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(VALUES.filter(len), st.fractions(0, 1, max_denominator=7))
def test_one_person_moves_a_score_by_no_more_than_the_sensitivity(values, q):
    """And by all of it: with half the sensitivity the check fails on two persons (the planted fault)."""
    mechanism = dp.Quantile(epsilon=1, quantile=q, bounds=(0, 10), step=1)

    def scores(data):
        found = gaps(mechanism, data)[1:]
        return [int(s) for size, s in zip(*found, strict=True) for _ in range(size)]

    moved = max(abs(a - b) for a, b in zip(scores(values), scores(values[1:]), strict=True))
    assert moved <= max(q.numerator, q.denominator - q.numerator)
    assert abs(scores([5, 5])[0] - scores([])[0]) <= 2 * max(q.numerator, q.denominator - q.numerator)
    if q.numerator:
        assert abs(scores([5])[0] - scores([])[0]) == q.numerator


def log_law(mechanism, values):
    """ln of the probability of each point."""
    _, sizes, scores = gaps(mechanism, values)
    weights = [
        float(mechanism._factor * int(s)) for size, s in zip(sizes, scores, strict=True) for _ in range(size)
    ]
    whole = math.log(math.fsum(map(math.exp, weights)))
    return [weight - whole for weight in weights]


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(0), Fraction(1)])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_no_point_is_likelier_by_more_than_epsilon_on_neighbouring_data(q, relation):
    mechanism = dp.Quantile(epsilon=4, quantile=q, bounds=(0, 10), step=1, relation=relation)
    worst = 0.0
    for size in range(1, 6):
        for values in combinations_with_replacement((0, 4, 10), size):
            here = log_law(mechanism, values)
            for i in range(size):
                rest = values[:i] + values[i + 1 :]
                others = [rest] if relation == "add/remove" else [(*rest, x) for x in (0, 4, 10)]
                for there in (log_law(mechanism, other) for other in others):
                    worst = max(worst, *(abs(a - b) for a, b in zip(here, there, strict=True)))
    assert 2 < worst <= 4 + 1e-12


def test_many_equal_values_neither_overflow_nor_crash():
    mechanism = dp.Quantile(epsilon=1, bounds=(0, 1))
    assert mechanism.release([0.0] * 1492 + [1.0]) == 0.0
    assert mechanism.release(np.zeros(10**5)) == 0.0


@pytest.mark.slow
def test_no_values_give_every_point_alike():
    mechanism = dp.Quantile(epsilon=1, bounds=(1, 4), step=1)
    drawn = Counter(mechanism.release([]) for _ in range(2000))
    assert all(abs(drawn[c] - 500) < 7 * math.sqrt(375) for c in (1, 2, 3, 4))


def test_the_answer_is_near_and_on_the_lattice():
    data = np.arange(10001) / 10
    mechanism = dp.Quantile(epsilon=1, quantile=0.9, bounds=(0, 1000))
    released = mechanism.release(data)
    assert abs(released - 900) <= (mechanism.rank_error(confidence=1 - 1e-12) + 1) / 10
    assert (Fraction(released) / mechanism.step).denominator == 1
    assert isinstance(dp.Quantile(epsilon=1, bounds=(0, 9), step=1).release([3]), int)


def test_whole_and_float_arrays_agree_and_huge_whole_numbers_are_exact():
    mechanism = dp.Quantile(epsilon=1, bounds=(0, 10), step=1)
    whole, floats = (gaps(mechanism, np.array([1, 2, 2], dtype=kind)) for kind in (np.int32, np.float64))
    assert all((a == b).all() for a, b in zip(whole, floats, strict=True))
    assert gaps(mechanism, [2**60 + 1, -(2**70)])[2].tolist() == [0]


@pytest.mark.parametrize("values", [[math.nan], [math.inf], ["1"], [True], [None], np.zeros((2, 2))])
def test_garbage_is_refused(values):
    with pytest.raises(dp.InvalidParameter):
        dp.Quantile(epsilon=1, bounds=(0, 1)).release(values)


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, math.inf), (math.nan, 1), (0,), 3])
def test_bounds_must_be_declared_and_ordered(bounds):
    with pytest.raises(dp.InvalidParameter):
        dp.Quantile(epsilon=1, bounds=bounds)


def test_a_step_that_leaves_no_point_or_too_many_is_refused():
    for bounds, step in (((0.25, 0.75), 1), ((0, 2**70), 1)):
        with pytest.raises(dp.InvalidParameter, match="step"):
            dp.Quantile(epsilon=1, bounds=bounds, step=step)


def test_a_tally_has_the_gaps_of_its_values():
    mechanism = dp.Quantile(epsilon=1, bounds=(0, 10), step=1)
    steps, counts = np.array([2, 5]), np.array([3, 1])
    tallied, listed = mechanism._gaps_of_tally(steps, counts), gaps(mechanism, [2, 2, 2, 5])
    assert all((a == b).all() for a, b in zip(tallied, listed, strict=True))


@pytest.mark.parametrize("method", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1)])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_an_end_loses_no_more_than_epsilon_though_its_noise_is_halved(relation, q, method):
    """All small units of up to two rows, beside all small tables; a middle quantile so would lose more."""
    points = [()] * (relation == "add/remove") + [
        rows for size in (1, 2) for rows in combinations_with_replacement((0, 1, 3), size)
    ]
    mechanism = dp.Quantile(
        epsilon=2, quantile=q, bounds=(0, 3), step=1, max_rows=2, method=method, relation=relation
    )
    worst = 0.0
    for rest in [(), (0,), (1, 3), (0, 2, 3), (3, 3, 3, 3), (0, 0, 0, 0)]:
        laws = [mechanism.law((*rest, *own)) for own in points]
        logs = [[math.log(float(mass)) for mass in law.values()] for law in laws]
        neighbours = logs[:1] if relation == "add/remove" else logs
        for one in neighbours:
            worst = max(worst, *(abs(a - b) for other in logs for a, b in zip(one, other, strict=True)))
    assert 1.5 < worst <= 2 + 1e-9


def test_half_the_noise_for_a_middle_quantile_would_lose_more_than_epsilon(monkeypatch):
    monkeypatch.setattr(dp.Quantile, "_factor", property(lambda self: self.epsilon))
    mechanism = dp.Quantile(epsilon=2, bounds=(0, 10), step=1)
    one, other = log_law(mechanism, (0, 0, 4)), log_law(mechanism, (0, 0, 4, 4))
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) > 3


def test_several_rows_of_one_unit_need_as_many_times_the_noise():
    one, three = (dp.Quantile(epsilon=1, bounds=(0, 10), step=1, max_rows=rows) for rows in (1, 3))
    assert three.rank_error() == pytest.approx(3 * one.rank_error())


def test_permute_and_flip_is_limited_in_points_and_charged_as_pure():
    flipped = dp.Quantile(epsilon=1, bounds=(0, 10), step=1, method="permute-and-flip")
    plain = dp.Quantile(epsilon=1, bounds=(0, 10), step=1)
    assert flipped.loss.rho > plain.loss.rho
    for wrong in ({"method": "other"}, {"step": 2**-40, "method": "permute-and-flip"}):
        with pytest.raises(dp.InvalidParameter):
            dp.Quantile(epsilon=1, bounds=(0, 10), **wrong)
