"""The tree that a question becomes: a closed list of frozen nodes.

Every front end (SQL text, the Python builder) makes this tree and nothing else; the text is thrown away.
Two trees are equal when they ask the same thing: where a node stood in the text (`place`) and the type that
name resolution found for it (`type`) take no part in the comparison.

The last part measures how large a question is once every name in it is put in place. A name of WITH, and the
subject of BETWEEN or CASE, is one object in several places, so what is written out may double with every
line of a question; the size is computed from the objects alone, each looked at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal as OneOf, NoReturn, TypeAlias

from discreet.asking.policy import Type, Value
from discreet.errors import UnsupportedQuery

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
    """One of the total functions of `discreet.asking.queries.functions`."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Case(Expression):
    """The value of the first branch whose condition is true."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


AggregateName: TypeAlias = OneOf[
    "count_rows", "count", "count_units", "sum", "average", "variance", "deviation", "quantile", "minimum",
    "maximum", "mode", "count_distinct", "variance_population", "deviation_population", "correlation",
    "covariance", "covariance_population", "slope", "intercept",
]  # fmt: skip


@dataclass(frozen=True)
class Aggregate(Expression):
    """A number about a group of rows; noise is added to it."""

    function: AggregateName
    argument: Expression | None = None
    condition: Expression | None = None  # FILTER (WHERE ...)
    fraction: Fraction | None = None  # of a quantile
    other: Expression | None = None  # what the argument is compared with, of CORR and its kin


@dataclass(frozen=True)
class Frame(Node):
    """The rows of a window that count: from so many before (None: all), to so many after; 0 is the row."""

    kind: OneOf["ROWS", "RANGE", "GROUPS"]
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Window(Expression):
    """A number about the rows around one, in a table that was released; never before the noise."""

    function: str  # an aggregate's name, or one of `WINDOWS`
    arguments: tuple[Expression, ...] = ()
    condition: Expression | None = None
    partition: tuple[Expression, ...] = ()
    order: tuple["Order", ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True)
class Scalar(Expression):
    """The one value of a query over a table that was released."""

    query: "Select"


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
    """One term of ORDER BY, over the released columns. Missing values are last unless first is asked for."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Select(Node):
    """One SELECT. `sets` lists, for GROUPING SETS, the positions in `keys` that each set groups by.

    Only what is selected from a released table has the last three.
    """

    outputs: tuple[Output, ...]
    source: "Source"
    where: Expression | None = None
    keys: tuple[Expression, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    qualify: Expression | None = None
    distinct: bool = False


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: the rows of every member."""

    members: tuple[Select, ...]


@dataclass(frozen=True)
class Pivot(Node):
    """PIVOT source ON column USING aggregates GROUP BY keys: a column for each label (None: as declared)."""

    source: "Source"
    on: Expression
    labels: tuple[Literal, ...] | None
    using: tuple[Output, ...]
    keys: tuple[Expression, ...]


Source: TypeAlias = TableName | Nested | Join
Query: TypeAlias = Select | Union | Pivot


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside one."""
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Case):
        return (*(part for branch in node.branches for part in branch), node.otherwise)
    if isinstance(node, Aggregate):
        return tuple(part for part in (node.argument, node.other, node.condition) if part is not None)
    if isinstance(node, Window):
        ordered = (each.expression for each in node.order)
        return (
            *node.arguments,
            *(() if node.condition is None else (node.condition,)),
            *node.partition,
            *ordered,
        )
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


def has_window(node: Expression) -> bool:
    """Return whether it contains a window."""
    return any(isinstance(each, Window) for each in walk(node))


def aggregates(query: "Select") -> bool:
    """Return whether a SELECT gives one row for each group."""
    outputs = [each.expression for each in query.outputs if each.expression is not None]
    return bool(query.keys) or query.sets is not None or any(map(has_aggregate, outputs))


SHORT_NAMES = {
    "count_rows": "count",
    "count_units": "units",
    "average": "avg",
    "deviation": "stddev",
    "minimum": "min",
    "maximum": "max",
    "variance_population": "var_pop",
    "deviation_population": "stddev_pop",
    "correlation": "corr",
    "covariance": "covar_samp",
    "covariance_population": "covar_pop",
    "slope": "regr_slope",
    "intercept": "regr_intercept",
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


MOST_NODES = 4_000
MOST_TABLES = 64
MOST_DEPTH = 100


@dataclass(frozen=True)
class Size:
    """Of a tree written out: its nodes, how often a table is read, how deeply nodes are nested."""

    nodes: int = 0
    tables: int = 0
    depth: int = 0


def check_size(*trees: Node) -> None:
    """Refuse trees that together are too large to be planned, before anybody walks them."""
    found, node = [size_of(each) for each in trees], trees[0]
    size = Size(
        sum(each.nodes for each in found),
        sum(each.tables for each in found),
        max(each.depth for each in found),
    )
    if size.nodes > MOST_NODES:
        shown = f"{size.nodes:,}" if size.nodes < 10**9 else "over a billion"
        refuse(
            "too_long",
            f"A question must have at most {MOST_NODES:,} parts with each name of WITH, and what BETWEEN and "
            f"CASE compare, written out, got {shown}. Use each name less often.",
            node,
        )
    if size.tables > MOST_TABLES:
        refuse(
            "too_many_tables",
            f"A question must read tables at most {MOST_TABLES} times, got {size.tables}. "
            "Join or unite fewer of them.",
            node,
        )
    if size.depth > MOST_DEPTH:
        refuse(
            "too_deep",
            f"A question must nest at most {MOST_DEPTH} deep, got {size.depth}. "
            "Write long chains of OR as x IN (...), and use fewer subqueries.",
            node,
        )


def size_of(node: Node) -> Size:
    """Return the size of a tree, in time that grows with its distinct nodes alone.

    >>> from discreet.asking.queries.nodes import Call, Name
    >>> tree = Name("x")
    >>> for _ in range(100):
    ...     tree = Call("add", (tree, tree))
    >>> size_of(tree).nodes == 2**101 - 1
    True
    """
    stack = [node]
    while stack:
        inner = [each for each in parts(stack[-1]) if "_size" not in vars(each)]
        if inner:
            stack.extend(inner)
        else:
            each = stack.pop()
            vars(each)["_size"] = _size(each)  # no part of the node: a size follows from what it holds
    found: Size = vars(node)["_size"]
    return found


def _size(node: Node) -> Size:
    inner: list[Size] = [vars(each)["_size"] for each in parts(node)]
    return Size(
        1 + sum(each.nodes for each in inner),
        isinstance(node, TableName) + sum(each.tables for each in inner),
        _levels(node) + max((each.depth for each in inner), default=0),
    )


def _levels(node: Node) -> int:
    """Return how deep a node is for an engine: a subquery is as deep as two functions, a join is two of
    them.
    """
    if isinstance(node, Select):
        return 2 + 2 * (node.where is not None) + 2 * bool(node.keys)
    return {Nested: 0, Union: 2, Join: 4}.get(type(node), 1)


def parts(node: Node) -> Iterator[Node]:
    """Yield the nodes directly inside one, of whatever kind."""
    for each in fields(node):
        yield from _nodes(getattr(node, each.name))


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _nodes(each)
