"""The tree that a question becomes: a closed list of frozen nodes.

Every front end (SQL text, the Python builder) makes this tree and nothing else; the text is thrown away.
Two trees are equal when they ask the same thing: where a node stood in the text (`place`) and the type that
name resolution found for it (`type`) take no part in the comparison.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal as OneOf, NoReturn, TypeAlias

from discreet.errors import UnsupportedQuery
from discreet.tables import Type, Value

Place: TypeAlias = tuple[int, int]  # first and one-past-last character in the question's text


@dataclass(frozen=True)
class Node:
    """What all nodes share and no comparison sees."""

    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Expression(Node):
    """A value for each row, or (over aggregates) for each group."""

    type: Type | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Literal(Expression):
    """A constant; None is NULL."""

    value: Value

    def __post_init__(self) -> None:
        # 1, 1.0 and True are equal in Python, but not the same question.
        object.__setattr__(self, "kind", type(self.value).__name__)

    kind: str = field(default="", init=False, repr=False)


@dataclass(frozen=True)
class Name(Expression):
    """A column, of the named table or of the only one that has it."""

    name: str
    table: str | None = None


@dataclass(frozen=True)
class Call(Expression):
    """One of the total functions of `discreet.queries.functions`."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Case(Expression):
    """The value of the first branch whose condition is true."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


AggregateName: TypeAlias = OneOf[
    "count_rows", "count", "count_units", "sum", "average", "variance", "deviation", "quantile", "minimum",
    "maximum", "mode", "count_distinct",
]  # fmt: skip


@dataclass(frozen=True)
class Aggregate(Expression):
    """A number about a group of rows; noise is added to it."""

    function: AggregateName
    argument: Expression | None = None
    condition: Expression | None = None  # FILTER (WHERE ...)
    fraction: Fraction | None = None  # of a quantile


@dataclass(frozen=True)
class Slot(Expression):
    """A released value: the group's keys first, then the aggregates, by position."""

    index: int


@dataclass(frozen=True)
class Output(Node):
    """One column of a SELECT; an expression of None means all columns (of `table`, if named)."""

    name: str
    expression: Expression | None
    table: str | None = None


@dataclass(frozen=True)
class TableName(Node):
    """A table of the policy, under an alias."""

    name: str
    alias: str


@dataclass(frozen=True)
class Nested(Node):
    """A query in FROM, under an alias."""

    query: "Query"
    alias: str


@dataclass(frozen=True)
class Join(Node):
    """Two sources side by side where the condition holds; `using` names columns equal on both sides."""

    left: "Source"
    right: "Source"
    condition: Expression | None = None
    using: tuple[str, ...] = ()
    kind: OneOf["inner", "left"] = "inner"


@dataclass(frozen=True)
class Order(Node):
    """One term of ORDER BY, over the released columns."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True)
class Select(Node):
    """One SELECT. `sets` lists, for GROUPING SETS, the positions in `keys` that each set groups by."""

    outputs: tuple[Output, ...]
    source: "Source"
    where: Expression | None = None
    keys: tuple[Expression, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: the rows of every member, in FROM only."""

    members: tuple[Select, ...]


Source: TypeAlias = TableName | Nested | Join
Query: TypeAlias = Select | Union


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside one."""
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Case):
        return (*(part for branch in node.branches for part in branch), node.otherwise)
    if isinstance(node, Aggregate):
        return tuple(part for part in (node.argument, node.condition) if part is not None)
    return ()


def walk(node: Expression) -> Iterator[Expression]:
    """Yield the expression and all inside it, outermost first."""
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack.extend(reversed(children(each)))


def has_aggregate(node: Expression) -> bool:
    """Return whether it contains an aggregate."""
    return any(isinstance(each, Aggregate) for each in walk(node))


SHORT_NAMES = {
    "count_rows": "count",
    "count_units": "units",
    "average": "avg",
    "deviation": "stddev",
    "minimum": "min",
    "maximum": "max",
}


def default_name(expression: Expression, position: int) -> str:
    """Return the name of an output that was given none.

    >>> default_name(Aggregate("count_rows"), 0), default_name(Aggregate("sum", Name("debt")), 1)
    ('count', 'sum_debt')
    """
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, Aggregate):
        name = SHORT_NAMES.get(expression.function, expression.function)
        named = isinstance(expression.argument, Name) and expression.function != "count_units"
        return f"{name}_{expression.argument.name}" if named else name  # type: ignore[union-attr]
    return f"column_{position + 1}"


MOST_SHOWN = 100


def refuse(reason: str, message: str, where: Node | Place | None = None) -> NoReturn:
    """Stop here; `reason` is the stable code that programs read, `message` the sentence that people read."""
    place = where.place if isinstance(where, Node) else where
    raise UnsupportedQuery(message, reason=reason, **({} if place is None else {"place": list(place)}))


def underline(error: UnsupportedQuery, text: str) -> UnsupportedQuery:
    """Return the same refusal with the line of the question it is about, and a mark under the place.

    >>> error = UnsupportedQuery("NOW() is not a function of the data.", reason="clock", place=[7, 10])
    >>> print(underline(error, "SELECT now() FROM t").message)
    NOW() is not a function of the data.
      SELECT now() FROM t
             ^^^
    """
    place = error.fields.get("place")
    if not isinstance(place, list):
        return error
    start, end = place
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    shift = max(0, min(start - first - MOST_SHOWN // 2, len(line) - MOST_SHOWN))
    shown = line[shift : shift + MOST_SHOWN].replace("\t", " ")
    marks = max(1, min(end, first + shift + len(shown)) - start)
    message = f"{error.message}\n  {shown}\n  {' ' * (start - first - shift)}{'^' * marks}"
    return UnsupportedQuery(message, **error.fields)
