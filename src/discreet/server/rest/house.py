"""Routes of the house itself: whether it stands, and its numbers for its owner."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from discreet.server.failures import as_json
from discreet.server.house import House
from discreet.server.metrics import metrics_text
from discreet.server.people import Person
from discreet.server.rest import schemas
from discreet.server.rest.door import Door


def add_routes(routes: APIRouter, house: House, door: Door) -> None:
    """Add them to a router."""
    Owner = Annotated[Person, Depends(door.admit_owner)]  # noqa: N806  a type, though a local one

    @routes.get(
        "/health",
        responses={
            200: {"content": {"application/json": {"schema": schemas.record({"status": schemas.TEXT})}}}
        },
    )
    async def health() -> Response:
        """That the process answers; nothing else is looked at, and anyone may ask."""
        return as_json({"status": "ok"})

    @routes.get(
        "/metrics",
        responses={
            200: {"content": {"text/plain": {"schema": schemas.TEXT}}},
            **{code: schemas.reply(code, schemas.ERROR) for code in (401, 403, 409, 429)},
        },
    )
    async def metrics(_: Owner) -> Response:
        """Counts of requests, and what is spent, for an owner: nothing of the data."""
        return Response(await metrics_text(house), media_type="text/plain; version=0.0.4")
