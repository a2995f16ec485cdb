"""The entrance: what this place is, a field for a token, and the way out."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import DiscreetError, Unauthenticated
from discreet.server.pages.door import PageDoor, PageRoute
from discreet.server.pages.rendering import page

REFUSED = "This token opens nothing here. It may be mistyped, expired or revoked."


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
        return _entrance(door, request)

    @router.post("/login")
    async def sign_in(request: Request) -> Response:
        form = await door.form(request, expected=request.cookies.get("discreet_visit", ""))
        try:
            there = RedirectResponse("/datasets", status_code=303)
            return await door.sign_in(request, form.get("token", "").strip(), there)
        except Unauthenticated as error:
            return _entrance(door, request, problem=REFUSED, status=error.status)
        except DiscreetError as error:
            return _entrance(door, request, problem=error.message, status=error.status)

    @router.post("/logout")
    async def sign_out(request: Request) -> Response:
        visitor = await door.admit(request)
        await door.form(request, expected=visitor.csrf)
        return door.sign_out(request, RedirectResponse("/", status_code=303))

    return router


def _entrance(door: PageDoor, request: Request, *, problem: str = "", status: int = 200) -> Response:
    visit = door.visit(request)
    shown = page(
        "entrance.html",
        status=status,
        csrf=visit,
        problem=problem,
        names=[dataset.name for dataset in door.house.datasets.values()],
    )
    return door.remember(request, shown, visit)
