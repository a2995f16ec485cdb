"""The lab: the ideas of differential privacy as instruments to play with. No account, no data."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import InvalidParameter
from discreet.server.http_errors import HideInternalErrors, as_json, handle_failures
from discreet.server.lab.exhibits import EXHIBITS
from discreet.server.lab.showing import show
from discreet.server.limits import Rate
from discreet.server.middleware import SecurityHeaders
from discreet.server.pages.figures import read_theme
from discreet.server.pages.rendering import page, static_file
from discreet.server.pages.theory import theory_page, titles
from discreet.server.refusals import busy

DRAWS = 1000  # numbers of draws that are told apart
PER_S = 40.0  # figures for one address


def router() -> APIRouter:
    """The lab, the theory it leads to, and the files that every page needs."""
    routes = APIRouter(include_in_schema=False)
    # One thread draws: anyone may play here, and nobody's question elsewhere waits for it.
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

    @routes.get("/theory")
    def theory() -> Response:
        return page("theory_index.html", titles=titles())

    @routes.get("/theory/{name}")
    def theory_of(name: str) -> Response:
        title, content = theory_page(name)
        return page("theory.html", title=title, content=content)

    @routes.get("/static/{name}")
    def static(name: str) -> Response:
        return static_file(name)

    return routes


def make_lab() -> FastAPI:
    """The lab alone, as an application."""
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
