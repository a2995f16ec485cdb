"""One weight for each unit bounds what it moves: all small units and pairs of them, and planted faults."""

import itertools
import math
from fractions import Fraction

import pytest

from discreet.asking.planning import Bernstein, Excess, Lattice, Limit, WeightedReach
from discreet.asking.queries import Expression
from discreet.errors import InternalError

LIMITS = [Limit(most, bits) for most in (1, 2, 3, 4) for bits in (0, 1, 3)]
SIGNED = list(itertools.product(range(-3, 4), repeat=3))  # parts of three groups, or of measures
COUNTS = list(itertools.product(range(5), repeat=3))


def norm(parts):
    return sum(map(abs, parts))


def scaled(limit, parts):
    """As the engines do: one weight for all parts."""
    return [limit.weight(norm(parts)) * part for part in parts]


def moves(scale, units, *, pairs=False):
    """The l1 and the squared l2 distance of all neighbours: each unit from none, or from each other."""
    made = [scale(parts) for parts in units]
    for one, other in itertools.product(made, made if pairs else [[0] * len(units[0])]):
        gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
        yield sum(gaps), sum(gap**2 for gap in gaps)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("units", [SIGNED, COUNTS], ids=["signed", "counts"])
def test_a_unit_moves_all_totals_together_by_the_limit(limit, units):
    added = list(moves(lambda parts: scaled(limit, parts), units))
    replaced = list(moves(lambda parts: scaled(limit, parts), units, pairs=True))
    assert max(l1 for l1, _ in added) == limit.total
    assert max(l2 for _, l2 in added) <= limit.total**2
    assert max(l1 for l1, _ in replaced) == 2 * limit.total
    assert max(l2 for _, l2 in replaced) <= (4 if units is SIGNED else 2) * limit.total**2


@pytest.mark.parametrize("limit", LIMITS)
def test_one_total_that_is_never_negative_moves_by_the_limit_under_replace(limit):
    units = [(part,) for part in range(20)]
    assert max(l1 for l1, _ in moves(lambda parts: scaled(limit, parts), units, pairs=True)) == limit.total


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("numbers", [1, 2, 3])
def test_the_reach_of_weighted_totals_is_that_of_all_small_neighbours(relation, signed, numbers):
    limit = Limit(3, 2)
    units = list(itertools.product(range(-5 if signed else 0, 6), repeat=numbers))
    found = list(moves(lambda parts: scaled(limit, parts), units, pairs=relation == "replace"))
    reach = WeightedReach(limit.total, signed, relation, numbers)
    assert max(l1 for l1, _ in found) == reach.total
    squared = max(l2 for _, l2 in found)
    assert squared <= reach.distance**2 < squared * (1 + Fraction(1, 2**50))


def up(limit, parts):
    return [-(-limit.total // max(norm(parts), limit.most)) * part for part in parts]


def without_one_measure(limit, parts):
    return [limit.weight(norm(parts[1:])) * part for part in parts]


def of_another_filter(limit, parts):
    return [limit.weight(sum(abs(part) for part in parts if part != 2)) * part for part in parts]


def of_the_largest(limit, parts):
    return [limit.weight(max(map(abs, parts))) * part for part in parts]


def of_the_sum(limit, parts):
    return [limit.weight(abs(sum(parts))) * part for part in parts]


@pytest.mark.parametrize("fault", [up, without_one_measure, of_another_filter, of_the_largest, of_the_sum])
def test_a_fault_moves_them_further(fault):
    limit = Limit(3, 1)
    assert max(l1 for l1, _ in moves(lambda parts: fault(limit, parts), SIGNED)) > limit.total


def merged(parts):
    """The same rows in coarser groups: the first two are one."""
    return (parts[0] + parts[1], parts[2])


def by_group(limit, parts):
    """A floor for each group in place of one weight."""
    return [part * limit.total // max(norm(parts), limit.most) for part in parts]


def test_groupings_of_the_same_rows_add_up_by_weights_and_not_by_floors_for_each_group():
    limit = Limit(3, 1)
    for parts in COUNTS:
        assert tuple(merged(scaled(limit, parts))) == tuple(scaled(limit, merged(parts)))
    assert any(
        tuple(merged(by_group(limit, parts))) != tuple(by_group(limit, merged(parts))) for parts in COUNTS
    )


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(
    "lattice", [Lattice(Fraction(1), 0, 4, "integer"), Lattice(Fraction(1), -3, 2, "integer")]
)
def test_the_parts_of_a_row_are_never_negative_and_add_up_to_a_constant(lattice, degree):
    parts = [Bernstein(Expression(), lattice, degree=degree, power=power) for power in range(degree + 1)]
    width = lattice.highest - lattice.lowest
    for steps in range(lattice.lowest, lattice.highest + 1):
        made = [part.of(steps) for part in parts]
        assert min(made) >= 0
        assert sum(made) == width**degree == parts[0].largest
        above = Fraction(sum(power * each for power, each in enumerate(made)), degree * width ** (degree - 1))
        assert above == steps - lattice.lowest  # so the mean follows from the parts


def test_all_parts_of_a_mean_move_together_by_the_limit_in_rows():
    lattice, rows = Lattice(Fraction(1), -1, 2, "integer"), 3
    parts = [Bernstein(Expression(), lattice, power=power) for power in (1, 0)]
    limit = Limit(rows * lattice.width, 4)
    units = [
        tuple(sum(part.of(value) for value in values) for part in parts)
        for count in range(6)
        for values in itertools.combinations_with_replacement(range(-1, 3), count)
    ]
    assert {norm(unit) % lattice.width for unit in units} == {0}
    for unit in units:
        assert limit.weight(norm(unit)) == Limit(rows, 4).weight(norm(unit) // lattice.width)
    assert max(l1 for l1, _ in moves(lambda parts: scaled(limit, parts), units)) == limit.total
    assert (
        max(l1 for l1, _ in moves(lambda parts: scaled(limit, parts), units, pairs=True)) == 2 * limit.total
    )


RUNGS = [
    Excess(1, 1, bits=3),
    Excess(2, 2, bits=3),
    Excess(3, 3, bits=3),
    Excess(3, 9, bits=3),
    Excess(2, 1, bits=0),
]


def ranges(excess_of):
    """For each pair of neighbours, add/remove and replace, how far apart the moves of two rungs may lie."""
    seen = [[excess_of(rung, size) / rung.one for rung in RUNGS] for size in range(15)]
    yield from (max(one) - min(0, *one) for one in seen)
    for one, other in itertools.product(seen, repeat=2):
        gaps = [a - b for a, b in zip(one, other, strict=True)]
        yield max(gaps) - min(gaps)


def test_a_unit_moves_every_excess_by_a_whole_number_up_to_one_and_all_within_a_range_of_one():
    for rung, size in itertools.product(RUNGS, range(15)):
        assert 0 <= rung.of(size) <= rung.one
        assert rung.of(size) == math.floor(
            Fraction(min(max(size - rung.start, 0), rung.span) * rung.one, rung.span)
        )
    assert max(ranges(lambda rung, size: rung.of(size))) <= 1


def test_an_excess_that_is_not_capped_or_counts_both_ways_is_noticed():
    assert max(ranges(lambda rung, size: max(size - rung.start, 0) * rung.one // rung.span)) > 1
    assert max(ranges(lambda rung, size: rung.of(size) - (size <= rung.start) * rung.one)) > 1


def test_rounding_the_total_would_move_it_by_more_than_a_unit_adds():
    rung = Excess(3, 3, bits=1)

    def rounded_last(sizes):
        return sum(min(max(size - 3, 0), 3) for size in sizes) * rung.one // rung.span

    tables = [
        sizes for count in range(4) for sizes in itertools.combinations_with_replacement(range(8), count)
    ]
    assert any(
        rounded_last([*sizes, more]) - rounded_last(sizes) > rung.of(more)
        for sizes in tables
        for more in range(8)
    )


def test_the_bits_of_a_limit_are_a_public_rule_of_its_size():
    assert [Limit.of(most).bits for most in (1, 2**22 - 1, 2**22, 2**32, 2**56 - 1, 2**56, 2**90)] == [
        40,
        40,
        39,
        30,
        30,
        29,
        0,
    ]
    for exponent in range(86):
        assert Limit.of(2**exponent).total * 2**40 < 2**126


@pytest.mark.parametrize(
    "made", [lambda: Limit(0, 3), lambda: Limit(1, -1), lambda: Excess(-1, 1), lambda: Excess(1, 0)]
)
def test_what_bounds_nothing_is_refused(made):
    with pytest.raises(InternalError):
        made()
