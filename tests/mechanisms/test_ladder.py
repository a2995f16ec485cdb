"""The ladder: every pair of neighbours of small tables, enumerated, and the faults that this finds.

Masses are computed here from the people's norms, by the definition; loss over epsilon may reach 1.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import pytest
from mpmath import mpf

import discreet as dp
from discreet.kernel.mechanisms import Ladder
from discreet.kernel.mechanisms.ladder import ONE
from oracles.mechanism_laws import _flip, mp, normalise

RUNGS = (1, 2, 3, 4, 6)
NORMS = (0, 1, 2, 3, 5, 7, 20)  # of one person; 0 is nobody
EPSILONS = (Fraction(1, 3), Fraction(1), Fraction(5, 2))


def stated_law(m, masses):
    """The law of the definition, in reals."""
    scores = [
        -max(mpf(mass) / ONE - mpf(m.level.numerator) / m.level.denominator, 0)
        - mpf(m.slope.numerator) / m.slope.denominator * j * m.epsilon.denominator / m.epsilon.numerator
        for j, mass in enumerate(masses)
    ]
    weights = [mp.exp(mpf(m.epsilon.numerator) / m.epsilon.denominator * (u - max(scores))) for u in scores]
    return _flip(weights) if m.method == "permute-and-flip" else normalise(dict(enumerate(weights)))


def masses_of(norms):
    """How many people's worth each next octave would still add: floors for each person, then the sum."""
    return [sum(min(max(n - t, 0), t) * ONE // t for n in norms) for t in RUNGS]


def neighbours(relation, others):
    """All pairs that differ in one person."""
    if relation == "add/remove":
        return [(others, (*others, n)) for n in NORMS[1:]]
    return [((*others, n), (*others, m)) for n, m in itertools.combinations(NORMS, 2)]


def worst(relation, law, epsilon, *, people=2):
    """The largest loss over epsilon, of all outcomes on all neighbours of at most so many other people."""
    found, law = 0.0, cache(law)
    for size in range(people + 1):
        for others in itertools.combinations_with_replacement(NORMS[1:], size):
            for pair in neighbours(relation, others):
                first, second = (law(tuple(sorted(each))) for each in pair)
                for outcome in first:
                    loss = abs(math.log(float(first[outcome])) - math.log(float(second[outcome])))
                    found = max(found, loss / float(epsilon))
    return found


def chosen(scores, epsilon):
    """Permute-and-flip over real scores at the noise of the ladder."""
    return _flip([mp.exp(mpf(epsilon.numerator) / epsilon.denominator * (u - max(scores))) for u in scores])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("method", ["permute-and-flip", "exponential"])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_no_neighbour_loses_more_than_epsilon(relation, method, epsilon):
    ladder = Ladder(
        epsilon=epsilon, rungs=5, level=Fraction(1, 2), slope=0.25, method=method, relation=relation
    )

    def law(norms):
        return ladder.law(masses_of(norms))

    people = 2 if epsilon == 1 else 1
    assert 0.5 < worst(relation, law, epsilon, people=people) < 1 + 1e-9


def distance_from_level(masses):
    return [-abs(mpf(mass) / ONE - 1) for mass in masses]


def mass_above_without_end(norms):
    """Not cut at the next octave: one person is worth more than one."""
    return [-mpf(sum(max(n - t, 0) for n in norms)) / t for t in RUNGS]


def level_of_the_data(norms):
    """As many groups as the data have: one person brings three."""
    return [-max(mpf(mass) / ONE - 3 * len(set(norms)), 0) for mass in masses_of([*norms, *[3] * 12])]


def rounding_the_total(norms):
    """Sums rounded after adding, to a step that does not divide one person's part."""
    step = Fraction(3, 4)
    worth = [Fraction(sum(min(max(n - t, 0), t) for n in norms), t) for t in RUNGS]
    return [-mpf(float(math.floor(each / step) * step)) for each in worth]


FAULTS = {
    "the distance from the level": lambda norms: distance_from_level(masses_of(norms)),
    "no end of a person's part": mass_above_without_end,
    "a level that the data decide": level_of_the_data,
    "rounding the total": rounding_the_total,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_loses_more_than_epsilon(fault):
    epsilon = Fraction(1)
    assert worst("add/remove", lambda norms: chosen(FAULTS[fault](norms), epsilon), epsilon) > 1.2


def test_a_choice_of_labels_is_not_monotone_under_replace():
    """What is no fault for a ladder is one for MODE: replacing raises one label and lowers another."""
    epsilon = Fraction(1)
    before, after = chosen([mpf(1), mpf(0)], epsilon), chosen([mpf(0), mpf(1)], epsilon)
    assert math.log(float(before[0] / after[0])) > 1.2


def test_without_a_slope_the_top_of_the_ladder_is_chosen_often():
    masses = [50 * ONE, 10 * ONE] + [0] * 28
    flat, sloped = (Ladder(epsilon=1, rungs=30, level=3, slope=slope) for slope in (2**-20, 1.25))
    top = [sum(float(p) for j, p in ladder.law(masses).items() if j > 10) for ladder in (flat, sloped)]
    assert top[0] > 0.5
    assert top[1] < 1e-3


def test_enough_people_above_a_rung_are_climbed_to():
    """A thousand people with 100 rows each, at a small price: no rung far from them has much probability."""
    rungs = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256]
    masses = [1000 * (min(max(100 - t, 0), t) * ONE // t) for t in rungs]
    law = Ladder(epsilon=0.05, rungs=16, level=100).law(masses)
    assert sum(float(law[j]) for j in range(11, 15)) > 0.95


def test_masses_must_be_one_for_each_rung():
    with pytest.raises(dp.InvalidParameter):
        Ladder(epsilon=1, rungs=3, level=1).choose([1, 2])
    with pytest.raises(dp.InvalidParameter):
        Ladder(epsilon=1, rungs=3, level=-1)
    with pytest.raises(dp.InvalidParameter):
        Ladder(epsilon=1, rungs=3, level=1, method="gumbel")
