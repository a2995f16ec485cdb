"""What a book is of: tables by columns, or by questions that count rows; CUBE, ROLLUP and GROUPING SETS are
several tables each.

Every column has one label more than is declared, for the rows with another value or none, unless the question
shows that there are none: so a total is the sum of its parts. A level of a hierarchy is a column too.

Tested by: tests/planning/test_book_plan.py, tests/planning/test_book_levels.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from discreet.asking.planning.book_levels import Level, Named, Wanted, arrange, comment_of, read_levels
from discreet.asking.planning.covered import is_covered
from discreet.asking.planning.marginals import Columns, Workload
from discreet.asking.planning.nested import NestedWorkload
from discreet.asking.planning.planner import QuestionLike, read_whole
from discreet.asking.planning.trees import Tree
from discreet.asking.planning.work import check_work
from discreet.asking.policy import Hierarchy, Policy, Value
from discreet.asking.queries import Builder, Key, Query, Question, Relation, Slot, table as builder, to_text
from discreet.errors import InvalidParameter, UnsupportedQuery
from discreet.kernel.numerics import (
    Real,
    exact_positive,
)

TableLike: TypeAlias = str | Sequence[str] | Builder | Query
Tables: TypeAlias = Sequence[TableLike] | Mapping[Any, Real]

_MOST_WEIGHT = Fraction(10**12)


@dataclass(frozen=True)
class BookQuestion:
    """What a book is of: rows, named columns with their labels, and tables as positions of columns."""

    text: str
    rows: Relation
    names: tuple[str, ...]
    keys: tuple[Key, ...]
    tables: Mapping[Columns, Fraction]  # each with the weight of its cells
    each_row: bool  # whether each row is a unit of its own
    one_pass: Question  # what is as much work as computing all columns once
    levels: Mapping[int, Level] = field(default_factory=dict)  # which columns are levels of a hierarchy

    @cached_property
    def rests(self) -> tuple[bool, ...]:
        """Whether a column has a label for the rows without one of its own."""
        found = (not is_covered(key, self.rows) for key in self.keys)
        return tuple(each or place in self.levels for place, each in enumerate(found))

    @property
    def labels(self) -> tuple[tuple[Value, ...], ...]:
        """The declared labels of each column."""
        plain = (key.domain or () for key in self.keys)
        return tuple(
            self.levels[place].labels if place in self.levels else each for place, each in enumerate(plain)
        )

    @property
    def workload(self) -> Workload:
        """The tables by the sizes of their columns."""
        sizes = tuple(len(each) + rest for each, rest in zip(self.labels, self.rests, strict=True))
        if not self.levels:
            return Workload(sizes, self.tables)
        tree = Tree.of([level.starts for level in self.levels.values()])
        return NestedWorkload(sizes, self.tables, tuple(self.levels), tree=tree)

    @cached_property
    def read_sizes(self) -> tuple[int, ...]:
        """How many labels of each column are read, the rest included."""
        return tuple(len(key.domain or ()) + rest for key, rest in zip(self.keys, self.rests, strict=True))

    def read_by(self, columns: Columns) -> Columns:
        """Return the columns that a table is read by: instead of a level, the labels that it is made of."""
        found = (self.levels[each].finest if each in self.levels else each for each in columns)
        return tuple(sorted(set(found)))


def read_book(tables: Tables, policy: Policy, name: str | None) -> BookQuestion:
    """Return the tables of a book, resolved against the policy."""
    listed = list(tables.items()) if isinstance(tables, Mapping) else [(each, 1) for each in _listed(tables)]
    if not listed:
        raise InvalidParameter("a book must have a table, got none.", parameter="tables")
    keys: dict[Named, Key] = {}
    names: dict[Named, str] = {}
    weights: dict[frozenset[Named], Fraction] = {}
    wanted: dict[str, tuple[Hierarchy, int]] = {}
    rows: Relation | None = None
    texts = []
    for asked, weight in listed:
        asked_question, levels = _question(asked, policy, name)
        read = read_whole(asked_question, policy)
        question = _checked_question(read.question, read.after is not None)
        if rows is not None and question.rows != rows:
            raise UnsupportedQuery(
                "All tables of a book must be of the same rows: the same FROM and the same WHERE.",
                reason="book",
            )
        rows = question.rows
        columns = [_named(question, place, levels) for place in range(len(question.keys))]
        for place, each in enumerate(columns):
            keys.setdefault(each, question.keys[place])
            names.setdefault(each, each[1] or _name(question, place))
        for chosen in question.sets:
            table = frozenset(columns[place] for place in chosen)
            weights[table] = max(weights.get(table, Fraction(0)), _weight(weight))
        wanted |= levels
        texts.append(read.text + comment_of(levels))
    assert rows is not None
    order, stands, levels_at = arrange(keys, wanted)
    places = {each: order.index(stands[each]) for each in keys}
    tables_at = {tuple(sorted(places[each] for each in table)): weight for table, weight in weights.items()}
    told = {places[each]: (names[each], keys[each]) for each in keys}
    found = tuple(told[place][1] for place in range(len(order)))
    one = _one_pass(question, tuple(dict.fromkeys(found)))
    book = BookQuestion(
        "; ".join(texts),
        rows,
        _distinct([told[place][0] for place in range(len(order))]),
        found,
        tables_at,
        question.each_row,
        one,
        levels_at,
    )
    _check_keys(book)
    check_work([book.one_pass], policy)
    return book


def _weight(given: Real) -> Fraction:
    """Return the weight of a table: searches add them up as doubles."""
    weight = exact_positive(given, name="weight")
    if not 1 / _MOST_WEIGHT <= weight <= _MOST_WEIGHT:
        raise InvalidParameter("weight of a table must be from 10^-12 to 10^12.", parameter="tables")
    return weight


def _named(question: Question, place: int, levels: Wanted) -> Named:
    """Return what a question's key is as a column of a book: a level of it, where one is wanted."""
    hierarchy, number = levels.get(_name(question, place).lower(), (None, 0))
    return question.keys[place].expression, None if hierarchy is None else hierarchy.levels[number]


def _listed(tables: object) -> list[TableLike]:
    if isinstance(tables, str) or not isinstance(tables, Sequence):
        raise InvalidParameter(
            'tables must be a list of columns or questions, such as ["city", ("city", "age")].',
            parameter="tables",
        )
    return list(tables)


def _question(asked: TableLike, policy: Policy, name: str | None) -> tuple[QuestionLike, Wanted]:
    """Return the question that a table is: SQL, a builder, or the columns to count by, some of which may be
    levels of a hierarchy."""
    if isinstance(asked, str) and len(asked.split()) > 1:
        return asked, {}
    columns = (asked,) if isinstance(asked, str) else asked
    if not isinstance(columns, tuple | list):
        return columns, {}  # type: ignore[return-value]  # a builder or a tree: others are refused there
    if not all(isinstance(each, str) for each in columns):
        raise InvalidParameter("a table must be named by its columns, as texts.", parameter="tables")
    known = [each.name for each in policy.tables]
    if name is None and len(known) > 1:
        raise InvalidParameter(
            f"table must name what is counted, one of {', '.join(known)[:200]}.", parameter="table"
        )
    table = policy.table(name or known[0])
    plain, levels = read_levels(tuple(columns), table)
    return builder(name or known[0]).group_by(*plain).count(), levels


def _checked_question(question: Question, selected: bool) -> Question:
    counts = len(question.measures) == 1 and question.measures[0].aggregate.function == "count_rows"
    plain = question.having is None and question.limit is None and not selected
    if not counts or question.measures[0].aggregate.condition is not None or not plain:
        raise UnsupportedQuery(
            "A table of a book must count rows, as SELECT city, COUNT(*) AS n FROM people GROUP BY city: "
            "without FILTER, HAVING, LIMIT, and other aggregates. Choose rows with WHERE, the same for all "
            "tables.",
            reason="book",
        )
    return question


def _name(question: Question, place: int) -> str:
    named = (name for name, each in question.columns if isinstance(each, Slot) and each.index == place)
    return next(named, to_text(question.keys[place].expression))


def _distinct(names: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        again = sum(each == name or each.startswith(f"{name} ") for each in found)
        found.append(f"{name} {again + 1}" if name in found else name)
    return tuple(found)


def _check_keys(book: BookQuestion) -> None:
    for name, key in zip(book.names, book.keys, strict=True):
        if key.domain is None:
            raise UnsupportedQuery(
                f"Every column of a book must have declared keys, and {name[:60]!r} has none. Declare its "
                "keys in the policy, or group by CASE or WIDTH_BUCKET.",
                reason="book",
            )


def _one_pass(question: Question, keys: tuple[Key, ...]) -> Question:
    """Return a question as much work as one pass of a book: all columns are computed once, for all tables."""
    found = tuple(replace(key, domain=None) for key in keys)
    return replace(question, keys=found, sets=(tuple(range(len(found))),))
