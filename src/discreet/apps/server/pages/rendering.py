"""Rendering: templates, static files and figures, all from the package; nothing is loaded from elsewhere.

Tested by: tests/server/pages/test_gauge.py
"""

import gzip
import hashlib
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import discreet
from discreet.apps.pictures import Picture
from discreet.apps.pictures.picture import drawing_script
from discreet.apps.pictures.theme import Json
from discreet.apps.server.http_errors import not_found
from discreet.apps.server.pages.gauge import up
from discreet.asking.answers import Theme, show_error, show_value, uneven_ends
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.numerics import Interval

FOLDER = Path(__file__).parents[1]
STATIC = FOLDER / "static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PLOTLY = "plotly.js"
THEMES: tuple[Theme, ...] = get_args(Theme)
FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


def page(template: str, *, status: int = 200, **facts: Any) -> HTMLResponse:
    """Render a page; the template escapes every value."""
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
    """Return the address of a static file; it contains a digest, so that it may be cached for ever."""
    return f"/static/{name}?v={_file(name)[1]}"


@cache
def plotly_styles() -> tuple[str, ...]:
    """Return the ids of style elements that Plotly would add for maps, which are not used here."""
    return tuple(re.findall(r'getElementById\("([0-9a-f]{64})"\)', drawing_script()))


def static_file(name: str) -> Response:
    """Return one of the package's static files, or Plotly's script, compressed."""
    if name != PLOTLY and name not in {path.name for path in STATIC.iterdir()}:
        raise not_found()
    content, _ = _file(name)
    headers = {**FOREVER, "content-encoding": "gzip", "vary": "accept-encoding"}
    kind = f"{KINDS[Path(name).suffix]}; charset=utf-8"
    return Response(content, headers=headers, media_type=kind)


@cache
def _file(name: str) -> tuple[bytes, str]:
    """Return a file's compressed content, and its digest."""
    plain = drawing_script().encode() if name == PLOTLY else (STATIC / name).read_bytes()
    return gzip.compress(plain, 6, mtime=0), hashlib.sha256(plain).hexdigest()[:16]


def figure_of(picture: Picture, theme: Theme) -> dict[str, Json]:
    """Return a picture as JSON, its title and subtitle apart, because the page sets them as HTML."""
    figure = picture.to_json(theme=theme)
    layout = {name: value for name, value in figure["layout"].items() if name != "title"}
    return {"title": picture.title, "subtitle": picture.subtitle, "data": figure["data"], "layout": layout}


def read_theme(text: str) -> Theme:
    """Return the theme of this name, or raise."""
    for theme in THEMES:
        if text == theme:
            return theme
    raise InvalidParameter(f"theme must be one of {', '.join(THEMES)}.", parameter="theme")


def say_on_page(problem: DiscreetError | None, instead: str) -> str:
    """Return what is wrong; where the library has an argument for other people, a page has something else."""
    text = "" if problem is None else problem.message
    return text.replace("say so: other_people='<why>'", instead)


# Cells of an answer's table on the pages: a value, and ± its interval where it has one.

WIDTHS = {"wide": 720.0, "narrow": 340.0}  # of a chart, in pixels


def cell_of(value: Any, ends: Interval | None) -> Mapping[str, str]:
    """Return a value as text, ± its interval, and whether it is a number."""
    if ends is None or value is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"text": show_value(value), "margin": "", "kind": "number" if number else "key"}
    return {"text": show_value(value, ends), "margin": margin(value, ends), "kind": "number"}


def margin(value: int | float, ends: Interval) -> str:
    """Return ± half the interval's width, or its two ends if it is not symmetric; rounded outwards.

    >>> margin(20.0, Interval(-1234.56, 1274.56)), margin(5.0, Interval(0.0, 11358.8))
    ('± 1,260', '0 to 11,360')
    """
    return uneven_ends(value, ends) or f"± {show_error(value, ends)}"
