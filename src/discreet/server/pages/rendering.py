"""Templates and the files they need, all from the package: nothing is loaded from elsewhere."""

import gzip
import hashlib
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import discreet
from discreet.pictures.page import drawing_script
from discreet.server.pages.gauge import up
from discreet.server.refusals import not_found

FOLDER = Path(__file__).parents[1]
STATIC = FOLDER / "static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PLOTLY = "plotly.js"
FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


def page(template: str, *, status: int = 200, **facts: Any) -> HTMLResponse:
    """A page; every value is escaped by the template."""
    return HTMLResponse(_templates().get_template(template).render(**facts), status_code=status)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        static=address,
        plotly_styles=plotly_styles,
        up=lambda text: up(Fraction(str(text))),
        version=discreet.__version__,
    )
    return environment


def address(name: str) -> str:
    """Where a file is served; its digest is in the address, so that it may be cached for ever."""
    return f"/static/{name}?v={_file(name)[1]}"


@cache
def plotly_styles() -> tuple[str, ...]:
    """The ids of style elements that Plotly adds for its maps unless they are there; it draws none here."""
    return tuple(re.findall(r'getElementById\("([0-9a-f]{64})"\)', drawing_script()))


def static_file(name: str) -> Response:
    """One of the package's own files, or Plotly's script, compressed."""
    if name != PLOTLY and name not in {path.name for path in STATIC.iterdir()}:
        raise not_found()
    content, _ = _file(name)
    headers = {**FOREVER, "content-encoding": "gzip", "vary": "accept-encoding"}
    kind = f"{KINDS[Path(name).suffix]}; charset=utf-8"
    return Response(content, headers=headers, media_type=kind)


@cache
def _file(name: str) -> tuple[bytes, str]:
    """A file's content, compressed, and its digest."""
    plain = drawing_script().encode() if name == PLOTLY else (STATIC / name).read_bytes()
    return gzip.compress(plain, 6, mtime=0), hashlib.sha256(plain).hexdigest()[:16]
