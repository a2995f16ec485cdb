"""Bounding by numbering alone, for engines that apply `number <= limit` before rows travel.

Such an engine keeps, on each machine, only those rows of a unit that could still be among the first; a unit
with half of all rows then sends no more of them than any other, and no machine gets more than its share.
Rows are read once, and nothing is joined. The orders are those of `Statement`, so the choice is the same.
"""

from sqlglot import exp

from discreet.engines.sql import binary, column, named, whole
from discreet.engines.sql_bounding import COUNT, GROUP, PLACE, Statement
from discreet.engines.sql_relations import UNIT


class NumberedStatement(Statement):
    """As `Statement`, but rows and groups are numbered where that one looks up who has too many."""

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
        ordered = exp.Order(expressions=[exp.Ordered(this=column(PLACE), nulls_first=False)])
        # A tally has several rows in a group: groups are numbered, not rows.
        number = exp.Window(this=exp.DenseRank(), partition_by=[column(UNIT)], order=ordered, over="OVER")
        numbered = exp.Select().from_("placed").select("placed.*", named(number, COUNT))
        kept = exp.Select().from_(numbered.subquery("p", copy=False), copy=False).select("p.*")
        kept.where(binary(exp.LTE, column(COUNT, "p"), whole(self.plan.max_groups)), copy=False)
        return [("placed", placed, False), ("kept", kept, False)]
