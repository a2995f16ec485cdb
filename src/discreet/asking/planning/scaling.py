"""Values of groups whose ranges end early, enlarged to the widest range: so that one noise serves all groups.

In a group whose range is 2^k times shorter, a value x becomes low + (x - low)·2^k, clamped to its own end
first. What is added up is then as for any other expression: a row adds the same to all parts together.

Privacy: which group a row is in, and by how much it is enlarged, are functions of the row and of what was
released. Nothing rests on their being right.
Tested by: tests/planning/test_clamping.py
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from discreet.asking.planning.exact import Bernstein, ExactPlan
from discreet.asking.policy import Value
from discreet.asking.queries import Call, Case, Expression, Key, Literal

Shifts: TypeAlias = tuple[int, ...]  # for each group: by how many halves its range is shorter


def enlarge(measure: Bernstein, plan: ExactPlan, shifts: Shifts) -> Bernstein:
    """Return the measure whose values are enlarged in each group to the range of the widest."""
    if not any(shifts):
        return measure
    value, lattice = measure.argument, measure.lattice
    write = _literal(value)

    def by_group(of: Callable[[int], Fraction]) -> Expression:
        """Return a constant of each group, the widest's in any other."""
        branches = tuple(
            (_is_in(plan.keys, label), write(of(shift)))
            for label, shift in zip(plan.labels or (), shifts, strict=True)
            if shift
        )
        return Case(branches, write(of(0)), type=value.type)

    low, high = write(lattice.lowest * lattice.step), write(lattice.highest * lattice.step)
    end = by_group(lambda shift: (lattice.lowest + (lattice.width >> shift)) * lattice.step)
    above = Call("subtract", (value, low), type=value.type)
    longer = Call("multiply", (above, by_group(lambda shift: Fraction(2**shift))), type=value.type)
    enlarged = Case(
        (
            (Call("at_most", (value, low), type="boolean"), low),
            (Call("at_most", (value, end), type="boolean"), Call("add", (low, longer), type=value.type)),
            (Call("greater", (value, end), type="boolean"), high),
        ),
        Literal(None, type=value.type),  # where the value is missing
        type=value.type,
    )
    return replace(measure, argument=enlarged)


def _literal(value: Expression) -> Callable[[Fraction], Literal]:
    """Return what writes constants of the value's type."""
    whole = value.type == "integer"
    return lambda number: Literal(int(number) if whole else float(number), type=value.type)


def _is_in(keys: tuple[Key, ...], label: tuple[Value, ...]) -> Expression:
    """Return whether a row is in the group of this label."""
    return reduce(
        lambda left, right: Call("and", (left, right), type="boolean"),
        [_is(key.expression, each) for key, each in zip(keys, label, strict=True)],
    )


def _is(key: Expression, label: Value) -> Call:
    if label is None:
        return Call("is_null", (key,), type="boolean")
    return Call("equal", (key, Literal(label, type=key.type)), type="boolean")
