"""The pages of a data set: the list, what may be asked column by column, the budget, and the history."""

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.apps import pictures
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.pages.gauge import BudgetGauge
from discreet.apps.server.pages.question_builder import NUMERIC, sql_name, uses_of
from discreet.apps.server.pages.rendering import WIDTHS, page
from discreet.apps.server.pages.session_auth import OwnerForm, PageRoute, SignedIn, Visitor
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.asking.answers import as_csv, show_value
from discreet.asking.engines.duckdb.registration import first_rows
from discreet.asking.policy import Column, EachRow, Policy, PublicTable, Table, Through, spell
from discreet.errors import DiscreetError
from discreet.kernel.ledger import Record, Verification

SHOWN_KEYS = 12
SHOWN_ROWS = 20  # of a public table
SHOWN_RECORDS = 500  # the newest records on a page

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/datasets")
async def every(request: Request, visitor: SignedIn) -> Response:
    """Show all data sets."""
    cards = [
        {"name": each.name, "policy": each.policy, "gauge": await gauge_of(each, visitor)}
        for each in service_of(request).datasets.values()
    ]
    can_open = service_of(request).folder is not None
    return page("datasets.html", cards=cards, can_open=can_open, **visitor.frame)


@router.get("/datasets/{name}")
async def one(request: Request, visitor: SignedIn, name: str) -> Response:
    """Show what may be asked of one data set."""
    dataset = service_of(request).dataset(name)
    return page(
        "dataset.html",
        dataset=dataset,
        tables=await dataset.plan_public(describe),
        public_rows=await dataset.plan_public(public_rows),
        policy=dataset.policy,
        gauge=await gauge_of(dataset, visitor),
        examples=examples(dataset.policy),
        **visitor.frame,
    )


@router.get("/datasets/{name}/history")
async def history(request: Request, visitor: SignedIn, name: str) -> Response:
    """Show what was released: an analyst's own questions, or everything to an owner."""
    asked = request.query_params
    wanted = {field: asked.get(field, "").strip()[:200] for field in ("find", "who")}
    return await _show_history(service_of(request).dataset(name), visitor, wanted)


@router.get("/datasets/{name}/history.csv")
async def history_file(request: Request, visitor: SignedIn, name: str) -> Response:
    """Download the same as a table, oldest first."""
    records = await service_of(request).dataset(name).history(visitor.person)
    table = await service_of(request).executor.plan(partial(history_csv, records))
    headers = {"content-disposition": 'attachment; filename="history.csv"'}
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


def history_csv(records: list[dict[str, Any]]) -> str:
    """Return records as CSV that no spreadsheet runs."""
    columns = [field.name for field in fields(Record)]
    lines = [columns, *([as_csv(record.get(name)) for name in columns] for record in records)]
    return "".join(",".join(line) + "\n" for line in lines)


def matching(records: list[dict[str, Any]], wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the records of a person, or of all, that hold a text."""
    text, who = wanted["find"].casefold(), wanted["who"]
    return [
        each
        for each in records
        if (not who or each["analyst"] == who)
        and text in " ".join(str(each[part] or "") for part in ("question", "reason", "state")).casefold()
    ]


@router.post("/datasets/{name}/verify")
async def verify(request: Request, sent: OwnerForm, name: str) -> Response:
    """Verify the ledger, and show the history with the result."""
    dataset = service_of(request).dataset(name)
    return await _show_history(dataset, sent.visitor, verified=await dataset.verify())


async def _show_history(
    dataset: Dataset,
    visitor: Visitor,
    wanted: Mapping[str, str] | None = None,
    *,
    verified: Verification | None = None,
) -> Response:
    records, gauge = await dataset.history(visitor.person), await _history_gauge(dataset, visitor)
    wanted = wanted or {"find": "", "who": ""}
    found = matching(newest_first(records), wanted)
    return page(
        "history.html",
        dataset=dataset,
        records=found[:SHOWN_RECORDS],
        count=len(found),
        any_at_all=bool(records),
        wanted=wanted,
        everyone=sorted({each["analyst"] for each in records if each.get("analyst")}),
        has_delta=any(Fraction(each.get("delta") or 0) for each in records),
        gauge=gauge,
        spent=spending(records, gauge, of_all=visitor.person.is_owner),
        verified=verified,
        **visitor.frame,
    )


async def _history_gauge(dataset: Dataset, visitor: Visitor) -> BudgetGauge:
    """Return the data set's own account for an owner, and the visitor's budget otherwise."""
    if visitor.person.is_owner:
        return BudgetGauge.of((await dataset.balances(visitor.person))[:1])
    return await gauge_of(dataset, visitor)


def newest_first(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records for a table, newest first; fields that do not apply are None."""
    blank = dict.fromkeys(field.name for field in fields(Record))
    return [{**blank, **record} for record in reversed(records)]


def spending(records: list[dict[str, Any]], gauge: BudgetGauge, *, of_all: bool) -> dict[str, str] | None:
    """Return the picture of the charges, wide and narrow, or None without charges.

    For one analyst's charges, the limit is their sum plus what the analyst may still spend.
    """
    charges = [
        (record["time"], Decimal(record["cost"]))
        for record in records
        if record["kind"] == "charge" and record.get("cost") is not None
    ]
    if not charges:
        return None
    own = sum((Fraction(cost) for _, cost in charges), gauge.remaining[gauge.measure])
    limit = gauge.limit[gauge.measure] if of_all else own
    draw = partial(pictures.draw_spending, charges, limit=limit, unit=gauge.symbol)
    return {name: draw(width=width).markup() for name, width in WIDTHS.items()}


async def gauge_of(dataset: Dataset, visitor: Visitor) -> BudgetGauge:
    """Return what this visitor may spend, and of what budget."""
    person = visitor.person
    return BudgetGauge.of(await dataset.balances(person), await dataset.failures(person))


def describe(policy: Policy) -> list[dict[str, Any]]:
    """Describe every table: its columns and how questions may use them."""
    private = [_table(each, policy) for each in policy.tables]
    return [*private, *(_public(each, policy) for each in policy.public)]


def _table(table: Table, policy: Policy) -> dict[str, Any]:
    unit = table.unit
    if isinstance(unit, EachRow):
        protected = "each row"
    elif isinstance(unit, Through):
        protected = f"the person reached through {unit.table}"
    else:
        protected = f"each {unit.column}"
    columns = [_column(each, table, policy) for each in table.columns]
    return {
        "name": table.name,
        "kind": "private",
        "protected": f"{protected}, under {policy.relation}",
        "limits": "" if isinstance(unit, EachRow) else _limits(table),
        "columns": columns,
    }


def _limits(table: Table) -> str:
    if table.limit == "auto":
        return "how much one unit adds over all groups is found privately"
    if table.limit is not None:
        return f"at most {table.limit:,} row{'s' * (table.limit > 1)} over all groups"
    groups = f"{table.max_groups} group{'s' * (table.max_groups > 1)}"
    rows = f"{table.max_rows} row{'s' * (table.max_rows > 1)}"
    return f"at most {groups}, and {rows} in each"


def _public(table: PublicTable, policy: Policy) -> dict[str, Any]:
    columns = [_column(each, table, policy) for each in table.columns]
    return {"name": table.name, "kind": "public", "protected": "", "limits": "", "columns": columns}


def public_rows(policy: Policy) -> dict[str, dict[str, Any]]:
    """Return the columns and first rows of each public table that is a file."""
    if policy.engine != "duckdb":
        return {}
    found = ((each.name, _read_public(each, each.source)) for each in policy.public if each.source)
    return {name: {"columns": columns, "rows": rows} for name, (columns, rows) in found if columns}


@lru_cache(32)
def _read_public(table: PublicTable, source: str) -> tuple[list[str], list[list[str]]]:
    """Read a public table once; `source` is no part of what a table is, and so named again."""
    try:
        columns, rows = first_rows(table, most=SHOWN_ROWS)
    except DiscreetError:
        return [], []
    return columns, [[show_value(value) for value in row] for row in rows]


def _column(column: Column, table: Table | PublicTable, policy: Policy) -> dict[str, Any]:
    return {
        "name": column.name,
        "sql": sql_name(column.name),
        "type": column.type,
        "bounds": "" if column.bounds is None else " to ".join(spell_short(end) for end in column.bounds),
        "keys": [str(spell(key)) for key in (column.keys or ())[:SHOWN_KEYS]],
        "more": max(0, len(column.keys or ()) - SHOWN_KEYS),
        "uses": uses_of(column, table, policy),
    }


def spell_short(value: Any) -> str:
    """Return a bound as a reader expects it, with thousands separators."""
    text = str(spell(value))
    return f"{int(text):,}" if text.lstrip("-").isdigit() else text


def examples(policy: Policy) -> list[tuple[str, str]]:
    """Return a few questions that this policy allows: a title and the SQL of each."""
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
