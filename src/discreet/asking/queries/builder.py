"""Questions in Python: the builder makes the same tree as SQL.

    table("accounts").where(column("debt") > 0).group_by("city").count().sum("debt")

is SELECT city, COUNT(*) AS count, SUM(debt) AS sum_debt FROM accounts WHERE debt > 0 GROUP BY city.
"""

import datetime
from dataclasses import dataclass, replace
from typing import TypeAlias

from discreet.asking.policy import Value
from discreet.asking.queries.nodes import (
    Aggregate,
    AggregateName,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Order,
    Output,
    Select,
    TableName,
    check_size,
    default_name,
)
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact, exact_quantile, exact_whole

Operand: TypeAlias = "Term | Value"


@dataclass(frozen=True, eq=False)
class Term:
    """An expression under construction; comparisons and arithmetic make larger ones.

    >>> (column("debt") / 1000 > 5).node
    Call(function='greater', arguments=(Call(function='divide', arguments=(Name(name='debt', table=None),
    Literal(value=1000))), Literal(value=5)))
    """

    node: Expression

    def __post_init__(self) -> None:
        check_size(self.node)  # as it grows: a term may contain itself twice, again and again

    def _call(self, function: str, *others: Operand) -> "Term":
        return Term(Call(function, (self.node, *(as_expression(other) for other in others))))

    def _reversed(self, function: str, other: Operand) -> "Term":
        return Term(Call(function, (as_expression(other), self.node)))

    def __add__(self, other: Operand) -> "Term":
        return self._call("add", other)

    def __radd__(self, other: Operand) -> "Term":
        return self._reversed("add", other)

    def __sub__(self, other: Operand) -> "Term":
        return self._call("subtract", other)

    def __rsub__(self, other: Operand) -> "Term":
        return self._reversed("subtract", other)

    def __mul__(self, other: Operand) -> "Term":
        return self._call("multiply", other)

    def __rmul__(self, other: Operand) -> "Term":
        return self._reversed("multiply", other)

    def __truediv__(self, other: Operand) -> "Term":
        return self._call("divide", other)

    def __rtruediv__(self, other: Operand) -> "Term":
        return self._reversed("divide", other)

    def __floordiv__(self, other: Operand) -> "Term":
        return self._call("divide_whole", other)

    def __mod__(self, other: Operand) -> "Term":
        return self._call("modulo", other)

    def __neg__(self) -> "Term":
        return self._call("negate")

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]  # a condition, not a Boolean
        return self._call("equal", other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]  # a condition, not a Boolean
        return self._call("unequal", other)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]  # equality is a condition, so terms are no dictionary keys

    def __lt__(self, other: Operand) -> "Term":
        return self._call("less", other)

    def __le__(self, other: Operand) -> "Term":
        return self._call("at_most", other)

    def __gt__(self, other: Operand) -> "Term":
        return self._call("greater", other)

    def __ge__(self, other: Operand) -> "Term":
        return self._call("at_least", other)

    def __and__(self, other: Operand) -> "Term":
        return self._call("and", other)

    def __or__(self, other: Operand) -> "Term":
        return self._call("or", other)

    def __invert__(self) -> "Term":
        return self._call("not")

    def __bool__(self) -> bool:
        raise InvalidParameter("a condition must be combined with & | ~, got and, or, not, or if.")

    def is_null(self) -> "Term":
        """Return whether the value is missing."""
        return self._call("is_null")

    def is_in(self, *values: Value) -> "Term":
        """Return whether the value is one of these."""
        return self._call("in", *values)

    def between(self, low: Operand, high: Operand) -> "Term":
        """Return whether the value is between the two, ends included."""
        return (self >= low) & (self <= high)

    def like(self, pattern: str) -> "Term":
        """Return whether the text matches a pattern of % and _."""
        return self._call("like", pattern)

    def coalesce(self, *others: Operand) -> "Term":
        """Return the first of the values that is not missing."""
        return self._call("coalesce", *others)

    def apply(self, function: str, *others: Operand) -> "Term":
        """Return one of the row functions of docs/guide/sql.md by name, as apply("floor")."""
        return self._call(function, *others)


def column(name: str) -> Term:
    """Return a column by name, as `dp.column("debt") > 0`; "accounts.debt" names its table too."""
    if not isinstance(name, str) or not name:
        raise InvalidParameter(f"a column must be named by a text, got {name!r}.")
    table, dot, last = name.rpartition(".")
    return Term(Name(last, table) if dot else Name(name))


def case(*branches: tuple[Operand, Operand], otherwise: Operand = None) -> Term:
    """Return the value of the first branch (condition, value) whose condition is true."""
    pairs = tuple((as_expression(test), as_expression(value)) for test, value in branches)
    return Term(Case(pairs, as_expression(otherwise)))


def as_expression(value: object) -> Expression:
    """Return the tree of a term, or of a plain value."""
    if isinstance(value, Term):
        return value.node
    if value is None or isinstance(value, bool | str | datetime.date):
        return Literal(value)
    if isinstance(value, float):
        return Literal(float(value))  # numpy's own print their type too
    if isinstance(value, int):
        exact(value, name="a value")
        return Literal(value)
    raise InvalidParameter(f"a value must be a number, text, date or column, got {type(value).__name__}.")


@dataclass(frozen=True)
class Builder:
    """A question under construction: every method returns a larger one; `query` is the tree."""

    name: str
    conditions: tuple[Expression, ...] = ()
    keys: tuple[Output, ...] = ()
    outputs: tuple[Output, ...] = ()
    order: tuple[Order, ...] = ()
    most: int | None = None

    def where(self, condition: Term) -> "Builder":
        """Keep the rows where the condition is true."""
        return replace(self, conditions=(*self.conditions, as_expression(condition)))

    def group_by(self, *keys: str | Term, **named: Term) -> "Builder":
        """Return one answer for each value of the keys; name=expression gives a key a name."""
        terms = [column(key).node if isinstance(key, str) else key.node for key in keys]
        count = len(self.keys)
        plain = [Output(default_name(node, count + index), node) for index, node in enumerate(terms)]
        given = [Output(name, as_expression(term)) for name, term in named.items()]
        return replace(self, keys=(*self.keys, *plain, *given))

    def count(
        self, of: str | Term | None = None, *, where: Term | None = None, name: str | None = None
    ) -> "Builder":
        """Return COUNT(*), or of the values that are not missing."""
        return self._with("count_rows" if of is None else "count", of, where, name)

    def count_units(self, unit: str, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return COUNT(DISTINCT unit)."""
        return self._with("count_units", unit, where, name)

    def count_distinct(
        self, of: str | Term, *, where: Term | None = None, name: str | None = None
    ) -> "Builder":
        """Return COUNT(DISTINCT x) over declared keys."""
        return self._with("count_units", of, where, name)

    def sum(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return SUM."""
        return self._with("sum", of, where, name)

    def average(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return AVG."""
        return self._with("average", of, where, name)

    def variance(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return VARIANCE."""
        return self._with("variance", of, where, name)

    def deviation(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return STDDEV."""
        return self._with("deviation", of, where, name)

    def quantile(
        self, of: str | Term, fraction: Real, *, where: Term | None = None, name: str | None = None
    ) -> "Builder":
        """Return QUANTILE(of, fraction)."""
        rank = exact_quantile(fraction, name="fraction")
        larger = self._with("quantile", of, where, name)
        last = larger.outputs[-1]
        assert isinstance(last.expression, Aggregate)
        final = replace(last, expression=replace(last.expression, fraction=rank))
        return replace(larger, outputs=(*larger.outputs[:-1], final))

    def median(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return MEDIAN."""
        return self.quantile(of, 0.5, where=where, name=name)

    def minimum(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return MIN."""
        return self._with("minimum", of, where, name)

    def maximum(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return MAX."""
        return self._with("maximum", of, where, name)

    def mode(self, of: str | Term, *, where: Term | None = None, name: str | None = None) -> "Builder":
        """Return MODE, over the keys that the owner declared."""
        return self._with("mode", of, where, name)

    def order_by(self, *names: str) -> "Builder":
        """Order the released rows; "-people" orders downwards."""
        terms = tuple(Order(Name(name.removeprefix("-")), name.startswith("-")) for name in names)
        return replace(self, order=(*self.order, *terms))

    def limit(self, most: int) -> "Builder":
        """Return at most so many released rows."""
        return replace(self, most=exact_whole(most, name="limit"))

    def _with(
        self, function: AggregateName, of: str | Term | None, where: Term | None, name: str | None
    ) -> "Builder":
        argument = None if of is None else column(of).node if isinstance(of, str) else of.node
        condition = None if where is None else as_expression(where)
        aggregate = Aggregate(function, argument, condition)
        shown = name or default_name(aggregate, len(self.keys) + len(self.outputs))
        return replace(self, outputs=(*self.outputs, Output(shown, aggregate)))

    @property
    def query(self) -> Select:
        """The tree, the same that SQL becomes."""
        where = None
        for condition in self.conditions:
            where = condition if where is None else Call("and", (where, condition))
        return Select(
            outputs=(*self.keys, *self.outputs),
            source=TableName(self.name, self.name),
            where=where,
            keys=tuple(each.expression for each in self.keys if each.expression is not None),
            order=self.order,
            limit=self.most,
        )


def table(name: str) -> Builder:
    """Return a question about a table, to be completed."""
    return Builder(name)
