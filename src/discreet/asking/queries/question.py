"""A question that knows its policy: typed rows, keys and their labels, aggregates, and what follows noise."""

import datetime
import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Value
from discreet.asking.queries.evaluate import evaluate
from discreet.asking.queries.nodes import Aggregate, Call, Case, Expression, Literal, Name, refuse, walk
from discreet.asking.queries.ranges import SPANS, Range
from discreet.asking.queries.relations import Relation, has_each_row
from discreet.asking.queries.types import Scope

Domain: TypeAlias = tuple[Value, ...]

MOST_LABELS = 10_000  # of one key
MOST_TRIED = 100_000  # combinations of labels that an expression is evaluated on
MOST_TRIED_IN_ALL = 300_000  # in one question

_tried: ContextVar[list[int]] = ContextVar("tried")


@contextmanager
def counted_labels() -> Iterator[None]:
    """Count what is tried for one question: many expressions over many labels are refused."""
    before = _tried.set([0])
    try:
        yield
    finally:
        _tried.reset(before)


def _count(tried: int, node: Expression) -> None:
    total = _tried.get([0])
    total[0] += tried
    if total[0] > MOST_TRIED_IN_ALL:
        refuse(
            "labels",
            f"A question must find the labels of its keys by at most {MOST_TRIED_IN_ALL:,} trials, got more. "
            "Compute with fewer columns of many labels, or group by coarser ones.",
            node,
        )


def domain_of(node: Expression, scope: Scope) -> Domain | None:
    """Return the labels of a typed expression in a fixed order, or None where only the data knows them.

    >>> domain_of(Call("month", (Name("day", "t"),), type="integer"), Scope(()))[:3]
    (1, 2, 3)
    """
    if isinstance(node, Literal):
        return (node.value,)
    if isinstance(node, Name):
        return _of_field(node, scope)
    if isinstance(node, Case):
        return _union([*(value for _, value in node.branches), node.otherwise], scope)
    if not isinstance(node, Call):
        return None
    if node.function == "coalesce":
        found = _union(list(node.arguments), scope)
        return None if found is None else tuple(each for each in found if each is not None)
    return _of_call(node, scope)


def _of_field(node: Name, scope: Scope) -> Domain | None:
    field = scope.field(node)
    if field.keys is not None:
        return field.keys
    if field.type == "boolean":
        return (False, True)
    if field.type == "integer" and field.range is not None:
        return _whole(field.range, 1)
    if field.type == "date" and field.bounds is not None:
        first, last = (end.toordinal() for end in field.bounds if isinstance(end, datetime.date))
        days = range(first, last + 1)
        return tuple(map(datetime.date.fromordinal, days)) if len(days) <= MOST_LABELS else None
    return None


def _whole(found: Range, kind: int | float) -> Domain | None:
    low, high = math.ceil(found[0]), math.floor(found[1])
    if high - low >= MOST_LABELS or low < SMALLEST_INTEGER or high > LARGEST_INTEGER:
        return None
    return tuple(type(kind)(each) for each in range(low, high + 1))


def _of_call(node: Call, scope: Scope) -> Domain | None:
    if node.type == "boolean":
        return (False, True)
    if node.function in SPANS and node.function not in ("length", "year"):
        low, high = SPANS[node.function]
        return tuple(range(low, high + 1))
    evaluated = _by_evaluation(node, scope)
    if evaluated is not None:
        return evaluated
    found = scope.range(node)
    if found is not None and node.function in ("width_bucket", "floor", "ceil", "round", "to_integer"):
        return _whole(found, 1 if node.type == "integer" else 1.0)
    return None


def _by_evaluation(node: Call, scope: Scope) -> Domain | None:
    """Return the values on all combinations of the labels inside, if those are few.

    Only sound when no name occurs twice, else combinations that cannot happen add empty labels; harmless, and
    public like the rest.
    """
    parts = [domain_of(each, scope) for each in node.arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not any(isinstance(each, Name) for each in walk(node)):
        return None
    if math.prod(map(len, known)) > MOST_TRIED:
        return None
    _count(math.prod(map(len, known)), node)
    values = set()
    for combination in itertools.product(*known):
        literals = tuple(Literal(value) for value in combination)
        values.add(evaluate(Call(node.function, literals), lambda name: None))
    values.discard(None)
    return tuple(sorted(values)) if 0 < len(values) <= MOST_LABELS else None  # type: ignore[type-var]


def _union(nodes: list[Expression], scope: Scope) -> Domain | None:
    labels: dict[Value, None] = {}
    for each in nodes:
        found = domain_of(each, scope)
        if found is None:
            return None
        labels.update(dict.fromkeys(found))
    ordered = [label for label in labels if label is not None]
    return (*ordered, None) if None in labels else tuple(ordered)


@dataclass(frozen=True)
class Key:
    """One term of GROUP BY: its expression, and its public labels (None: only the data knows them)."""

    expression: Expression
    domain: Domain | None


@dataclass(frozen=True)
class Measure:
    """One aggregate over rows, with what is promised of its argument."""

    aggregate: Aggregate
    range: Range | None = None  # of a numeric argument; None: no bounds are known
    domain: Domain | None = None  # of what MODE and COUNT(DISTINCT) are over
    present: bool = False  # whether no row lacks a value of the argument


@dataclass(frozen=True)
class Term:
    """One term of ORDER BY over released values."""

    expression: Expression
    descending: bool


@dataclass(frozen=True)
class Question:
    """What is asked, resolved.

    Expressions in `columns`, `having` and `order` are over slots: slot i is key i, slot len(keys) + j is
    measure j; they are post-processing, evaluated on the released values.

    `sets` lists the grouping sets as positions in `keys`; a plain GROUP BY is one set of all of them.
    """

    rows: Relation
    keys: tuple[Key, ...]
    sets: tuple[tuple[int, ...], ...]
    measures: tuple[Measure, ...]
    columns: tuple[tuple[str, Expression], ...]
    having: Expression | None
    order: tuple[Term, ...]
    limit: int | None

    @property
    def max_groups(self) -> int:
        """How many groups of one set a unit may be in."""
        return self.rows.limits[0]

    @property
    def max_rows(self) -> int:
        """How many rows a unit may have in one group."""
        return self.rows.limits[1]

    @property
    def each_row(self) -> bool:
        """Whether each row is a unit of its own."""
        return has_each_row(self.rows)

    @property
    def public_keys(self) -> bool:
        """Whether every label of every group is known without the data."""
        return all(key.domain is not None for key in self.keys)
