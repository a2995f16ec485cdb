"""The auth of REST: who asks, what they sent, and how a reply is noted."""

import asyncio
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import ClientDisconnect

from discreet.errors import InvalidParameter
from discreet.server.journal import note
from discreet.server.people import Person
from discreet.server.refusals import owners_only, too_large
from discreet.server.service import Service

_BEARER = HTTPBearer(auto_error=False, description="A token of this service: dp_...")


class BearerAuth:
    """Reads tokens from the Authorization header alone, and bodies no longer than allowed."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def admit(
        self, request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
    ) -> Person:
        """The person whose token came with the request."""
        address = request.client.host if request.client else ""
        token = given.credentials if given is not None else ""
        person = await self._service.executor.admit(lambda: self._service.admit(token, address=address))
        note(request.scope, person=person.name)
        return person

    async def admit_owner(
        self, request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
    ) -> Person:
        """The same, for what only owners do."""
        person = await self.admit(request, given)
        if not person.is_owner:
            raise owners_only()
        return person

    async def body(self, request: Request) -> bytes:
        """The body, no more of it than is allowed."""
        limits = self._service.limits
        try:
            async with asyncio.timeout(limits.body_s):
                return await _read(request, limits.body_bytes)
        except TimeoutError:
            raise InvalidParameter("a body must arrive in time, and this one did not.") from None
        except ClientDisconnect:
            raise InvalidParameter("a body must arrive whole, and this one did not.") from None


async def _read(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_large(most)
        parts.append(part)
    return b"".join(parts)


def noted(request: Request, **facts: Any) -> None:
    """Add facts to this request's line of the journal."""
    note(request.scope, **facts)
