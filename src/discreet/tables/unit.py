"""Who is protected: the people named in a column, each row, or the people a foreign key leads to."""

from dataclasses import dataclass
from typing import TypeAlias

from discreet.errors import InvalidParameter


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
