"""Sparse vector: the counterexample that breaks the published wrong variants, computed exactly.

Queries q = (0^k, 1^k) against q' = (1^k, 0^k), threshold 1, and the event "first k below, last k above".
"""

import copy
import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.losses import pure
from discreet.kernel.mechanisms.sparse_noise import SparseNoise, optimal_noise, textbook_noise
from oracles import mechanism_laws as oracle

SIZES = range(1, 9)
EPSILON = 1


class Tails:
    """Pr[X >= k] of discrete Laplace noise; a scale of 0 is no noise at all."""

    def __init__(self, scale):
        self.masses = (
            {0: 1.0} if scale == 0 else {k: float(p) for k, p in oracle.laplace_masses(scale).items()}
        )

    def at_least(self, k):
        return math.fsum(p for value, p in self.masses.items() if value >= k)


def event(noise, k, low, high, *, threshold=1, cutoff=True):
    """Pr[k times below on `low`, then k times above on `high`], summed over the thresholds' noise."""
    query, thresholds = Tails(noise.query), Tails(noise.threshold).masses
    below = {t: 1 - query.at_least(threshold + t - low) for t in thresholds}
    above = {t: query.at_least(threshold + t - high) for t in thresholds}
    per_round = min(noise.answers, k) if cutoff else k
    first = math.fsum(p * below[t] ** k * above[t] ** per_round for t, p in thresholds.items())
    later = math.fsum(p * above[t] for t, p in thresholds.items())
    return first * later ** (k - per_round)


def log_ratio(noise, k, **variant):
    there, here = event(noise, k, 1, 0, **variant), event(noise, k, 0, 1, **variant)
    return math.inf if there == 0 else abs(math.log(here / there))


@pytest.mark.slow
@pytest.mark.parametrize("split", ["textbook", "optimal"])
@pytest.mark.parametrize("k", SIZES)
def test_the_counterexample_stays_within_epsilon(k, split):
    stream = dp.Sparse(epsilon=EPSILON, threshold=1, count=k, step=1, split=split)
    assert log_ratio(stream.noise, k) <= EPSILON + 1e-9


@pytest.mark.parametrize("split", ["textbook", "optimal"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_event_is_computed_right(k, split):
    stream = dp.Sparse(epsilon=3, threshold=1, count=k, step=1, split=split)
    law = oracle.sparse_vector(stream, (0,) * k + (1,) * k)
    assert law[(False,) * k + (True,) * k] == pytest.approx(event(stream.noise, k, 0, 1), rel=1e-9)


WRONG = {
    "no noise on the queries": (lambda k: SparseNoise(Fraction(2), Fraction(0), 1, k), {}),
    "no limit on the answers": (lambda k: SparseNoise(Fraction(2), Fraction(4), 1, 1), {"cutoff": False}),
    "query noise not scaled by the count": (lambda k: SparseNoise(Fraction(4), Fraction(4, 3), 1, k), {}),
    "one threshold for all answers at a refreshed one's price": (
        lambda k: SparseNoise(Fraction(2), Fraction(4), 1, k),
        {},
    ),
}


@pytest.mark.parametrize("variant", WRONG)
def test_the_counterexample_breaks_the_wrong_variants(variant):
    noise, options = WRONG[variant]
    assert max(log_ratio(noise(k), k, **options) for k in SIZES) > 1.5 * EPSILON


@pytest.mark.parametrize("k", SIZES)
def test_releasing_the_compared_value_would_break_it(k):
    """The variant that returns query + noise: a value v says that the noisy threshold was at most v."""
    noise, v = textbook_noise(epsilon=Fraction(1), delta=Fraction(0), count=1), -5

    def density(low):
        query = Tails(noise.query)
        return math.fsum(
            p * (1 - query.at_least(1 + t - low)) ** (4 * k)
            for t, p in Tails(noise.threshold).masses.items()
            if 1 + t <= v
        )

    value = 1 / float(noise.query)  # the compared value's own noise adds this
    assert math.log(density(0) / density(1)) + value >= k * EPSILON + value - 1e-9


def long_log_ratio(noise, belows):
    """ln of how much likelier a round is on D than on D': `belows` times below, then all answers above.

    On D the first queries are 0 and the last 1, on D' the other way round. So many "below" force the
    threshold up to where tails are exponential, and the ratio comes near the bound of the proof.
    """
    rate, query = 1 / float(noise.threshold), 1 / float(noise.query)

    def tail(k):  # Pr[X >= k] of discrete Laplace noise
        return math.exp(-query * k) / (1 + math.exp(-query)) if k > 0 else 1 - tail(1 - k)

    def likelihood(low, high):
        return math.fsum(
            math.exp(-rate * abs(t) + belows * math.log1p(-tail(1 + t - low)))
            * tail(1 + t - high) ** noise.answers
            for t in range(-5, int(80 / query))
        )

    return math.log(likelihood(0, 1) / likelihood(1, 0))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("make", [textbook_noise, optimal_noise])
def test_a_round_costs_what_a_long_stream_reaches_and_no_more(make, count):
    noise = make(epsilon=Fraction(1), delta=Fraction(0), count=count)
    reached = [long_log_ratio(noise, belows) for belows in (10, 10**3, 10**6, 10**9)]
    assert max(reached) <= noise.round_epsilon + 1e-9
    assert max(reached) >= 0.99 * noise.round_epsilon
    assert noise.rounds * max(reached) <= 1 + 1e-9


def test_numeric_sparse_costs_epsilon_although_its_shares_add_to_more():
    stream = dp.NumericSparse(epsilon=1, threshold=0, count=5)
    first, second = 5 * (1 / stream.noise.threshold + 2 / stream.noise.query), 10 * stream.noise.value_epsilon
    assert (first, second) == (Fraction(8, 9), Fraction(2, 9))
    assert first + second > 1
    assert stream.loss.epsilon(delta=0) == 1
    assert stream.values.scale == 45


@pytest.mark.slow
@pytest.mark.parametrize("kind", [dp.Sparse, dp.NumericSparse])
@pytest.mark.parametrize("count", [1, 7, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 10])
@pytest.mark.parametrize("delta", [1e-9, 0.01])
def test_textbook_noise_with_delta_keeps_its_promise_by_exact_composition(kind, count, epsilon, delta):
    stream = kind(epsilon=epsilon, threshold=0, count=count, delta=delta)
    assert stream.loss.delta(epsilon=epsilon) <= delta
    planted = 8 * count * pure(epsilon=stream.noise.round_epsilon * 12)
    assert planted.delta(epsilon=epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(1, 0.999, 1), (1000, 1e-6, 5000)])
def test_textbook_noise_is_refused_where_its_bound_fails(epsilon, delta, count):
    with pytest.raises(dp.InvalidParameter, match="optimal"):
        dp.Sparse(epsilon=epsilon, threshold=0, count=count, delta=delta)
    assert (
        dp.Sparse(epsilon=epsilon, threshold=0, count=count, delta=delta, split="optimal").loss.delta(
            epsilon=epsilon
        )
        <= delta
    )


@pytest.mark.parametrize("kind", [dp.Sparse, dp.NumericSparse])
@pytest.mark.parametrize(("count", "delta"), [(1, 0), (10, 0), (10, 1e-6), (200, 1e-6)])
def test_the_optimal_split_has_less_noise_for_the_same_price(kind, count, delta):
    textbook, optimal = (
        kind(epsilon=1, threshold=0, count=count, delta=delta, split=split)
        for split in ("textbook", "optimal")
    )
    assert optimal.loss.delta(epsilon=1) <= max(delta, 1e-30)
    noise = [stream.noise.threshold**2 + stream.noise.query**2 for stream in (textbook, optimal)]
    assert noise[1] < noise[0]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("kind", [dp.AboveThreshold, dp.Sparse, dp.NumericSparse])
def test_a_stream_ends_and_then_refuses(kind, count):
    if kind is dp.AboveThreshold:
        count, stream = 1, kind(epsilon=1, threshold=0)
    else:
        stream = kind(epsilon=1, threshold=0, count=count)
    for _ in range(count):
        assert not stream.finished
        assert stream.test(10**9)
    assert stream.finished
    for value in (10**9, -(10**9)):
        with pytest.raises(dp.Finished):
            stream.test(value)


@pytest.mark.parametrize("kind", [dp.AboveThreshold, dp.Sparse, dp.NumericSparse])
@pytest.mark.parametrize(
    "repeat", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda repeat: repeat.__name__
)
def test_a_stream_cannot_be_copied_or_stored(kind, repeat):
    with pytest.raises(TypeError, match="second release"):
        repeat(kind(epsilon=1, threshold=0))


def test_a_forked_process_cannot_go_on_with_the_same_threshold():
    stream = dp.AboveThreshold(epsilon=1, threshold=0)
    child = os.fork()
    if child == 0:
        try:
            stream.test(0)
        except dp.Finished:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "5", None, [1], np.bool_(True)])
@pytest.mark.parametrize("kind", [dp.AboveThreshold, dp.Sparse, dp.NumericSparse])
def test_garbage_is_refused_without_an_answer(kind, value):
    stream = kind(epsilon=1, threshold=-(10**9))
    with pytest.raises(dp.InvalidParameter):
        stream.test(value)
    assert not stream.finished


def test_more_answers_than_an_epsilon_can_be_shared_by_are_refused():
    with pytest.raises(dp.InvalidParameter, match="count"):
        dp.Sparse(epsilon=0.1, threshold=1, sensitivity=1, count=10**308, split="optimal")


def test_numbers_come_back_on_the_lattice_of_their_step():
    whole = dp.NumericSparse(epsilon=1, threshold=0).test(10**6)
    fine = dp.NumericSparse(epsilon=1, threshold=0, step=2**-10).test(10.0**6)
    assert isinstance(whole, int)
    assert isinstance(fine, float)
    assert fine * 2**10 == int(fine * 2**10)
    with pytest.raises(dp.InvalidParameter):
        dp.NumericSparse(epsilon=1, threshold=0).test(0.5)


def test_rounding_to_the_lattice_is_counted_in_the_noise():
    stream = dp.AboveThreshold(epsilon=1, threshold=0, sensitivity=Fraction(3, 2), step=1)
    assert stream._law(Fraction(1)).scale == 2  # 0.4 and 1.9 lie 1.5 apart and round to 0 and 2


def test_the_margin_holds():
    stream = dp.Sparse(epsilon=1, threshold=0, count=3)
    margin = stream.margin(queries=10, confidence=0.5)
    right = 0
    for _ in range(300):
        run = dp.Sparse(epsilon=1, threshold=0, count=3)
        answers = [run.test(value) for value in [-margin] * 7 + [margin] * 3 if not run.finished]
        right += answers == [False] * 7 + [True] * 3
    assert right > 90  # at least 150 expected; below 90 with probability < 1e-11


@pytest.mark.parametrize(("split", "drawn"), [("textbook", [1, 2, 3, 3]), ("optimal", [1, 1, 1, 1])])
def test_a_new_round_has_a_new_threshold(split, drawn, monkeypatch):
    """The textbook draws one after each answer above; the optimal split pays for all answers in one round."""
    thresholds = []
    draw = dp.Sparse._draw_threshold
    monkeypatch.setattr(dp.Sparse, "_draw_threshold", lambda self: (thresholds.append(self), draw(self))[1])
    stream, seen = dp.Sparse(epsilon=1, threshold=-(10**9), count=3, split=split), []
    seen.append(len(thresholds))
    while not stream.finished:
        assert stream.test(0)
        seen.append(len(thresholds))
    assert seen == drawn


@pytest.mark.parametrize("kind", [dp.Sparse, dp.NumericSparse, dp.AboveThreshold])
def test_the_old_name_of_the_textbook_split_is_still_read(kind, recwarn):
    old, new = (kind(epsilon=1, threshold=0, split=split) for split in ("seeds", "textbook"))
    assert (
        (old.split, old.noise) == (new.split, new.noise) == ("textbook", kind(epsilon=1, threshold=0).noise)
    )
    assert len(recwarn) == 0
    with pytest.raises(dp.InvalidParameter, match='"textbook" or "optimal"'):
        kind(epsilon=1, threshold=0, split="seed")
