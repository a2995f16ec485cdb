"""Read-only routes: data sets, budgets, histories, receipts, approvals; the health check and the metrics."""

import math
from collections.abc import Mapping
from fractions import Fraction

from fastapi import APIRouter, Request, Response

from discreet.apps.server.http_errors import as_json
from discreet.apps.server.rest import schemas
from discreet.apps.server.rest.bearer_auth import Admitted, Owner, service_of
from discreet.apps.server.rest.schemas import many, record, replies
from discreet.apps.server.service import Service
from discreet.kernel.numerics import short_down, short_up

router = APIRouter()
_LISTED = record({"name": schemas.TEXT, "version": schemas.TEXT, "tables": many(schemas.TEXT)})
_OK = {"content": {"application/json": {"schema": record({"status": schemas.TEXT})}}}
_SIDES = {"spent": short_up, "budget": short_down}  # round to the safe side


@router.get("/health", responses={200: _OK})
async def health() -> Response:
    """Say that the process responds. Nothing else is checked, and anyone may ask."""
    return as_json({"status": "ok"})


@router.get(
    "/metrics",
    responses={
        200: {"content": {"text/plain": {"schema": schemas.TEXT}}},
        **{code: schemas.reply(code, schemas.ERROR) for code in (401, 403, 409, 429)},
    },
)
async def metrics(request: Request, _: Owner) -> Response:
    """Return counts of requests and the budget spent, for owners; nothing about the data."""
    return Response(await metrics_text(service_of(request)), media_type="text/plain; version=0.0.4")


@router.get("/api/datasets", responses=replies(record({"datasets": many(_LISTED)})))
async def datasets(request: Request, _: Admitted) -> Response:
    """List the data sets of this server."""
    every = [
        {"name": each.name, "version": each.policy.version, "tables": list(each.policy.table_names)}
        for each in service_of(request).datasets.values()
    ]
    return as_json({"datasets": every})


@router.get("/api/datasets/{name}", responses=replies({"type": "object", "required": ["id"]}))
async def dataset(request: Request, _: Admitted, name: str) -> Response:
    """Describe what may be asked of a data set: its policy, all of which is public."""
    return as_json(service_of(request).dataset(name).describe())


@router.get("/api/datasets/{name}/budget", responses=replies(schemas.BUDGET))
async def budget(request: Request, person: Admitted, name: str) -> Response:
    """Return what this user may still spend; for an owner, also every account."""
    facts = await service_of(request).dataset(name).budget(person)
    exact = {part: facts[part] for part in ("budget", "remaining")}
    return as_json({**facts, **{part: _numbers(notion) for part, notion in exact.items()}, "exact": exact})


@router.get("/api/datasets/{name}/history", responses=replies(record({"history": many(schemas.RECORD)})))
async def history(request: Request, person: Admitted, name: str) -> Response:
    """Return an analyst's own charges, or everything for an owner."""
    return as_json({"history": await service_of(request).dataset(name).history(person)})


@router.get(
    "/api/datasets/{name}/receipts/{charge}", responses=replies(record({"receipts": many(schemas.RECEIPT)}))
)
async def receipts(request: Request, person: Admitted, name: str, charge: str) -> Response:
    """Return the receipts of an answered charge: an analyst's own, or any for an owner."""
    return as_json({"receipts": await service_of(request).dataset(name).receipts(person, charge)})


@router.get(
    "/api/datasets/{name}/approvals", responses=replies(record({"approvals": many(schemas.APPROVAL)}))
)
async def approvals(request: Request, person: Admitted, name: str) -> Response:
    """Return the questions that needed approval: an analyst's own, or all for an owner."""
    found = await service_of(request).dataset(name).approvals(person)
    return as_json({"approvals": [each.to_json() for each in found]})


async def metrics_text(service: Service) -> str:
    """Return counts of requests and the ledger's numbers, in Prometheus' text format; never a duration."""
    lines = ["# TYPE discreet_requests_total counter"]
    for (method, route, status), count in sorted(service.journal.counts().items()):
        labels = f'method="{method}",route="{route}",status="{status}"'
        lines.append(f"discreet_requests_total{{{labels}}} {count}")
    lines += ["# TYPE discreet_spent gauge", "# TYPE discreet_budget gauge"]
    for each in service.datasets.values():
        for kind, notion in (await each.spending()).items():
            for measure in schemas.MEASURES:
                if hasattr(notion, measure):
                    labels = f'dataset="{_escaped(each.name)}",measure="{measure}"'
                    lines.append(f"discreet_{kind}{{{labels}}} {_SIDES[kind](getattr(notion, measure))}")
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _numbers(notion: Mapping[str, str]) -> dict[str, float]:
    """Return a notion's numbers as JSON can hold them, rounded down where a double is not exact."""
    exact = {name: Fraction(text) for name, text in notion.items() if name not in ("notion", "relation")}
    return {name: _round_down(number) for name, number in exact.items()}


def _round_down(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(repr(nearest)) == number else math.nextafter(nearest, -math.inf)
