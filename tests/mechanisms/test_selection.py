import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from oracles import mechanism_laws as oracle

KINDS = [dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax]
SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=5)


@pytest.mark.parametrize("kind", [*KINDS, lambda **given: dp.TopK(count=1, **given)])
@pytest.mark.parametrize("scores", [[math.nan, 1.0], [math.inf, 1.0], [True, False], ["1", "2"], [], [None]])
def test_scores_that_are_no_finite_numbers_are_refused(kind, scores):
    with pytest.raises(dp.InvalidParameter):
        kind(epsilon=1, sensitivity=1).choose(list(range(len(scores))), scores)


@pytest.mark.parametrize("kind", KINDS)
def test_one_candidate_ties_and_enormous_scores_work(kind):
    mechanism = kind(epsilon=1, sensitivity=1)
    assert mechanism.choose(["only"], [-(10.0**300)]) == "only"
    assert mechanism.choose("ab", [1e308, -1e308]) == "a"
    assert mechanism.choose("ab", [-1491, -1491]) in "ab"
    assert mechanism.choose("ab", [10**40, 0]) == "a"
    assert {mechanism.choose("abc", [5, 5, 5]) for _ in range(200)} == set("abc")  # else < 3 · (2/3)^200


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_and_scores_must_match(kind):
    with pytest.raises(dp.InvalidParameter):
        kind(epsilon=1, sensitivity=1).choose("abc", [1, 2])


@pytest.mark.parametrize("kind", [*KINDS, lambda **given: dp.TopK(count=1, **given)])
@pytest.mark.parametrize("relation", ["replace", "local"])
def test_monotone_scores_are_refused_where_a_person_is_replaced(kind, relation):
    with pytest.raises(dp.InvalidParameter, match="general"):
        kind(epsilon=1, sensitivity=1, scores="monotone", relation=relation)


@settings(max_examples=40, deadline=None)
@given(SCORES, st.sampled_from(["general", "monotone"]))
def test_stated_probabilities_are_those_of_the_definition(scores, kind):
    for mechanism, law in (
        (dp.Exponential(epsilon=1, sensitivity=2, scores=kind), oracle.exponential),
        (dp.PermuteAndFlip(epsilon=1, sensitivity=2, scores=kind), oracle.permute_and_flip),
    ):
        stated = mechanism.probabilities(scores)
        assert stated == pytest.approx([float(p) for p in law(mechanism, scores).values()], rel=1e-12)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=6))
def test_the_utility_bound_holds_and_half_of_it_does_not(scores):
    for kind in (dp.Exponential, dp.PermuteAndFlip):
        mechanism = kind(epsilon=1, sensitivity=1)
        bound = mechanism.utility_bound(
            candidates=len(scores), optimal=scores.count(max(scores)), confidence=0.9
        )
        worse = math.fsum(
            p
            for p, score in zip(mechanism.probabilities(scores), scores, strict=True)
            if score <= max(scores) - bound
        )
        assert worse <= 0.1
    mechanism = dp.Exponential(epsilon=1, sensitivity=1)
    far = mechanism.utility_bound(candidates=1000, confidence=0.9)
    tail = math.fsum(mechanism.probabilities([0.0] + [-far / 2] * 999)[1:])
    assert tail > 0.1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=6))
def test_permute_and_flip_never_errs_more_than_the_exponential_mechanism(scores):
    def expected(kind):
        law = kind(epsilon=1, sensitivity=1).probabilities(scores)
        return math.fsum(p * (max(scores) - s) for p, s in zip(law, scores, strict=True))

    assert expected(dp.PermuteAndFlip) <= expected(dp.Exponential) + 1e-12


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("kind", [dp.Exponential, dp.PermuteAndFlip])
def test_no_neighbouring_scores_are_told_apart_by_more_than_epsilon(kind, epsilon):
    """Every way that each of three scores may move by the sensitivity; one by more would be too far."""

    def farthest(mechanism, moves):
        worst = 0.0
        for scores in product(range(4), repeat=3):
            here = mechanism.probabilities(scores)
            for move in moves:
                there = mechanism.probabilities([s + m for s, m in zip(scores, move, strict=True)])
                worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(here, there, strict=True)))
        return worst

    every = [*product((-1, 0, 1), repeat=3)]
    monotone = [move for move in every if min(move) >= 0 or max(move) <= 0]
    for relation in ("add/remove", "replace"):
        assert farthest(kind(epsilon=epsilon, sensitivity=1, relation=relation), every) <= epsilon + 1e-12
    together = kind(epsilon=epsilon, sensitivity=1, scores="monotone")
    assert farthest(together, monotone) <= epsilon + 1e-12 < farthest(together, every)


def renyi_two(p, q):
    return math.log(sum(a * a / b for a, b in zip(p, q, strict=True)))


def test_permute_and_flip_is_not_charged_as_bounded_range():
    mechanism = dp.PermuteAndFlip(epsilon=2, sensitivity=1)
    there, here = mechanism.probabilities([0, 2]), mechanism.probabilities([1, 1])
    worst = max(renyi_two(there, here), renyi_two(here, there)) / 2
    assert worst > 2**2 / 8
    assert mechanism.loss.rho >= worst
    assert dp.Exponential(epsilon=2, sensitivity=1).loss.rho < worst


def noisy_max_loss(scale, candidates, gap):
    """ln of Pr[first] on D' over D: on D' it rises by 1 and all others fall by 1."""
    masses = {k: float(p) for k, p in oracle.laplace_masses(scale).items()}
    order = sorted(masses)
    below = dict(zip(order, np.cumsum([0.0, *(masses[k] for k in order[:-1])]), strict=True))

    def wins(lead):
        total = 0.0
        for k in order:
            strictly = 1.0 if k + lead > order[-1] else below.get(k + lead, 0.0)
            tied = masses.get(k + lead, 0.0)
            if tied == 0.0:
                total += masses[k] * strictly ** (candidates - 1)
            else:  # ∫₀¹ (strictly + t·tied)^(n-1) dt: the share of ties that the first wins
                total += masses[k] * (
                    ((strictly + tied) ** candidates - strictly**candidates) / (candidates * tied)
                )
        return total

    return math.log(wins(2 - gap) / wins(-gap))


def test_noisy_max_at_the_monotone_scale_loses_twice_epsilon_under_replace():
    assert noisy_max_loss(Fraction(1), 10, 15) > 1.99
    general = dp.NoisyMax(epsilon=1, sensitivity=1, step=1, relation="replace")
    assert general.scale == 2
    assert max(noisy_max_loss(general.scale, 10, gap) for gap in range(0, 31, 5)) <= 1 + 1e-9


@pytest.mark.slow
def test_the_base_measure_weighs_candidates():
    mechanism = dp.Exponential(epsilon=2, sensitivity=1)
    weights, scores = [1, 0.25, Fraction(3)], [0, 1, 0]
    law = mechanism.probabilities(scores, weights=weights)
    total = 1 + 0.25 * math.e + 3
    assert law == pytest.approx([1 / total, 0.25 * math.e / total, 3 / total], rel=1e-12)
    drawn = Counter(mechanism.choose("abc", scores, weights=weights) for _ in range(6000))
    for letter, p in zip("abc", law, strict=True):
        assert abs(drawn[letter] - 6000 * p) < 7 * math.sqrt(6000 * p * (1 - p))  # < 1e-11 each


@pytest.mark.parametrize("weights", [[1, 2], [1, 0, 1], [1, -1, 1], [1, math.nan, 1], [1, True, 1]])
def test_a_base_measure_must_be_positive_and_complete(weights):
    with pytest.raises(dp.InvalidParameter):
        dp.Exponential(epsilon=1, sensitivity=1).choose("abc", [1, 2, 3], weights=weights)


@pytest.mark.parametrize("method", ["one shot", "peeling"])
def test_top_k_gives_distinct_candidates_best_first(method):
    mechanism = dp.TopK(epsilon=1, sensitivity=1, count=3, method=method)
    assert mechanism.choose("abcde", [0, 9000, 3000, 6000, 0]) == ["b", "d", "c"]
    assert len(set(mechanism.choose(range(3), np.zeros(3)))) == 3
    with pytest.raises(dp.InvalidParameter):
        mechanism.choose("ab", [1, 2])
    assert mechanism.loss.epsilon(delta=0) == pytest.approx(1)


def test_noisy_max_accepts_every_kind_of_exact_score():
    mechanism = dp.NoisyMax(epsilon=100, sensitivity=1)
    for scores in ([1, 50], [1.5, 50.25], np.array([1, 50]), np.array([1.0, 50.0]), [Fraction(1, 3), 50]):
        assert mechanism.choose("ab", scores) == "b"
