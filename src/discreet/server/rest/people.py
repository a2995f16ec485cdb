"""Routes of people: who may come in. Owners decide; everyone may know who they are."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from discreet.server.http_errors import as_json
from discreet.server.people import DAYS, Person
from discreet.server.refusals import not_found
from discreet.server.request_bodies import read_object, read_text
from discreet.server.rest import schemas
from discreet.server.rest.bearer_auth import BearerAuth, noted
from discreet.server.service import Service


def add_routes(routes: APIRouter, service: Service, auth: BearerAuth) -> None:
    """Add them to a router."""
    Admitted = Annotated[Person, Depends(auth.admit)]  # noqa: N806  a type, though a local one
    Owner = Annotated[Person, Depends(auth.admit_owner)]  # noqa: N806
    shown_once = schemas.record({"name": schemas.TEXT, "token": schemas.TEXT})
    ended = schemas.record({"revoked": schemas.WHOLE})

    @routes.get(
        "/api/me", responses=schemas.replies(schemas.record({"name": schemas.TEXT, "role": schemas.ROLE}))
    )
    async def me(person: Admitted) -> Response:
        """Whose token this is."""
        return as_json({"name": person.name, "role": person.role})

    @routes.get(
        "/api/people",
        responses=schemas.replies(schemas.record({"people": schemas.many(schemas.PERSON)}), 403),
    )
    async def everyone(_: Owner) -> Response:
        """All people and what is known of their tokens."""
        return as_json({"people": await service.executor.admit(lambda: _everyone(service))})

    @routes.post(
        "/api/people",
        status_code=201,
        openapi_extra=schemas.body(
            schemas.record({"name": schemas.NAME, "role": schemas.ROLE}, {"days": schemas.DAYS})
        ),
        responses=schemas.replies(shown_once, 400, 403, 413, status=201),
    )
    async def add(request: Request, _: Owner) -> Response:
        """Add a person; their first token is shown this once."""
        facts = read_object(await auth.body(request), {"name", "role", "days"})
        name, role, days = read_text(facts, "name"), read_text(facts, "role"), facts.get("days", DAYS)
        noted(request, added=name[:64], role=role[:16])
        token = await service.executor.admit(lambda: service.people.add(name, role, days=days))
        return as_json({"name": name, "token": token}, status=201)

    @routes.post(
        "/api/people/{name}/tokens",
        status_code=201,
        openapi_extra=schemas.body(schemas.record({}, {"days": schemas.DAYS})),
        responses=schemas.replies(shown_once, 400, 403, 413, status=201),
    )
    async def new_token(request: Request, _: Owner, name: str) -> Response:
        """Another token for a person, shown this once."""
        days = read_object(await auth.body(request), {"days"}).get("days", DAYS)
        _known(service, name)
        noted(request, of=name)
        token = await service.executor.admit(lambda: service.people.new_token(name, days=days))
        return as_json({"name": name, "token": token}, status=201)

    @routes.delete("/api/people/{name}/tokens", responses=schemas.replies(ended, 403))
    async def revoke_all(request: Request, _: Owner, name: str) -> Response:
        """End all tokens of a person. What they asked stays charged."""
        _known(service, name)
        noted(request, of=name)
        return as_json({"revoked": await service.executor.admit(lambda: service.people.revoke(name))})

    @routes.delete("/api/people/{name}/tokens/{token}", responses=schemas.replies(ended, 403))
    async def revoke(request: Request, _: Owner, name: str, token: str) -> Response:
        """End the token with this id."""
        _known(service, name)
        noted(request, of=name)
        return as_json(
            {"revoked": await service.executor.admit(lambda: service.people.revoke(name, token=token))}
        )


def _everyone(service: Service) -> list[dict[str, object]]:
    return [
        {
            "name": each.name,
            "role": each.role,
            "tokens": [t.to_json() for t in service.people.tokens(each.name)],
        }
        for each in service.people.everyone()
    ]


def _known(service: Service, name: str) -> None:
    if service.people.find(name) is None:
        raise not_found()
