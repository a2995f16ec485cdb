"""What all SQL engines share: the policy with the data's columns, promises checked, plans run.

An engine brings its tables in and says how each column is stored (`_adopt`), and runs statements
(`_rows`); the rest is here, once.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

from sqlglot import exp

from discreet.asking.engines.base import fail, joined_keys, refuse_twice
from discreet.asking.engines.sql import is_known
from discreet.asking.engines.sql.bounding import Statement
from discreet.asking.engines.sql.dialect import HASHES, MAY_BE_DECLARED, Dialect
from discreet.asking.engines.sql.relations import Relations
from discreet.asking.engines.sql.weighing import Run, Shared, Store, Weighing
from discreet.asking.planning import CellArrays, ExactPlan, ExactTable, TallyArrays
from discreet.asking.policy import Policy, PublicTable, Schema, Table, Type, Value
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation

Asked = TypeVar("Asked")
Fetched = TypeVar("Fetched")
Stored = Mapping[str, Mapping[str, str]]  # table -> column -> its type as the engine names it


class SQLEngine(ABC):
    """Runs exact plans as SQL in one dialect."""

    dialect: ClassVar[type[Dialect]]
    has_address: ClassVar[bool] = False  # whether "name://..." opens it

    @classmethod
    def options_for(cls, engine: object, name: str) -> Mapping[str, Any] | None:
        """Return the options that open it by its plain name, or by its address where it has one."""
        kind, _, place = engine.partition("://") if isinstance(engine, str) else ("", "", "")
        if kind != name or (place and not cls.has_address):
            return None
        return {"address": engine} if place else {}

    def __init__(self, policy: Policy, hashing: str) -> None:
        if hashing not in HASHES:
            raise InvalidParameter(f"hashing must be one of {', '.join(HASHES)}, got {hashing!r}.")
        self._given, self._dialect, self._hashing = policy, self.dialect(), hashing

    @property
    def policy(self) -> Policy:
        """The policy with the columns of the data's schema."""
        return self._policy

    def schema(self) -> Schema:
        """Return the columns of each table that questions may be about, and their types."""
        return self._schema

    def reach(self) -> None:  # noqa: B027  not abstract: most have nothing to do
        """Do nothing: what is in this process is always in reach."""

    def files(self) -> tuple[object, ...]:
        """Return nothing: the data is in no file."""
        return ()

    def check_files(self) -> None:  # noqa: B027  not abstract: most have none
        """Do nothing: the data is in no file."""

    def run(self, plan: ExactPlan) -> ExactTable:
        """Return the exact table of a plan; whatever goes wrong inside is one constant failure."""
        if plan.weighs and plan.labels == () and not plan.other:
            return _of_nothing(plan)
        kind = Weighing if plan.weighs else self._bounding(plan)
        statement = kind(plan, self._relations).build()
        if plan.cells is not None:
            columns = quietly(self._columns, statement) or ((), ())
            return ExactTable((), (), cells=CellArrays.of(*columns))
        if plan.tally is not None and plan.labels is not None:
            return _as_tallies(plan.labels, quietly(self._columns, statement))
        return _as_table(plan, quietly(self._rows, statement))

    @contextlib.contextmanager
    def question(self) -> Iterator[Run]:
        """Lend a `run` for the plans of one question, which keeps what they share, where the engine can."""
        with self._keeping() as store:
            yield self.run if store is None else self._sharing(store)

    def _sharing(self, store: Store) -> Run:
        shared = Shared(self._relations, store)

        def run(plan: ExactPlan) -> ExactTable:
            if not shared.serves(plan):
                return self.run(plan)
            return _as_table(plan, quietly(shared.rows, plan))

        return run

    def _keeping(self) -> contextlib.AbstractContextManager[Store | None]:
        """Return where results are kept for one question; None where they are computed again."""
        return contextlib.nullcontext(None)

    def _bounding(self, plan: ExactPlan) -> type[Statement]:
        """Return how this engine bounds best; the choice changes no result."""
        return Statement

    @abstractmethod
    def _rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        """Return the rows of one generated statement; whole numbers as int or as text."""

    def _columns(self, statement: exp.Expression) -> tuple[Any, ...]:
        """Return the columns of one generated statement, all of them BIGINT: arrays, where the engine has
        them.
        """
        return tuple(zip(*self._rows(statement), strict=True))

    @property
    def _every(self) -> list[Table | PublicTable]:
        return [*self._given.tables, *self._given.public]

    def _adopt(self, stored: Stored, tables: Mapping[str, exp.Expression]) -> None:
        """Take the data as it is stored; `tables` says where each one is. What breaks a promise is
        refused.
        """
        kinds = {
            table: {name: self._dialect.stored_type(physical) for name, physical in columns.items()}
            for table, columns in stored.items()
        }
        self._schema = {
            table: {name: kind for name, kind in columns.items() if kind is not None}
            for table, columns in kinds.items()
        }
        self._policy = self._given.with_schema(self._schema)
        types = self._check_types(stored)
        self._relations = Relations(
            tables,
            lambda table, name: self._dialect.read_column(*types[table, name.lower()]),
            self._dialect,
            self._hashing,
        )
        self._check_keys()

    def _check_types(self, stored: Stored) -> dict[tuple[str, str], tuple[str, str, Type]]:
        """Return each column's stored name, stored type and declared type; what cannot be so declared is
        refused.
        """
        types: dict[tuple[str, str], tuple[str, str, Type]] = {}
        every: list[Table | PublicTable] = [*self._policy.tables, *self._policy.public]
        for table in every:
            columns = {name.lower(): (name, physical) for name, physical in stored[table.name].items()}
            for declared in table.columns:
                if declared.name.lower() not in columns:
                    refuse_absent(declared.name, table.name)
                name, physical = columns[declared.name.lower()]
                kind = self._dialect.stored_type(physical)
                if kind is None or declared.type not in MAY_BE_DECLARED[kind]:
                    raise PolicyViolation(
                        f"Column {declared.name!r} of table {table.name!r} must be declared as it is stored "
                        f"({kind or 'a type without questions'}), got {declared.type}.",
                        table=table.name,
                        column=declared.name,
                    )
                types[table.name, declared.name.lower()] = (name, physical, declared.type)
        return types

    def _check_keys(self) -> None:
        """Check that the keys that joins rely on are unique, and that units are columns."""
        for table, keys in joined_keys(self._policy):
            self._check_unique(table, keys)
        for private in self._policy.tables:
            check_unit(private)

    def _check_unique(self, table: Table | PublicTable, keys: tuple[str, ...]) -> None:
        """Refuse a table two of whose rows share a key."""
        columns: list[exp.Expression] = []
        for key in keys:
            found = table.column(key)
            if found is None:
                raise PolicyViolation(f"The key {key!r} of table {table.name!r} must be one of its columns.")
            columns.append(self._relations.read(table.name, found.name, found.type))
        twice = exp.Select().select(exp.Literal.number(1)).from_(self._relations.tables[table.name].copy())
        twice = twice.where(*(is_known(each.copy()) for each in columns)).group_by(*columns)
        twice = twice.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))
        if quietly(self._rows, twice.limit(1)):
            refuse_twice(table, keys)


def refuse_absent(column: str, table: str) -> NoReturn:
    """Refuse a column that was declared and is not in the data."""
    raise PolicyViolation(
        f"Column {column!r} must be in the data of table {table!r}.", table=table, column=column
    )


def check_unit(table: Table) -> None:
    """Refuse a unit that is no column; shown to the owner."""
    unit = getattr(table.unit, "column", None)
    if unit is not None and table.column(unit) is None:
        known = ", ".join(sorted(each.name for each in table.columns)[:12])
        raise PolicyViolation(
            f"The unit {unit!r} of table {table.name!r} must be one of its columns. There are: {known}."
        )


def quietly(fetch: Callable[[Asked], Fetched], asked: Asked) -> Fetched:
    """Return what the engine found; its own message, which may quote the data, is dropped."""
    try:
        return fetch(asked)
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001  # whatever it was
        fail()


def _as_tallies(groups: tuple[tuple[Value, ...], ...], columns: tuple[Any, ...]) -> ExactTable:
    """Return the three columns of a tally (group, number, rows) as an exact table."""
    return ExactTable(
        groups, ((),) * len(groups), TallyArrays.by_group(len(groups), *columns or ((), (), ()))
    )


def _of_nothing(plan: ExactPlan) -> ExactTable:
    """Return the table of a plan without any group: no row has a part in it."""
    nothing = (0,) * len(plan.excess)
    return ExactTable(((),), (nothing,)) if plan.excess else ExactTable((), ())


def _as_table(plan: ExactPlan, rows: list[tuple[Any, ...]]) -> ExactTable:
    """Return the statement's rows as an exact table, empty public groups included."""
    count = len(plan.measures)
    if plan.excess:
        return ExactTable(((),), (tuple(map(int, rows[0])),))
    if plan.labels is not None:
        groups, keys = (*plan.labels, *([()] if plan.other else [])), 0
    else:
        keys = len(plan.keys)
        found = {row[0]: tuple(row[1 : 1 + keys]) for row in rows}
        order = {number: place for place, number in enumerate(sorted(found))}
        groups = tuple(found[number] for number in order)
        rows = [(order[row[0]], *row[1:]) for row in rows]
    if plan.tally is not None:
        return _as_tallies(groups, tuple(zip(*((row[0], *row[1 + keys :]) for row in rows), strict=True)))
    totals = [(0,) * count] * len(groups)
    for row in rows:
        totals[row[0]] = tuple(int(each) for each in row[1 + keys :])
    return ExactTable(groups, tuple(totals))
