"""What a question may be built from without SQL: only what the policy allows, as the planner says.

Tested by: tests/server/pages/test_question_builder.py
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from discreet.asking.planning import plan_asked
from discreet.asking.policy import Column, Policy, PublicTable, Table, Value, spell
from discreet.errors import DiscreetError

NUMERIC = ("integer", "number")
MOST_LABELS = 1000  # of a column, as a menu; beyond them one writes
PARTS = {"month": ("date", "timestamp"), "year": ("date", "timestamp")}
Grouping: TypeAlias = Literal["all", "found", ""]  # all labels are shown; found in the data, for δ; refused

RESERVED = {  # what SQL takes for no name unless it is quoted
    "all", "alter", "and", "any", "as", "between", "case", "create", "cross", "cube", "current_catalog",
    "current_date", "current_time", "current_timestamp", "current_user", "describe", "distinct", "drop",
    "else", "except", "false", "fetch", "for", "force", "from", "glob", "grant", "group", "having",
    "ilike", "in", "inner", "insert", "install", "intersect", "into", "is", "join", "lateral", "like",
    "limit", "localtime", "localtimestamp", "lock", "map", "not", "notnull", "null", "offset", "on",
    "only", "or", "order", "outer", "partitioned_by", "positional", "qualify", "regexp", "returning",
    "revoke", "rlike", "rollback", "rollup", "select", "session_user", "set", "summarize", "table",
    "tablesample", "then", "true", "uncache", "union", "using", "values", "when", "where", "window",
    "with", "xor",
}  # fmt: skip


def sql_name(name: str) -> str:
    """Return a name as SQL writes it, quoted where necessary.

    >>> sql_name("city"), sql_name('the "old" town'), sql_name("From")
    ('city', '"the ""old"" town"', '"From"')
    """
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name if plain and name.lower() not in RESERVED else '"' + name.replace('"', '""') + '"'


def sql_value(value: Value, kind: str) -> str:
    """Return a value as SQL writes it.

    >>> sql_value("O'Brien", "text"), sql_value(5, "integer")
    ("'O''Brien'", '5')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = str(spell(value)).replace("'", "''")
    prefix = {"date": "DATE ", "timestamp": "TIMESTAMP "}.get(kind, "")
    return f"{prefix}'{text}'" if prefix or isinstance(value, str) else text


@lru_cache(64)
def grouping(policy: Policy, table: str, by: str) -> Grouping:
    """Return how the planner groups a table by an expression, if it does."""
    try:
        sql = f"SELECT {by} AS k, COUNT(*) AS n FROM {sql_name(table)} GROUP BY {by}"  # noqa: S608  planned, never run
        (plan,) = plan_asked(sql, policy, epsilon=1)
    except DiscreetError:
        return ""
    return "found" if getattr(plan.price, "delta", 0) else "all"


@lru_cache(64)
def building_blocks(policy: Policy) -> list[dict[str, Any]]:
    """Return, for each private table, what may be measured, grouped by and filtered."""
    return [
        {
            "name": table.name,
            "sql": sql_name(table.name),
            "measures": list(_measures(table)),
            "groups": list(_groups(table, policy)),
            "filters": [_filter(column) for column in table.columns if not _is_unit(column, table)],
        }
        for table in policy.tables
    ]


def is_measured(column: Column) -> bool:
    """Return whether a column may be summed."""
    return column.bounds is not None and column.type in NUMERIC


def _is_unit(column: Column, table: Table) -> bool:
    return getattr(table.unit, "column", None) == column.name


def _measures(table: Table) -> Iterator[dict[str, str]]:
    unit = getattr(table.unit, "column", None)
    if unit:
        yield {"text": "number of people", "sql": f"COUNT(DISTINCT {sql_name(unit)})", "as": "people"}
    yield {"text": "number of rows", "sql": "COUNT(*)", "as": "n"}
    for column in filter(is_measured, table.columns):
        name = sql_name(column.name)
        yield {"text": f"mean {column.name}", "sql": f"AVG({name})", "as": "mean"}
        yield {"text": f"total {column.name}", "sql": f"SUM({name})", "as": "total"}
        yield {"text": f"median {column.name}", "sql": f"MEDIAN({name})", "as": "median"}


def _groups(table: Table, policy: Policy) -> Iterator[dict[str, str]]:
    for column in table.columns:
        if _is_unit(column, table):
            continue
        name = sql_name(column.name)
        ways = [(f"{part} of {column.name}", f"DATE_TRUNC('{part}', {name})", part) for part in PARTS]
        every = ways if column.type in ("date", "timestamp") else []
        for text, sql, alias in [*every, (column.name, name, "")]:
            found = grouping(policy, table.name, sql)
            if found:
                more = "" if found == "all" else " (labels found, costs δ)"
                yield {"text": text + more, "sql": sql, "as": alias}


def _filter(column: Column) -> dict[str, Any]:
    known = column.keys or ()
    labels = [[str(spell(key)), sql_value(key, column.type)] for key in known[:MOST_LABELS]]
    if column.type == "boolean":
        labels = [["true", "TRUE"], ["false", "FALSE"]]
    return {
        "text": column.name,
        "sql": sql_name(column.name),
        "type": column.type,
        "labels": labels if len(known) <= MOST_LABELS else [],
    }


def uses_of(column: Column, table: Table | PublicTable, policy: Policy) -> str:
    """Say what questions may do with a column, as the planner decides it."""
    if isinstance(table, PublicTable):
        return "join" if column.name == table.key else "filter, group by after a join"
    if _is_unit(column, table):
        return "counted: COUNT(DISTINCT …)"
    ways = {
        "all": ["group by, all labels shown"],
        "found": ["group by, labels found for δ: rare ones are hidden"],
        "": [],
    }
    by = ways[grouping(policy, table.name, sql_name(column.name))]
    return ", ".join(["filter", *by, *(["sum, average, quantiles"] if is_measured(column) else [])])
