"""Return the interval by arithmetic over expressions: what the declared bounds of columns say of `debt /
1000`.

A range never decides what a question means: values are clamped to it after the expression, so a wrong
promise of the owner costs accuracy, never privacy. `integer_span` is different: it holds for all data,
since it starts from the 64 bits of an integer, and no plan runs an integer expression that could leave 38
digits.
"""

import datetime
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER
from discreet.asking.queries.nodes import Call, Case, Expression, Literal, Name

Range: TypeAlias = tuple[Fraction, Fraction]
RangeOf: TypeAlias = Callable[[Name], Range | None]

LARGEST_NUMBER = Fraction(10) ** 300
MOST_WHOLE = 10**38 - 1  # the largest whole number that every engine's widest exact type holds
WIDEST = MOST_WHOLE - 2**108  # of an expression: two steps of the coarsest lattice may be added to it
SPANS = {
    "sign": (-1, 1),
    "length": (0, 2**62),
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "dow": (0, 6),
    "isodow": (1, 7),
    "doy": (1, 366),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}


def range_of(node: Expression, names: RangeOf) -> Range | None:
    """Return bounds of an expression's values, given those of its names; None where there are none.

    >>> debt = lambda name: (Fraction(0), Fraction(10_000_000))
    >>> range_of(Call("divide", (Name("debt"), Literal(1000))), debt) == (0, 10_000)
    True
    """
    if isinstance(node, Literal):
        if type(node.value) is datetime.date:
            return (Fraction(node.value.toordinal()),) * 2
        plain = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return (Fraction(node.value),) * 2 if plain else None  # type: ignore[arg-type]
    if isinstance(node, Name):
        return None if node.type == "timestamp" else names(node)
    if isinstance(node, Case):
        values = [*(value for _, value in node.branches), node.otherwise]
        return _hull([range_of(each, names) for each in values if not _is_null(each)])
    if not isinstance(node, Call):
        return None
    if node.function == "to_date" and isinstance(node.arguments[0], Name):
        return names(node.arguments[0])  # of a time, the numbers of its days
    if node.function in ("width_bucket", "coalesce", "least", "greatest", *SPANS) or _is_square(node):
        return _special(node, names)
    if node.function == "to_integer" and node.arguments[0].type == "boolean":
        return Fraction(0), Fraction(1)
    known = [each for each in (range_of(argument, names) for argument in node.arguments) if each is not None]
    if len(known) < len(node.arguments) or node.function not in RULES:
        return None
    return RULES[node.function](*known)


def _special(node: Call, names: RangeOf) -> Range | None:
    if node.function == "coalesce":
        return _hull([range_of(each, names) for each in node.arguments if not _is_null(each)])
    if node.function in ("least", "greatest"):
        return _extreme(node, [range_of(each, names) for each in node.arguments])
    if node.function == "multiply":
        found = range_of(node.arguments[0], names)
        return None if found is None else tuple(each * each for each in _size(found))  # type: ignore[return-value]
    if node.function == "width_bucket":
        count = node.arguments[3]
        assert isinstance(count, Literal)
        assert isinstance(count.value, int)
        return Fraction(0), Fraction(count.value + 1)
    low, high = SPANS[node.function]
    return (Fraction(low), Fraction(high)) if node.function != "length" else None


def _is_square(node: Call) -> bool:
    return node.function == "multiply" and node.arguments[0] == node.arguments[1]


def _extreme(node: Call, ranges: list[Range | None]) -> Range | None:
    """Return the range of LEAST or GREATEST: what is written out is never missing, so the least is at most
    that; of the others any may be missing.
    """
    hull = _hull([each for each, part in zip(ranges, node.arguments, strict=True) if not _is_null(part)])
    known = [each for each, part in zip(ranges, node.arguments, strict=True)
             if isinstance(part, Literal) and each is not None]  # fmt: skip
    if hull is None:
        return None
    if node.function == "least":
        return hull[0], min([hull[1], *(high for _, high in known)])
    return max([hull[0], *(low for low, _ in known)]), hull[1]


def _root(value: Range) -> Range | None:
    """Return ends of the square root, a step of doubles outwards; below zero there is none."""
    if value[1] < 0:
        return None
    low, high = (math.sqrt(max(0.0, float(end))) for end in value)
    return Fraction(math.nextafter(low, 0.0)), Fraction(math.nextafter(high, math.inf))


def _is_null(node: Expression) -> bool:
    return isinstance(node, Literal) and node.value is None


def _hull(ranges: list[Range | None]) -> Range | None:
    known = [each for each in ranges if each is not None]
    if not known or len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _corners(left: Range, right: Range) -> Range:
    products = [one * other for one in left for other in right]
    return min(products), max(products)


def _quotient(left: Range, right: Range) -> Range | None:
    if right[0] <= 0 <= right[1]:
        return None
    return _corners(left, (1 / right[1], 1 / right[0]))


def _size(value: Range) -> Range:
    low, high = sorted(map(abs, value))
    return (Fraction(0) if value[0] <= 0 <= value[1] else low), high


def _whole_quotient(left: Range, right: Range) -> Range | None:
    most = max(abs(left[0]), abs(left[1]))  # dividing by a whole number never makes it larger
    exact = _quotient(left, right)
    return (
        (-most, most) if exact is None else (Fraction(math.trunc(exact[0])), Fraction(math.trunc(exact[1])))
    )


def _remainder(left: Range, right: Range) -> Range:
    most = min(max(abs(right[0]), abs(right[1])) - 1, max(abs(left[0]), abs(left[1])))
    most = max(most, Fraction(0))
    return (Fraction(0) if left[0] >= 0 else -most), (Fraction(0) if left[1] <= 0 else most)


RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "subtract": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "multiply": _corners,
    "divide": _quotient,
    "divide_whole": _whole_quotient,
    "modulo": _remainder,
    "negate": lambda value: (-value[1], -value[0]),
    "abs": _size,
    "floor": lambda value: (Fraction(math.floor(value[0])), Fraction(math.floor(value[1]))),
    "ceil": lambda value: (Fraction(math.ceil(value[0])), Fraction(math.ceil(value[1]))),
    "round": lambda value: (
        Fraction(math.floor(value[0] + Fraction(1, 2))) - (value[0] < 0),
        Fraction(math.floor(value[1] + Fraction(1, 2))),
    ),
    "to_integer": lambda value: (Fraction(math.floor(value[0])), Fraction(math.ceil(value[1]))),
    "to_number": lambda value: value,
    "to_date": lambda value: value,
    "sqrt": _root,
}


def integer_span(node: Expression) -> tuple[int, int]:
    """Return the whole numbers that an integer expression can give on any data whatever.

    >>> integer_span(Call("add", (Name("a", type="integer"), Literal(1)))) == (1 - 2**63, 2**63)
    True
    """
    if isinstance(node, Literal):
        number = node.value if isinstance(node.value, int) else 0
        return number, number
    if isinstance(node, Case):
        return _widest([*(value for _, value in node.branches), node.otherwise])
    if isinstance(node, Call):
        if node.function in SPANS:
            return SPANS[node.function]
        if node.function in ("coalesce", "least", "greatest"):
            return _widest(list(node.arguments))
        if node.function in SPANNED and node.arguments[0].type == "integer":
            spans = [tuple(map(Fraction, integer_span(each))) for each in node.arguments]
            found = RULES[node.function](*spans)
            assert found is not None
            return int(found[0]), int(found[1])
    return SMALLEST_INTEGER, LARGEST_INTEGER


def held(node: Expression, found: Range | None) -> Range | None:
    """Return the part of a range that the expression's type holds: no double is beyond 10^300, and no whole
    number beyond what its expression can give.
    """
    if found is None or node.type != "integer":
        return None if found is None or max(map(abs, found)) > LARGEST_NUMBER else found
    least, most = map(Fraction, integer_span(node))
    low, high = max(found[0], least), min(found[1], most)
    return (low, high) if low <= high else None


SPANNED = ("add", "subtract", "multiply", "divide_whole", "modulo", "negate", "abs", "floor", "ceil", "round")


def _widest(nodes: list[Expression]) -> tuple[int, int]:
    spans = [integer_span(each) for each in nodes]
    return min(low for low, _ in spans), max(high for _, high in spans)
