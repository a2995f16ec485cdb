"""Draw SVG by hand: marks in the project's colours, text that fits, ticks at round numbers.

Ink is the colour of the text around a drawing, so one drawing fits light and dark pages. Series colours are
attributes, which a page's style sheet may override by class (`f-0` fills with series 0, `k-0` strokes).
Nothing needs a script or an inline style, so a strict content policy shows it too.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal, TypeAlias
from unicodedata import east_asian_width

Theme: TypeAlias = Literal["light", "dark"]

# Okabe and Ito's palette, darkened or lightened until each colour stands out on its paper.
COLOURS: Mapping[str, Mapping[str, str]] = {
    "light": {
        "0": "#0072b2",
        "1": "#d55e00",
        "2": "#00866a",
        "3": "#a8478b",
        "4": "#4326c4",
        "5": "#6b2410",
        "ink": "#1f2328",
        "muted": "#59636e",
        "grid": "#e4e7eb",
        "paper": "#ffffff",
    },
    "dark": {
        "0": "#56b4e9",
        "1": "#f0803c",
        "2": "#2fc49b",
        "3": "#e08bc0",
        "4": "#e6b422",
        "5": "#8474ff",
        "ink": "#e8eaed",
        "muted": "#a5adb8",
        "grid": "#2f353d",
        "paper": "#15181d",
    },
}
FONT = "'Inter', 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
_STRENGTH = {"ink": 1.0, "muted": 0.68, "grid": 0.16}  # opacities of the text colour
_SIZE = 12
_WIDE = frozenset("mwMW@%")
MARGIN = 20.0  # around a drawing that has paper of its own


class Drawing:
    """Marks on paper of a fixed size, in a theme's series colours."""

    def __init__(self, width: float, height: float, *, title: str, theme: Theme = "light") -> None:
        self.width, self.height, self.title = width, height, title
        self._colours, self._parts = COLOURS[theme], list[str]()

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        colour: str,
        *,
        tip: str = "",
        opacity: float = 1,
    ) -> None:
        """Draw a filled rectangle; `tip` is what a reader sees on hovering over it."""
        box = {"x": x, "y": y, "width": max(width, 0.5), "height": max(height, 0.5), "rx": 2}
        self._add("rect", self._fill(colour, opacity), box, tip=tip)

    def dot(
        self, x: float, y: float, colour: str, *, tip: str = "", hollow: bool = False, opacity: float = 1
    ) -> None:
        """Draw a dot; a hollow one has only its edge."""
        paint = {**self._stroke(colour, opacity), "fill": "none"} if hollow else self._fill(colour, opacity)
        self._add("circle", paint, {"cx": x, "cy": y, "r": 4}, tip=tip)

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 1, opacity: float = 1
    ) -> None:
        """Draw a line through points."""
        path = {"points": _points(points), "fill": "none", "stroke-width": width, "stroke-linejoin": "round"}
        self._add("polyline", self._stroke(colour, opacity), path)

    def area(self, points: Sequence[tuple[float, float]], colour: str, *, opacity: float) -> None:
        """Fill the area inside points."""
        self._add("polygon", self._fill(colour, opacity), {"points": _points(points)})

    def whisker(self, start: tuple[float, float], end: tuple[float, float], *, cap: float = 4) -> None:
        """Draw an interval: a line with a cap at both ends."""
        (x0, y0), (x1, y1) = start, end
        dx, dy = (0.0, cap) if y0 == y1 else (cap, 0.0)
        for points in (
            [start, end],
            [(x0 - dx, y0 - dy), (x0 + dx, y0 + dy)],
            [(x1 - dx, y1 - dy), (x1 + dx, y1 + dy)],
        ):
            self.line(points, "ink", width=1.5)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        colour: str = "ink",
        size: float = _SIZE,
        bold: bool = False,
    ) -> None:
        """Write text; (x, y) is on its base line."""
        place = {
            "x": x,
            "y": y,
            "text-anchor": anchor,
            "font-size": size,
            **({"font-weight": 600} if bold else {}),
        }
        self._add("text", self._fill(colour, 1), place, inner=escape(text))

    def markup(self, *, paper: bool = False) -> str:
        """Return the drawing as an <svg> element; on paper of its own where it does not stand in a page."""
        margin = MARGIN if paper else 0.0
        width, height = (_number(side + 2 * margin) for side in (float(self.width), float(self.height)))
        corner = _number(-margin)
        box = f'viewBox="{corner} {corner} {width} {height}" width="{width}" height="{height}"'
        own, ink = "", ""
        if paper:
            place = f'x="{corner}" y="{corner}" width="{width}" height="{height}"'
            own = f'<rect {place} fill="{self._colours["paper"]}"/>'
            ink = f' color="{self._colours["ink"]}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" {box} '
            f'font-family="{FONT}"{ink}><title>{escape(self.title)}</title>{own}{"".join(self._parts)}</svg>'
        )

    def _add(
        self,
        name: str,
        paint: Mapping[str, object],
        place: Mapping[str, object],
        *,
        tip: str = "",
        inner: str = "",
    ) -> None:
        written = " ".join(f'{key}="{_number(value)}"' for key, value in {**paint, **place}.items())
        inside = f"<title>{escape(tip)}</title>{inner}" if tip else inner
        self._parts.append(f"<{name} {written}>{inside}</{name}>" if inside else f"<{name} {written}/>")

    def _fill(self, colour: str, opacity: float) -> dict[str, object]:
        return self._paint("fill", "f", colour, opacity)

    def _stroke(self, colour: str, opacity: float) -> dict[str, object]:
        return self._paint("stroke", "k", colour, opacity)

    def _paint(self, name: str, prefix: str, colour: str, opacity: float) -> dict[str, object]:
        strength = _STRENGTH.get(colour)
        if strength is None:
            found: dict[str, object] = {"class": f"{prefix}-{colour}", name: self._colours[colour]}
        else:
            found = {name: "currentColor"}
        faded = opacity * (1 if strength is None else strength)
        return found if faded == 1 else {**found, f"{name}-opacity": faded}


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))


def text_width(text: str, size: float = _SIZE) -> float:
    """Estimate how wide text is, in pixels: wide scripts and letters count as one em, others as 0.58."""
    return size * sum(1.0 if each in _WIDE or east_asian_width(each) in "WF" else 0.58 for each in text)


def elide(text: str, width: float, size: float = _SIZE) -> str:
    """Return the text, or as much of its beginning as fits with an ellipsis.

    >>> elide("Ottawa", 100), elide("Department of Cardiology", 105)
    ('Ottawa', 'Department of…')
    """
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Return at most `most` round numbers between two others.

    >>> ticks(0, 812), ticks(-3, 4), ticks(0, 0)
    ([0.0, 200.0, 400.0, 600.0, 800.0], [-2.0, 0.0, 2.0, 4.0], [0.0])
    """
    if not high - low > 1e-9 * max(abs(low), abs(high)):  # nothing that a reader could tell apart
        return [low + 0.0]
    power = 10.0 ** math.floor(math.log10(high - low) - 1)
    for factor in (1, 2, 5, 10, 20, 50, 100):
        step = power * factor
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < most:
            break
    return [step * count for count in range(first, last + 1)]
