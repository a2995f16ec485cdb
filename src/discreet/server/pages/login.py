"""The entrance: what this place is, a field for a token, and the way out."""

import re

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import DiscreetError, Unauthenticated
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth

REFUSED = "This token opens nothing here. It may be mistyped, expired or revoked."
INSIDE = re.compile(r"/(?!/)[\w\-.!~*'()%/?=&+]*", re.ASCII)  # a page of ours: no other host, no backslash


def routes(auth: SessionAuth) -> APIRouter:
    """Signing in and out."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/")
    async def home(request: Request) -> Response:
        try:
            await auth.admit(request)
        except Unauthenticated:
            return _entrance(auth, request)
        return RedirectResponse("/datasets", status_code=303)

    @router.get("/login")
    async def login(request: Request) -> Response:
        return _entrance(auth, request, back=request.query_params.get("next", ""))

    @router.post("/login")
    async def sign_in(request: Request) -> Response:
        form = await auth.form(request, expected=request.cookies.get("discreet_visit", ""))
        back = form.get("next", "")
        try:
            there = RedirectResponse(back if INSIDE.fullmatch(back) else "/datasets", status_code=303)
            return await auth.sign_in(request, form.get("token", "").strip(), there)
        except Unauthenticated as error:
            return _entrance(auth, request, back=back, problem=REFUSED, status=error.status)
        except DiscreetError as error:
            return _entrance(auth, request, back=back, problem=error.message, status=error.status)

    @router.post("/logout")
    async def sign_out(request: Request) -> Response:
        visitor = await auth.admit(request)
        await auth.form(request, expected=visitor.csrf)
        return auth.sign_out(request, RedirectResponse("/", status_code=303))

    return router


def _entrance(
    auth: SessionAuth, request: Request, *, back: str = "", problem: str = "", status: int = 200
) -> Response:
    visit = auth.visit(request)
    shown = page(
        "login.html",
        status=status,
        csrf=visit,
        back=back if INSIDE.fullmatch(back) else "",
        problem=problem,
        names=[dataset.name for dataset in auth.service.datasets.values()],
    )
    return auth.remember(request, shown, visit)
