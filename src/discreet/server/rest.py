"""The routes of REST. A bearer token opens all of /api; nothing else does."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from discreet.server.asks import read_ask
from discreet.server.failures import as_json
from discreet.server.house import House
from discreet.server.people import Person
from discreet.server.refusals import too_large


def router(house: House) -> APIRouter:
    """All routes of a house."""
    routes = APIRouter()

    def person(request: Request) -> Person:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        address = request.client.host if request.client else ""
        return house.admit(token if scheme.lower() == "bearer" else "", address=address)

    Admitted = Annotated[Person, Depends(person)]  # noqa: N806  a type, though a local one

    @routes.get("/health")
    async def health() -> Response:
        return as_json({"status": "ok"})

    @routes.get("/api/datasets")
    async def datasets(_: Admitted) -> Response:
        return as_json({"datasets": list(house.datasets)})

    @routes.post("/api/datasets/{name}/ask")
    async def ask(request: Request, who: Admitted, name: str) -> Response:
        dataset = house.dataset(name)
        asked = read_ask(await read_body(request, house.limits.body_bytes), house.limits)
        given = await dataset.ask(who, asked, key=request.headers.get("idempotency-key"))
        answers = [answer.to_json() for answer in given.answers]
        facts = {"charged": given.charged}
        return as_json({"answers": answers, **facts} if asked.is_list else {**answers[0], **facts})

    return routes


async def read_body(request: Request, most: int) -> bytes:
    """The body, no more of it than is allowed."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_large(most)
        parts.append(part)
    return b"".join(parts)
