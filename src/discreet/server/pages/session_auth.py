"""The auth of the pages: a cookie instead of a token, and a word in every form that only our pages know."""

import hmac
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation, Unauthenticated
from discreet.server.journal import note
from discreet.server.pages.rendering import page
from discreet.server.pages.sessions import LASTS_S, Sessions
from discreet.server.people import Person
from discreet.server.refusals import broken, owners_only, unauthenticated
from discreet.server.rest.bearer_auth import BearerAuth
from discreet.server.service import Service

COOKIE = "discreet"
VISIT = "discreet_visit"  # before signing in: what protects the form of the entrance
MOST_FIELDS = 20


@dataclass(frozen=True)
class Visitor:
    """A person who signed in, and the word that protects their forms."""

    person: Person
    csrf: str

    @property
    def frame(self) -> dict[str, Any]:
        """What every page shows of its visitor."""
        return {"person": self.person, "csrf": self.csrf}


class SessionAuth:
    """Admits visitors by their cookie, through the same auth of the service as REST."""

    def __init__(self, service: Service) -> None:
        self.service, self._sessions = service, Sessions()
        self.body = BearerAuth(service).body

    async def admit(self, request: Request) -> Visitor:
        """Who is signed in: asked of the service each time, so that a revoked token opens no page."""
        session = self._sessions.find(request.cookies.get(COOKIE, ""))
        if session is None:
            raise unauthenticated()
        person = await self._identify(request, session.token)
        return Visitor(person, session.csrf)

    async def admit_owner(self, request: Request) -> Visitor:
        """The same, for what only owners see."""
        visitor = await self.admit(request)
        if not visitor.person.is_owner:
            raise owners_only()
        return visitor

    async def sign_in(self, request: Request, token: str, response: Response) -> Response:
        """Open a session for a valid token, and put its name into the response's cookie."""
        await self._identify(request, token)
        self._sessions.close(request.cookies.get(COOKIE, ""))
        self._set_cookie(request, response, COOKIE, self._sessions.open(token))
        response.delete_cookie(VISIT)
        return response

    def sign_out(self, request: Request, response: Response) -> Response:
        """End the session, here and in the browser."""
        self._sessions.close(request.cookies.get(COOKIE, ""))
        response.delete_cookie(COOKIE)
        return response

    def visit(self, request: Request) -> str:
        """What protects the entrance's form: a random word, in the form and in a cookie of the visitor's."""
        return request.cookies.get(VISIT) or secrets.token_urlsafe(32)

    def remember(self, request: Request, response: Response, visit: str) -> Response:
        """Give the visitor the cookie that the entrance's form is checked against."""
        self._set_cookie(request, response, VISIT, visit)
        return response

    async def form(self, request: Request, *, expected: str) -> Mapping[str, str]:
        """The fields of a form that was made for this visitor, and for no other."""
        body = await self.body(request)
        try:
            fields = dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS))
        except ValueError:
            raise InvalidParameter(f"a form must have at most {MOST_FIELDS} fields.") from None
        check_csrf(fields.get("csrf", ""), expected)
        return fields

    async def _identify(self, request: Request, token: str) -> Person:
        address = request.client.host if request.client else ""
        person = await self.service.executor.look(lambda: self.service.admit(token, address=address))
        note(request.scope, person=person.name)
        return person

    def _set_cookie(self, request: Request, response: Response, name: str, value: str) -> None:
        secure = request.url.scheme == "https"
        response.set_cookie(
            name, value, max_age=int(LASTS_S), httponly=True, samesite="strict", secure=secure
        )


def check_csrf(given: str, expected: str) -> None:
    """Refuse what was not sent from one of our own pages."""
    if not expected or not hmac.compare_digest(given.encode(), expected.encode()):
        raise PolicyViolation("a form must be sent from the page that showed it. Load the page again.")


def _entrance_for(request: Request) -> str:
    """The entrance, and the way back to a page."""
    back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/login?{urlencode({'next': back})}" if request.method == "GET" else "/login"


def error_page(error: DiscreetError) -> Response:
    """A page that says what is wrong."""
    return page("error.html", status=error.status, error=error)


class PageRoute(APIRoute):
    """A route whose errors are pages too; without a session it leads to the entrance."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show(request: Request) -> Response:
            try:
                return await handle(request)
            except Unauthenticated:
                return RedirectResponse(_entrance_for(request), status_code=303)
            except DiscreetError as error:
                return error_page(error)
            except Exception:  # noqa: BLE001  its words might quote the data
                return error_page(broken())

        return handle_or_show
