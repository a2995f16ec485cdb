"""An exact plan as one SQL statement: the five steps of `discreet.asking.planning.exact`, each under a name.

    base     the rows: unit, keys k0.., measures m0..
    rows     unit, group number, measures: public labels by position, found keys numbered in their order
    pairs    for each unit and group: how many rows, and the sums
    first    the first rows of those units and groups that have more than `max_rows` (in a tally: of all)
    placed   each unit's groups, with their place in the unit's order
    last     for each unit in too many groups: the place of its last kept group
    kept     what is added up

A place is 32 bits of hash above 32 bits of the group's number. No two groups of a unit tie, so
`place <= last` keeps exactly `max_groups` of them, and nothing is sorted. Rows of a unit over `max_rows` are
numbered in the order of (hash, values), where the hash is also of a row's ordinal among the rows that are
equal to it; rows that tie there are equal in all that is added up.

Labels such as (C1) name the cuts of docs/theory/exact-half.md.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.asking.engines.rows import HASH_BITS
from discreet.asking.engines.sql import binary, call, cast, column, every, is_known, is_null, named, whole
from discreet.asking.engines.sql.dialect import Dialect, Typed, hash_of
from discreet.asking.engines.sql.measures import (
    PLAIN,
    code_of,
    key_of,
    measured,
    partial_sum,
    position_of,
    tallied,
    total_of,
)
from discreet.asking.engines.sql.relations import UNIT, Relations, row_number
from discreet.asking.planning import ExactPlan

GROUP, COUNT, FOUND, PLACE, LAST, ORDINAL = "g", "n", "f", "place", "last", "ordinal"


@dataclass(frozen=True)
class Statement:
    """Builds the statement of one plan.

    Its rows: the group's number (and its keys, if found), then the totals; or, for a tally, the group's
    number (and keys), the value, and how many rows have it.
    """

    plan: ExactPlan
    relations: Relations

    def build(self) -> exp.Select:
        """Return the whole statement."""
        steps: list[tuple[str, exp.Expression, bool]] = [("base", self._base(), False)]
        if self.plan.labels is None:
            steps.append(("found", self._found(), True))
        steps.append(("rows", self._rows(), False))
        last = "rows"
        if not self.plan.each_row:  # (C6): else nothing is cut
            steps += self._tallied() if self.plan.tally is not None else self._paired()
            last = "kept"
        select = self._add_up(last)
        for name, query, materialized in steps:
            marked = self._dialect.materialized(wanted=materialized)
            select.with_(name, as_=query, materialized=marked, copy=False)
        return select

    @property
    def _dialect(self) -> Dialect:
        return self.relations.dialect

    @property
    def _numbers(self) -> list[str]:
        return ["m0"] if self.plan.tally is not None else [f"m{i}" for i in range(len(self.plan.measures))]

    @property
    def _row_numbers(self) -> list[str]:
        """The measures that differ from row to row; counts of all rows or units are known without looking."""
        if self.plan.tally is not None:
            return ["m0"]
        return [f"m{i}" for i, measure in enumerate(self.plan.measures) if measure not in PLAIN]

    @property
    def _limits_groups(self) -> bool:
        labels = self.plan.labels
        return bool(self.plan.keys) and (labels is None or len(labels) > self.plan.max_groups)

    def _base(self) -> exp.Select:
        source = replace(self.relations, salt=self.plan.salt).select(self.plan.rows)
        columns = source.columns("s")
        select = exp.Select().from_(source.source("s"), copy=False).select(column(UNIT, "s"), copy=False)
        for index, key in enumerate(self.plan.keys):
            select.select(named(key_of(key, columns, self._dialect), f"k{index}"), copy=False)
        select.where(is_known(column(UNIT, "s")), copy=False)
        if self.plan.tally is not None:
            value = tallied(self.plan.tally, columns, self._dialect)
            select.select(named(value, "m0"), copy=False).where(is_known(value.copy()), copy=False)
        for index, measure in enumerate(self.plan.measures):
            if measure not in PLAIN:
                select.select(named(measured(measure, columns, self._dialect), f"m{index}"), copy=False)
        return select if self.plan.tally is None or self.plan.tally.labels is None else self._labelled(select)

    def _labelled(self, base: exp.Select) -> exp.Select:
        """The rows whose value is one of a tally's labels, with its position: the labels are joined, for an
        engine writes out a CASE of thousands again and again."""
        assert self.plan.tally is not None
        labels = self.plan.tally.labels or ()
        names = [UNIT, *(f"k{index}" for index in range(len(self.plan.keys)))]
        select = exp.Select().from_(base.subquery("b", copy=False), copy=False)
        select.select(*(column(name, "b") for name in names), copy=False)
        position = position_of(select, column("m0", "b"), labels, self._dialect, name="tallied")
        return select.select(named(position, "m0"), copy=False)

    def _found(self) -> exp.Select:
        keys = [column(f"k{index}") for index in range(len(self.plan.keys))]
        distinct = exp.Select().from_("base").select(*keys).distinct(copy=False)
        number = binary(exp.Sub, row_number([], [key.copy() for key in keys]), whole(1))
        select = exp.Select().from_(distinct.subquery("d", copy=False), copy=False).select(*keys)
        return select.select(named(number, GROUP), copy=False)

    def _rows(self) -> exp.Select:
        select = exp.Select().from_("base")
        numbers = [column(name, "base") for name in self._row_numbers]
        if self.plan.labels is None:
            select.select(column(UNIT, "base"), column(GROUP, "found"), *numbers, copy=False)
            select.select(named(self._hash_found(), FOUND), copy=False)
            return self._join_found(select, "base")
        group = self._position(select)
        return select.select(column(UNIT, "base"), named(group, GROUP), *numbers, copy=False)

    def _position(self, select: exp.Select) -> exp.Expression:
        """Return the position of a row's group among the public ones, whose labels are joined."""
        group: exp.Expression = whole(0)
        for index, key in enumerate(self.plan.keys):
            assert key.domain is not None
            own = column(f"k{index}", "base")
            position = position_of(select, own, key.domain, self._dialect, name=f"labels{index}")
            group = binary(exp.Add, binary(exp.Mul, group, whole(len(key.domain))), position)
        return group

    def _join_found(self, select: exp.Select, table: str) -> exp.Select:
        same = [
            self._dialect.same(column(f"k{index}", table), column(f"k{index}", "found"), key.expression.type)
            for index, key in enumerate(self.plan.keys)
        ]
        return select.join("found", on=every(same) if same else exp.true(), copy=False)

    def _hash_found(self) -> exp.Expression:
        keys: list[Typed] = [
            (column(f"k{index}", "base"), key.expression.type) for index, key in enumerate(self.plan.keys)
        ]
        return self._hash([(column(UNIT, "base"), None), *keys])

    def _hash(self, values: list[Typed]) -> exp.Expression:
        return hash_of(self._dialect, self.relations.hashing, self.plan.salt, values)

    def _place(self, table: str) -> exp.Expression:
        """Return the place of a group: hash above, number below, so that no two groups of a unit share
        one.
        """
        group = column(GROUP, table)
        hashed = column(FOUND, table)
        if self.plan.labels is not None:
            hashed = self._hash([(column(UNIT, table), None), (group, None)])
        # (C2): the order (h, g), as one number without ties.
        signed = binary(exp.Sub, hashed, whole(2 ** (HASH_BITS - 1)))  # so that 64 bits with a sign hold it
        return binary(exp.Add, binary(exp.Mul, signed, whole(2**32)), group.copy())

    # Counts and sums: one row for each unit and group.

    def _paired(self) -> list[tuple[str, exp.Expression, bool]]:
        cell = [column(UNIT), column(GROUP)]
        pairs = exp.Select().from_("rows").select(*cell, *self._partial_sums()).group_by(*cell)
        pairs.select(named(exp.Count(this=exp.Star()), COUNT), copy=False)
        if not self._row_numbers:
            return [("pairs", pairs, self._limits_groups), *self._keep("pairs", self._capped_counts())]
        # (C1), in two parts: cells within `max_rows` stay as they are; of the others the first are kept.
        within = exp.Select().from_("pairs").select(*self._pair_columns())
        within.where(binary(exp.LTE, column(COUNT), whole(self.plan.max_rows)), copy=False)
        over = exp.Select().from_("pairs").select(*cell)
        over.where(binary(exp.GT, column(COUNT), whole(self.plan.max_rows)), copy=False)
        chosen = self._first_rows(among="over").subquery("r", copy=False)
        first = exp.Select().from_(chosen, copy=False).select(*cell, *self._partial_sums()).group_by(*cell)
        again = exp.Select().from_("first").select(*self._pair_columns())
        bounded = exp.Union(this=within, expression=again, distinct=False)
        return [
            ("pairs", pairs, True),
            ("over", over, False),
            ("first", first, True),
            ("bounded", bounded, False),
            *self._keep("bounded", self._pair_columns()),
        ]

    @property
    def _pair_names(self) -> list[str]:
        return [UNIT, GROUP, *self._numbers, *([FOUND] if self.plan.labels is None else [])]

    def _pair_columns(self) -> list[exp.Expression]:
        return [column(name) for name in self._pair_names]

    def _partial_sums(self) -> list[exp.Expression]:
        sums = []
        for name, measure in zip(self._numbers, self.plan.measures, strict=True):
            sums.append(named(partial_sum(measure, name, self._dialect), name))
        if self.plan.labels is None:
            sums.append(named(call("min", column(FOUND)), FOUND))
        return sums

    def _capped_counts(self) -> list[exp.Expression]:
        """Return where all rows count the same, the first `max_rows` of them need not be looked for."""
        # (C5): min(n, R) instead of R kept rows.
        most = whole(self.plan.max_rows)
        counts = [
            named(call("least", cast(column(name), "BIGINT"), most.copy()), name) for name in self._numbers
        ]
        found = [column(FOUND)] if self.plan.labels is None else []
        return [column(UNIT), column(GROUP), *counts, *found]

    def _first_rows(self, *, among: str | None = None) -> exp.Select:
        """Return the first `max_rows` rows of each unit and group; of those in `among`, where it is given."""
        names = [UNIT, GROUP, *self._row_numbers, *([FOUND] if self.plan.labels is None else [])]
        each = exp.Select().from_("rows").select(*(column(name, "rows") for name in names))
        each.select(named(self._ordinal("rows"), ORDINAL), copy=False)
        if among is not None:
            same = [binary(exp.EQ, column(name, "rows"), column(name, among)) for name in (UNIT, GROUP)]
            each.join(among, on=every(same), copy=False)
        ranked = exp.Select().from_(each.subquery("e", copy=False), copy=False)
        ranked.select(*(column(name, "e") for name in names), copy=False)
        # (C1): numbered in the order (h, x); those up to `max_rows` are kept.
        number = row_number([column(UNIT, "e"), column(GROUP, "e")], self._row_order("e"))
        ranked.select(named(number, PLACE), copy=False)
        select = exp.Select().from_(ranked.subquery("r", copy=False), copy=False)
        select.select(*(column(name) for name in names), copy=False)
        return select.where(binary(exp.LTE, column(PLACE), whole(self.plan.max_rows)), copy=False)

    def _ordinal(self, table: str) -> exp.Expression:
        """Return the ordinal of a row among those of its unit and group that are equal to it, from 0."""
        # (C4): with ordinals, equal rows are as many chances as there are rows.
        cell = [column(UNIT, table), column(GROUP, table)]
        numbers = [column(name, table) for name in self._row_numbers]
        number = row_number(cell, numbers)
        first = number.copy()
        first.set("this", exp.Anonymous(this="rank"))
        return binary(exp.Sub, number, first)  # both pass over one sorted list

    def _row_order(self, table: str) -> list[exp.Expression]:
        """Return what rows of a unit in a group are ordered by: the hash of a row's measures and ordinal,
        then the measures.

        They are whole numbers >= 0, 0 where a row adds nothing; those that no row differs in order nothing.
        """
        measures = (self.plan.tally,) if self.plan.tally is not None else self.plan.measures
        codes = [code_of(each, column(f"m{index}", table)) for index, each in enumerate(measures)]
        mixed = [column(UNIT, table), *codes, column(ORDINAL, table)]
        hashed = self._hash([(each, None) for each in mixed])
        return [hashed, *(code for code, each in zip(codes, measures, strict=True) if each not in PLAIN)]

    # Step 4, for both.

    def _keep(self, table: str, columns: list[exp.Expression]) -> list[tuple[str, exp.Expression, bool]]:
        """Return `kept`: the columns of those groups of each unit that come first."""
        if not self._limits_groups:
            return [("kept", exp.Select().from_(table).select(*columns), False)]
        # (C2): a group is kept where its place is at most that of the last kept one.
        placed = exp.Select().from_(table).select(*columns, named(self._place(table), PLACE))
        kept = exp.Select().from_("placed").select("placed.*")
        same = binary(exp.EQ, column(UNIT, "placed"), column(UNIT, "last"))
        kept.join("last", on=same, join_type="left", copy=False)
        inside = binary(exp.LTE, column(PLACE, "placed"), column(LAST, "last"))
        kept.where(binary(exp.Or, is_null(column(LAST, "last")), inside), copy=False)
        return [("placed", placed, False), ("last", self._last_places(), False), ("kept", kept, False)]

    def _last_places(self) -> exp.Select:
        """Return, for each unit in too many groups, the place of the last one that is kept."""
        most = self.plan.max_groups
        places = exp.Select().from_("placed").select(column(UNIT), column(PLACE)).distinct(copy=False)
        source = places.subquery("p", copy=False) if self.plan.tally is not None else exp.to_table("placed")
        nth = self._dialect.nth_smallest(column(PLACE), most)
        if nth is not None:
            select = exp.Select().from_(source, copy=False).select(column(UNIT)).group_by(column(UNIT))
            select.select(named(nth, LAST), copy=False)
            return select.having(binary(exp.GT, exp.Count(this=exp.Star()), whole(most)), copy=False)
        number = named(row_number([column(UNIT)], [column(PLACE)]), COUNT)
        ranked = exp.Select().from_(source, copy=False).select(column(UNIT), column(PLACE), number)
        select = exp.Select().from_(ranked.subquery("r", copy=False), copy=False)
        select.select(column(UNIT), named(column(PLACE), LAST), copy=False)
        return select.where(binary(exp.EQ, column(COUNT), whole(most)), copy=False)

    # Tallies: rows stay rows.

    def _tallied(self) -> list[tuple[str, exp.Expression, bool]]:
        """Return all rows are numbered: finding out first who has too many costs more than it saves."""
        first = self._first_rows()
        return [("bounded", first, self._limits_groups), *self._keep("bounded", self._pair_columns())]

    # Step 5.

    def _add_up(self, table: str) -> exp.Select:
        select = exp.Select().from_(table).select(column(GROUP, table)).group_by(column(GROUP, table))
        if self.plan.tally is not None:
            number = named(cast(column("m0", table), "BIGINT"), "m0")  # a lattice's steps, or a position
            select.select(number, named(exp.Count(this=exp.Star()), COUNT), copy=False)
            select.group_by(column("m0", table), copy=False)
        for index, measure in enumerate(self.plan.measures):
            name = f"m{index}"
            counted = self.plan.each_row and measure in PLAIN
            added = (
                exp.Count(this=exp.Star())
                if counted
                else total_of(measure, column(name, table), self._dialect)
            )
            # A sum of nothing is 0. The text of a whole number reaches Python exactly, however wide.
            total = exp.Coalesce(this=added, expressions=[whole(0, "HUGEINT")])
            select.select(named(cast(total, "VARCHAR"), name), copy=False)
        return select if self.plan.labels is not None else self._with_keys(select)

    def _with_keys(self, added: exp.Select) -> exp.Select:
        """Return the found keys next to the number of their group."""
        names = ["m0", COUNT] if self.plan.tally is not None else self._numbers
        keys = [column(f"k{index}", "found") for index in range(len(self.plan.keys))]
        select = exp.Select().from_(added.subquery("added", copy=False), copy=False)
        select.select(column(GROUP, "found"), *keys, *(column(name, "added") for name in names), copy=False)
        same = binary(exp.EQ, column(GROUP, "added"), column(GROUP, "found"))
        return select.join("found", on=same, copy=False)
