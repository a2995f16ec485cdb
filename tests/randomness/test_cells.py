"""Tapes that land exactly on thresholds, on the edge of a wedge, and beyond every table."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.kernel.randomness.noise import Cells
from discreet.testing import Tape
from oracles.stated import (
    DISCRETE_GAUSSIAN,
    GEOMETRIC,
    LAPLACE,
    LAWS,
    NAMES,
    ROUNDED_GAUSSIAN,
    SCALES,
    VANISHING,
    WIDE,
)

FULL = 2**64 - 1
every_scale = pytest.mark.parametrize("scale", [s for s in SCALES if s != VANISHING], ids=str)
every_law = pytest.mark.parametrize("law", LAWS, ids=NAMES)
both_ways = pytest.mark.parametrize("draw", ["one", "many"])


def sampler(law, scale):
    shape, sides, places = law
    return Cells(shape, scale, sides=sides, places=places)


def play(cells, draw, words):
    """The draw of a tape that begins with a word to look up; a vector reads a place before more bits of it.

    The tape ends with places 0 at full height, which are under every curve.
    """
    first, *rest = words
    end = [*[0] * (1 + cells._width // 64 if cells._width > 0 else 1), FULL] * 4
    if draw == "one":
        return cells.one(Tape([first, *rest, *end]))
    return int(cells.many(Tape([first, *rest, *end] if cells._wide else [first, 0, *rest, *end]), 1)[0])


def value(cells, index):
    """What the index-th outcome, a box, leads to at place 0."""
    return cells._combine(cells._envelope.outcome(index)[1], 0, 64 + max(0, cells._width))


@pytest.mark.slow
@every_law
@every_scale
@both_ways
def test_a_draw_on_a_threshold_is_decided_by_its_next_bits(law, scale, draw):
    cells = sampler(law, scale)
    coarse, fine = cells._envelope.thresholds(64), cells._envelope.thresholds(128)
    for index in range(min(6, cells._boxes - 1)):
        if coarse[index] in {coarse[index + 1], FULL}:
            continue
        rest = fine[index] & FULL
        assert play(cells, draw, [coarse[index], rest - 1]) == value(cells, index)
        assert play(cells, draw, [coarse[index], rest + 1]) == value(cells, index + 1)


@pytest.mark.slow
@every_law
@every_scale
@both_ways
def test_a_draw_that_stays_on_a_threshold_is_continued_again(law, scale, draw):
    cells = sampler(law, scale)
    coarse, fine, finest = (cells._envelope.thresholds(bits) for bits in (64, 128, 192))
    words = [coarse[0], fine[0] & FULL]
    assert play(cells, draw, [*words, (finest[0] & FULL) - 1]) == value(cells, 0)
    assert play(cells, draw, [*words, (finest[0] & FULL) + 1]) == value(cells, 1)


@every_law
@every_scale
def test_one_and_many_read_the_same_value_from_the_same_word(law, scale):
    cells = sampler(law, scale)
    thresholds = cells._envelope.thresholds(64)[: cells._boxes]
    gaps = zip([0, *thresholds], thresholds, strict=False)
    words = [(low + high) // 2 for low, high in gaps if high - low > 2][:: len(thresholds) // 50 + 1]
    singles = [cells.one(Tape([word, 12345 << 40, 7])) for word in words]
    places = [12345 << 40] * (len(words) if cells._spreads else 0)
    if cells._wide:
        words, places = [word for first in words for word in (first, 12345 << 40, 7)], []
    spare = [0] * (2 * len(words))
    assert cells.many(Tape([*words, *places, *spare]), len(singles)).tolist() == singles


@pytest.mark.slow
@every_law
@pytest.mark.parametrize("scale", [s for s in SCALES if s >= 1], ids=str)
@both_ways
def test_an_escape_is_continued_beyond_the_table(law, scale, draw):
    cells = sampler(law, scale)
    for depth in (1, 2, 4):
        size = abs(play(cells, draw, [FULL] * depth + [FULL - 2**32]))
        tail = (64 * depth + 32) * float(mp.log(2))  # -log of the probability that is left
        reach = tail if law[0] == "linear" else (2 * tail) ** 0.5
        assert 0.9 * reach - 3 / scale < size / scale < 1.1 * reach + 3 / scale


@pytest.mark.parametrize("law", [LAPLACE, DISCRETE_GAUSSIAN], ids=NAMES[1:3])
@both_ways
def test_a_whole_point_on_the_edge_of_its_wedge_is_decided_by_its_next_bits(law, draw):
    scale, cell, place = Fraction(1000), 3, 0b101 << 61
    cells = sampler(law, scale)
    word = cells._envelope.thresholds(64)[cells._boxes + 2 * cell] - 1  # inside the wedge of that cell
    mp.prec = 400
    edge = int(_edge(cells, law, cell, place) * mpf(2) ** 128)
    kept = cells._combine(cell, place, 64)
    for height, keeps in ((edge - 1, False), (edge + 1, True)):
        assert (_on_edge(cells, draw, word, place, divmod(height, 2**64)) == kept) is keeps


def _edge(cells, law, cell, place):
    """V where V · (1 - exp(-g₁)) = 1 - exp(-g)."""
    ratio = mpf(cells._curve.ratio.numerator) / cells._curve.ratio.denominator
    offset = mpf(place >> (64 - cells._width)) / 2**cells._width
    near, far = (offset / ratio, 1 / ratio)
    if law[0] == "quadratic":
        near, far = offset * (2 * cell + offset) / (2 * ratio**2), (2 * cell + 1) / (2 * ratio**2)
    return mp.expm1(-near) / mp.expm1(-far)


def _on_edge(cells, draw, word, place, heights):
    # A point above the curve is drawn anew: the zeros then lead to the first box.
    tape = Tape([word, place, *heights, *[0] * 9])
    return cells.one(tape) if draw == "one" else int(cells.many(tape, 1)[0])


@both_ways
def test_a_continuous_point_on_the_edge_gets_more_bits_of_place_and_height(draw):
    cell, place = 3, (0b101 << 61) + 7
    cells = sampler(ROUNDED_GAUSSIAN, Fraction(1000))
    word = cells._envelope.thresholds(64)[cells._boxes + 2 * cell] - 1
    mp.prec = 400
    ratio = mpf(cells._curve.ratio.numerator) / cells._curve.ratio.denominator

    def edge(theta):
        return mp.expm1(-theta * (2 * cell + theta) / (2 * ratio**2)) / mp.expm1(
            -(2 * cell + 1) / (2 * ratio**2)
        )

    height = int(edge((mpf(place) + 0.5) / mpf(2) ** 64) * mpf(2) ** 64)
    kept = cells._combine(cell, place, 64)
    for more_height, more_place, keeps in ((FULL, 0, True), (0, FULL, False)):
        tape = [height, more_height, more_place, more_height, more_place]
        assert (_on_edge(cells, draw, word, place, tape) == kept) is keeps


@every_law
def test_results_too_large_for_int64_are_exact_ints(law):
    many = sampler(law, WIDE).many(Tape(range(1, 10**4)), 20)
    assert many.dtype == object
    assert all(type(value) is int for value in many)


def test_a_stray_beyond_int64_turns_the_array_into_exact_ints():
    cells = sampler(GEOMETRIC, Fraction(2**54))
    assert cells.many(Tape([0] * 8), 2).dtype == np.int64
    depth = 13  # exp(-y/2^54) reaches 2^63 with probability exp(-512): 739 bits, less than 13 words
    tape = Tape([0, FULL, 0, 0, *[FULL] * (depth - 1), 0, *[0, FULL] * 4])
    many = cells.many(tape, 2)
    assert many.dtype == object
    assert many[0] == 0
    assert many[1] > 2**63


@every_law
def test_no_draws_are_an_empty_array(law):
    assert sampler(law, Fraction(10)).many(Tape([]), 0).shape == (0,)


@every_law
def test_a_vanishing_scale_is_0_after_any_number_of_ones(law):
    cells = sampler(law, VANISHING)
    for draw in ("one", "many"):
        assert play(cells, draw, [FULL, FULL, FULL, FULL - 2**60]) == 0


@pytest.mark.parametrize("scale", [1000, 10**6])
@pytest.mark.parametrize("cell", [-3, -1, 0, 2])
def test_a_continuous_place_becomes_the_nearest_whole_number(scale, cell):
    """Both ways of rounding, against the place as a fraction; at a half, upwards."""
    cells = Cells("quadratic", Fraction(scale), sides=2, places="continuous")
    width = cells._width
    assert width > 0
    steps = [(j << 64) // 64 + off for j in range(64) for off in (0, 1)] + [2**64 - 1]
    exact = [math.floor((cell + Fraction(place, 2**64)) * 2**width + Fraction(1, 2)) for place in steps]
    assert [cells._combine(cell, place, 64) for place in steps] == exact
    many = np.full(len(steps), cell, dtype=np.int64)
    cells._spread(many, np.array(steps, dtype=np.uint64))
    assert many.tolist() == exact
