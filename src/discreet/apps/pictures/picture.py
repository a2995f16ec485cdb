"""A picture: one figure for a file, a notebook and a page alike.

The figure is plain JSON in Plotly's form, made without Plotly: its script draws a page, Chromium an image.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from discreet.apps.pictures.image import render
from discreet.apps.pictures.page import page
from discreet.apps.pictures.theme import Json, layout, paint
from discreet.asking.answers import Theme
from discreet.errors import InvalidParameter

WIDTH, HEIGHT = 900, 540
IMAGES = (".png", ".svg")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Curves and marks with a title and labelled axes.

    >>> picture = Picture(title="A line", traces=[{"type": "scatter", "x": [0, 1], "y": [0, math.inf]}])
    >>> picture.to_json()["data"]
    [{'type': 'scatter', 'x': [0, 1], 'y': [0, None]}]
    """

    title: str
    subtitle: str = ""
    traces: Sequence[Mapping[str, Json]]
    axes: Mapping[str, Json] = field(default_factory=dict)  # "xaxis", "yaxis", "annotations", "shapes", ...

    def to_json(self, *, theme: Theme = "light") -> dict[str, Json]:
        """The figure in Plotly's form, `{"data": [...], "layout": {...}}`, finite numbers only."""
        figure = {"data": list(self.traces), "layout": {**layout(self.title, self.subtitle), **self.axes}}
        painted: dict[str, Json] = paint(_finite(figure), theme)
        return painted

    def save(self, path: str | Path, *, theme: Theme = "light") -> Path:
        """Write a page (.html, works offline), an image (.png, .svg: needs a Chromium) or the figure (.json).

        A page follows its reader's choice of light or dark; an image has the one of `theme`.
        """
        path = check_file(path)
        if path.suffix == ".html":
            path.write_text(self._page(), encoding="utf-8")
        elif path.suffix == ".json":
            path.write_text(json.dumps(self.to_json(theme=theme), ensure_ascii=False), encoding="utf-8")
        else:
            path.write_bytes(render(self.to_json(theme=theme), path, width=WIDTH, height=HEIGHT))
        return path

    def _page(self) -> str:
        return page(self.title, light=self.to_json(theme="light"), dark=self.to_json(theme="dark"))

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self._page())}" width="100%" height="{HEIGHT + 20}" '
            f'style="border:0" title="{escape(self.title)}"></iframe>'
        )


def _finite(value: Json) -> Json:
    """JSON has no infinity and no NaN: a gap stands in their place."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_file(path: str | Path) -> Path:
    """The file of a picture; refused where none can be written there."""
    path = Path(path)
    if path.suffix not in (".html", ".json", *IMAGES):
        raise InvalidParameter(
            f"a picture's file must end in .html, .png, .svg or .json, got {path.name!r}.", parameter="path"
        )
    if not path.absolute().parent.is_dir():
        raise InvalidParameter(
            f"a picture's file must be in a folder that exists, got {path.name!r} in another. Make it first.",
            parameter="path",
        )
    return path
