"""Neighbouring data sets of a policy as a hypothesis strategy: for property tests of questions."""

from typing import TYPE_CHECKING, Any

from discreet.apps.auditing.datasets import Invented, Invention, Neighbours
from discreet.apps.auditing.people import Row, Write, Writer
from discreet.asking.dry_run import complete
from discreet.asking.policy import EachRow, Policy, Table, Value

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

MOST_ROWS = 8  # drawn for one person in one table, and then repeated
MOST_COPIES = 4
SOMEBODY = 9


def neighbouring(policy: Policy, literals: tuple[Value, ...] = ()) -> "SearchStrategy[Neighbours]":
    """Pairs of data sets that differ in one person under the policy's relation; the others are arbitrary.

    Values lie at the edges of their columns, beyond them, or are missing; rows repeat; tables may be empty.
    Needs hypothesis, of the extra [testing].
    """
    from hypothesis import strategies as st

    writer, whole = Writer(literals), complete(policy)
    named = frozenset(each.name for each in whole.tables if not isinstance(each.unit, EachRow))

    def rows_of(table: Table) -> "SearchStrategy[list[Row]]":
        columns: dict[str, Any] = {
            each.name: st.sampled_from(writer.odd_values(each)) for each in table.columns
        }
        rows = st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=MOST_ROWS)
        return st.builds(_repeat, rows, st.integers(1, MOST_COPIES))

    somebody = st.fixed_dictionaries({table.name: rows_of(table) for table in whole.tables}).map(_writes)

    def pair(others: list[Write], first: Write, second: Write) -> Neighbours:
        invention = Invention(whole, writer)
        people = dict(enumerate(others, start=1))
        replaced = {} if policy.relation == "add/remove" else {SOMEBODY: second}
        sides: list[Invented] = [
            invention.write(words, people, more)
            for words, more in (("with somebody", {SOMEBODY: first}), ("without", replaced))
        ]
        return Neighbours(sides[0], sides[1], named)

    return st.builds(pair, st.lists(somebody, max_size=3), somebody, somebody)


def _repeat(rows: list[Row], copies: int) -> list[Row]:
    return [dict(row) for row in rows for _ in range(copies)]


def _writes(rows: dict[str, list[Row]]) -> Write:
    return lambda table: [dict(row) for row in rows[table.name]]
