"""Routes of owners: verify the ledger, reserve shares, decide what waits."""

from fractions import Fraction
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from discreet.accounting import notion_json
from discreet.errors import InvalidParameter
from discreet.server.http_errors import as_json
from discreet.server.people import Person
from discreet.server.request_bodies import read_number, read_object, read_text
from discreet.server.rest import schemas
from discreet.server.rest.bearer_auth import BearerAuth, noted
from discreet.server.service import Service

MEASURES = ("epsilon", "delta", "rho", "mu")


def add_routes(routes: APIRouter, service: Service, auth: BearerAuth) -> None:
    """Add them to a router."""
    Owner = Annotated[Person, Depends(auth.admit_owner)]  # noqa: N806  a type, though a local one

    @routes.get(
        "/api/datasets/{name}/verify",
        responses=schemas.replies(
            schemas.record(dict.fromkeys(("entries", "charges", "answers"), schemas.WHOLE)), 403
        ),
    )
    async def verify(_: Owner, name: str) -> Response:
        """Recompute the whole chain of the ledger; a difference is a conflict."""
        found = await service.dataset(name).verify()
        return as_json({"entries": found.entries, "charges": found.charges, "answers": found.answers})

    share = schemas.record({}, dict.fromkeys(MEASURES, schemas.POSITIVE))

    @routes.post(
        "/api/datasets/{name}/shares",
        openapi_extra=schemas.body(
            schemas.record({"analyst": schemas.NAME, "budget": share, "reason": schemas.TEXT})
        ),
        responses=schemas.replies(schemas.record({"remaining": schemas.NOTION}), 400, 403, 413),
    )
    async def reserve(request: Request, owner: Owner, name: str) -> Response:
        """Keep a share of the budget for one analyst."""
        dataset = service.dataset(name)
        facts = read_object(await auth.body(request), {"analyst", "budget", "reason"})
        analyst, reason = read_text(facts, "analyst"), read_text(facts, "reason")
        noted(request, dataset=name, analyst=analyst)
        await dataset.reserve(analyst, _read_budget(facts.get("budget")), reason=f"{owner.name}: {reason}")
        person = Person(analyst, "analyst")
        return as_json({"remaining": notion_json(await dataset.remaining(person))})

    @routes.post(
        "/api/datasets/{name}/failures/release",
        openapi_extra=schemas.body(schemas.record({"reason": schemas.TEXT}, {"analyst": schemas.NAME})),
        responses=schemas.replies(schemas.record({"released": schemas.WHOLE}), 400, 403, 413),
    )
    async def release(request: Request, owner: Owner, name: str) -> Response:
        """Let those ask again whose questions failed, one analyst or all: the owner has looked."""
        dataset = service.dataset(name)
        facts = read_object(await auth.body(request), {"analyst", "reason"})
        analyst = read_text(facts, "analyst") if "analyst" in facts else None
        noted(request, dataset=name, **({"analyst": analyst} if analyst else {}))
        reason = f"{owner.name}: {read_text(facts, 'reason')}"
        return as_json({"released": await dataset.release_failures(analyst, reason=reason)})

    @routes.post(
        "/api/datasets/{name}/approvals/{approval}",
        openapi_extra=schemas.body(schemas.record({"decision": {"enum": ["approved", "denied"]}})),
        responses=schemas.replies(schemas.APPROVAL, 400, 403, 413),
    )
    async def decide(request: Request, owner: Owner, name: str, approval: str) -> Response:
        """Approve or deny what waits."""
        dataset = service.dataset(name)
        decision = read_object(await auth.body(request), {"decision"}).get("decision")
        if decision not in ("approved", "denied"):
            raise InvalidParameter("decision must be approved or denied.", parameter="decision")
        noted(request, dataset=name, approval=approval[:32], decision=decision)
        return as_json((await dataset.decide(owner, approval, decision)).to_json())


def _read_budget(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value or not set(value) <= set(MEASURES):
        raise InvalidParameter(f"budget must be an object of {', '.join(MEASURES)}.", parameter="budget")
    return {name: Fraction(read_number(each, name=name)) for name, each in value.items()}
