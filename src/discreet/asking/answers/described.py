"""DESCRIBE and SHOW TABLES: answered from the policy, which is public; nothing is charged or read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.asking.answers.wording import align, as_csv, show_value
from discreet.asking.policy import Column, Policy, PublicTable, Value
from discreet.errors import UnsupportedQuery

_ASKED = re.compile(
    r"\s*(?:(show)\s+tables|(?:describe|desc|show\s+columns\s+from)\s+(?:\"([^\"]+)\"|(\w+)))\s*;?\s*",
    re.IGNORECASE,
)
_MOST_SHOWN = 12  # labels of a column


@dataclass(frozen=True)
class Described:
    """What the policy says of tables or of the columns of one: a table without noise, free."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Value], ...]
    charged: bool = False

    @property
    def intervals(self) -> tuple[Mapping[str, None], ...]:
        """None everywhere: there is no noise."""
        return tuple(dict.fromkeys(self.columns) for _ in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the rows, for programs."""
        return {"columns": list(self.columns), "rows": [dict(row) for row in self.rows], "charged": False}

    def to_csv(self) -> str:
        """Return the table as CSV."""
        lines: list[list[Value]] = [[*self.columns], *([*row.values()] for row in self.rows)]
        return "".join(",".join(map(as_csv, line)) + "\n" for line in lines)

    def __str__(self) -> str:
        lines = [list(self.columns), *([show_value(row[name]) for name in self.columns] for row in self.rows)]
        return "\n".join([align(lines), "", "from the policy, free"])


def describe(text: object, policy: Policy) -> Described | None:
    """Return the answer to DESCRIBE and SHOW TABLES; None for anything else.

    >>> describe("SELECT COUNT(*) FROM t", None) is None
    True
    """
    found = _ASKED.fullmatch(text) if isinstance(text, str) and len(text) < 1000 else None
    if found is None:
        return None
    if found[1]:
        rows = [{"table": each.name, "kind": "private"} for each in policy.tables]
        rows += [{"table": each.name, "kind": "public"} for each in policy.public]
        return Described(("table", "kind"), tuple(rows))
    name = found[2] or found[3]
    table = policy.table(name)
    if table is None:
        known = ", ".join(policy.table_names)
        raise UnsupportedQuery(f"Table {name!r} is not known. There are: {known}.", reason="unknown_table")
    unit = None if isinstance(table, PublicTable) else getattr(table.unit, "column", None)
    return Described(
        ("column", "type", "bounds", "keys", "unit"), tuple(_line(each, unit) for each in table.columns)
    )


def _line(column: Column, unit: str | None) -> dict[str, Value]:
    bounds, keys = column.bounds, column.keys or ()
    shown = ", ".join(show_value(key) for key in keys[:_MOST_SHOWN])
    shown += " ..." if len(keys) > _MOST_SHOWN else ""
    return {
        "column": column.name,
        "type": column.type,
        "bounds": None if bounds is None else " to ".join(_end(end) for end in bounds),
        "keys": shown or None,
        "unit": unit is not None and column.name.lower() == unit.lower(),
    }


def _end(value: Any) -> str:
    return show_value(float(value)) if hasattr(value, "numerator") else str(value)
