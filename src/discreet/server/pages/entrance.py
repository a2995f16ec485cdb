"""The entrance: what this place is, a field for a token, and the way out."""

import re

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import DiscreetError, Unauthenticated
from discreet.server.pages.door import PageDoor, PageRoute
from discreet.server.pages.rendering import page

REFUSED = "This token opens nothing here. It may be mistyped, expired or revoked."
INSIDE = re.compile(r"/(?!/)[\w\-.!~*'()%/?=&+]*", re.ASCII)  # a page of ours: no other host, no backslash


def routes(door: PageDoor) -> APIRouter:
    """Signing in and out."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/")
    async def home(request: Request) -> Response:
        try:
            await door.admit(request)
        except Unauthenticated:
            return _entrance(door, request)
        return RedirectResponse("/datasets", status_code=303)

    @router.get("/login")
    async def login(request: Request) -> Response:
        return _entrance(door, request, back=request.query_params.get("next", ""))

    @router.post("/login")
    async def sign_in(request: Request) -> Response:
        form = await door.form(request, expected=request.cookies.get("discreet_visit", ""))
        back = form.get("next", "")
        try:
            there = RedirectResponse(back if INSIDE.fullmatch(back) else "/datasets", status_code=303)
            return await door.sign_in(request, form.get("token", "").strip(), there)
        except Unauthenticated as error:
            return _entrance(door, request, back=back, problem=REFUSED, status=error.status)
        except DiscreetError as error:
            return _entrance(door, request, back=back, problem=error.message, status=error.status)

    @router.post("/logout")
    async def sign_out(request: Request) -> Response:
        visitor = await door.admit(request)
        await door.form(request, expected=visitor.csrf)
        return door.sign_out(request, RedirectResponse("/", status_code=303))

    return router


def _entrance(
    door: PageDoor, request: Request, *, back: str = "", problem: str = "", status: int = 200
) -> Response:
    visit = door.visit(request)
    shown = page(
        "entrance.html",
        status=status,
        csrf=visit,
        back=back if INSIDE.fullmatch(back) else "",
        problem=problem,
        names=[dataset.name for dataset in door.house.datasets.values()],
    )
    return door.remember(request, shown, visit)
