"""A plan with a limit as SQL: each unit's parts of all groups are multiplied by one weight.

    base, rows   as in `Statement`: unit, group number, measures
    pairs        for each unit and group: its part of each measure
    norms        for each unit: the sum of its parts' sizes
    heavy        for each unit above the limit: its weight; all others weigh 2^bits

Nothing is sorted, hashed or numbered. `pairs` and `norms` depend on no limit: an engine may keep them for the
plans of one question (`Kept`), of which later ones have limits that earlier ones led to. Every division is of
whole numbers that are not negative by one that is at least 1. Labels such as (W1) name the steps of
docs/theory/weights.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from sqlglot import exp

from discreet.asking.engines.sql import binary, call, cast, column, every, named, when, whole
from discreet.asking.engines.sql.bounding import GROUP, Statement
from discreet.asking.engines.sql.measures import PLAIN, is_small, partial_sum, position_of
from discreet.asking.engines.sql.relations import UNIT, Relations
from discreet.asking.planning import (
    Bernstein,
    ExactMeasure,
    ExactPlan,
    ExactTable,
    Excess,
    RowCount,
    Sum,
    UnitCount,
)
from discreet.asking.planning.widths import most_norm

NORM, WEIGHT, PLACE = "n", "w", "at"
NARROW = 2**62
SMALL_BITS = 22  # of what a unit adds, so that 2^40 of them have 62 bits


@dataclass(frozen=True)
class Weighing(Statement):
    """Builds the statements of one plan with a limit, or with excesses.

    The rows of a limit: the group's number (and its keys, if found), then the totals; of excesses: one row.
    `held` are the measures of the pairs, if those were kept with more than the plan's own.
    """

    held: tuple[ExactMeasure, ...] = ()

    @property
    def _parts(self) -> list[str]:
        """The columns of the pairs that are the plan's measures."""
        held = self.held or self.plan.measures
        return [f"m{held.index(measure)}" for measure in self.plan.measures]

    def build(self) -> exp.Select:
        """Return the whole statement."""
        steps = [*self._shared(), ("pairs", self.pairs(), not self.plan.each_row)]
        if not self.plan.each_row:
            steps.append(("norms", self.norms("pairs"), False))
        return self._with(self.answer("pairs", "norms"), steps)

    def kept_pairs(self) -> exp.Select:
        """Return the statement of the pairs alone."""
        return self._with(self.pairs(), self._shared())

    def _shared(self) -> list[tuple[str, exp.Expression, bool]]:
        steps: list[tuple[str, exp.Expression, bool]] = [("base", self._base(), False)]
        if self.plan.labels is None and self.plan.cells is None:
            steps.append(("found", self._found(), True))
        return [*steps, ("rows", self._rows(), False)]

    def _with(self, select: exp.Select, steps: list[tuple[str, exp.Expression, bool]]) -> exp.Select:
        for name, query, materialized in steps:
            marked = self._dialect.materialized(wanted=materialized)
            select.with_(name, as_=query, materialized=marked, copy=False)
        return select

    def _rows(self) -> exp.Select:
        numbers = [column(name, "base") for name in self._row_numbers]
        select = exp.Select().from_("base").select(column(UNIT, "base"), *numbers, copy=False)
        if self.plan.cells is not None:
            return select.select(named(self._code(select, self.plan.cells), GROUP), copy=False)
        if self.plan.labels is None:
            return self._join_found(select.select(column(GROUP, "found"), copy=False), "base")
        if self.plan.other or any(key.domain is None for key in self.plan.keys):
            return select.select(named(self._listed(select), GROUP), copy=False)
        return select.select(named(self._position(select), GROUP), copy=False)

    def _code(self, select: exp.Select, rests: tuple[bool, ...]) -> exp.Expression:
        """Return the whole number of a row's cell, whose digits are the positions of its labels."""
        code: exp.Expression = whole(0, "BIGINT")
        for index, (key, rest) in enumerate(zip(self.plan.keys, rests, strict=True)):
            own = column(f"k{index}", "base")
            place = position_of(
                select, own, key.domain or (), self._dialect, name=f"labels{index}", rest=rest
            )
            size = whole(self.plan.sizes[index], "BIGINT")
            code = binary(exp.Add, binary(exp.Mul, code, size), cast(place, "BIGINT"))
        return code

    def _listed(self, select: exp.Select) -> exp.Expression:
        """Return the position of a row's keys among groups that are listed, which are joined; with `other`
        that of the rest is one more."""
        labels, keys = self.plan.labels or (), self.plan.keys
        rest = whole(len(labels))
        if not labels:
            return rest
        types = [key.expression.type for key in keys]
        rows = [
            exp.Tuple(expressions=[*map(self._dialect.literal, label, types), whole(position)])
            for position, label in enumerate(labels)
        ]
        names = [*(f"l{index}" for index in range(len(keys))), PLACE]
        alias = exp.TableAlias(
            this=exp.to_identifier("labels"), columns=[exp.to_identifier(name) for name in names]
        )
        same = [
            self._dialect.same(column(f"k{index}", "base"), column(f"l{index}", "labels"), kind)
            for index, kind in enumerate(types)
        ]
        values = exp.Values(expressions=rows, alias=alias)
        kind = "left" if self.plan.other else "inner"
        select.join(values, on=every(same), join_type=kind, copy=False)
        return exp.Coalesce(this=column(PLACE, "labels"), expressions=[rest])

    def pairs(self) -> exp.Select:
        """Return each unit's part of each group, in the measures' steps: v."""
        if self.plan.each_row:
            return exp.Select().from_("rows").select(column(GROUP), *self._parts_of_rows())
        cell = [column(UNIT), column(GROUP)]
        select = exp.Select().from_("rows").select(*cell).group_by(*cell)
        for index, measure in enumerate(self.plan.measures):
            # (W1): the part of a group, and not the sizes of its rows.
            added = partial_sum(measure, f"m{index}", self._dialect)
            select.select(named(_or_zero(added, measure), f"m{index}"), copy=False)
        return select

    def _parts_of_rows(self) -> list[exp.Expression]:
        """Return what a row adds that is a unit."""
        return [
            named(whole(1) if measure in PLAIN else _or_zero(column(f"m{index}"), measure), f"m{index}")
            for index, measure in enumerate(self.plan.measures)
        ]

    def norms(self, pairs: str) -> exp.Select:
        """Return each unit's norm over all groups and measures of the plan: n."""
        total = self._dialect.small_total if self._is_narrow else self._dialect.total
        select = exp.Select().from_(pairs).select(column(UNIT), named(total(self._size()), NORM))
        return select.group_by(column(UNIT))

    @cached_property
    def _is_narrow(self) -> bool:
        """Whether norms surely fit in 64 bits."""
        return most_norm(self.plan.measures) < NARROW

    def _size(self) -> exp.Expression:
        """Return the sum of the sizes of one pair's parts."""
        # (W2): all measures that are released under the limit, none left out.
        kind = "BIGINT" if self._is_narrow else "HUGEINT"
        sizes = [
            cast(call("abs", part) if _may_be_negative(measure) else part, kind)
            for measure, part in zip(self.plan.measures, map(column, self._parts), strict=True)
        ]
        size = sizes[0]
        for each in sizes[1:]:
            size = binary(exp.Add, size, each)
        return size

    def answer(self, pairs: str, norms: str) -> exp.Select:
        """Return the weighted totals of each group, or the excesses, given where pairs and norms are."""
        if self.plan.limit is None:
            return self._excesses(norms if not self.plan.each_row else pairs)
        return self._weighted(pairs, norms)

    def _weighted(self, pairs: str, norms: str) -> exp.Select:
        weighed = (self._weigh_rows if self.plan.each_row else self._weigh_pairs)(pairs, norms)
        select = exp.Select().from_(weighed.subquery("weighed", copy=False), copy=False)
        select.select(column(GROUP), copy=False).group_by(column(GROUP), copy=False)
        for name, part in zip(self._numbers, self._parts, strict=True):
            # (W4): one weight for all of a unit's parts.
            product = binary(exp.Mul, column(WEIGHT), cast(column(part), self._weight_kind))
            total = exp.Coalesce(this=self._dialect.total(product), expressions=[whole(0, "HUGEINT")])
            kind = (
                "VARCHAR" if self.plan.cells is None else "BIGINT"
            )  # which the plan's limit leaves room for
            select.select(named(cast(total, kind), name), copy=False)
        known = self.plan.labels is not None or self.plan.cells is not None
        return select if known else self._with_keys(select)

    def _weigh_rows(self, pairs: str, norms: str) -> exp.Select:
        """Return the parts of rows that are units, each with its weight."""
        select = exp.Select().from_(pairs).select(*map(column, [GROUP, *sorted(set(self._parts))]))
        return select.select(named(self._weight(self._size()), WEIGHT), copy=False)

    def _weigh_pairs(self, pairs: str, norms: str) -> exp.Select:
        """Return each unit's parts with its weight. Most units are within the limit: only the others are
        looked up."""
        assert self.plan.limit is not None
        heavy = exp.Select().from_(norms).select(column(UNIT), named(self._weight(column(NORM)), WEIGHT))
        heavy.where(binary(exp.GT, column(NORM), whole(self.plan.limit.most)), copy=False)
        select = exp.Select().from_(exp.alias_(exp.to_table(pairs), "p", table=True), copy=False)
        select.select(*(column(name, "p") for name in [GROUP, *sorted(set(self._parts))]), copy=False)
        same = binary(exp.EQ, column(UNIT, "p"), column(UNIT, "heavy"))
        select.join(heavy.subquery("heavy", copy=False), on=same, join_type="left", copy=False)
        one = whole(self.plan.limit.one, self._weight_kind)
        weight = exp.Coalesce(this=column(WEIGHT, "heavy"), expressions=[one])
        return select.select(named(weight, WEIGHT), copy=False)

    @cached_property
    def _weight_kind(self) -> str:
        assert self.plan.limit is not None
        return "BIGINT" if self.plan.limit.is_narrow and all(map(is_small, self.plan.measures)) else "HUGEINT"

    def _weight(self, norm: exp.Expression) -> exp.Expression:
        """Return the weight of a unit: `Limit.weight`."""
        limit = self.plan.limit
        assert limit is not None
        narrow = self._is_narrow and limit.is_narrow
        kind = "BIGINT" if narrow else "HUGEINT"
        divide = self._dialect.small_quotient if narrow else self._dialect.quotient
        # (W3): rounded down, and never divided by less than the limit.
        divisor = call("greatest", cast(norm, kind), whole(limit.most, kind))
        return cast(divide(whole(limit.total, kind), divisor), self._weight_kind)

    def _excesses(self, table: str) -> exp.Select:
        norm = self._size() if self.plan.each_row else column(NORM)
        source = exp.Select().from_(table).select(named(norm, NORM))
        units: exp.Expression = whole(1)
        if not any(isinstance(measure, Sum) for measure in self.plan.measures):
            # Many units have the same norm, and add the same: divided once for all of them.
            counted = exp.Select().from_(source.subquery("s", copy=False), copy=False)
            counted.select(column(NORM), named(exp.Count(this=exp.Star()), "units"), copy=False)
            source, units = counted.group_by(column(NORM), copy=False), column("units")
        select = exp.Select().from_(source.subquery("c", copy=False), copy=False)
        for index, each in enumerate(self.plan.excess):
            # At most 2^bits for each of 2^40 units.
            kind = "BIGINT" if each.bits <= SMALL_BITS else "HUGEINT"
            parts = binary(exp.Mul, cast(self._excess(each), kind), cast(units.copy(), kind))
            total = exp.Coalesce(this=self._dialect.total(parts), expressions=[whole(0, "HUGEINT")])
            select.select(named(cast(total, "VARCHAR"), f"e{index}"), copy=False)
        return select

    def _excess(self, each: Excess) -> exp.Expression:
        """Return what `Excess.of` says of a norm."""
        most = each.one
        narrow = self._is_narrow and each.span * most < NARROW
        kind = "BIGINT" if narrow else "HUGEINT"
        divide = self._dialect.small_quotient if narrow else self._dialect.quotient
        norm, start, span = cast(column(NORM), kind), whole(each.start, kind), whole(each.span, kind)
        above = binary(exp.Sub, norm.copy(), start)
        full = binary(exp.GTE, above.copy(), span)
        # (W5): rounded down for each unit. Most norms lie at one of the ends, and need no division.
        inside = call("least", call("greatest", above, whole(0, kind)), span.copy())
        part = divide(binary(exp.Mul, inside, whole(most, kind)), span.copy())
        return when(
            (binary(exp.LTE, norm, start.copy()), whole(0, kind)),
            (full, whole(most, kind)),
            otherwise=part,
        )


def _or_zero(added: exp.Expression, measure: ExactMeasure) -> exp.Expression:
    """Return a part; 0 where nothing was added."""
    if isinstance(measure, RowCount | UnitCount):
        return added
    return exp.Coalesce(this=added, expressions=[whole(0, "BIGINT" if is_small(measure) else "HUGEINT")])


def _may_be_negative(measure: ExactMeasure) -> bool:
    if isinstance(measure, Bernstein) or not isinstance(measure, Sum):
        return False
    return measure.power == 1 and measure.lattice.lowest < measure.centre


# What the plans of one question share: the pairs of unit and group, and the units' norms, computed once.
#
# An engine that can keep a result for the length of a question lends a `Store`; names are counted up inside
# it and end with it. Which plans share is decided by the plans alone, so no result and no failure depends
# on it.

Run: TypeAlias = Callable[[ExactPlan], ExactTable]


class Store(Protocol):
    """Keeps the rows of statements under names of ours, until the question is over."""

    def keep(self, name: str, select: exp.Expression) -> None:
        """Keep what a statement finds; other statements may then select from the name."""

    def rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, which may be of what is kept."""


class Shared:
    """Runs the plans of one question, one after the other, from what is kept."""

    def __init__(self, relations: Relations, store: Store) -> None:
        self._relations, self._store = relations, store
        self._pairs: dict[ExactPlan, str] = {}
        self._norms: dict[tuple[str, tuple[ExactMeasure, ...]], str] = {}

    @staticmethod
    def serves(plan: ExactPlan) -> bool:
        """Return whether a plan has pairs that can be kept: known groups, and units with several rows."""
        return plan.weighs and not plan.each_row and (plan.other or bool(plan.labels))

    def rows(self, plan: ExactPlan) -> list[tuple[Any, ...]]:
        """Return the rows that the plan's own statement would have."""
        held = plan.beside if set(plan.measures) <= set(plan.beside) else plan.measures
        weighing = Weighing(plan, self._relations, held)
        pairs = self._pairs_of(replace(plan, measures=held, limit=None, excess=(), beside=()))
        return self._store.rows(weighing.answer(pairs, self._norms_of(weighing, pairs)))

    def _pairs_of(self, basis: ExactPlan) -> str:
        if basis not in self._pairs:
            name = f"pairs{len(self._pairs)}"
            self._store.keep(name, Weighing(basis, self._relations).kept_pairs())
            self._pairs[basis] = name
        return self._pairs[basis]

    def _norms_of(self, weighing: Weighing, pairs: str) -> str:
        key = pairs, weighing.plan.measures
        if key not in self._norms:
            name = f"norms{len(self._norms)}"
            self._store.keep(name, weighing.norms(pairs))
            self._norms[key] = name
        return self._norms[key]
