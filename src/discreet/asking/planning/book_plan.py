"""Books: many tables of counts over the same rows, planned together and charged once.

Every unit's rows have one weight in all tables, so that all of them are of the same weighted rows: what is
measured, from which passes over the data, at what price and error.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.asking.planning.book_noise import BookNoise, noise_for
from discreet.asking.planning.book_question import BookQuestion, Tables, read_book
from discreet.asking.planning.book_size import check_noise, check_tables
from discreet.asking.planning.book_stages import AddNoiseToTable
from discreet.asking.planning.cell_law import CellLaw
from discreet.asking.planning.contribution import WeightedReach
from discreet.asking.planning.exact import ExactPlan, RowCount
from discreet.asking.planning.limit_units import tables_of
from discreet.asking.planning.marginals import Aim, Columns, Floats
from discreet.asking.planning.plan import price_of
from discreet.asking.planning.price import SMALLEST_RHO, Price, Share
from discreet.asking.planning.weights import Limit
from discreet.asking.planning.widths import check_widths
from discreet.asking.planning.work import Work, work_of
from discreet.asking.policy import Policy, Table
from discreet.errors import InvalidParameter, PolicyViolation
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

CELL_S = 5e-6  # to draw and show a cell, from arrays
LABEL_S = 1e-4  # to bring a label to an engine
_MOST_CODES = 2**62  # finest cells that one exact plan may have
_MOST_TOTAL = 22  # bits of the most that a unit adds: totals of 2^40 units then have 62
_NEAR = Fraction(1, 64)  # what a column that a table lacks counts for, one of two
_ROW_BITS = 10  # of a step, where all units weigh the same
_MOST_LIMIT = 2**20
_MOST_RHO = 10**8  # as much as the largest epsilon


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

    def reach(self, columns: Columns) -> float | Floats:
        """Return how far a cell of a table, or of a total of one, may be from the truth, at the plan's
        confidence: for a level of a hierarchy, a number for each of its labels."""
        if columns not in self._reaches:
            self._reaches[columns] = self._reach(columns)
        return self._reaches[columns]

    def _reach(self, columns: Columns) -> float | Floats:
        if not self.book.levels:
            return CellLaw.of(self.noise, columns).reach(self.confidence)
        one = CellLaw(1.0, np.zeros(0), np.zeros(0)).reach(self.confidence)
        return one * np.sqrt(self.noise.variance(columns))

    @cached_property
    def _reaches(self) -> dict[Columns, float | Floats]:
        return {}

    @property
    def errors(self) -> dict[str, float]:
        """How far each table's cells may be from the bounded truth, before anything is spent."""
        return {self.name(columns): float(np.max(self.reach(columns))) for columns in self.book.tables}

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
    mu: Real | None = None,
    **terms: Any,
) -> BookPlan:
    """Return the plan of a book at a price: exactly one of epsilon (with or without delta), rho and mu, which
    is rho mu²/2: all noise is then Gaussian."""
    if mu is not None:
        if terms.get("rho") is not None or terms.get("delta") is not None:
            raise InvalidParameter("a book must be asked with mu alone, or without it.", parameter="mu")
        terms["rho"] = _check_rho(exact_positive(mu, name="mu") ** 2 / 2, "mu")
    price, level = Price.read(**terms), exact_confidence(confidence)
    if price.share is None:
        raise InvalidParameter("a book must be asked with epsilon or rho, got within.", parameter="within")
    if price.share.rho is not None:
        _check_rho(price.share.rho, "rho")
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


def _check_rho(rho: Fraction, named: str) -> Fraction:
    """Refuse a price whose noise is larger than all tables, or that is none."""
    if not SMALLEST_RHO <= rho <= _MOST_RHO:
        raise InvalidParameter(
            f"{named} of a book must be such that rho, or mu^2/2, is from 2^-121 to {_MOST_RHO:,}.",
            parameter=named,
        )
    return rho


def _work_of(
    book: BookQuestion, noise: BookNoise, stages: tuple[AddNoiseToTable, ...], policy: Policy
) -> Work:
    """Return the work of a book: of its passes, and of the cells that are drawn and shown."""
    one, passes = work_of(book.one_pass, policy), len({id(stage.plan) for stage in stages})
    workload = noise.workload
    cells = sum(map(workload.cells, workload.tables)) + sum(map(workload.cells, noise.mechanisms))
    labels = sum(map(_listed_labels, {id(stage.plan): stage.plan for stage in stages}.values()))
    fixed = passes * one.fixed_s + CELL_S * cells + LABEL_S * labels
    people = None if one.people_s is None else passes * one.people_s
    return Work(fixed, passes * one.unit_s, people, one.built, one.rows, passes, cells)


def _listed_labels(plan: ExactPlan) -> int:
    """Return how many labels an engine is given, one by one: not those that are a range of numbers."""
    domains = [key.domain or () for key in plan.keys]
    return sum(len(each) for each in domains if list(each) != list(range(len(each))))


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
    measured = _in_order(noise)
    for number, columns in enumerate(measured):
        read = book.read_by(columns)
        plan = next(((known, plan) for known, plan in plans if set(read) <= set(known)), None)
        if plan is None:
            every = map(book.read_by, measured[number:])
            left = [each for each in every if not any(set(each) <= set(known) for known, _ in plans)]
            plan = _plan_of(book, _widen(book, read, left), limit, each_row)
            plans.append(plan)
        axes = tuple(plan[0].index(each) for each in read)
        level = book.levels.get(columns[-1]) if columns else None
        starts = None if level is None or level.is_read else level.starts
        yield AddNoiseToTable(number, None, plan[1], noise.mechanisms[columns], axes, starts)


def _in_order(noise: BookNoise) -> tuple[Columns, ...]:
    """Return the measured tables, large ones first: what they read serves the others."""
    return tuple(sorted(noise.mechanisms, key=lambda each: (-len(each), each)))


def _widen(book: BookQuestion, columns: Columns, tables: Sequence[Columns]) -> Columns:
    """Return as many columns as one plan may have, these among them, so that it serves many of the tables."""
    found = set(columns)
    left = [missing for each in tables if (missing := set(each) - found)]
    while left:
        room = _MOST_CODES // math.prod(book.read_sizes[each] for each in found)
        near: Counter[int] = Counter()
        for missing in left:
            if math.prod(book.read_sizes[each] for each in missing) <= room:
                near.update({each: float(_NEAR ** len(missing)) for each in missing})
        if not near:
            break
        found.add(max(near, key=lambda each: (near[each] / math.log(book.read_sizes[each] + 1), -each)))
        left = [missing for each in left if (missing := each - found)]
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
