"""Data sets: what may be asked, column by column, and how the budget stands."""

import re
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.server.dataset import Dataset
from discreet.server.pages.gauge import BudgetGauge
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth, Visitor
from discreet.tables import Column, EachRow, Policy, PublicTable, Table, Through, spell

SHOWN_KEYS = 12
NUMERIC = ("integer", "number")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def routes(auth: SessionAuth) -> APIRouter:
    """The list of data sets, and a page for each."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/datasets")
    async def every(request: Request) -> Response:
        visitor = await auth.admit(request)
        cards = [
            {"name": each.name, "policy": each.policy, "standing": await gauge_of(each, visitor)}
            for each in auth.service.datasets.values()
        ]
        return page("datasets.html", cards=cards, **visitor.frame)

    @router.get("/datasets/{name}")
    async def one(request: Request, name: str) -> Response:
        visitor = await auth.admit(request)
        dataset = auth.service.dataset(name)
        return page(
            "dataset.html",
            dataset=dataset,
            tables=describe(dataset.policy),
            policy=dataset.policy,
            standing=await gauge_of(dataset, visitor),
            examples=examples(dataset.policy),
            **visitor.frame,
        )

    return router


async def gauge_of(dataset: Dataset, visitor: Visitor) -> BudgetGauge:
    """What this visitor may spend, and of what."""
    person = visitor.person
    return BudgetGauge.of(await dataset.balances(person), await dataset.failures(person))


def describe(policy: Policy) -> list[dict[str, Any]]:
    """Every table with its columns: what a question may say of each."""
    private = [_table(each, policy) for each in policy.tables]
    return [*private, *(_public(each) for each in policy.public)]


def _table(table: Table, policy: Policy) -> dict[str, Any]:
    unit = table.unit
    if isinstance(unit, EachRow):
        protected = "each row"
    elif isinstance(unit, Through):
        protected = f"the person reached through {unit.table}"
    else:
        protected = f"each {unit.column}"
    columns = [_column(each, table) for each in table.columns]
    return {
        "name": table.name,
        "kind": "private",
        "protected": f"{protected}, under {policy.relation}",
        "limits": "" if isinstance(unit, EachRow) else _limits(table),
        "columns": columns,
    }


def _limits(table: Table) -> str:
    groups = f"{table.max_groups} group{'s' * (table.max_groups > 1)}"
    rows = f"{table.max_rows} row{'s' * (table.max_rows > 1)}"
    return f"at most {groups}, and {rows} in each"


def _public(table: PublicTable) -> dict[str, Any]:
    columns = [_column(each, None) for each in table.columns]
    return {"name": table.name, "kind": "public", "protected": "", "limits": "", "columns": columns}


def _column(column: Column, table: Table | None) -> dict[str, Any]:
    is_unit = table is not None and getattr(table.unit, "column", None) == column.name
    return {
        "name": column.name,
        "type": column.type,
        "bounds": "" if column.bounds is None else " to ".join(spell_short(end) for end in column.bounds),
        "keys": [str(spell(key)) for key in (column.keys or ())[:SHOWN_KEYS]],
        "more": max(0, len(column.keys or ()) - SHOWN_KEYS),
        "uses": _uses(column, is_unit),
    }


def _uses(column: Column, is_unit: bool) -> str:
    if is_unit:
        return "counted: COUNT(DISTINCT …)"
    uses = ["filter"]
    if column.keys is not None:
        uses.append("group by, all labels shown")
    if column.bounds is not None and column.type in NUMERIC:
        uses.append("sum, average, quantiles")
    return ", ".join(uses)


def spell_short(value: Any) -> str:
    """A bound for a reader."""
    text = str(spell(value))
    return f"{int(text):,}" if text.lstrip("-").isdigit() else text


def examples(policy: Policy) -> list[tuple[str, str]]:
    """Questions that this policy allows, to begin with: what each asks, and its SQL."""
    table = policy.tables[0]
    unit = getattr(table.unit, "column", None)
    counted = f"COUNT(DISTINCT {sql_name(unit)})" if unit else "COUNT(*)"
    label = next((each.name for each in table.columns if each.keys is not None), None)
    amount = next((each.name for each in table.columns if each.bounds and each.type in NUMERIC), None)
    source = f"FROM {sql_name(table.name)}"
    found = [("people in all", f"SELECT {counted} AS people\n{source}")]
    if label:
        key = sql_name(label)
        grouped = f"SELECT {key}, {counted} AS people\n{source}\nGROUP BY {key}\nORDER BY people DESC"
        found.insert(0, (f"people by {label}", grouped))
    if amount:
        value = sql_name(amount)
        found.append((f"mean {amount}", f"SELECT COUNT(*) AS n, AVG({value}) AS mean\n{source}"))
        found.append((f"median {amount}", f"SELECT MEDIAN({value}) AS median\n{source}"))
    return found


def sql_name(name: str) -> str:
    """A name as SQL writes it: quoted where it has to be."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'
