"""A price in parts: all of them together cost no more than the whole."""

from fractions import Fraction

import pytest

from discreet.kernel.mechanisms.statistics import Price


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_parts_add_up_to_the_whole_in_epsilon_and_delta(parts, delta):
    whole = Price.of(Fraction(1, 2), delta, "add/remove", None)
    part = whole.split(parts)
    assert parts * part.epsilon == whole.epsilon
    assert parts * part.delta == whole.delta
    loss = part.mechanism(l1=1, l2=Fraction(1)).loss
    assert loss.epsilon(delta=part.delta) <= float(part.epsilon) * (1 + 1e-12)


@pytest.mark.parametrize(("relation", "cells"), [("add/remove", 1), ("replace", 2)])
def test_a_cell_has_noise_for_all_that_one_person_moves(relation, cells):
    """A thousand empty cells: their mean square is that of noise for so many cells.

    Within 7 standard errors of it: a false alarm in less than 10⁻⁹ of runs; half the scale is far outside.
    """
    price = Price.of(1, 0, relation, None)
    released = price.release_cells([0] * 4000, confidence=0.95)
    expected = price.mechanism(l1=cells, l2=Fraction(1)).variance
    found = sum(float(each.value) ** 2 for each in released) / len(released)
    assert abs(found - expected) <= 7 * expected * (5.5 / len(released)) ** 0.5
