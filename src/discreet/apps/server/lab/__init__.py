"""The lab: interactive pictures of differential privacy, and the theory pages. It uses no data."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse

import discreet
from discreet.apps.server.http_errors import as_json, busy, handle_failures, not_found
from discreet.apps.server.journal import HideInternalErrors, SecurityHeaders
from discreet.apps.server.lab.exhibits import EXHIBITS, show
from discreet.apps.server.limits import Rate
from discreet.apps.server.pages.rendering import page, read_theme, static_file
from discreet.errors import InvalidParameter

DRAWS = 1000  # numbers that distinguish draws
PER_S = 40.0  # figures for one address
_PACKAGE = Path(discreet.__file__).parent
# A wheel has the pages in the package; a checkout has them where they are written.
PLACES = (_PACKAGE / "theory", _PACKAGE.parents[1] / "docs" / "theory")
_NAME = re.compile(r"[a-z][a-z-]{0,63}")
_SIBLING = re.compile(r"^([a-z-]+)\.md(#.*)?$")


def router() -> APIRouter:
    """Return the routes of the lab, the theory pages and the static files."""
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
    folder = next((place for place in PLACES if place.is_dir()), None)
    pages = sorted(folder.glob("*.md")) if folder is not None else []
    return {path.stem: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in pages}


@cache
def theory_page(name: str) -> tuple[str, str]:
    """Return the title and HTML of a theory page. Raw HTML in the Markdown is escaped."""
    if not _NAME.fullmatch(name) or name not in titles():
        raise not_found()
    from markdown_it import MarkdownIt

    folder = next(place for place in PLACES if place.is_dir())
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse((folder / f"{name}.md").read_text(encoding="utf-8"))
    for heading, text in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", slug(text.content))
    _redirect_links(tokens)
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return titles()[name], html.replace("<pre>", '<pre tabindex="0">')  # wide code scrolls, by keyboard too


def slug(heading: str) -> str:
    """Return a heading as the fragment of an address.

    >>> slug("How small delta must be")
    'how-small-delta-must-be'
    """
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def _redirect_links(tokens: list[Any]) -> None:
    """Point links between theory pages to the served pages."""
    for token in tokens:
        for child in token.children or ():
            found = _SIBLING.match(child.attrGet("href") or "") if child.type == "link_open" else None
            if found:
                child.attrSet("href", f"/theory/{found[1]}{found[2] or ''}")
