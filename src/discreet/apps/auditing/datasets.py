"""Neighbouring data sets invented in a policy's domain: never the real data.

A few plain people are always there, and rows that are nobody's. Then one person is added, or turned into
another, who breaks every limit that a policy sets. Where each row is a person of its own, it is one row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from discreet.apps.auditing.people import Row, Write, Writer, plain_values
from discreet.asking.dry_run import complete, keys_led_to, link_rows
from discreet.asking.policy import EachRow, Policy, PublicTable, Table, UnitColumn, Value

Rows: TypeAlias = Mapping[str, list[Row]]

FIRST_TWIN, SECOND_TWIN = 2**53, 2**53 + 1  # one and the same double
PLAIN_PEOPLE = (1, 2, 3, FIRST_TWIN)
SOMEBODY = -1
PLAIN = "a few plain people"
MOST_SINGLES = 12  # single rows that are tried


@dataclass(frozen=True, eq=False)
class Invented:
    """Rows for every table of a policy, and in words whose they are."""

    words: str
    rows: Rows = field(repr=False)

    def __repr__(self) -> str:
        return f"[{self.words}]"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ in one unit, and the tables that this unit is in."""

    first: Invented
    second: Invented
    tables: frozenset[str]


def invent_neighbours(policy: Policy, literals: Sequence[Value] = ()) -> list[Neighbours]:
    """Pairs of data sets under the policy's relation; `literals` are constants worth lying close to."""
    return list(Invention(complete(policy), Writer(tuple(literals))).neighbours())


def invent_crowd(policy: Policy, people: int, literals: Sequence[Value] = ()) -> Neighbours:
    """So many plain people who all hold the same keys, and one more with too many rows: where keys are
    selected, only a crowd's are ever shown."""
    invention = Invention(complete(policy), Writer(tuple(literals)))
    crowd = dict.fromkeys(range(1, people + 1), invention.writer.plain)
    more: Mapping[int, Write] = {SOMEBODY: invention.writer.heaps(0)}
    fewer: Mapping[int, Write] = (
        {} if policy.relation == "add/remove" else {SOMEBODY: invention.writer.strange}
    )
    first = invention.write(f"a crowd of {people}" + ", and somebody else" * bool(fewer), crowd, fewer)
    second = invention.write(f"a crowd of {people}, and somebody with too many rows", crowd, more)
    named = frozenset(each.name for each in invention.policy.tables if not isinstance(each.unit, EachRow))
    return Neighbours(first, second, named)


@dataclass(frozen=True)
class Invention:
    """Data sets of a complete policy, made of what people write into its tables."""

    policy: Policy
    writer: Writer

    def neighbours(self) -> Iterator[Neighbours]:
        """The pairs of `invent_neighbours`."""
        named = frozenset(each.name for each in self.policy.tables if not isinstance(each.unit, EachRow))
        if named:
            yield from self._pairs(list(self._people()), named)
        for table in self.policy.tables:
            if isinstance(table.unit, EachRow):
                yield from self._pairs(list(self._single_rows(table)), frozenset({table.name}))

    def _pairs(self, variants: list[Invented], tables: frozenset[str]) -> Iterator[Neighbours]:
        if self.policy.relation == "add/remove":
            yield from (Neighbours(self.plain, each, tables) for each in variants)
            alone = {name: rows for name, rows in self.alone.rows.items() if name in tables}
            yield Neighbours(self.empty, Invented(self.alone.words, {**self.empty.rows, **alone}), tables)
        else:
            turned = [*variants[1:], variants[0]]
            yield from (Neighbours(a, b, tables) for a, b in zip(variants, turned, strict=True))

    @cached_property
    def plain(self) -> Invented:
        """The plain people, a few rows where each is a person, and rows that are nobody's."""
        return self._beside_plain(PLAIN, {})

    @cached_property
    def empty(self) -> Invented:
        """Nobody at all."""
        rows: dict[str, list[Row]] = {table.name: [] for table in self.policy.tables}
        return Invented("nobody", {**self.plain.rows, **rows})

    @cached_property
    def alone(self) -> Invented:
        """One person, or in a table where each row is one, one row."""
        rows, owners = dict(self.empty.rows), dict[str, list[int]]()
        for table in self._from_unit():
            write = self.writer.one if isinstance(table.unit, EachRow) else self.writer.heaps(0)
            self._add(table, {SOMEBODY: write}, rows, owners)
        return Invented("somebody alone, with too many rows in too many groups", rows)

    def _people(self) -> Iterator[Invented]:
        """The plain people and one more."""
        writer = self.writer
        variants: tuple[tuple[str, Write], ...] = (
            ("too many rows in too many groups, at the upper bounds", writer.heaps(0)),
            ("too many rows in too many groups, at the lower bounds", writer.heaps(1)),
            ("too many equal rows", writer.equal),
            ("one row, alone in its group", writer.one),
            ("ordinary rows of all kinds", writer.mixed),
            ("missing and extreme values", writer.odd),
            ("values that nobody else has", writer.strange),
        )
        for words, write in variants:
            yield self._beside_plain(f"{PLAIN}, and somebody with {words}", {SOMEBODY: write})
        for words, write in variants[:2]:
            twin = f"{PLAIN}, and somebody whose id, as a double, is another's, with {words}"
            yield self._beside_plain(twin, {SECOND_TWIN: write})

    def _single_rows(self, table: Table) -> Iterator[Invented]:
        """The plain people and one row more, with each odd value in turn."""
        columns = {each.name: self.writer.odd_values(each) for each in table.columns}
        many = max(map(len, columns.values()), default=1)
        for place in range(0, many, -(-many // MOST_SINGLES)):
            row = {name: values[place % len(values)] for name, values in columns.items()}
            rows = {**self.plain.rows, table.name: [*self.plain.rows[table.name], row]}
            yield Invented(f"{PLAIN}, and the row {row} of {table.name}", rows)

    def _beside_plain(self, words: str, more: Mapping[int, Write]) -> Invented:
        return self.write(words, dict.fromkeys(PLAIN_PEOPLE, self.writer.plain), more)

    def write(self, words: str, people: Mapping[int, Write], more: Mapping[int, Write]) -> Invented:
        """A data set of people in every table, and of more people in those whose units are named; with rows
        that are nobody's. Keys link them."""
        rows, owners = dict[str, list[Row]](), dict[str, list[int]]()
        for table in self._from_unit():
            here = people if isinstance(table.unit, EachRow) else {**people, **more}
            self._add(table, here, rows, owners)
        for table in self.policy.tables:
            rows[table.name] += self._nobodys(table)
        rows.update({public.name: self._public(public) for public in self.policy.public})
        return Invented(words, rows)

    def _from_unit(self) -> list[Table]:
        """The tables, those that hold units before those that lead to them."""
        return sorted(self.policy.tables, key=lambda each: len(self.policy.path_to_unit(each)))

    def _add(
        self,
        table: Table,
        people: Mapping[int, Write],
        rows: dict[str, list[Row]],
        owners: dict[str, list[int]],
    ) -> None:
        rows[table.name], owners[table.name] = [], []
        once = isinstance(table.unit, UnitColumn) and table.unit.column in keys_led_to(table, self.policy)
        for person, write in people.items():
            mine = write(table)[: 1 if once else None]
            rows[table.name] += mine
            owners[table.name] += [person] * len(mine)
        link_rows(rows[table.name], owners, table, self.policy, rows)

    def _nobodys(self, table: Table) -> list[Row]:
        """Rows without a unit: none is named, or a foreign key leads nowhere."""
        (row, *_), led = self.writer.plain(table), keys_led_to(table, self.policy)
        if isinstance(table.unit, EachRow):
            return []
        links = (
            [table.unit.column] if isinstance(table.unit, UnitColumn) else [own for own, _ in table.unit.on]
        )
        if led & set(links):
            return []  # it names its rows itself: every row has a unit
        columns = {name: table.column(name) for name in (*links, *led)}
        far: Row = {
            name: -1 if each and each.type == "integer" else "nobody" for name, each in columns.items()
        }
        found: list[Row] = [] if isinstance(table.unit, UnitColumn) else [{**row, **far}]
        if all(each is None or each.nullable for each in columns.values()):
            lost: Row = {name: -2 if value == -1 else "lost" for name, value in far.items() if name in led}
            found.append({**row, **lost, **dict.fromkeys(links)})
        return found

    def _public(self, public: PublicTable) -> list[Row]:
        """A row for every plain value that some column of the key's type holds."""
        column = public.column(public.key)
        kind = "text" if column is None else column.type
        tables: tuple[Table | PublicTable, ...] = (*self.policy.tables, *self.policy.public)
        every = [each for table in tables for each in table.columns]
        values = [value for each in every if each.type == kind for value in plain_values(each)]
        return self.writer.public(public, list(dict.fromkeys(values)))
