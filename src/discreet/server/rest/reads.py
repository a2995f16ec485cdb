"""Routes that only look: data sets, budgets, histories, receipts, approvals."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from discreet.server.http_errors import as_json
from discreet.server.people import Person
from discreet.server.rest import schemas
from discreet.server.rest.bearer_auth import BearerAuth
from discreet.server.service import Service


def add_routes(routes: APIRouter, service: Service, auth: BearerAuth) -> None:
    """Add them to a router."""
    Admitted = Annotated[Person, Depends(auth.admit)]  # noqa: N806  a type, though a local one

    listed = schemas.record(
        {"name": schemas.TEXT, "version": schemas.TEXT, "tables": schemas.many(schemas.TEXT)}
    )

    @routes.get(
        "/api/datasets", responses=schemas.replies(schemas.record({"datasets": schemas.many(listed)}))
    )
    async def datasets(_: Admitted) -> Response:
        """The data sets of this service."""
        every = [
            {"name": each.name, "version": each.policy.version, "tables": list(each.policy.table_names)}
            for each in service.datasets.values()
        ]
        return as_json({"datasets": every})

    @routes.get("/api/datasets/{name}", responses=schemas.replies({"type": "object", "required": ["id"]}))
    async def dataset(_: Admitted, name: str) -> Response:
        """What may be asked of a data set: its policy, all of which is public."""
        return as_json(service.dataset(name).describe())

    @routes.get(
        "/api/datasets/{name}/budget",
        responses=schemas.replies(schemas.BUDGET),
    )
    async def budget(person: Admitted, name: str) -> Response:
        """What this person may still spend; to an owner, how every account stands."""
        facts = await service.dataset(name).budget(person)
        exact = {part: facts[part] for part in ("budget", "remaining")}
        return as_json({**facts, **{part: _numbers(told) for part, told in exact.items()}, "exact": exact})

    @routes.get(
        "/api/datasets/{name}/history",
        responses=schemas.replies(schemas.record({"history": schemas.many(schemas.RECORD)})),
    )
    async def history(person: Admitted, name: str) -> Response:
        """An analyst's own charges; everything, to an owner."""
        return as_json({"history": await service.dataset(name).history(person)})

    @routes.get(
        "/api/datasets/{name}/receipts/{charge}",
        responses=schemas.replies(schemas.record({"receipts": schemas.many(schemas.RECEIPT)})),
    )
    async def receipts(person: Admitted, name: str, charge: str) -> Response:
        """The receipts of an answered charge: an analyst's own, or any, to an owner."""
        return as_json({"receipts": await service.dataset(name).receipts(person, charge)})

    @routes.get(
        "/api/datasets/{name}/approvals",
        responses=schemas.replies(schemas.record({"approvals": schemas.many(schemas.APPROVAL)})),
    )
    async def approvals(person: Admitted, name: str) -> Response:
        """Questions above the policy's price: an analyst's own, or all, to an owner."""
        found = await service.dataset(name).approvals(person)
        return as_json({"approvals": [each.to_json() for each in found]})


def _numbers(notion: Mapping[str, str]) -> dict[str, float]:
    """A notion's numbers as JSON has them, rounded down where a double cannot hold one."""
    exact = {name: Fraction(text) for name, text in notion.items() if name not in ("notion", "relation")}
    return {name: _shown(number) for name, number in exact.items()}


def _shown(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(repr(nearest)) == number else math.nextafter(nearest, -math.inf)
