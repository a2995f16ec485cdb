"""No whole number of a plan leaves what every engine holds."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from discreet.asking.planning import Lattice, Sum, Tally, plan_exact
from discreet.asking.planning.bound import check_widths
from discreet.asking.queries import Call, Case, Literal, Name, read_question
from discreet.asking.queries.ranges import MOST_WHOLE, WIDEST
from discreet.errors import UnsupportedQuery
from engines.extremes import POLICY

WIDE = "9223372036854775807 * (9223372036854775807 + 1500000000000000000)"  # 38 digits
ENDS = st.integers(-WIDEST, WIDEST)


def plan_of(text):
    (plans,) = plan_exact(read_question(text, POLICY), salt=0)
    return plans.plans[0]


@given(low=ENDS, high=ENDS, share=st.fractions(0, 1))
@settings(max_examples=300)
def test_a_lattice_of_whole_numbers_needs_no_wider_ones(low, high, share):
    low, high = sorted((low, high))
    value = low + int((high - low) * share)
    for make, far in ((Lattice.over, 2**63), (Lattice.coarse, 2**60)):
        lattice = make((Fraction(low), Fraction(high)), "integer")
        assert lattice.lowest < lattice.highest
        assert lattice.largest <= far + 1
        assert (lattice.largest + 1) * lattice.step <= MOST_WHOLE
        assert lattice.lowest <= lattice.place(value) <= lattice.highest


@given(ends=st.tuples(st.fractions(-(10**150), 10**150), st.fractions(0, 1)))
@settings(max_examples=300)
def test_a_lattice_of_numbers_has_a_step_and_ends_of_its_own(ends):
    low, width = ends
    lattice = Lattice.over((low, low + width), "number")
    assert lattice.lowest < lattice.highest
    assert lattice.largest <= 2**51 + 1
    for end, step in zip(lattice.ends, (lattice.lowest, lattice.highest), strict=True):
        assert lattice.place(end) == step


@pytest.mark.parametrize("aggregate", ["SUM", "AVG", "VARIANCE", "STDDEV", "MEDIAN", "MIN", "MAX"])
def test_the_widest_expressions_are_planned(aggregate):
    plan_of(f"SELECT {aggregate}(CASE WHEN f THEN {WIDE} ELSE 0 - {WIDE} END) AS m FROM t")
    plan_of(f"SELECT {aggregate}(a * a + 1) AS m FROM t")


def test_what_may_be_wider_is_refused():
    with pytest.raises(UnsupportedQuery) as refused:
        plan_of("SELECT SUM(a * a * 2) AS m FROM t")
    assert refused.value.fields["reason"] == "overflow"


@pytest.mark.parametrize(
    "aggregate", ["SUM(z)", "AVG(z)", "VARIANCE(z)", "STDDEV(z)", "MEDIAN(z)", "MIN(z)", "MAX(z)"]
)
def test_values_whose_sums_are_no_doubles_are_refused(aggregate):
    for large in ("x * 10", "1e299", "CASE WHEN f THEN 1e299 ELSE y END"):
        with pytest.raises(UnsupportedQuery) as refused:
            plan_of(f"SELECT {aggregate.replace('z', large)} AS m FROM t")
        assert refused.value.fields["reason"] == "overflow"


def _wide(node):
    return Call("multiply", (node, Literal(2**63 - 1, type="integer")), type="integer")


def test_every_place_of_a_plan_is_looked_at():
    """Planted: an expression that grew too wide behind the back of name resolution, wherever it may stand."""
    plan = plan_of("SELECT SUM(a) AS m FROM t")
    (added,) = plan.measures
    check_widths(plan)
    wide = _wide(_wide(Name("a", "t", type="integer")))
    test = Call("less", (wide, Literal(0, type="integer")), type="boolean")
    nested = plan_of("SELECT SUM(a) AS m FROM (SELECT a FROM t WHERE f) AS q")
    coarse = Lattice(Fraction(2**60), -(2**70), 2**70, "integer")
    for planted in (
        replace(plan, measures=(replace(added, argument=wide),)),
        replace(plan, measures=(replace(added, condition=test),)),
        replace(plan, measures=(replace(added, argument=Case(((test, added.argument),), added.argument)),)),
        replace(plan, measures=(Sum(added.argument, coarse),)),
        replace(plan, measures=(), tally=Tally(added.argument, lattice=coarse)),
        replace(nested, rows=replace(nested.rows, outputs=(("a", wide),))),
        replace(nested, rows=replace(nested.rows, source=replace(nested.rows.source, condition=test))),
    ):
        with pytest.raises(UnsupportedQuery):
            check_widths(planted)


def test_the_ends_of_buckets_are_doubles_with_a_difference():
    with pytest.raises(UnsupportedQuery, match="within"):
        plan_of("SELECT COUNT(WIDTH_BUCKET(x, -1.7e308, 1.7e308, 10)) AS n FROM t")
