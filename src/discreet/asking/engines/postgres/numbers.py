"""Arithmetic of doubles on a server that raises where IEEE 754 rounds: at overflow, and at underflow to zero.

PostgreSQL's own operators are IEEE's wherever they do not raise, so they are used there; the tests around
them decide exactly where that is. Numbers of ordinary size take the first branch. For the rest the result is
first computed scaled by a power of two, which changes no digit: sums at half their size, products and
quotients at 2^-1024 or 2^1076 times theirs. A scaled result of 1 or more is an overflow; one of at most 2
means at most half of the smallest double, which rounds to zero. A product may round to 2 from above:
then its rounding error, computed exactly (Veltkamp's splitting, Dekker's product), decides.

NaN never comes in; it comes out of infinities, as it should.
"""

from functools import cache

import sqlglot
from sqlglot import exp

INFINITY = "CAST('Infinity' AS DOUBLE PRECISION)"


def _power(exponent: int) -> str:
    return f"CAST('{2.0**exponent!r}' AS DOUBLE PRECISION)"


def _ordinary(name: str) -> str:
    """Return whether products and quotients neither overflow nor vanish."""
    return f"ABS({name}) BETWEEN {_power(-500)} AND {_power(500)}"


ADD = f"""CASE
    WHEN ABS(x) <= {_power(1022)} AND ABS(y) <= {_power(1022)} THEN x + y
    WHEN x IS NULL OR y IS NULL THEN NULL
    WHEN ABS(x) = {INFINITY} OR ABS(y) = {INFINITY} OR ABS(x) <= 1 OR ABS(y) <= 1 THEN x + y
    WHEN ABS(x * {_power(-1)} + y * {_power(-1)}) < {_power(1023)} THEN x + y
    ELSE SIGN(x) * {INFINITY}
END"""

# a and b are the factors scaled to 2^538 times their size, h and k their upper halves.
ABOVE_TIE = f"""(
    SELECT SIGN(a) * SIGN(b) * (((h * k - a * b) + h * (b - k) + (a - h) * k) + (a - h) * (b - k)) > 0
    FROM (
        SELECT a, b, {_power(27)} * a + a - ({_power(27)} * a + a - a) AS h,
            {_power(27)} * b + b - ({_power(27)} * b + b - b) AS k
        FROM (SELECT x * {_power(538)} AS a, y * {_power(538)} AS b OFFSET 0) AS scaled OFFSET 0
    ) AS halves
)"""  # noqa: S608  # constants of ours

MULTIPLY = f"""CASE
    WHEN ({_ordinary("x")} OR x = 0) AND ({_ordinary("y")} OR y = 0) THEN x * y
    WHEN x IS NULL OR y IS NULL THEN NULL
    WHEN ABS(x) = {INFINITY} OR ABS(y) = {INFINITY} OR x = 0 OR y = 0 THEN x * y
    WHEN (ABS(x) >= 1) <> (ABS(y) >= 1) THEN x * y
    WHEN ABS(x) > {_power(600)} AND ABS(y) > {_power(600)} THEN SIGN(x) * SIGN(y) * {INFINITY}
    WHEN ABS(x) >= 1 THEN CASE
        WHEN ABS((x * {_power(-512)}) * (y * {_power(-512)})) < 1 THEN x * y
        ELSE SIGN(x) * SIGN(y) * {INFINITY} END
    WHEN ABS((x * {_power(538)}) * (y * {_power(538)})) > 2 THEN x * y
    WHEN ABS((x * {_power(538)}) * (y * {_power(538)})) < 2 THEN 0
    WHEN {ABOVE_TIE} THEN x * y
    ELSE 0
END"""

DIVIDE = f"""CASE
    WHEN ({_ordinary("x")} OR x = 0) AND {_ordinary("y")} THEN x / y
    WHEN x IS NULL OR y IS NULL OR y = 0 THEN NULL
    WHEN x = 0 THEN 0
    WHEN ABS(y) = {INFINITY} THEN CASE WHEN ABS(x) < {INFINITY} THEN 0 END
    WHEN ABS(x) = {INFINITY} THEN SIGN(y) * x
    WHEN ABS(x) >= 1 AND ABS(y) >= 1 THEN x / y
    WHEN ABS(y) >= 1 THEN CASE
        WHEN ABS((x * {_power(538)}) / (y * {_power(-538)})) > 2 THEN x / y
        ELSE 0 END
    WHEN ABS(x) < {_power(-60)} THEN x / y
    WHEN ABS(x) > {_power(930)} AND ABS(y) < {_power(-100)} THEN SIGN(x) * SIGN(y) * {INFINITY}
    WHEN ABS((x * {_power(-512)}) / (y * {_power(512)})) < 1 THEN x / y
    ELSE SIGN(x) * SIGN(y) * {INFINITY}
END"""

# round() of a double rounds halves to even; the fraction of a double is exact.
ROUND = """CASE WHEN ABS(x - TRUNC(x)) >= 0.5 THEN TRUNC(x) + SIGN(x) ELSE TRUNC(x) END"""


def reduced(factor: float) -> str:
    """Return x * factor for a factor below 1, or 0 where that is far below a half."""
    return f"""CASE WHEN ABS(x) < {_power(-60)} THEN 0 * SIGN(x)
        ELSE x * CAST('{factor!r}' AS DOUBLE PRECISION) END"""


def is_ordinary(node: exp.Expression) -> bool:
    """Return whether a tree is a constant whose multiples in the templates, computed ahead, all exist."""
    while isinstance(node, exp.Paren | exp.Neg | exp.Cast):
        node = node.this
    return isinstance(node, exp.Literal) and (
        float(node.this) == 0 or 2.0**-480 <= abs(float(node.this)) <= 2.0**480
    )


def filled(template: str, **values: exp.Expression) -> exp.Expression:
    """Return a template with trees in the place of its one-letter names."""
    tree = _parsed(template).copy()
    for name in list(tree.find_all(exp.Column)):
        if name.name in values:
            name.replace(exp.paren(values[name.name].copy(), copy=False))
    return exp.paren(tree, copy=False)


@cache
def _parsed(template: str) -> exp.Expression:
    tree = sqlglot.parse_one(template, read="postgres")
    assert isinstance(tree, exp.Expression)
    return tree
