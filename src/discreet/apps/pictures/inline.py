"""A picture as a small SVG, for notebooks: its curves, bars and dots, without Plotly and without a script.

Thirty kilobytes at most in place of five megabytes; what a picture says in full it says in a file (`save`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from discreet.apps.pictures.theme import Json
from discreet.asking.answers.svg import Drawing, elide, ticks

WIDTH, HEIGHT = 640.0, 390.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 72.0, 50.0
_MOST_POINTS = 240  # of one curve: more cannot be seen at this size


def draw_inline(
    title: str, subtitle: str, traces: Sequence[Mapping[str, Json]], axes: Mapping[str, Json]
) -> str:
    """Return the figure as an <svg> element.

    >>> svg = draw_inline("A line", "", [{"type": "scatter", "x": [0, 1], "y": [0, 1], "mode": "lines"}], {})
    >>> svg.startswith("<svg"), "A line" in svg
    (True, True)
    """
    named = _named(traces)
    height = HEIGHT + 20 * math.ceil(len(named) / 2)
    drawing = Drawing(WIDTH, height, title=title)
    drawing.text(0, 18, elide(title, WIDTH, 16), size=16, bold=True)
    drawing.text(0, 38, elide(subtitle, WIDTH), colour="muted")
    across = _scale(traces, "x", axes.get("xaxis", {}), (_LEFT, WIDTH - _RIGHT))
    upward = {
        axis: _scale(
            [each for each in traces if each.get("yaxis", "y") == axis],
            "y",
            axes.get("yaxis" + axis[1:], {}),
            (HEIGHT - _BOTTOM, _TOP),
        )
        for axis in sorted({str(each.get("yaxis", "y")) for each in traces})
    }
    first = next(iter(upward.values()))
    _draw_axes(drawing, across, first)
    for shape in axes.get("shapes", ()):
        _draw_shape(drawing, shape, across, first)
    for place, trace in enumerate(traces):
        if place and trace.get("fill") == "tonexty":
            _draw_band(drawing, traces[place - 1 : place + 1], across, upward[str(trace.get("yaxis", "y"))])
        _draw_trace(drawing, trace, Frame(across, upward[str(trace.get("yaxis", "y"))], place, _bars(traces)))
    _draw_legend(drawing, named)
    return drawing.markup()


@dataclass(frozen=True)
class Scale:
    """An axis: where a value stands, and the values that are named on it."""

    place: Callable[[Json], float | None]
    marks: Sequence[tuple[float, str]]  # places, and what stands there
    title: str
    zero: float  # where bars and filled areas begin
    wide: float  # of one category


def _scale(
    traces: Sequence[Mapping[str, Json]], name: str, axis: Mapping[str, Json], ends: tuple[float, float]
) -> Scale:
    values = [value for trace in traces for value in trace.get(name, ())]
    title = str(axis.get("title", {}).get("text", ""))
    if axis.get("type") == "category" or any(isinstance(value, str) for value in values):
        return _category(list(dict.fromkeys(map(str, values))), title, ends)
    log = axis.get("type") == "log"
    numbers = [number for value in values if (number := _number(value, log)) is not None]
    numbers += [each for trace in traces for each in _whisker_ends(trace, name) if not log]
    low, high = _range(
        numbers,
        axis,
        name,
        filled=any("tozero" in str(t.get("fill")) or t.get("type") == "bar" for t in traces),
    )
    start, end = ends

    def place(value: Json) -> float | None:
        number = _number(value, log)
        return (
            None
            if number is None
            else start + (min(max(number, low), high) - low) / (high - low) * (end - start)
        )

    marked = ticks(low, high, most=7)
    if log:
        marked = [float(power) for power in range(math.ceil(low), math.floor(high) + 1)][
            :: max(1, math.ceil((high - low) / 7))
        ]
    at = {each: start + (each - low) / (high - low) * (end - start) for each in marked}
    shown = [(at[each], _power(each) if log else _short(each)) for each in marked]
    return Scale(place, shown, title, place(0.0) if not log and low <= 0 <= high else start, 0.0)  # type: ignore[arg-type]


def _category(names: list[str], title: str, ends: tuple[float, float]) -> Scale:
    start, end = ends
    wide = (end - start) / max(len(names), 1)
    at = {name: start + wide * (index + 0.5) for index, name in enumerate(names)}
    shown = [(at[name], elide(name, abs(wide))) for name in names]
    return Scale(lambda value: at.get(str(value)), shown, title, start, wide)


def _range(numbers: list[float], axis: Mapping[str, Json], name: str, *, filled: bool) -> tuple[float, float]:
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if name == "y" and (filled or axis.get("rangemode") == "tozero"):
        low, high = min(low, 0.0), max(high, 0.0)
    if axis.get("range"):
        low, high = sorted(float(end) for end in axis["range"])
    room = (high - low or abs(high) or 1.0) * (0.05 if name == "y" else 0.02)
    return (low if low == 0 else low - room), high + room


def _number(value: Json, log: bool) -> float | None:
    if value is None or isinstance(value, str) or not math.isfinite(value) or (log and value <= 0):
        return None
    return math.log10(value) if log else float(value)


def _whisker_ends(trace: Mapping[str, Json], name: str) -> list[float]:
    found = trace.get(f"error_{name}")
    if not found:
        return []
    up, down = found.get("array", ()), found.get("arrayminus", found.get("array", ()))
    values = trace.get(name, ())
    return [v + e for v, e in zip(values, up, strict=False) if _number(v, log=False) is not None] + [
        v - e for v, e in zip(values, down, strict=False) if _number(v, log=False) is not None
    ]


def _draw_axes(drawing: Drawing, across: Scale, upward: Scale) -> None:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for y, text in upward.marks:
        drawing.line([(_LEFT, y), (right, y)], "grid")
        drawing.text(_LEFT - 8, y + 4, text, anchor="end", colour="muted")
    for x, text in across.marks:
        drawing.line([(x, bottom), (x, bottom + 4)], "muted")
        drawing.text(x, bottom + 18, text, anchor="middle", colour="muted")
    drawing.line([(_LEFT, bottom), (right, bottom)], "muted")
    drawing.text((_LEFT + right) / 2, bottom + 38, elide(across.title, right - _LEFT), anchor="middle")
    drawing.text(0, _TOP - 12, elide(upward.title, right))


def _draw_shape(drawing: Drawing, shape: Mapping[str, Json], across: Scale, upward: Scale) -> None:
    if shape.get("type") != "line":
        return
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    if shape.get("yref") == "paper" and (x := across.place(shape["x0"])) is not None:
        drawing.line([(x, bottom), (x, _TOP)], "ink", opacity=0.6)
    elif shape.get("xref") == "paper" and (y := upward.place(shape["y0"])) is not None:
        drawing.line([(_LEFT, y), (right, y)], "ink", opacity=0.6)


class Frame(NamedTuple):
    """Where a trace is drawn: its scales, and its place among the bars that stand side by side."""

    across: Scale
    upward: Scale
    place: int
    bars: int


def _draw_trace(drawing: Drawing, trace: Mapping[str, Json], frame: Frame) -> None:
    upward, colour = frame.upward, _colour(trace, frame.place)
    points = _points(trace, frame.across, upward)
    if trace.get("type") == "bar":
        _draw_bars(drawing, colour, points, frame)
    else:
        mode = str(trace.get("mode", "lines"))
        _draw_curve(drawing, trace, colour, points, upward, lines="lines" in mode)
        if "markers" in mode:
            for _, x, y in points:
                drawing.dot(x, y, colour)
    _draw_whiskers(drawing, trace, points, upward)


def _draw_curve(
    drawing: Drawing,
    trace: Mapping[str, Json],
    colour: str,
    points: Sequence[tuple[int, float, float]],
    upward: Scale,
    *,
    lines: bool,
) -> None:
    thin = points[:: max(1, len(points) // _MOST_POINTS)]
    curve = [(x, y) for _, x, y in (thin if thin[-1:] == points[-1:] else [*thin, *points[-1:]])]
    if trace.get("line", {}).get("shape") == "hv":
        curve = [p for (x, y), (x1, _) in pairwise(curve) for p in ((x, y), (x1, y))] + curve[-1:]
    if len(curve) > 1 and "tozero" in str(trace.get("fill", "")):
        closed = [(curve[0][0], upward.zero), *curve, (curve[-1][0], upward.zero)]
        drawing.area(closed, colour, opacity=0.13)
    if lines and len(curve) > 1:
        drawing.line(curve, colour, width=float(trace.get("line", {}).get("width", 2)))


def _draw_band(drawing: Drawing, ends: Sequence[Mapping[str, Json]], across: Scale, upward: Scale) -> None:
    """Fill what lies between two curves."""
    under, over = (_points(each, across, upward) for each in ends)
    edge = [(x, y) for _, x, y in (*over, *reversed(under))]
    if len(edge) > 2:
        drawing.area(edge, _colour(ends[1], 0), opacity=0.13)


def _draw_bars(
    drawing: Drawing, colour: str, points: Sequence[tuple[int, float, float]], frame: Frame
) -> None:
    across, upward, place, bars = frame
    gaps = [b[1] - a[1] for a, b in pairwise(points)]
    room = across.wide or (min(gaps) if gaps else 40.0)
    width = abs(room) * 0.8 / bars
    for _, x, y in points:
        left = x - abs(room) * 0.4 + width * (place % bars)
        drawing.rect(left, min(y, upward.zero), width, abs(y - upward.zero), colour)


def _draw_whiskers(
    drawing: Drawing, trace: Mapping[str, Json], points: Sequence[tuple[int, float, float]], upward: Scale
) -> None:
    found = trace.get("error_y")
    if not found:
        return
    up, down = found.get("array", ()), found.get("arrayminus", found.get("array", ()))
    for place, x, _ in points:
        value = trace["y"][place]
        high, low = upward.place(value + up[place]), upward.place(value - down[place])
        if high is not None and low is not None:
            drawing.whisker((x, low), (x, high), cap=4 if found.get("width", 1) else 0)


def _points(trace: Mapping[str, Json], across: Scale, upward: Scale) -> list[tuple[int, float, float]]:
    found = []
    for place, (x, y) in enumerate(zip(trace.get("x", ()), trace.get("y", ()), strict=False)):
        left, up = across.place(x), upward.place(y)
        if left is not None and up is not None:
            found.append((place, left, up))
    return found


def _named(traces: Sequence[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """Return colour and name of each series that a legend names; a single one needs none."""
    named = [
        (_colour(trace, place), str(trace["name"]))
        for place, trace in enumerate(traces)
        if trace.get("name") and trace.get("showlegend", True)
    ]
    return named if len(named) > 1 else []


def _draw_legend(drawing: Drawing, named: Sequence[tuple[str, str]]) -> None:
    for place, (colour, name) in enumerate(named):
        x, y = (place % 2) * WIDTH / 2, HEIGHT + 12 + 20 * (place // 2)
        drawing.rect(x, y - 9, 14, 9, colour)
        drawing.text(x + 20, y, elide(name, WIDTH / 2 - 30))


def _bars(traces: Sequence[Mapping[str, Json]]) -> int:
    return max(1, len([trace for trace in traces if trace.get("type") == "bar"]))


def _colour(trace: Mapping[str, Json], index: int) -> str:
    """Return the series that a trace is drawn as: the first of its own colours, else its place."""
    fill = trace.get("fillcolor") if trace.get("fill") == "tonexty" else None
    for token in (fill, *(trace.get(part, {}).get("color") for part in ("line", "marker"))):
        if isinstance(token, str) and token[:1] == "@":
            return token[1:].partition("/")[0]
    return str(index % 6)


def _short(value: float) -> str:
    text = f"{value:.6g}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:.2g}"
    return text.replace("-", "−")


def _power(exponent: float) -> str:
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
