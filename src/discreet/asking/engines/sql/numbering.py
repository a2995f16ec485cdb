"""Bounding by numbering alone, for engines that apply `number <= limit` where rows are, before they travel.

Two ways, with the orders of `Statement`, so that the choice is always the same. `NumberedStatement`: rows
that are equal meet somewhere and are counted off, the others of their unit elsewhere; each machine then
keeps only those that could still be among the first. A unit with half of all rows burdens no machine more
than others, unless its rows are all equal. `SortedStatement`: all rows travel once and are cut as they
pass; less work, where no unit has too many rows for one machine. `crowd` is how an engine finds out. Rows
are read once either way, and nothing is joined.
"""

from sqlglot import exp

from discreet.asking.engines.sql import binary, call, column, is_known, named, when, whole
from discreet.asking.engines.sql.bounding import COUNT, FOUND, GROUP, ORDINAL, PLACE, Statement
from discreet.asking.engines.sql.dialect import hash_of
from discreet.asking.engines.sql.measures import PLAIN
from discreet.asking.engines.sql.relations import UNIT, Relations, row_number
from discreet.asking.planning import ExactPlan, UnitCount
from discreet.asking.queries import Filtered, Project, Relation, Scan

BUCKETS = 2**16  # of units
ORDER, RANK = "o", "rank"


class NumberedStatement(Statement):
    """As `Statement`, but rows and groups are numbered where that one looks up who has too many."""

    def _ordinal(self, table: str) -> exp.Expression:
        """Return the ordinal; equal rows meet on one machine, those of a unit on all of them."""
        names = [UNIT, GROUP, *self._row_numbers]
        number = row_number([column(name, table) for name in names], [column(UNIT, table)])
        return binary(exp.Sub, number, whole(1))

    def _paired(self) -> list[tuple[str, exp.Expression, bool]]:
        if not self._row_numbers:
            return super()._paired()
        cell = [column(UNIT), column(GROUP)]
        chosen = self._first_rows().subquery("c", copy=False)
        pairs = exp.Select().from_(chosen, copy=False).select(*cell, *self._partial_sums()).group_by(*cell)
        return [("pairs", pairs, False), *self._keep("pairs", self._pair_columns())]

    def _keep(self, table: str, columns: list[exp.Expression]) -> list[tuple[str, exp.Expression, bool]]:
        if not self._limits_groups:
            return super()._keep(table, columns)
        placed = exp.Select().from_(table).select(*columns, named(self._place(table), PLACE))
        kept = _first_groups("placed", self.plan.max_groups)
        return [("placed", placed, False), ("kept", kept, False)]


class SortedStatement(Statement):
    """As `Statement`, but rows are brought together by unit and sorted once; then groups and rows are cut."""

    @staticmethod
    def scan_of(plan: ExactPlan) -> Scan | None:
        """Return the table whose rows would travel; None for plans that are better off, or can only be,
        numbered.

        Those are joins and rows made of several, which would have to be made again for the look at their
        units; counts, which shrink before they travel; and measures that rows do not add to one by one.
        """
        measured = plan.tally is not None or any(each not in PLAIN for each in plan.measures)
        one_by_one = all(each in PLAIN or not isinstance(each, UnitCount) for each in plan.measures)
        if plan.each_row or not measured or not one_by_one:
            return None
        return _scanned(plan.rows)

    def _paired(self) -> list[tuple[str, exp.Expression, bool]]:
        return self._cut([self._of_a_row(index) for index in range(len(self.plan.measures))])

    def _tallied(self) -> list[tuple[str, exp.Expression, bool]]:
        return self._cut([column("m0")])

    def _of_a_row(self, index: int) -> exp.Expression:
        """Return what a kept row adds to a measure; the first one of a unit in a group counts the unit."""
        name, measure = f"m{index}", self.plan.measures[index]
        if measure not in PLAIN:
            return column(name)
        counted = whole(1)
        if measure == UnitCount():
            first = binary(exp.EQ, column(COUNT), whole(1))
            counted = when((first, counted), otherwise=whole(0))
        return named(counted, name)

    def _cut(self, added: list[exp.Expression]) -> list[tuple[str, exp.Expression, bool]]:
        steps: list[tuple[str, exp.Expression, bool]] = [("ordered", self._ordered(), False)]
        if self._limits_groups:
            steps.append(("grouped", _first_groups("ordered", self.plan.max_groups), False))
        order = [column(f"{ORDER}{index}") for index in range(len(self._row_order("e")))]
        number = named(row_number([column(UNIT), column(PLACE)], order), COUNT)
        numbered = exp.Select().from_(steps[-1][0]).select(exp.Star(), number)
        kept = exp.Select().from_(numbered.subquery("p", copy=False), copy=False)
        kept.select(column(GROUP), *added, copy=False)
        kept.where(binary(exp.LTE, column(COUNT), whole(self.plan.max_rows)), copy=False)
        return [*steps, ("kept", kept, False)]

    def _ordered(self) -> exp.Select:
        """Return the rows with all that orders them, by unit. Sorted as the numberings ask, they are not
        again.
        """
        names = [UNIT, GROUP, *self._row_numbers]
        place = self._place("e") if self._limits_groups else column(GROUP, "e")
        order = {f"{ORDER}{index}": each for index, each in enumerate(self._row_order("e"))}
        select = exp.Select().from_(self._gathered(names).subquery("e", copy=False), copy=False)
        select.select(*(column(name, "e") for name in names), copy=False)
        select.select(named(place, PLACE), *(named(each, name) for name, each in order.items()), copy=False)
        terms = [exp.Ordered(this=column(name), nulls_first=True) for name in (UNIT, PLACE)]
        terms += [exp.Ordered(this=column(name), nulls_first=False) for name in order]
        select.set("sort", exp.Sort(expressions=terms))
        return select

    def _gathered(self, names: list[str]) -> exp.Select:
        """Return the rows of a unit in one place, each with its ordinal."""
        names = [*names, *([FOUND] if self.plan.labels is None else [])]
        moved = exp.Select().from_("rows").select(*(column(name, "rows") for name in names))
        moved.set(
            "distribute", exp.Distribute(expressions=[exp.Ordered(this=column(UNIT), nulls_first=True)])
        )
        select = exp.Select().from_(moved.subquery("t", copy=False), copy=False)
        select.select(*(column(name, "t") for name in names), copy=False)
        return select.select(named(self._ordinal("t"), ORDINAL), copy=False)


def crowd(relations: Relations, scan: Scan) -> exp.Select:
    """Return how many rows the most crowded of many buckets of units has: no unit of the table has more."""
    assert scan.unit is not None
    unit = relations.value(scan.table, scan.unit)
    bucket = binary(exp.Mod, hash_of(relations.dialect, "fast", 0, [(unit, None)]), whole(BUCKETS))
    buckets = exp.Select().from_(relations.tables[scan.table].copy(), copy=False)
    buckets.select(named(exp.Count(this=exp.Star()), COUNT), copy=False)
    buckets.where(is_known(unit.copy()), copy=False).group_by(bucket, copy=False)
    most = exp.Coalesce(this=call("max", column(COUNT)), expressions=[whole(0)])
    return exp.Select().from_(buckets.subquery("b", copy=False), copy=False).select(named(most, COUNT))


def _scanned(relation: Relation) -> Scan | None:
    while isinstance(relation, Filtered | Project):
        relation = relation.source
    return relation if isinstance(relation, Scan) and relation.unit is not None else None


def _first_groups(table: str, most: int) -> exp.Select:
    """Return the rows of those groups of each unit that come first."""
    ordered = exp.Order(expressions=[exp.Ordered(this=column(PLACE), nulls_first=True)])
    # A unit may have several rows in a group: groups are numbered, not rows.
    number = exp.Window(this=exp.DenseRank(), partition_by=[column(UNIT)], order=ordered, over="OVER")
    numbered = exp.Select().from_(table).select(exp.Star(), named(number, RANK))
    kept = exp.Select().from_(numbered.subquery("p", copy=False), copy=False).select(exp.Star())
    return kept.where(binary(exp.LTE, column(RANK), whole(most)), copy=False)
