"""A picture as one HTML page that works without a network: the drawing script is inside it."""

import json
from functools import cache
from html import escape
from pathlib import Path

from discreet.apps.pictures.theme import Json
from discreet.asking.answers import COLOURS
from discreet.errors import InvalidParameter

SCRIPT = Path(__file__).with_name("plotly.min.js")

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
    return script_file().read_text(encoding="utf-8")


def script_file() -> Path:
    """Where Plotly's script lies: beside this file, where building the package puts it."""
    if not SCRIPT.is_file():
        raise InvalidParameter(
            "pictures must find Plotly's script, which an installed discreet brings, and it is not there. "
            "Install it: pip install discreet, or in a checkout make setup."
        )
    return SCRIPT
