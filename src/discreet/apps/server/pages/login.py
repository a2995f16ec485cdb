"""The login page: a short introduction, a field for the token, and signing out."""

import re
import secrets

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.pages.rendering import page
from discreet.apps.server.pages.session_auth import (
    LOGIN_COOKIE,
    Form,
    PageRoute,
    read_form,
    session_auth,
    set_cookie,
)
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.errors import DiscreetError, Unauthenticated

REFUSED = "This token is not valid here. It may be mistyped, expired or revoked."
INSIDE = re.compile(r"/(?!/)[\w\-.!~*'()%/?=&+]*", re.ASCII)  # a page of ours: no other host, no backslash

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/")
async def home(request: Request) -> Response:
    """Show the login page, or the data sets to a signed-in user."""
    try:
        await session_auth(request).admit(request)
    except Unauthenticated:
        return _login_page(request)
    return RedirectResponse("/datasets", status_code=303)


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login page."""
    return _login_page(request, back=request.query_params.get("next", ""))


@router.post("/login")
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


@router.post("/logout")
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
