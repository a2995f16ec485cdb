"""The lab: interactive pictures of differential privacy. It uses no data."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server import documentation
from discreet.apps.server.http_errors import as_json, busy, handle_failures
from discreet.apps.server.journal import HideInternalErrors, SecurityHeaders
from discreet.apps.server.lab.exhibits import EXHIBITS, drawing_of, exhibit_of, show
from discreet.apps.server.limits import Rate
from discreet.apps.server.pages.rendering import page, read_theme, static_file
from discreet.apps.site import folder
from discreet.errors import InvalidParameter

DRAWS = 1000  # numbers that distinguish draws
PER_S = 40.0  # figures for one address


def router() -> APIRouter:
    """Return the routes of the lab, the documentation and the static files."""
    routes = APIRouter(include_in_schema=False)
    # Only one thread draws: the lab is open to all, and must not slow down anyone's question.
    rate, drawer = Rate(PER_S), ThreadPoolExecutor(1, thread_name_prefix="lab")

    @routes.get("/lab")
    def lab() -> Response:
        return page("lab.html", exhibits=EXHIBITS, titles=titles())

    @routes.get("/lab/figures/{name}")
    async def figure(name: str, request: Request) -> Response:
        if not rate.allows(request.client.host if request.client else ""):
            raise busy()
        given = dict(request.query_params)
        theme, draw = read_theme(given.pop("theme", "light")), _read_draw(given.pop("draw", "0"))
        drawn = partial(show, name, given, theme=theme, draw=draw)
        return as_json(await asyncio.get_running_loop().run_in_executor(drawer, drawn))

    @routes.get("/lab/{name}")
    async def plain(name: str, request: Request) -> Response:
        """Show one exhibit without a script: its picture, its numbers, and a form for other settings."""
        if not rate.allows(request.client.host if request.client else ""):
            raise busy()
        exhibit, chosen = exhibit_of(name), dict(request.query_params)
        draw = _read_draw(chosen.pop("draw", "0"))
        drawn = partial(drawing_of, name, chosen, draw)
        drawing = await asyncio.get_running_loop().run_in_executor(drawer, drawn)
        return page(
            "exhibit.html",
            exhibit=exhibit,
            titles=titles(),
            drawing=drawing,
            svg=drawing.picture.to_svg(),
            chosen=chosen,
            next=(draw + 1) % DRAWS,
        )

    @routes.get("/static/{name}")
    def static(name: str) -> Response:
        return static_file(name)

    routes.include_router(documentation.router())
    return routes


def make_lab() -> FastAPI:
    """Return the lab alone, as an application."""
    app = FastAPI(title="discreet lab", docs_url=None, redoc_url=None, openapi_url=None)
    handle_failures(app)
    app.add_middleware(HideInternalErrors)
    app.add_middleware(SecurityHeaders)
    app.include_router(router())
    app.add_api_route("/", lambda: RedirectResponse("/lab"))
    return app


def _read_draw(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text) < DRAWS):
        raise InvalidParameter(f"draw must be a whole number below {DRAWS}.", parameter="draw")
    return int(text)


@cache
def titles() -> dict[str, str]:
    """Return the title of each theory page, by name."""
    pages = sorted((folder() / "theory").glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in pages}
