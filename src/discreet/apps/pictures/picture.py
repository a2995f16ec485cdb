"""A picture: one figure for a file, a notebook and a page alike.

The figure is plain JSON in Plotly's form, made without Plotly: its script draws a page, Chromium an image.
"""

import gzip
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

from discreet.apps.pictures.inline import draw_inline
from discreet.apps.pictures.theme import Json, layout, paint
from discreet.asking.answers import COLOURS, Theme
from discreet.errors import InvalidParameter

# A picture as one HTML page that works without a network: the drawing script is inside it.

SCRIPT = Path(__file__).with_name("plotly.min.js.gz")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
html, body {{ margin: 0; height: 100%; background: {light_paper}; }}
#picture {{ width: 100%; height: 100%; min-height: 420px; max-width: 1200px; margin: 0 auto; }}
@media (prefers-color-scheme: dark) {{ html, body {{ background: {dark_paper}; }} }}
</style>
<script>{script}</script>
</head>
<body>
<div id="picture" role="img" aria-label="{title}"></div>
<script>
const figures = {figures};
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function draw() {{
  const figure = figures[dark.matches ? "dark" : "light"];
  Plotly.react("picture", figure.data, figure.layout, {{responsive: true, displaylogo: false}});
}}
dark.addEventListener("change", draw);
draw();
</script>
</body>
</html>
"""


def page(title: str, *, light: Json, dark: Json) -> str:
    """The page that draws one figure, in the reader's choice of light or dark."""
    figures = json.dumps({"light": light, "dark": dark})  # ASCII: right in a host page of any encoding
    return _PAGE.format(
        title=escape(title),
        script=drawing_script(),
        figures=figures.replace("<", "\\u003c"),  # no text of a figure can close the script element
        light_paper=COLOURS["light"]["paper"],
        dark_paper=COLOURS["dark"]["paper"],
    )


@cache
def drawing_script() -> str:
    """Plotly's script, which draws every picture."""
    return gzip.decompress(script_file().read_bytes()).decode()


def script_file() -> Path:
    """Where Plotly's script lies, compressed: beside this file, where building the package puts it."""
    if not SCRIPT.is_file():
        raise InvalidParameter(
            "pictures must find Plotly's script, which an installed discreet brings, and it is not there. "
            "Install it: pip install discreet, or in a checkout make setup."
        )
    return SCRIPT


# A picture as an image, drawn by a Chromium without a network.

SCALE = 1.5  # device pixels per unit: sharp in a page, small in a repository


def render(figure: Json, path: Path, *, width: int, height: int) -> bytes:
    """The bytes of the image that the file's name asks for."""
    try:
        import kaleido
        from kaleido.errors import ChromeNotFoundError
    except ImportError:
        raise InvalidParameter(
            f"an image must be drawn by Kaleido, and it is not installed for {path.name!r}. "
            "Run: pip install 'discreet[pictures]', or save a page: a name that ends in .html.",
            parameter="path",
        ) from None
    options = {"format": path.suffix[1:], "width": width, "height": height, "scale": SCALE}
    try:
        with tempfile.TemporaryDirectory() as folder:
            # Ours as a file: Kaleido would look for another package's, and then for one on the network.
            script = Path(folder, "plotly.js")
            script.write_text(drawing_script(), encoding="utf-8")
            drawn_by = kaleido.PageGenerator(plotly=(script.as_uri(), "utf-8"), mathjax=False)
            # Kaleido starts Chromium without its sandbox, so that root (a container, CI) can draw; it only
            # ever loads the figure and Plotly's own script.
            image: bytes = kaleido.calc_fig_sync(figure, options, kopts={"page_generator": drawn_by})
    except ChromeNotFoundError:
        raise InvalidParameter(
            f"an image must be drawn by a Chromium, and none was found for {path.name!r}. "
            "Install one (Debian: apt-get install chromium), or save a page: a name that ends in .html.",
            parameter="path",
        ) from None
    return image


WIDTH, HEIGHT = 900, 540
IMAGES = (".png", ".svg")


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def to_svg(self) -> str:
        """Return a small SVG, in the colours of the page that it is put into."""
        return draw_inline(self.title, self.subtitle, self.traces, self.axes)

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"


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
