"""The owner's policy: what the data set is, who is protected, what is promised, what may be spent.

Protected are the people named in a column, each row, or the people that a foreign key leads to (`Unit`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from discreet.asking.policy.budget import Budget, Serving, read_budget
from discreet.asking.policy.column import Column, Type, spell
from discreet.asking.policy.hierarchy import Hierarchy
from discreet.asking.policy.locations import LedgerPlace
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.kernel.ledger import Ration


@dataclass(frozen=True)
class UnitColumn:
    """The column names the person: all rows with the same value belong to one of them."""

    column: str

    def __str__(self) -> str:
        return f"each {self.column}"


@dataclass(frozen=True)
class EachRow:
    """Each row is a person of its own."""

    def __str__(self) -> str:
        return "each row"


@dataclass(frozen=True)
class Through:
    """The person is reached by a foreign key: this table's columns hold the values of another table's key."""

    table: str
    on: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        pairs = " and ".join(f"{own} = {self.table}.{other}" for own, other in self.on)
        return f"the unit of {self.table}, where {pairs}"


Unit: TypeAlias = UnitColumn | EachRow | Through

each_row = EachRow()


def read_unit(value: object, *, name: str) -> Unit:
    """Return a unit as the owner writes it.

    >>> read_unit("person", name="unit")
    UnitColumn(column='person')
    >>> read_unit({"through": "accounts", "on": {"account": "id"}}, name="unit")
    Through(table='accounts', on=(('account', 'id'),))
    """
    if isinstance(value, UnitColumn | EachRow | Through):
        return value
    if isinstance(value, str) and value:
        return UnitColumn(value)
    if isinstance(value, dict) and set(value) == {"through", "on"}:
        value = (value["through"], value["on"])
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict) and value[1]:
        table, on = value
        if all(isinstance(each, str) and each for each in (table, *on, *on.values())):
            return Through(table, tuple(sorted(on.items())))
    raise InvalidParameter(
        f"{name} must be a column, each_row, or a table with the columns that lead to it, got {value!r}. "
        'Write unit = "person", or unit = { through = "accounts", on = { account = "id" } }.',
        parameter=name,
    )


RowLimit: TypeAlias = int | Literal["auto"]  # rows of one unit over all groups; or found privately
Relation: TypeAlias = Literal["add/remove", "replace"]
Source: TypeAlias = str | tuple[str, ...]  # a path, a pattern, a name in a database; or several paths
Schema: TypeAlias = Mapping[str, Mapping[str, Type]]

RELATIONS: tuple[Relation, ...] = ("add/remove", "replace")
FILTERS = (None, "advanced")
ENCODINGS = ("utf-8", "latin-1")  # of CSV


@dataclass(frozen=True, kw_only=True)
class Table:
    """A private table: its unit, its columns, and how much of it one unit may move."""

    name: str
    unit: Unit
    columns: tuple[Column, ...] = ()
    max_groups: int = 1
    max_rows: int = 1
    limit: RowLimit | None = None  # of all that one unit adds, over all groups; None: max_groups and max_rows
    hierarchies: tuple[Hierarchy, ...] = ()
    source: Source | None = field(
        default=None, compare=False
    )  # where the data is stored is no part of what it is
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        _check_name(self.name, "a table's name")
        _check_encoding(self.encoding, self.name)
        _check_distinct([column.name for column in self.columns], f"columns of table {self.name!r}")
        _check_limit(self.max_groups, f"max_groups of table {self.name!r}")
        _check_limit(self.max_rows, f"max_rows of table {self.name!r}")
        if self.limit not in (None, "auto"):
            _check_limit(self.limit, f"limit of table {self.name!r}")
        if isinstance(self.unit, EachRow) and (self.max_groups, self.max_rows) != (1, 1):
            raise InvalidParameter(
                f"max_groups and max_rows of table {self.name!r} must be 1: each row is a unit of its own."
            )
        if isinstance(self.unit, UnitColumn):
            _check_unit_type(self.column(self.unit.column), self.name)

    def column(self, name: str) -> Column | None:
        """Return the column of that name, in any case; None if the policy knows none."""
        return next((each for each in self.columns if each.name.lower() == name.lower()), None)

    def to_json(self) -> dict[str, object]:
        return {
            "unit": _unit_to_json(self.unit),
            "max_groups": self.max_groups,
            "max_rows": self.max_rows,
            **({} if self.limit is None else {"limit": self.limit}),
            **_unusual(self.encoding),
            **({"hierarchies": [each.to_json() for each in self.hierarchies]} if self.hierarchies else {}),
            "columns": {each.name: each.to_json() for each in self.columns},
        }

    @classmethod
    def from_json(cls, name: str, facts: Mapping[str, Any]) -> "Table":
        """Return the table that `to_json` wrote."""
        unit = EachRow() if facts["unit"] == {"each_row": True} else read_unit(facts["unit"], name="unit")
        limits = {part: facts[part] for part in ("max_groups", "max_rows")}
        levels = tuple(map(Hierarchy.from_json, facts.get("hierarchies", ())))
        more = {
            "limit": facts.get("limit"),
            "encoding": facts.get("encoding", "utf-8"),
            "hierarchies": levels,
        }
        return cls(name=name, unit=unit, columns=_read_columns(facts), **more, **limits)


@dataclass(frozen=True, kw_only=True)
class PublicTable:
    """A table that anyone may see, joined on its key.

    Keys that are there twice are refused when the table is opened; should they become so later, a join takes
    one row of each.
    Without a key it is the first column, known once the data's schema is.
    """

    name: str
    key: str = ""
    columns: tuple[Column, ...] = ()
    source: Source | None = field(default=None, compare=False)
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        _check_name(self.name, "a public table's name")
        _check_encoding(self.encoding, self.name)
        _check_distinct([column.name for column in self.columns], f"columns of table {self.name!r}")

    def column(self, name: str) -> Column | None:
        """Return the column of that name, in any case; None if the policy knows none."""
        return next((each for each in self.columns if each.name.lower() == name.lower()), None)

    def to_json(self) -> dict[str, object]:
        columns = {each.name: each.to_json() for each in self.columns}
        return {"key": self.key, **_unusual(self.encoding), "columns": columns}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Everything about a data set that is public; no data was read to make it."""

    id: str
    budget: Budget
    tables: tuple[Table, ...]
    public: tuple[PublicTable, ...] = ()
    version: str = "1"
    relation: Relation = "add/remove"
    population: int | None = None
    filter: str | None = None
    per_analyst: Budget | None = None  # a limit for each analyst, in addition to the one for all
    per_question: Budget | None = None
    share_answers: bool = False  # whether an answer given to one analyst is given to all
    engine: str = field(default="duckdb", compare=False, repr=False)  # what runs it is no part of what it is
    ledger: LedgerPlace = field(default=LedgerPlace(), compare=False)
    serving: Serving = field(default_factory=Serving, compare=False)  # nor how a server answers
    ration: Ration = field(default_factory=Ration, compare=False)  # nor how often a question may fail

    def __post_init__(self) -> None:
        _check_name(self.id, "a data set's id")
        _check_name(self.version, "a data set's version")
        if self.relation not in RELATIONS:
            raise InvalidParameter(
                f"relation must be one of {', '.join(RELATIONS)}, got {self.relation!r}.",
                parameter="relation",
            )
        if self.filter not in FILTERS:
            raise InvalidParameter(f'filter must be absent or "advanced", got {self.filter!r}.')
        if not isinstance(self.share_answers, bool):
            raise InvalidParameter("share_answers must be true or false.", parameter="share_answers")
        for name in ("per_analyst", "per_question"):
            _check_part(getattr(self, name), self.budget, name)
        if self.population is not None:
            _check_limit(self.population, "population")
        if not self.tables:
            raise InvalidParameter("a policy must have at least one table, got none.", parameter="tables")
        _check_distinct(list(self.table_names), "tables")
        for table in self.tables:
            self.path_to_unit(table)

    def table(self, name: str) -> Table | PublicTable | None:
        """Return the table of that name, in any case; None if the policy knows none."""
        every: Iterable[Table | PublicTable] = (*self.tables, *self.public)
        return next((each for each in every if each.name.lower() == name.lower()), None)

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names that FROM may use, private tables first."""
        return (*(each.name for each in self.tables), *(each.name for each in self.public))

    def path_to_unit(self, table: Table) -> tuple[Table, ...]:
        """Return the tables from this one, through foreign keys, to the one that holds the unit."""
        path = [table]
        while isinstance(unit := path[-1].unit, Through):
            parent = self.table(unit.table)
            if not isinstance(parent, Table) or parent in path:
                raise PolicyViolation(
                    f"unit of table {path[-1].name!r} must lead to a private table without a circle, "
                    f"got {unit.table!r}.",
                    table=path[-1].name,
                )
            path.append(parent)
        if len(path) > 1 and isinstance(path[-1].unit, EachRow):
            raise PolicyViolation(
                f"unit of table {path[-1].name!r} must be a column, got each row. "
                "Foreign keys lead to named units."
            )
        return tuple(path)

    def with_schema(self, schema: Schema) -> "Policy":
        """Return the policy with the columns that the data's schema names (names and types, no data).

        A column that the owner declared keeps its declared type; the others take the schema's.
        """
        return replace(
            self,
            tables=tuple(
                replace(each, columns=_with_columns(each.columns, schema.get(each.name, {})))
                for each in self.tables
            ),
            public=tuple(_public_with(each, schema.get(each.name, {})) for each in self.public),
        )

    def to_json(self) -> dict[str, object]:
        """Return everything that decides what a question means and costs; not where the data is stored."""
        parts = {"per_analyst": self.per_analyst, "per_question": self.per_question}
        return {
            "id": self.id,
            "version": self.version,
            "relation": self.relation,
            "population": self.population,
            "budget": _numbers(self.budget),
            "filter": self.filter,
            "tables": {each.name: each.to_json() for each in self.tables},
            "public": {each.name: each.to_json() for each in self.public},
            **{name: _numbers(part) for name, part in parts.items() if part is not None},
            **({"share_answers": True} if self.share_answers else {}),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Policy":
        """Return the policy that `to_json` wrote, with the same digest; names that it does not know are left
        out.

        >>> from discreet.asking.policy.read import from_arguments
        >>> policy = from_arguments(id="t", sources={"t": None}, unit="person", budget={"epsilon": 1})
        >>> Policy.from_json(policy.to_json()) == policy
        True
        """
        try:
            public = [
                PublicTable(
                    name=name,
                    key=each["key"],
                    columns=_read_columns(each),
                    encoding=each.get("encoding", "utf-8"),
                )
                for name, each in facts["public"].items()
            ]
            return cls(
                **{part: facts[part] for part in ("id", "version", "relation", "population", "filter")},
                budget=_read_numbers(facts["budget"]),
                per_analyst=_read_numbers(facts["per_analyst"]) if "per_analyst" in facts else None,
                per_question=_read_numbers(facts["per_question"]) if "per_question" in facts else None,
                share_answers=facts.get("share_answers", False),
                tables=tuple(Table.from_json(name, each) for name, each in facts["tables"].items()),
                public=tuple(public),
            )
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InvalidParameter(
                "a policy must be as `Policy.to_json` writes it, and this one is not."
            ) from None

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON: the policy's identity."""
        return _digest(self.to_json())

    @property
    def answers_digest(self) -> str:
        """SHA-256 of what decides answers: the policy's identity in stored answers.

        What may be spent in all, and how many people there are, decide no answer: a price is part of its
        question, and a population only of what is said beforehand. Of the budget its measure stays.
        """
        facts = self.to_json()
        spent = ("population", "per_analyst", "per_question")
        stays = {name: fact for name, fact in facts.items() if name not in spent}
        return _digest({**stays, "budget": [name for name, _ in self.budget], "is": "of answers"})


def _digest(facts: Mapping[str, object]) -> str:
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _public_with(table: PublicTable, schema: Mapping[str, Type]) -> PublicTable:
    key = table.key or next(iter(schema), "")
    return replace(table, key=key, columns=_with_columns(table.columns, schema))


def _with_columns(columns: tuple[Column, ...], schema: Mapping[str, Type]) -> tuple[Column, ...]:
    known = {name.lower(): kind for name, kind in schema.items()}
    kept = [
        each.with_schema_type(known[each.name.lower()]) if each.name.lower() in known else each
        for each in columns
    ]
    declared = {each.name.lower() for each in kept}
    found = [
        Column(name=name, type=kind, declared=False)
        for name, kind in schema.items()
        if name.lower() not in declared
    ]
    return (*kept, *found)


def _read_columns(facts: Mapping[str, Any]) -> tuple[Column, ...]:
    return tuple(Column.from_json(name, each) for name, each in facts["columns"].items())


def _numbers(budget: Budget) -> dict[str, object]:
    return {name: spell(number) for name, number in budget}


def _read_numbers(facts: Mapping[str, str]) -> Budget:
    return read_budget({name: Fraction(text) for name, text in facts.items()})


def _check_part(part: Budget | None, budget: Budget, name: str) -> None:
    """Check that a further budget has the same measure: it is spent by the same charges, as the data
    set's.
    """
    if part is not None and {name for name, _ in part if name != "delta"} != {
        name for name, _ in budget if name != "delta"
    }:
        known = ", ".join(known for known, _ in budget)
        raise InvalidParameter(f"{name} must be of the budget's own measure ({known}).", parameter=name)


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= 200 or not name.isprintable():
        raise InvalidParameter(f"{what} must be 1 to 200 printable characters, got {str(name)[:60]!r}.")


def _check_encoding(encoding: object, table: str) -> None:
    if encoding not in ENCODINGS:
        raise InvalidParameter(
            f"encoding of table {table!r} must be one of {', '.join(ENCODINGS)}, got {str(encoding)[:60]!r}.",
            parameter="encoding",
        )


def _unusual(encoding: str) -> dict[str, str]:
    return {} if encoding == "utf-8" else {"encoding": encoding}


def _check_distinct(names: list[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        _check_name(name, f"a name among the {what}")
        if name.lower() in seen:
            raise InvalidParameter(f"{what} must differ in more than case, got {name!r} twice.")
        seen.add(name.lower())


def _check_limit(value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        word = ' or "auto"' if what.startswith("limit") else ""
        raise InvalidParameter(f"{what} must be a whole number from 1 to 2^31 - 1{word}, got {value!r}.")


def _check_unit_type(column: Column | None, table: str) -> None:
    # Two different people must never share an id: doubles merge whole numbers from 2^53 on.
    if column is not None and column.type not in ("integer", "text"):
        raise InvalidParameter(
            f"the unit of table {table!r} must be an integer or text column, got {column.type}."
        )


def _unit_to_json(unit: Unit) -> object:
    if isinstance(unit, UnitColumn):
        return unit.column
    if isinstance(unit, EachRow):
        return {"each_row": True}
    return {"through": unit.table, "on": dict(unit.on)}
