"""Routes of the service itself: whether it stands, and its numbers for its owner."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from discreet.server.http_errors import as_json
from discreet.server.metrics import metrics_text
from discreet.server.people import Person
from discreet.server.rest import schemas
from discreet.server.rest.bearer_auth import BearerAuth
from discreet.server.service import Service


def add_routes(routes: APIRouter, service: Service, auth: BearerAuth) -> None:
    """Add them to a router."""
    Owner = Annotated[Person, Depends(auth.admit_owner)]  # noqa: N806  a type, though a local one

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
        return Response(await metrics_text(service), media_type="text/plain; version=0.0.4")
