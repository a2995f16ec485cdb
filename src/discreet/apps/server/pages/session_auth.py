"""Session-cookie authentication and CSRF tokens for the HTML pages."""

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from discreet.apps.server.http_errors import broken, owners_only, unauthenticated
from discreet.apps.server.journal import note
from discreet.apps.server.pages.rendering import page
from discreet.apps.server.people import Person
from discreet.apps.server.rest.bearer_auth import read_body, service_of
from discreet.apps.server.service import Service
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation, Unauthenticated

COOKIE = "discreet"
LOGIN_COOKIE = "discreet_visit"  # before signing in: holds the CSRF token of the login form
MOST_FIELDS = 20
LASTS_S = 8 * 3600.0
MOST_SESSIONS = 10_000
MOST_OF_A_TOKEN = 20  # so that no one can end the sessions of others by signing in again and again


@dataclass(frozen=True)
class BrowserSession:
    """A signed-in browser. The token is kept, so that revoking it ends the session at once."""

    token: str
    csrf: str
    ends: float

    def __repr__(self) -> str:
        return "<BrowserSession>"  # keeps the token and the CSRF token out of logs


class BrowserSessions:
    """The sessions of one process, stored by the digest of the cookie: reading them does not let one in."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: OrderedDict[str, BrowserSession] = OrderedDict()

    def open(self, token: str) -> str:
        """Start a session, and return its name for the cookie.

        >>> sessions = BrowserSessions()
        >>> sessions.find(sessions.open("dp_token")).token
        'dp_token'
        """
        name, ends = secrets.token_urlsafe(32), self._clock() + LASTS_S
        with self._lock:
            self._open[_digest(name)] = BrowserSession(token, secrets.token_urlsafe(32), ends)
            own = [digest for digest, each in self._open.items() if each.token == token]
            for digest in own[:-MOST_OF_A_TOKEN]:
                del self._open[digest]
            while len(self._open) > MOST_SESSIONS:
                self._open.popitem(last=False)
        return name

    def find(self, name: str) -> BrowserSession | None:
        """Return the session of this name, if it has not expired."""
        with self._lock:
            found = self._open.get(_digest(name))
            if found is not None and self._clock() >= found.ends:
                del self._open[_digest(name)]
                return None
            return found

    def close(self, name: str) -> None:
        """End a session."""
        with self._lock:
            self._open.pop(_digest(name), None)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Visitor:
    """A signed-in user, and the CSRF token of their forms."""

    person: Person
    csrf: str

    @property
    def frame(self) -> dict[str, Any]:
        """What every page shows of its user."""
        return {"person": self.person, "csrf": self.csrf}


class SessionAuth:
    """Signs users in and out, and finds the user of a session cookie with the same check as REST."""

    def __init__(self, service: Service) -> None:
        self._service, self._sessions = service, BrowserSessions()

    async def admit(self, request: Request) -> Visitor:
        """Return the signed-in user. The token is checked each time, so that revoking it takes effect."""
        session = self._sessions.find(request.cookies.get(COOKIE, ""))
        if session is None:
            raise unauthenticated()
        return Visitor(await self._identify(request, session.token), session.csrf)

    async def sign_in(self, request: Request, token: str, response: Response) -> Response:
        """Start a session for a valid token, and set the response's cookie."""
        await self._identify(request, token)
        self._sessions.close(request.cookies.get(COOKIE, ""))
        set_cookie(request, response, COOKIE, self._sessions.open(token))
        response.delete_cookie(LOGIN_COOKIE)
        return response

    def sign_out(self, request: Request, response: Response) -> Response:
        """End the session, here and in the browser."""
        self._sessions.close(request.cookies.get(COOKIE, ""))
        response.delete_cookie(COOKIE)
        return response

    async def _identify(self, request: Request, token: str) -> Person:
        address = request.client.host if request.client else ""
        person = await self._service.executor.use_people(self._service.admit, token, address=address)
        note(request, person=person.name)
        return person


def session_auth(request: Request) -> SessionAuth:
    """Return the sessions of the application."""
    auth: SessionAuth = request.app.state.session_auth
    return auth


def set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    """Set a cookie that scripts and other sites cannot use."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=int(LASTS_S), httponly=True, samesite="strict", secure=secure)


async def read_form(request: Request, *, csrf: str, most: int = MOST_FIELDS) -> Mapping[str, str]:
    """Return the fields of a form that carries the expected CSRF token."""
    body = await read_body(request)
    try:
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=most))
    except ValueError:
        raise InvalidParameter(f"a form must have at most {most} fields.") from None
    check_csrf(fields.get("csrf", ""), csrf)
    return fields


def check_csrf(token: str, expected: str) -> None:
    """Refuse a request that was not sent from one of our own pages."""
    if not expected or not hmac.compare_digest(token.encode(), expected.encode()):
        raise PolicyViolation("a form must be sent from the page that showed it. Reload the page.")


class SentForm(NamedTuple):
    """A form's fields, and the user who sent it."""

    visitor: Visitor
    fields: Mapping[str, str]


async def _signed_in(request: Request) -> Visitor:
    return await session_auth(request).admit(request)


async def _owner(visitor: Annotated[Visitor, Depends(_signed_in)]) -> Visitor:
    if not visitor.person.is_owner:
        raise owners_only()
    return visitor


async def _form(request: Request, visitor: Annotated[Visitor, Depends(_signed_in)]) -> SentForm:
    return SentForm(visitor, await read_form(request, csrf=visitor.csrf))


async def _owner_form(request: Request, visitor: Annotated[Visitor, Depends(_owner)]) -> SentForm:
    return SentForm(visitor, await read_form(request, csrf=visitor.csrf))


SignedIn: TypeAlias = Annotated[Visitor, Depends(_signed_in)]
OwnerSignedIn: TypeAlias = Annotated[Visitor, Depends(_owner)]
Form: TypeAlias = Annotated[SentForm, Depends(_form)]
OwnerForm: TypeAlias = Annotated[SentForm, Depends(_owner_form)]


def error_page(error: DiscreetError, visitor: Visitor | None = None) -> Response:
    """Return a page that shows an error, in the frame of the signed-in user."""
    return page("error.html", status=error.status, error=error, **(visitor.frame if visitor else {}))


async def _visitor(request: Request) -> Visitor | None:
    """Return who is signed in, or None; also where the rates say wait."""
    try:
        return await session_auth(request).admit(request)
    except DiscreetError:
        return None


class PageRoute(APIRoute):
    """A route whose errors are pages too; without a session it redirects to the login page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show(request: Request) -> Response:
            try:
                return await handle(request)
            except Unauthenticated:
                return RedirectResponse(_login_and_back(request), status_code=303)
            except DiscreetError as error:
                return error_page(error, await _visitor(request))
            except Exception:  # noqa: BLE001  its message might quote the data
                return error_page(broken(), await _visitor(request))

        return handle_or_show


def _login_and_back(request: Request) -> str:
    """Return the login page's address, with the way back to the page that was asked for."""
    back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/login?{urlencode({'next': back})}" if request.method == "GET" else "/login"


# The login page: a short introduction, a field for the token, and signing out.

REFUSED = "This token is not valid here. It may be mistyped, expired or revoked."
INSIDE = re.compile(r"/(?!/)[\w\-.!~*'()%/?=&+]*", re.ASCII)  # a page of ours: no other host, no backslash

login_router = APIRouter(include_in_schema=False, route_class=PageRoute)


@login_router.get("/")
async def home(request: Request) -> Response:
    """Show the login page, or the data sets to a signed-in user."""
    try:
        await session_auth(request).admit(request)
    except Unauthenticated:
        return _login_page(request)
    return RedirectResponse("/datasets", status_code=303)


@login_router.get("/login")
async def login(request: Request) -> Response:
    """Show the login page."""
    return _login_page(request, back=request.query_params.get("next", ""))


@login_router.post("/login")
async def sign_in(request: Request) -> Response:
    """Sign in, and go to the page that was asked for."""
    form = await read_form(request, csrf=request.cookies.get(LOGIN_COOKIE, ""))
    back = form.get("next", "")
    try:
        there = RedirectResponse(back if INSIDE.fullmatch(back) else "/datasets", status_code=303)
        return await session_auth(request).sign_in(request, form.get("token", "").strip(), there)
    except DiscreetError as error:
        problem = REFUSED if isinstance(error, Unauthenticated) else error.message
        return _login_page(request, back=back, problem=problem, status=error.status)


@login_router.post("/logout")
async def sign_out(request: Request, _: Form) -> Response:
    """Sign out."""
    return session_auth(request).sign_out(request, RedirectResponse("/", status_code=303))


def _login_page(request: Request, *, back: str = "", problem: str = "", status: int = 200) -> Response:
    csrf = request.cookies.get(LOGIN_COOKIE) or secrets.token_urlsafe(32)
    shown = page(
        "login.html",
        status=status,
        csrf=csrf,
        back=back if INSIDE.fullmatch(back) else "",
        problem=problem,
        names=list(service_of(request).datasets),
    )
    set_cookie(request, shown, LOGIN_COOKIE, csrf)
    return shown
