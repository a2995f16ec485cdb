"""A question that knows its policy: typed rows, keys and their labels, aggregates, and what follows noise."""

from dataclasses import dataclass

from discreet.queries.domain import Domain
from discreet.queries.nodes import Aggregate, Expression
from discreet.queries.ranges import Range
from discreet.queries.relations import Relation, has_each_row


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
