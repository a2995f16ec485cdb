"""What one invented person's rows hold: as bad as a policy allows, and worse."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from discreet.apps.auditing.values import odd_values, plain_values, stranger
from discreet.asking.policy import Column, PublicTable, Table, Value

Row: TypeAlias = dict[str, Value]
Write: TypeAlias = Callable[[Table], list[Row]]  # the rows of one person in a table

MOST_ROWS = 240  # of one person in one table; a report says how close that comes to the limits
LEAST_ROWS = 40  # enough to meet many combinations of values
EXTRA = 2  # rows and groups more than are allowed


@dataclass(frozen=True)
class Writer:
    """Rows for one person; `literals` are constants of questions, worth lying close to."""

    literals: tuple[Value, ...] = ()

    def plain(self, table: Table) -> list[Row]:
        """Three ordinary rows. The last of several public keys stays free for somebody else."""
        return [
            {column.name: _cycle(self._taken(column), place) for column in table.columns}
            for place in range(3)
        ]

    def _taken(self, column: Column) -> list[Value]:
        values = self._plain(column)
        return values[:-1] if column.keys is not None and len(values) > 1 else values

    def heaps(self, end: int) -> Write:
        """More rows than allowed in more groups than allowed, every bounded number at one end (0: upper);
        the two ends in different groups, as far as there are enough."""

        def write(table: Table) -> list[Row]:
            many = table.max_groups + EXTRA
            heaps = [self._heap(table, end, number) for number in range(end * many, (end + 1) * many)]
            height = table.max_rows + EXTRA
            return list(islice((dict(heap) for _ in range(height) for heap in heaps), MOST_ROWS))

        return write

    def _heap(self, table: Table, end: int, number: int) -> Row:
        """The row that heap `number` repeats: the last keys first, which nobody plain has."""
        return {
            column.name: _cycle(self._plain(column), -1 - number)
            if column.bounds is None or column.keys is not None
            else self._plain(column)[end]
            for column in table.columns
        }

    def equal(self, table: Table) -> list[Row]:
        """More rows than allowed in one group, all alike."""
        return [self._heap(table, 0, 0) for _ in range(min(table.max_rows + EXTRA, MOST_ROWS))]

    def one(self, table: Table) -> list[Row]:
        """One row, alone in its group."""
        return [self._heap(table, 0, 0)]

    def mixed(self, table: Table) -> list[Row]:
        """Ordinary values in many combinations."""
        return [self._mix(table, place, self._plain) for place in range(_many(table))]

    def odd(self, table: Table) -> list[Row]:
        """Missing and extreme values in many combinations."""
        return [self._mix(table, place, self.odd_values) for place in range(_many(table))]

    def _mix(self, table: Table, place: int, values_of: Callable[[Column], list[Value]]) -> Row:
        """Columns run through their values, all of them but the first in an order of their own."""
        row = {}
        for number, column in enumerate(table.columns):
            values = values_of(column)
            row[column.name] = _cycle(values, place + number * (place // len(values) + 1))
        return row

    def strange(self, table: Table) -> list[Row]:
        """Values that nobody else has, in every column where there are any."""
        return [
            {column.name: stranger(column, place) for column in table.columns}
            for place in range(_many(table))
        ]

    def public(self, table: PublicTable, keys: list[Value]) -> list[Row]:
        """A public table with these keys."""
        rows = [
            {column.name: _cycle(self._plain(column), place) for column in table.columns}
            for place in range(len(keys))
        ]
        return [{**row, table.key: key} for row, key in zip(rows, keys, strict=True)]

    def _plain(self, column: Column) -> list[Value]:
        return plain_values(column, self.literals)

    def odd_values(self, column: Column) -> list[Value]:
        """All that a column may hold at its edges and beyond."""
        return odd_values(column, self.literals)


def _cycle(values: list[Value], place: int) -> Value:
    return values[place % len(values)]


def _many(table: Table) -> int:
    return min(MOST_ROWS, max(LEAST_ROWS, (table.max_rows + EXTRA) * (table.max_groups + EXTRA)))
