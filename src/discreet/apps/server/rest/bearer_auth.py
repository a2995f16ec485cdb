"""Authentication of REST by bearer token, and the reading of request bodies."""

import asyncio
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import ClientDisconnect

from discreet.apps.server.http_errors import owners_only, too_large
from discreet.apps.server.journal import note
from discreet.apps.server.people import Person
from discreet.apps.server.service import Service
from discreet.errors import InvalidParameter

_BEARER = HTTPBearer(auto_error=False, description="A token of this server: dp_...")
_Credentials: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def service_of(request: Request) -> Service:
    """Return the service that an application serves."""
    service: Service = request.app.state.service
    return service


class BearerAuth:
    """A dependency that admits the user of a token, read from the Authorization header only."""

    def __init__(self, *, owners: bool = False) -> None:
        self._owners = owners

    async def __call__(self, request: Request, credentials: _Credentials) -> Person:
        service, address = service_of(request), request.client.host if request.client else ""
        token = credentials.credentials if credentials is not None else ""
        person = await service.executor.use_people(service.admit, token, address=address)
        note(request, person=person.name)
        if self._owners and not person.is_owner:
            raise owners_only()
        return person


Admitted: TypeAlias = Annotated[Person, Depends(BearerAuth())]
Owner: TypeAlias = Annotated[Person, Depends(BearerAuth(owners=True))]


async def read_body(request: Request) -> bytes:
    """Read a request's body, within the limits of size and time."""
    limits, parts, size = service_of(request).limits, [], 0
    try:
        async with asyncio.timeout(limits.body_s):
            async for part in request.stream():
                size += len(part)
                if size > limits.body_bytes:
                    raise too_large(limits.body_bytes)
                parts.append(part)
    except TimeoutError:
        raise InvalidParameter(f"a request's body must arrive within {limits.body_s:g} seconds.") from None
    except ClientDisconnect:
        raise InvalidParameter("a request's body must be complete, and this one was cut off.") from None
    return b"".join(parts)
