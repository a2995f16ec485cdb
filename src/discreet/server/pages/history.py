"""History: every release with its price, the running total against the limit, and the chain verified."""

from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet import pictures
from discreet.ledger import Record, Verification
from discreet.server.dataset import Dataset
from discreet.server.http_errors import as_json
from discreet.server.pages.datasets import gauge_of
from discreet.server.pages.figures import in_both_themes
from discreet.server.pages.gauge import BudgetGauge
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth, Visitor

SHOWN = 500  # newest records on a page


def routes(auth: SessionAuth) -> APIRouter:
    """What was released, to whom and for how much; an analyst's own, everything to an owner."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/datasets/{name}/history")
    async def history(request: Request, name: str) -> Response:
        visitor = await auth.admit(request)
        return await _show(auth.service.dataset(name), visitor)

    @router.get("/datasets/{name}/history/figure")
    async def figure(request: Request, name: str) -> Response:
        visitor = await auth.admit(request)
        dataset = auth.service.dataset(name)
        records = await dataset.history(visitor.person)
        return as_json(
            spending(records, await _standing(dataset, visitor), everybodys=visitor.person.is_owner)
        )

    @router.post("/datasets/{name}/verify")
    async def verify(request: Request, name: str) -> Response:
        visitor = await auth.admit_owner(request)
        await auth.form(request, expected=visitor.csrf)
        dataset = auth.service.dataset(name)
        return await _show(dataset, visitor, verified=await dataset.verify())

    return router


async def _show(dataset: Dataset, visitor: Visitor, *, verified: Verification | None = None) -> Response:
    records = await dataset.history(visitor.person)
    return page(
        "history.html",
        dataset=dataset,
        records=newest_first(records)[:SHOWN],
        count=len(records),
        standing=await _standing(dataset, visitor),
        verified=verified,
        **visitor.frame,
    )


async def _standing(dataset: Dataset, visitor: Visitor) -> BudgetGauge:
    """Of what is listed: the data set's own account, to an owner; else what the visitor may spend."""
    if visitor.person.is_owner:
        return BudgetGauge.of((await dataset.balances(visitor.person))[:1])
    return await gauge_of(dataset, visitor)


def newest_first(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records for a table: what does not apply to one is None."""
    blank = dict.fromkeys(field.name for field in fields(Record))
    return [{**blank, **record} for record in reversed(records)]


def spending(records: list[dict[str, Any]], standing: BudgetGauge, *, everybodys: bool) -> Any:
    """The picture of what was charged, in both themes; None where nothing was.

    One's own charges go on from one's own sum: its limit is that sum and what one may still spend.
    """
    charges = [
        (record["time"], Decimal(record["cost"]))
        for record in records
        if record["kind"] == "charge" and record.get("cost") is not None
    ]
    if not charges:
        return None
    own = sum((Fraction(cost) for _, cost in charges), standing.remaining[standing.measure])
    limit = standing.limit[standing.measure] if everybodys else own
    return in_both_themes(pictures.budget_over_time(charges, limit=limit, unit=standing.symbol))
