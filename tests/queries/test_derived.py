"""Aggregates that are lowered to sums: no value, and no noise, takes what is made of them out of doubles."""

import itertools
import math

import pytest

from discreet.asking.planning.exact import MOST_GROUPS, Lattice
from discreet.asking.planning.planner import read_asked
from discreet.asking.planning.widths import MOST_ROWS
from discreet.asking.policy import from_toml
from discreet.asking.queries import Slot, evaluate
from discreet.asking.queries.derived import FARTHEST
from discreet.asking.queries.nodes import walk
from discreet.errors import UnsupportedQuery

POLICY = """
[dataset]
id = "joint"
budget = {{ epsilon = 1 }}
[tables.t]
unit = "person"
[tables.t.columns]
person = {{ type = "integer" }}
x = {{ type = "number", bounds = {x} }}
y = {{ type = "number", bounds = {y} }}
"""
ASKED = ("CORR(x, y)", "COVAR_POP(x, y)", "COVAR_SAMP(x, y)", "REGR_SLOPE(y, x)", "REGR_INTERCEPT(y, x)")
TIMES = 2**110  # what a row adds: 2^40 rows, or noise of a scale of 2^100 and more
LEAST = 2**-53  # of a step, that a difference of sums is from 0, if it is not 0
FAR = float(FARTHEST)
RANGES = [[-FAR, FAR], [0, FAR], [-1, 1], [FAR * (1 - 1e-12), FAR], [-1e-135, 1e-135], [0, 1e-300]]


def resolved(text, x, y):
    return read_asked(f"SELECT {text} AS r FROM t", from_toml(POLICY.format(x=x, y=y)))[1]


def reach(bounds):
    """The most that a row adds to a sum over these bounds, and what is nearest to nothing."""
    lattice = Lattice.over(bounds, "number")
    return float(lattice.largest * lattice.step), float(lattice.step) * LEAST


@pytest.mark.parametrize("text", ASKED)
def test_whatever_is_released_is_a_finite_number_or_missing(text):
    assert TIMES >= MOST_ROWS * MOST_GROUPS
    seen = set()
    for x, y in itertools.product(RANGES, RANGES):
        question = resolved(text, x, y)
        ((_, made),) = question.columns
        slots = sorted({each.index for each in walk(made) if isinstance(each, Slot)})
        ends = [(1, LEAST) if each.range is None else reach(each.range) for each in question.measures]
        parts = [(-TIMES * ends[slot][0], ends[slot][1], TIMES * ends[slot][0]) for slot in slots]
        for values in itertools.product(*parts):
            given = dict(zip(slots, values, strict=True))
            found = evaluate(made, lambda slot, given=given: given[slot.index])
            assert found is None or math.isfinite(found), (text, x, y, values)
            seen.add(found is None)
    assert seen == {False, True}


@pytest.mark.parametrize("text", ASKED)
def test_values_that_could_be_farther_are_refused(text):
    near, far = [0, FAR], [0, FAR * 1.001]
    resolved(text, near, near)
    for x, y in ((near, far), (far, near)):
        with pytest.raises(UnsupportedQuery, match="could be larger"):
            resolved(text, x, y)
