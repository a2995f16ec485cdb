"""Books: many tables of counts over the same rows, planned together and charged once.

A book is read from columns, or from questions that count rows; CUBE, ROLLUP and GROUPING SETS are several
tables each. Every column has one label more than is declared, for the rows with another value or none,
unless the question shows that there are none: so a total is the sum of its parts. Every unit's rows have one
weight in all tables, so that all of them are of the same weighted rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from discreet.asking.planning.book_noise import BookNoise, noise_for
from discreet.asking.planning.book_size import check_noise, check_tables
from discreet.asking.planning.book_stages import AddNoiseToTable
from discreet.asking.planning.cell_law import CellLaw
from discreet.asking.planning.contribution import WeightedReach
from discreet.asking.planning.covered import is_covered
from discreet.asking.planning.exact import ExactPlan, RowCount
from discreet.asking.planning.limit_units import tables_of
from discreet.asking.planning.marginals import Aim, Columns, Workload
from discreet.asking.planning.plan import price_of
from discreet.asking.planning.planner import QuestionLike, read_whole
from discreet.asking.planning.price import Price, Share
from discreet.asking.planning.weights import Limit
from discreet.asking.planning.widths import check_widths
from discreet.asking.planning.work import Work, check_work, work_of
from discreet.asking.policy import Policy, Table, Value
from discreet.asking.queries import Builder, Key, Query, Question, Relation, Slot, table as builder, to_text
from discreet.errors import InvalidParameter, PolicyViolation, UnsupportedQuery
from discreet.kernel.losses import ZCDP, ApproxDP, PrivacyLoss, PureDP
from discreet.kernel.numerics import (
    Real,
    exact_confidence,
    exact_positive,
    exact_whole,
    readable_up,
    short_up,
)
from discreet.kernel.plan import Promise

TableLike: TypeAlias = str | Sequence[str] | Builder | Query
Tables: TypeAlias = Sequence[TableLike] | Mapping[Any, Real]

CELL_S = 5e-6  # to draw and show a cell, from arrays
_MOST_CODES = 2**62  # finest cells that one exact plan may have
_MOST_TOTAL = 22  # bits of the most that a unit adds: totals of 2^40 units then have 62
_ROW_BITS = 10  # of a step, where all units weigh the same
_MOST_LIMIT = 2**20
_MOST_RHO = 10**8  # as much as the largest epsilon


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

    @cached_property
    def rests(self) -> tuple[bool, ...]:
        """Whether a column has a label for the rows without one of its own."""
        return tuple(not is_covered(key, self.rows) for key in self.keys)

    @property
    def labels(self) -> tuple[tuple[Value, ...], ...]:
        """The declared labels of each column."""
        return tuple(key.domain or () for key in self.keys)

    @property
    def workload(self) -> Workload:
        """The tables by the sizes of their columns."""
        sizes = (len(each) + rest for each, rest in zip(self.labels, self.rests, strict=True))
        return Workload(tuple(sizes), self.tables)


@dataclass(frozen=True)
class BookPlan:
    """What is computed, how each unit's part is bounded, what noise is added, what it costs and how far each
    table errs."""

    asked: str  # the book as the ledger knows it
    book: BookQuestion
    policy: Policy
    share: Share  # the price
    limit: int | None  # of a unit's rows; None where each row is a unit
    noise: BookNoise
    stages: tuple[AddNoiseToTable, ...]
    aim: Aim
    work: Work
    confidence: Fraction

    @property
    def text(self) -> str:
        """The book, for people."""
        return self.book.text

    @property
    def measured(self) -> tuple[Columns, ...]:
        """The tables that the stages draw, in their order."""
        return _in_order(self.noise)

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What each stage may lose."""
        return tuple(map(Promise.of, self.stages))

    @property
    def cells(self) -> int:
        """How many cells all tables have."""
        return sum(map(self.noise.workload.cells, self.book.tables))

    @property
    def passes(self) -> int:
        """How many exact tables the engine is asked for: each is a pass over the data."""
        return self.work.passes

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of all that is drawn."""
        first, *rest = (stage.loss for stage in self.stages)
        return sum(rest, first)

    @property
    def price(self) -> PureDP | ApproxDP | ZCDP:
        """The notion that the loss keeps, at the price that was named."""
        return price_of([self])

    @property
    def needs_delta(self) -> bool:
        """Whether Gaussian noise spends delta that is not priced by rho."""
        return self.share.rho is None and not self.noise.laplace

    def reach(self, columns: Columns) -> float:
        """Return how far a cell of a table, or of a total of one, may be from the truth, at the plan's
        confidence."""
        if columns not in self._reaches:
            self._reaches[columns] = CellLaw.of(self.noise, columns).reach(self.confidence)
        return self._reaches[columns]

    @cached_property
    def _reaches(self) -> dict[Columns, float]:
        return {}

    @property
    def errors(self) -> dict[str, float]:
        """How far each table's cells may be from the bounded truth, before anything is spent."""
        return {self.name(columns): self.reach(columns) for columns in self.book.tables}

    def name(self, columns: Columns) -> str:
        """Return a table's name: its columns, or `total`."""
        return " x ".join(self.book.names[each] for each in columns) or "total"

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the plan, a sentence a line."""
        workload, measured = self.noise.workload, self.noise.mechanisms
        law = "Laplace" if self.noise.laplace else "Gaussian"
        lines = [
            f"Book: {self.text}",
            *self._bounding(),
            f"Tables: {len(self.book.tables)}, with {self.cells:,} cells, by the labels declared; the rows "
            "without one of them are one label more, so that totals are sums.",
            f"Noise: {law}, on {len(measured)} whole tables with {sum(map(workload.cells, measured)):,} "
            "cells; all tables are one least-squares estimate of these.",
        ]
        for columns, noise in measured.items():
            spread = readable_up(math.sqrt(self.noise.variances[columns]))
            lines.append(f"Measured: {self.name(columns)}, standard deviation {spread} ({noise.relation}).")
        confidence = f"with {float(self.confidence):.0%} confidence each"
        lines += [
            f"Expected error of {name}: at most {readable_up(error)}, {confidence}."
            for name, error in self.errors.items()
        ]
        lines.append(f"Design: {self._design()}")
        return [*lines, f"Price: {self._price()}."]

    def _bounding(self) -> list[str]:
        if self.limit is None:
            return ["Protected: each row."]
        rows = f"{self.limit} row{'s' * (self.limit > 1)}"
        return [
            f"Protected: each unit of data set {self.policy.id!r}, under {self.policy.relation}.",
            f"Bounded: a unit counts as at most {rows} in each table; all its rows weigh less where it has "
            "more, the same in all tables. Rows without a unit are dropped.",
        ]

    def _design(self) -> str:
        if self.noise.laplace:
            bound = math.sqrt(1 + self.noise.excess)
            return (
                "the best found of Laplace noise on whole tables; no design of that kind has less than "
                f"1/{bound:.3g} of its root mean square error."
            )
        aim = "largest error" if self.aim == "maximum" else "root mean square error"
        return (
            f"{aim} at most {readable_up(math.sqrt(1 + self.noise.excess))} times the least of all Gaussian "
            "noise on whole tables."
        )

    def _price(self) -> str:
        share = self.share
        main = f"epsilon {short_up(share.epsilon or Fraction(0))}"
        if share.rho is not None:
            return f"rho {short_up(share.rho)}"
        return f"{main}, delta {short_up(share.delta)}" if self.needs_delta else main

    def note(self) -> str | None:
        """Say what is cut; None where no row is."""
        if self.limit is None:
            return None
        return f"a unit counts as at most {self.limit} row{'s' * (self.limit > 1)} in each table"

    def to_json(self) -> dict[str, object]:
        """Return the plan for programs: its sentences, loss and errors."""
        numbers = (("epsilon", self.share.epsilon), ("delta", self.share.delta), ("rho", self.share.rho))
        return {
            "question": self.text,
            "price": {name: str(value) for name, value in numbers if value is not None},
            "loss": self.loss.to_json(),
            "errors": self.errors,
            "confidence": float(self.confidence),
            "work": self.work.to_json(),
            "sentences": self.sentences(),
        }


def plan_book(
    tables: Tables,
    policy: Policy,
    *,
    table: str | None = None,
    limit: int | None = None,
    aim: Aim = "sum",
    confidence: Real = 0.95,
    **terms: Any,
) -> BookPlan:
    """Return the plan of a book at a price: exactly one of epsilon (with or without delta) and rho."""
    price, level = Price.read(**terms), exact_confidence(confidence)
    if price.share is None:
        raise InvalidParameter("a book must be asked with epsilon or rho, got within.", parameter="within")
    if (price.share.rho or 0) > _MOST_RHO:
        raise InvalidParameter(f"rho of a book must be at most {_MOST_RHO:,}.", parameter="rho")
    share = Share(price.share.epsilon, price.delta or Fraction(0), price.share.rho)
    book = read_book(tables, policy, table)
    rows_of_unit = _limit(book, policy, limit)
    bits = _ROW_BITS if rows_of_unit is None else max(0, _MOST_TOTAL - rows_of_unit.bit_length())
    whole = Limit(rows_of_unit or 1, bits)
    reach = WeightedReach(whole.total, signed=False, relation=policy.relation)
    noise = noise_for(check_tables(book.workload), aim, share, reach, whole.one)
    check_noise(noise)
    asked = book.text + _options(book, rows_of_unit, aim)
    stages = tuple(_stages(book, noise, whole, rows_of_unit is None))
    return BookPlan(
        asked,
        book,
        policy,
        share,
        rows_of_unit,
        noise,
        stages,
        aim,
        _work_of(book, noise, stages, policy),
        level,
    )


def read_book(tables: Tables, policy: Policy, name: str | None) -> BookQuestion:
    """Return the tables of a book, resolved against the policy."""
    listed = list(tables.items()) if isinstance(tables, Mapping) else [(each, 1) for each in _listed(tables)]
    if not listed:
        raise InvalidParameter("a book must have a table, got none.", parameter="tables")
    keys: dict[Any, tuple[str, Key]] = {}
    weights: dict[Columns, Fraction] = {}
    rows: Relation | None = None
    texts = []
    for asked, weight in listed:
        read = read_whole(_question(asked, policy, name), policy)
        question = _checked_question(read.question, read.after is not None)
        if rows is not None and question.rows != rows:
            raise UnsupportedQuery(
                "All tables of a book must be of the same rows: the same FROM and the same WHERE.",
                reason="book",
            )
        rows = question.rows
        for place, key in enumerate(question.keys):
            keys.setdefault(key.expression, (_name(question, place), key))
        order = list(keys)
        for chosen in question.sets:
            columns = tuple(sorted({order.index(question.keys[place].expression) for place in chosen}))
            weights[columns] = max(weights.get(columns, Fraction(0)), exact_positive(weight, name="weight"))
        texts.append(read.text)
    assert rows is not None
    names = _distinct([each for each, _ in keys.values()])
    found = tuple(key for _, key in keys.values())
    one = _one_pass(question, found)
    book = BookQuestion("; ".join(texts), rows, names, found, weights, question.each_row, one)
    _check_keys(book)
    check_work([book.one_pass], policy)
    return book


def _listed(tables: object) -> list[TableLike]:
    if isinstance(tables, str) or not isinstance(tables, Sequence):
        raise InvalidParameter(
            'tables must be a list of columns or questions, such as ["city", ("city", "age")].',
            parameter="tables",
        )
    return list(tables)


def _question(asked: TableLike, policy: Policy, name: str | None) -> QuestionLike:
    """Return the question that a table is: SQL, a builder, or the columns to count by."""
    if isinstance(asked, str) and len(asked.split()) > 1:
        return asked
    columns = (asked,) if isinstance(asked, str) else asked
    if not isinstance(columns, tuple | list):
        return columns  # type: ignore[return-value]  # a builder or a tree: what else it is, is refused there
    if not all(isinstance(each, str) for each in columns):
        raise InvalidParameter("a table must be named by its columns, as texts.", parameter="tables")
    known = [each.name for each in policy.tables]
    if name is None and len(known) > 1:
        raise InvalidParameter(
            f"table must name what is counted, one of {', '.join(known)[:200]}.", parameter="table"
        )
    return builder(name or known[0]).group_by(*columns).count()


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


def _work_of(
    book: BookQuestion, noise: BookNoise, stages: tuple[AddNoiseToTable, ...], policy: Policy
) -> Work:
    """Return the work of a book: of its passes, and of the cells that are drawn and shown."""
    one, passes = work_of(book.one_pass, policy), len({id(stage.plan) for stage in stages})
    workload = noise.workload
    cells = sum(map(workload.cells, workload.tables)) + sum(map(workload.cells, noise.mechanisms))
    fixed = passes * one.fixed_s + CELL_S * cells
    people = None if one.people_s is None else passes * one.people_s
    return Work(fixed, passes * one.unit_s, people, one.built, one.rows, passes, cells)


def _limit(book: BookQuestion, policy: Policy, asked: int | None) -> int | None:
    """Return how many rows a unit counts as; None where each row is a unit."""
    found = map(policy.table, tables_of(book.rows))
    stated = [each for each in found if isinstance(each, Table)]
    if book.each_row:
        if asked not in (None, 1):
            raise InvalidParameter("limit must be absent where each row is a unit.", parameter="limit")
        return None
    if asked is not None:
        most = exact_whole(asked, name="limit", least=1)
    else:
        known = [each.limit for each in stated if isinstance(each.limit, int)]
        most = max(known, default=0)
        if not most and all(each.limit is None for each in stated):
            groups, rows = book.rows.limits
            most = groups * rows
    if not most:
        raise PolicyViolation(
            "a book must know how many rows of a unit count, and the policy leaves that to be found. "
            "State it: limit=1, for the book or for the table in the policy."
        )
    if most > _MOST_LIMIT:
        raise InvalidParameter(f"limit must be at most {_MOST_LIMIT:,}, got {most:,}.", parameter="limit")
    return most


def _options(book: BookQuestion, rows: int | None, aim: Aim) -> str:
    """Return what else makes it another book."""
    weights = ",".join(map(str, book.tables.values()))
    return f" /* book: weights {weights}; aim {aim}; limit {rows} */"


def _stages(book: BookQuestion, noise: BookNoise, limit: Limit, each_row: bool) -> Iterator[AddNoiseToTable]:
    """Yield the stages; tables whose columns together have too many cells read plans of their own."""
    plans: list[tuple[Columns, ExactPlan]] = []
    for number, columns in enumerate(_in_order(noise)):
        plan = next(((known, plan) for known, plan in plans if set(columns) <= set(known)), None)
        if plan is None:
            plan = _plan_of(book, _widen(book, columns), limit, each_row)
            plans.append(plan)
        axes = tuple(plan[0].index(each) for each in columns)
        yield AddNoiseToTable(number, None, plan[1], noise.mechanisms[columns], axes)


def _in_order(noise: BookNoise) -> tuple[Columns, ...]:
    """Return the measured tables, large ones first: what they read serves the others."""
    return tuple(sorted(noise.mechanisms, key=lambda each: (-len(each), each)))


def _widen(book: BookQuestion, columns: Columns) -> Columns:
    """Return as many columns as one plan may have, these among them."""
    sizes, found = book.workload.sizes, list(columns)
    for each in range(len(sizes)):
        if each not in found and math.prod(sizes[one] for one in [*found, each]) <= _MOST_CODES:
            found.append(each)
    return tuple(sorted(found))


def _plan_of(book: BookQuestion, columns: Columns, limit: Limit, each_row: bool) -> tuple[Columns, ExactPlan]:
    plan = ExactPlan(
        rows=book.rows,
        keys=tuple(book.keys[each] for each in columns),
        labels=None,
        measures=(RowCount(),),
        tally=None,
        max_groups=1,
        max_rows=1,
        each_row=each_row,
        salt=0,
        limit=limit,
        cells=tuple(book.rests[each] for each in columns),
    )
    check_widths(plan)
    return columns, plan
