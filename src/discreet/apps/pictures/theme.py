"""One look for every picture: colours that colour-blind readers can tell apart, on light and on dark paper.

A figure names its colours by token: "@0" to "@5" are the series, "@ink", "@muted", "@grid" and "@paper" the
rest, and "@0/0.2" is series 0 at 20 % opacity. `paint` puts a theme's colours in their place.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from discreet.asking.answers import COLOURS, FONT, Theme

Json: TypeAlias = Any  # what json.dumps takes

SERIES = 6
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_TOKEN = re.compile(r"@(\w+)(?:/([\d.]+))?")


def paint(figure: Json, theme: Theme) -> Json:
    """The figure with every colour token replaced.

    >>> paint({"color": "@ink", "fill": "@0/0.5"}, "light")
    {'color': '#1f2328', 'fill': 'rgba(0,114,178,0.5)'}
    """
    if isinstance(figure, str):
        match = _TOKEN.fullmatch(figure)
        return figure if match is None else _colour(COLOURS[theme][match[1]], match[2])
    if isinstance(figure, Mapping):
        return {key: paint(value, theme) for key, value in figure.items()}
    if isinstance(figure, list | tuple):
        return [paint(value, theme) for value in figure]
    return figure


def _colour(code: str, opacity: str | None) -> str:
    if opacity is None:
        return code
    red, green, blue = (int(code[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def series(index: int) -> str:
    """The colour token of the index-th series."""
    return f"@{index % SERIES}"


def layout(title: str, subtitle: str) -> dict[str, Json]:
    """What all pictures share: paper, fonts, margins, legend below."""
    return {
        "title": {
            "text": f"<b>{title}</b>",
            "subtitle": {"text": subtitle, "font": {"color": "@muted", "size": 13}},
            "font": {"size": 18},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 0.965,
            "yanchor": "top",
            "pad": {"b": 0},
        },
        "font": {"family": FONT, "size": 13, "color": "@ink"},
        "paper_bgcolor": "@paper",
        "plot_bgcolor": "@paper",
        "colorway": [series(index) for index in range(SERIES)],
        "margin": {"l": 72, "r": 28, "t": 90, "b": 104},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 0.01,
            "yref": "container",
            "yanchor": "bottom",
        },
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": FONT}},
    }


def scientific(value: float) -> str:
    """A small or large number as people write it.

    >>> scientific(1e-6), scientific(0.25), scientific(2.5e-9)
    ('10⁻⁶', '0.25', '2.5·10⁻⁹')
    """
    return with_power(f"{value:.3g}")


def with_power(text: str) -> str:
    """A number's text with its exponent, if it has one, set as a power of ten.

    >>> with_power("9.375e-07")
    '9.375·10⁻⁷'
    """
    digits, mark, exponent = text.partition("e")
    if not mark:
        return text
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits == "1" else f"{digits}·{power}"


def axis(title: str, **more: Json) -> dict[str, Json]:
    """An axis that is labelled, with a quiet grid."""
    return {
        "title": {"text": title, "standoff": 10, "font": {"size": 14}},
        "gridcolor": "@grid",
        "zerolinecolor": "@grid",
        "linecolor": "@muted",
        "ticks": "outside",
        "tickcolor": "@muted",
        "tickfont": {"size": 12},
        "automargin": True,
        **more,
    }


def log_axis(title: str, **more: Json) -> dict[str, Json]:
    """A logarithmic axis with its ticks at powers of ten."""
    return axis(title, type="log", dtick=1, exponentformat="power", **more)


# The marks that pictures are made of, as Plotly traces.

Numbers = Iterable[float]


def line(x: Numbers, y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """A curve; colour and dash both tell series apart."""
    stroke = {"color": series(index), "width": 2.5, "dash": DASHES[index % len(DASHES)]}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _floats(x),
        "y": _floats(y),
        "name": name,
        "line": stroke,
        **more,
    }


def dots(x: Numbers, y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """Points that stand for themselves."""
    marker = {"color": series(index), "size": 9, "symbol": SYMBOLS[index % len(SYMBOLS)]}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _floats(x),
        "y": _floats(y),
        "name": name,
        "marker": marker,
        **more,
    }


def stems(x: Numbers, y: Numbers, *, name: str, index: int = 0) -> dict[str, Json]:
    """Atoms of a law: a dot on a stalk for each."""
    heights = _floats(y)
    return dots(
        x,
        heights,
        name=name,
        index=index,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [0.0] * len(heights),
            "arrayminus": heights,
            "width": 0,
            "thickness": 2,
            "color": series(index),
        },
    )


def bars(x: Sequence[float | str], y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """Columns, for counts and probabilities."""
    return {
        "type": "bar",
        "x": list(x),
        "y": _floats(y),
        "name": name,
        "marker": {"color": series(index)},
        **more,
    }


SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def _floats(values: Numbers) -> list[float]:
    return [float(value) for value in values]
