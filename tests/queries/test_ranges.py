from fractions import Fraction

from hypothesis import given, settings, strategies as st

from discreet.asking.queries import Call, Case, Literal, Name, evaluate, integer_span
from discreet.asking.queries.ranges import range_of

BOUNDS = {"a": (-3, 5), "b": (1, 4), "c": (-2, -1)}
LEAVES = st.one_of(
    st.sampled_from([Name(name, type="integer") for name in BOUNDS]),
    st.integers(-4, 4).map(lambda number: Literal(number, type="integer")),
)


def _grow(inner):
    two = st.sampled_from(["add", "subtract", "multiply", "divide_whole", "modulo"])
    one = st.sampled_from(["negate", "abs", "floor", "round", "sign"])
    test = Call("greater", (Name("a"), Literal(0)))
    return st.one_of(
        st.builds(lambda f, x, y: Call(f, (x, y), type="integer"), two, inner, inner),
        st.builds(lambda f, x: Call(f, (x,), type="integer"), one, inner),
        st.builds(lambda x, y: Case(((test, x),), y, type="integer"), inner, inner),
        st.builds(lambda x, y: Call("coalesce", (x, y), type="integer"), inner, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=6)
VALUES = st.fixed_dictionaries({name: st.integers(*ends) for name, ends in BOUNDS.items()})


@given(node=EXPRESSIONS, values=VALUES)
@settings(max_examples=400, deadline=None)
def test_values_in_their_bounds_give_a_value_in_the_range(node, values):
    found = evaluate(node, lambda name: values[name.name])
    known = range_of(node, lambda name: tuple(map(Fraction, BOUNDS[name.name])))
    assert found is None or known is None or known[0] <= found <= known[1]


@given(
    node=EXPRESSIONS,
    values=st.fixed_dictionaries({name: st.integers(-(2**63), 2**63 - 1) for name in BOUNDS}),
)
@settings(max_examples=400, deadline=None)
def test_the_span_of_an_integer_expression_holds_for_all_data(node, values):
    found = evaluate(node, lambda name: values[name.name])
    low, high = integer_span(node)
    assert found is None or low <= found <= high


@given(x=st.floats(0, 1e7), y=st.floats(1, 1e3))
@settings(deadline=None)
def test_quotients_stay_in_their_range(x, y):
    node = Call("divide", (Name("x"), Name("y")))
    bounds = {"x": (Fraction(0), Fraction(10**7)), "y": (Fraction(1), Fraction(1000))}
    low, high = range_of(node, lambda name: bounds[name.name])
    assert low <= x / y <= high


def test_division_by_what_may_be_zero_has_no_range():
    assert range_of(Call("divide", (Literal(1), Name("x"))), lambda name: (Fraction(-1), Fraction(1))) is None
