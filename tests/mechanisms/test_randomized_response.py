import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.kernel.losses import channel
from discreet.testing import Tape

RR = dp.RandomizedResponse
TRUTHS = st.fractions(0, 1, max_denominator=20)


@pytest.mark.parametrize(
    ("mechanism", "loss"),
    [
        (RR(epsilon=1), 1),
        (RR(epsilon=Fraction(1, 10), values="abc"), 0.1),
        (RR.linear(1), math.log(2)),
        (RR.quadratic(1), math.log(2.5)),
        (RR.coin(2), math.log(3)),
        (RR.coin(5), math.log(9)),
        (RR.coin(1), 0),
        (RR.coin(0.5), 0),
        (RR(truth=0.75), math.log(3)),
        (RR(truth=0.25), math.log(3)),
        (RR(truth=0.5), 0),
        (RR(truth=1), math.inf),
        (RR(truth=0.5, values="abc"), math.log(2)),
    ],
)
def test_every_parametrisation_has_its_loss(mechanism, loss):
    assert mechanism.loss.epsilon(delta=0) == pytest.approx(loss, rel=1e-12, abs=1e-300)


def test_the_series_climbs_towards_the_tightest():
    truths = [RR.linear(1).truth, RR.quadratic(1).truth, RR(epsilon=1).truth]
    assert truths == sorted(truths)
    assert truths[-1] == pytest.approx(math.e / (1 + math.e))


@settings(max_examples=30, deadline=None)
@given(TRUTHS, st.sampled_from([2, 3, 4]))
def test_the_loss_is_that_of_the_channel_and_of_no_other(truth, size):
    mechanism = RR(truth=truth, values=range(10, 10 + size))
    rows = mechanism.channel()
    assert all(sum(row) == 1 for row in rows)
    for epsilon in (0, 0.5, 2):
        exact = max(
            float(sum(max(p - Fraction(math.exp(epsilon)) * q, 0) for p, q in zip(a, b, strict=True)))
            for a in rows
            for b in rows
        )
        assert mechanism.loss.delta(epsilon=epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    louder = channel(RR(truth=Fraction(99, 100)).channel(), relation="local")
    assert louder.delta(epsilon=0) > RR(truth=Fraction(3, 4)).loss.delta(epsilon=0)


@pytest.mark.parametrize("truth", [Fraction(3, 4), Fraction(1, 5), Fraction(9, 10)])
def test_the_estimate_is_unbiased_by_enumeration(truth):
    mechanism, people = RR(truth=truth), (1, 1, 0, 1)
    mean = 0.0
    for reports in product((0, 1), repeat=len(people)):
        p = math.prod(truth if a == b else 1 - truth for a, b in zip(people, reports, strict=True))
        mean += float(p) * mechanism.estimate(list(reports)).value
    assert mean == pytest.approx(0.75, abs=1e-12)
    assert mechanism.expected(0.75) == pytest.approx(float(truth * 3 / 4 + (1 - truth) / 4))


def test_the_classic_estimator_is_twice_the_mean_less_a_half():
    reports = [1] * 30 + [0] * 70
    assert RR(truth=0.75).estimate(reports).value == pytest.approx(2 * 0.3 - 0.5)


@pytest.mark.parametrize("mechanism", [RR(truth=0.5), RR.coin(1), RR(truth=Fraction(1, 3), values="abc")])
def test_no_estimate_exists_where_every_answer_is_equally_likely(mechanism):
    with pytest.raises(dp.InvalidParameter, match="equally likely"):
        mechanism.estimate(list(mechanism.values))


def test_intervals_cover_and_shorter_ones_do_not():
    """At least 95 % by proof; 400 runs fall below 88 % with probability < 1e-8. A third of it fails."""
    mechanism, truth = RR(epsilon=1), np.array([1] * 90 + [0] * 210)
    reports = mechanism.release(np.tile(truth, (400, 1)))
    estimates = [mechanism.estimate(row) for row in reports]
    assert sum(0.3 in estimate.interval for estimate in estimates) >= 352
    errors = [abs(estimate.value - 0.3) for estimate in estimates]
    third = [estimate.interval.width / 6 for estimate in estimates]
    assert sum(error <= width for error, width in zip(errors, third, strict=True)) < 320
    assert np.mean([e.value for e in estimates]) == pytest.approx(
        0.3, abs=6 * estimates[0].standard_error / 20
    )


@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 65])
def test_every_position_is_flipped_the_first_and_the_last_too(width):
    flips = np.array([RR(truth=0.75).release([0] * width) for _ in range(800)]).mean(axis=0)
    assert (abs(flips - 0.25) < 7.5 * math.sqrt(0.1875 / 800)).all()  # < 1e-13 each


def test_shapes_and_types_are_kept():
    mechanism = RR(epsilon=1)
    assert isinstance(mechanism.release(1), int)
    assert isinstance(mechanism.release(True), bool)
    assert isinstance(mechanism.release([0, 1]), list)
    grid = mechanism.release(np.zeros((3, 5), dtype=np.int8))
    assert (grid.shape, grid.dtype) == ((3, 5), np.int8)
    assert RR(epsilon=1, values=["yes", "no"]).release("yes") in ("yes", "no")


def test_no_answer_is_cut_short_by_the_type_of_an_array():
    words = RR(truth=0, values=["yes", "perhaps"])
    assert words.release(np.array(["yes"])).tolist() == ["perhaps"]
    numbers = RR(truth=0, values=[1, 300])
    assert numbers.release(np.array([1], dtype=np.int8)).tolist() == [300]


@pytest.mark.parametrize("value", [2, math.nan, "x", None, [0, 2]])
def test_an_undeclared_value_is_refused_without_being_quoted(value):
    with pytest.raises(dp.InvalidParameter) as caught:
        RR(epsilon=1).release(value)
    assert "x" not in str(caught.value).replace("exactly", "")


@pytest.mark.parametrize("values", [[], ["a"], ["a", "a"], [1, True]])
def test_values_are_at_least_two_and_different(values):
    with pytest.raises(dp.InvalidParameter):
        RR(epsilon=1, values=values)


def test_exactly_one_parametrisation_is_given():
    for given_ in ({}, {"epsilon": 1, "truth": 0.75}):
        with pytest.raises(dp.InvalidParameter):
            RR(**given_)


def test_several_values_are_estimated_together():
    mechanism = RR(epsilon=3, values="abc")
    shares = mechanism.estimate(mechanism.release(["a"] * 600 + ["b"] * 300 + ["c"] * 100))
    assert math.fsum(share.value for share in shares.values()) == pytest.approx(1)
    for letter, truth in zip("abc", (0.6, 0.3, 0.1), strict=True):
        assert abs(shares[letter].value - truth) < 8 * shares[letter].standard_error


MIXED = [
    [True, False, None],
    [True, False, "refused"],
    ["no", True],
    [0, 1, 2],
    [0, True, 2],
    [0, True],
    [None, "a", 1.5, Fraction(1, 2)],
]
KINDS = {
    "one": lambda response, held, tape: response.draw(held, tape),
    "list": lambda response, held, tape: response.draw([held], tape)[0],
    "array": lambda response, held, tape: response.draw(as_objects(held), tape)[0],
}


def as_objects(held):
    array = np.empty(1, dtype=object)
    array[0] = held
    return array


def enumerated_channel(values, held, release):
    """What a response of truth 3/4 answers to four equally likely coins, one a lie, and every way to lie."""
    response = RR(truth=Fraction(3, 4), values=values)
    coins = [(2 * coin + 1) * 2**61 for coin in range(4)]
    tapes = [Tape([coin, other]) for coin in coins for other in range(len(values) - 1)]
    return [release(response, held, tape) for tape in tapes]


def spelled(values):
    """Each declared value, and the other ways in which Python spells an equal one."""
    for place, value in enumerate(values):
        yield place, value
        if isinstance(value, int):
            yield from ((place, value) for value in (int(value), float(value)))
            yield from ((place, bool(value)) for _ in range(value in (0, 1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", MIXED, ids=str)
def test_every_declared_value_and_no_other_is_answered_with_its_probability(values, kind):
    for place, held in spelled(values):
        seen = enumerated_channel(values, held, KINDS[kind])
        outcomes = Counter((type(answer), answer) for answer in seen)
        expected = {(type(value), value): 1 for value in values}
        expected[type(values[place]), values[place]] = 3 * (len(values) - 1)
        assert outcomes == expected, "the answers are not of the declared channel"


@pytest.mark.parametrize("values", MIXED, ids=str)
def test_a_typed_array_is_answered_in_a_type_that_holds_every_value(values):
    for held in (value for value in values if isinstance(value, bool | int | str)):
        response = RR(epsilon=Fraction(1, 10), values=values)
        seen = response.release(np.array([held] * 400)).tolist()  # one is missing with probability < 1e-30
        assert {(type(answer), answer) for answer in seen} == {(type(value), value) for value in values}


def test_an_answer_in_the_type_that_was_given_is_found(monkeypatch):
    # The planted fault: a holder of True is answered by a bool, whatever is declared.
    right = RR.draw
    monkeypatch.setattr(
        RR,
        "draw",
        lambda self, value, source: (
            bool(right(self, value, source)) if value is True else right(self, value, source)
        ),
    )
    with pytest.raises(AssertionError, match="declared channel"):
        test_every_declared_value_and_no_other_is_answered_with_its_probability([True, False, None], "one")


def test_the_types_of_a_list_tell_nobody_from_the_others():
    answers = RR(epsilon=1).release([True, 0] * 50)
    assert {type(answer) for answer in answers} == {int}
    assert {type(answer) for answer in RR(epsilon=1).release([True, False] * 50)} == {bool}


@pytest.mark.parametrize("values", [[math.nan, 1], [[1], [2]], None, 5])
def test_values_that_cannot_be_told_apart_are_refused(values):
    with pytest.raises(dp.InvalidParameter):
        RR(epsilon=1, values=values)
