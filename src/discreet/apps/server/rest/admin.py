"""Routes of owners: users and tokens, the ledger's verification, shares, failures, approvals."""

from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.apps.server.http_errors import as_json
from discreet.apps.server.journal import note
from discreet.apps.server.people import DAYS, Person
from discreet.apps.server.request_bodies import read_number, read_object, read_text
from discreet.apps.server.rest import schemas
from discreet.apps.server.rest.bearer_auth import Admitted, Owner, read_body, service_of
from discreet.apps.server.rest.schemas import MEASURES, many, record, replies
from discreet.errors import InvalidParameter
from discreet.kernel.accounting import notion_json

router = APIRouter()
_SHARE = record({}, dict.fromkeys(MEASURES, schemas.POSITIVE))
_SHOWN_ONCE = replies(record({"name": schemas.TEXT, "token": schemas.TEXT}), 400, 403, 413, status=201)
_REVOKED = replies(record({"revoked": schemas.WHOLE}), 403)


@router.get("/api/me", responses=replies(record({"name": schemas.TEXT, "role": schemas.ROLE})))
async def me(person: Admitted) -> Response:
    """Return the user of this token."""
    return as_json({"name": person.name, "role": person.role})


@router.get("/api/people", responses=replies(record({"people": many(schemas.PERSON)}), 403))
async def everyone(request: Request, _: Owner) -> Response:
    """List all users and what is stored about their tokens."""
    service = service_of(request)

    def listed() -> list[dict[str, object]]:
        people = service.people
        return [
            {"name": each.name, "role": each.role, "tokens": [t.to_json() for t in people.tokens(each.name)]}
            for each in people.everyone()
        ]

    return as_json({"people": await service.executor.use_people(listed)})


@router.post(
    "/api/people",
    status_code=201,
    openapi_extra=schemas.body(record({"name": schemas.NAME, "role": schemas.ROLE}, {"days": schemas.DAYS})),
    responses=_SHOWN_ONCE,
)
async def add(request: Request, _: Owner) -> Response:
    """Add a user; the first token is shown only this once."""
    facts = read_object(await read_body(request), {"name", "role", "days"})
    name, role, days = read_text(facts, "name"), read_text(facts, "role"), facts.get("days", DAYS)
    note(request, added=name[:64], role=role[:16])
    service = service_of(request)
    token = await service.executor.use_people(service.people.add, name, role, days=days)
    return as_json({"name": name, "token": token}, status=201)


@router.post(
    "/api/people/{name}/tokens",
    status_code=201,
    openapi_extra=schemas.body(record({}, {"days": schemas.DAYS})),
    responses=_SHOWN_ONCE,
)
async def new_token(request: Request, _: Owner, name: str) -> Response:
    """Create another token for a user, shown only this once."""
    days = read_object(await read_body(request), {"days"}).get("days", DAYS)
    service = service_of(request)
    service.check_known(name)
    note(request, of=name)
    token = await service.executor.use_people(service.people.new_token, name, days=days)
    return as_json({"name": name, "token": token}, status=201)


@router.delete("/api/people/{name}/tokens", responses=_REVOKED)
async def revoke_all(request: Request, _: Owner, name: str) -> Response:
    """Revoke all tokens of a user. Past charges stay."""
    return await _revoke(request, name, None)


@router.delete("/api/people/{name}/tokens/{token}", responses=_REVOKED)
async def revoke(request: Request, _: Owner, name: str, token: str) -> Response:
    """Revoke the token with this id."""
    return await _revoke(request, name, token)


async def _revoke(request: Request, name: str, token: str | None) -> Response:
    service = service_of(request)
    service.check_known(name)
    note(request, of=name)
    return as_json({"revoked": await service.executor.use_people(service.people.revoke, name, token=token)})


@router.get(
    "/api/datasets/{name}/verify",
    responses=replies(record(dict.fromkeys(("entries", "charges", "answers"), schemas.WHOLE)), 403),
)
async def verify(request: Request, _: Owner, name: str) -> Response:
    """Recompute the whole chain of the ledger; a difference is a conflict."""
    found = await service_of(request).dataset(name).verify()
    return as_json({"entries": found.entries, "charges": found.charges, "answers": found.answers})


@router.post(
    "/api/datasets/{name}/shares",
    openapi_extra=schemas.body(record({"analyst": schemas.NAME, "budget": _SHARE, "reason": schemas.TEXT})),
    responses=replies(record({"remaining": schemas.NOTION}), 400, 403, 413),
)
async def reserve(request: Request, owner: Owner, name: str) -> Response:
    """Reserve a share of the budget for one analyst."""
    dataset = service_of(request).dataset(name)
    facts = read_object(await read_body(request), {"analyst", "budget", "reason"})
    analyst, reason = read_text(facts, "analyst"), read_text(facts, "reason")
    note(request, dataset=name, analyst=analyst)
    await dataset.reserve(analyst, _read_budget(facts.get("budget")), reason=f"{owner.name}: {reason}")
    return as_json({"remaining": notion_json(await dataset.remaining(Person(analyst, "analyst")))})


@router.post(
    "/api/datasets/{name}/failures/release",
    openapi_extra=schemas.body(record({"reason": schemas.TEXT}, {"analyst": schemas.NAME})),
    responses=replies(record({"released": schemas.WHOLE}), 400, 403, 413),
)
async def release(request: Request, owner: Owner, name: str) -> Response:
    """Reset the count of failed questions, of one analyst or of all, so that they may ask again."""
    dataset = service_of(request).dataset(name)
    facts = read_object(await read_body(request), {"analyst", "reason"})
    analyst = read_text(facts, "analyst") if "analyst" in facts else None
    note(request, dataset=name, **({"analyst": analyst} if analyst else {}))
    reason = f"{owner.name}: {read_text(facts, 'reason')}"
    return as_json({"released": await dataset.release_failures(analyst, reason=reason)})


@router.post(
    "/api/datasets/{name}/approvals/{approval}",
    openapi_extra=schemas.body(record({"decision": {"enum": ["approved", "denied"]}})),
    responses=replies(schemas.APPROVAL, 400, 403, 413),
)
async def decide(request: Request, owner: Owner, name: str, approval: str) -> Response:
    """Approve or deny a waiting question."""
    dataset = service_of(request).dataset(name)
    decision = read_object(await read_body(request), {"decision"}).get("decision")
    if decision not in ("approved", "denied"):
        raise InvalidParameter("decision must be approved or denied.", parameter="decision")
    note(request, dataset=name, approval=approval[:32], decision=decision)
    return as_json((await dataset.decide(owner, approval, decision)).to_json())


def _read_budget(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value or not set(value) <= set(MEASURES):
        raise InvalidParameter(f"budget must be an object of {', '.join(MEASURES)}.", parameter="budget")
    return {name: Fraction(read_number(each, name=name)) for name, each in value.items()}
