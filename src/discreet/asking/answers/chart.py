"""Draw an answer as a chart that fits its shape, uncertainty included.

One row becomes tiles; few short labels bars; many or long ones horizontal dots; dates and many whole numbers
a line with a band; two keys grouped bars or a heat map. What cannot be told from zero is faded.
"""

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

from discreet.asking.answers.svg import Drawing, Theme, elide, text_width, ticks
from discreet.asking.answers.wording import cell, show_value, uneven_ends
from discreet.asking.policy import Value
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Interval, readable

Shape: TypeAlias = Literal["tiles", "bars", "dots", "line", "grouped", "heat"]

WIDTH = 720.0
_TOP, _RIGHT = 64.0, 20.0
_BARS, _LABEL = 8, 14  # bars up to so many groups, with labels of so many characters
_DOTS, _CELLS = 60, (40, 24)  # what one chart can hold
_FADED = 0.35


@dataclass(frozen=True)
class Drawable:
    """What a chart is drawn from: released rows with their intervals, and which columns are keys."""

    keys: tuple[str, ...]
    measures: tuple[str, ...]
    rows: Sequence[Mapping[str, Value]]
    intervals: Sequence[Mapping[str, Interval | None]]
    confidence: float

    def pick(self, measure: str | None) -> str:
        """Return the column to draw: the one that is named, or the first."""
        if not self.measures or (measure is not None and measure not in self.measures):
            known = ", ".join(self.measures) or "there is none"
            raise InvalidParameter(
                f"measure must be a column of numbers ({known}), got {measure!r}.", parameter="measure"
            )
        return self.measures[0] if measure is None else measure

    def shape(self) -> Shape:
        """Return the shape that fits the answer; it depends on what was released alone."""
        if not self.keys and len(self.rows) == 1:
            return "tiles"
        labels = [tuple(row[key] for key in self.keys) for row in self.rows]
        known = len(set(labels)) == len(labels) and all(None not in each for each in labels)
        if len(self.keys) == 1 and known and _ordered([each for (each,) in labels]):
            return "line"
        if len(self.keys) == 2 and known:
            first, second = (len(set(each)) for each in zip(*labels, strict=True)) if labels else (0, 0)
            return "grouped" if first <= 6 and second <= 4 else "heat"
        longest = max((len(_label(each)) for each in labels), default=0)
        return "bars" if len(labels) <= _BARS and longest <= _LABEL else "dots"


def _ordered(values: list[Value]) -> bool:
    """Tell whether labels are points on a line: dates, or more whole numbers than bars can show."""
    dates = all(isinstance(each, datetime.date) for each in values)
    whole = all(type(each) is int for each in values) and len(values) > _BARS
    return len(values) > 2 and (dates or whole)


def draw_chart(
    table: Drawable, *, measure: str | None = None, theme: Theme = "light", width: float = WIDTH
) -> Drawing:
    """Draw the answer; `measure` names the column of numbers where there are several."""
    chosen = table.pick(measure)
    if not _marks(table, chosen) and table.keys:
        drawing = Drawing(width, 90, title="No group was large enough to be shown", theme=theme)
        drawing.text(0, 40, "No group was large enough to be shown.", bold=True, size=15)
        drawing.text(0, 62, "That does not mean that there are none.", colour="muted")
        return drawing
    return _DRAWN[table.shape()](table, chosen, theme, width)


@dataclass(frozen=True)
class _Mark:
    keys: tuple[Value, ...]
    label: str
    value: float
    interval: Interval | None
    tip: str

    @property
    def faded(self) -> bool:
        """Whether the value cannot be told from zero."""
        return self.interval is not None and self.interval.lower <= 0 <= self.interval.upper

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; the value itself where one is unknown."""
        low, high = self.interval or (self.value, self.value)
        return low if math.isfinite(low) else self.value, high if math.isfinite(high) else self.value

    def within(self, axis: tuple[float, float]) -> tuple[float, float]:
        """Return the ends on an axis: an unknown one is that of the axis itself."""
        low, high = self.interval or (self.value, self.value)
        return max(low, axis[0]), min(high, axis[1])


def _marks(table: Drawable, measure: str) -> list[_Mark]:
    found = []
    for row, intervals in zip(table.rows, table.intervals, strict=True):
        value, interval = row[measure], intervals[measure]
        if not isinstance(value, int | float) or not math.isfinite(value):
            continue  # nothing to draw: the table next to the chart says it
        keys = tuple(row[key] for key in table.keys)
        tip = ": ".join(filter(None, (_label(keys), cell(value, interval))))
        found.append(_Mark(keys, _label(keys), float(value), interval, tip))
    return found


def _label(values: Sequence[Value]) -> str:
    return ", ".join(map(show_value, values))


def _begin(table: Drawable, measure: str, theme: Theme, width: float, height: float) -> Drawing:
    """Start a drawing with its title and a line that says what is shown."""
    name = f"{measure} by {', '.join(table.keys)}" if table.keys else measure
    drawing = Drawing(width, height, title=name, theme=theme)
    drawing.text(0, 20, elide(name, width, 16), size=16, bold=True)
    noisy = any(each[measure] is not None for each in table.intervals)
    what = f"with {table.confidence:.0%} intervals" if noisy else "chosen by noise, without an interval"
    faded = " · pale: cannot be told from zero" if any(each.faded for each in _marks(table, measure)) else ""
    drawing.text(0, 40, what + faded, colour="muted")
    return drawing


def _scale(marks: Sequence[_Mark], *, zero: bool) -> tuple[float, float]:
    """Return the ends of the value axis, a little beyond all intervals."""
    ends = [end for each in marks for end in each.ends] + ([0.0] if zero else [])
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    pad = (high - low) * 0.04 or 1.0
    return low - (0 if zero and low == 0 else pad), high + (0 if zero and high == 0 else pad)


def _at(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _value_axis(
    drawing: Drawing, ends: tuple[float, float], bottom: float, top: float = _TOP
) -> tuple[float, Callable[[float], float]]:
    """Draw horizontal grid lines; return the left edge of the plot and where values are."""
    scale = ticks(*ends)
    left = max(text_width(readable(each), 11) for each in scale) + 14
    y = _at(*ends, bottom, top)
    for each in scale:
        strong = each == 0 and ends[0] < 0
        drawing.line([(left, y(each)), (drawing.width - _RIGHT, y(each))], "muted" if strong else "grid")
        drawing.text(left - 8, y(each) + 4, readable(each), anchor="end", colour="muted", size=11)
    return left, y


def _bars(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    return _columns(
        table, measure, theme, width, [(each.label, [(each, "0")]) for each in _marks(table, measure)]
    )


def _grouped(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    marks = _marks(table, measure)
    inner = list(dict.fromkeys(show_value(mark.keys[1]) for mark in marks))
    groups: dict[str, list[tuple[_Mark, str]]] = {}
    for mark in marks:
        outer, place = show_value(mark.keys[0]), inner.index(show_value(mark.keys[1]))
        groups.setdefault(outer, []).append((mark, str(place)))
    drawing = _columns(table, measure, theme, width, list(groups.items()), top=_TOP + 20)
    x = 0.0
    for place, name in enumerate(inner):
        shown = elide(name, 140)
        drawing.rect(x, 52, 10, 10, str(place))
        drawing.text(x + 15, 61, shown, colour="muted")
        x += 30 + text_width(shown)
    return drawing


def _columns(
    table: Drawable,
    measure: str,
    theme: Theme,
    width: float,
    groups: list[tuple[str, list[tuple[_Mark, str]]]],
    *,
    top: float = _TOP,
) -> Drawing:
    """Draw vertical bars with whiskers, in groups with a label each."""
    height = 320.0
    drawing = _begin(table, measure, theme, width, height)
    marks = [mark for _, each in groups for mark, _ in each]
    axis = _scale(marks, zero=True)
    left, y = _value_axis(drawing, axis, height - 34, top)
    slot = (width - _RIGHT - left) / max(1, len(groups))
    for index, (label, bars) in enumerate(groups):
        each = min(64.0, slot * 0.8 / len(bars))
        start = left + slot * (index + 0.5) - each * len(bars) / 2
        for place, (mark, colour) in enumerate(bars):
            x = start + place * each
            top, base = min(y(mark.value), y(0)), max(y(mark.value), y(0))
            drawing.rect(
                x + 1, top, each - 2, base - top, colour, tip=mark.tip, opacity=_FADED if mark.faded else 0.85
            )
            low, high = mark.within(axis)
            drawing.whisker((x + each / 2, y(low)), (x + each / 2, y(high)))
        drawing.text(left + slot * (index + 0.5), height - 14, elide(label, slot - 6), anchor="middle")
    return drawing


def _dots(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    marks = _marks(table, measure)
    shown = sorted(marks, key=lambda each: -each.value)[:_DOTS] if len(marks) > _DOTS else marks
    height = _TOP + 22.0 * len(shown) + 30
    drawing = _begin(table, measure, theme, width, height)
    if len(shown) < len(marks):  # above the subtitle, which may be as wide as the drawing
        most = f"the {_DOTS} largest of {len(marks)}"
        drawing.text(width - _RIGHT, 20, most, anchor="end", colour="muted")
    left = min(width * 0.42, max(text_width(each.label) for each in shown) + 12) if shown else 0
    ends = _scale(shown, zero=True)
    x = _at(*ends, left, width - _RIGHT)
    for tick in ticks(*ends):
        drawing.line([(x(tick), _TOP - 8), (x(tick), height - 26)], "muted" if tick == 0 else "grid")
        drawing.text(x(tick), height - 8, readable(tick), anchor="middle", colour="muted", size=11)
    for index, mark in enumerate(shown):
        y = _TOP + 22 * index + 8
        colour = "muted" if mark.faded else "ink"
        drawing.text(left - 10, y + 4, elide(mark.label, left - 10), anchor="end", colour=colour)
        low, high = mark.within(ends)
        drawing.whisker((x(low), y), (x(high), y))
        drawing.dot(x(mark.value), y, "0", tip=mark.tip, hollow=mark.faded)
    return drawing


def _line(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    height = 320.0
    drawing = _begin(table, measure, theme, width, height)
    marks = sorted(_marks(table, measure), key=lambda mark: _moment(mark.keys[0]))
    points = [(_moment(mark.keys[0]), mark) for mark in marks]
    lowest = min(end for mark in marks for end in mark.ends)
    highest = max(end for mark in marks for end in mark.ends)
    axis = _scale(marks, zero=lowest < (highest - lowest) * 2)
    left, y = _value_axis(drawing, axis, height - 34)
    x = _at(points[0][0], points[-1][0], left + 6, width - _RIGHT - 6)
    over = [(x(at), y(mark.within(axis)[1])) for at, mark in points]
    under = [(x(at), y(mark.within(axis)[0])) for at, mark in reversed(points)]
    drawing.area(over + under, "0", opacity=0.22)
    drawing.line([(x(at), y(mark.value)) for at, mark in points], "0", width=2)
    for at, mark in points if len(points) <= 80 else ():
        drawing.dot(x(at), y(mark.value), "0", tip=mark.tip, hollow=mark.faded)
    taken = -math.inf
    for at, mark in points:  # as many labels as fit, from the left
        half = text_width(mark.label) / 2
        if x(at) - half > taken + 12 and x(at) + half <= width:
            drawing.text(x(at), height - 14, mark.label, anchor="middle", colour="muted", size=11)
            taken = x(at) + half
    return drawing


def _moment(label: Value) -> float:
    """Return where a date or a whole number is on its axis."""
    if isinstance(label, datetime.datetime):
        return label.replace(tzinfo=datetime.UTC).timestamp()
    return float(label.toordinal() if isinstance(label, datetime.date) else label)  # type: ignore[arg-type]


def _heat(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    marks = _marks(table, measure)
    named = [tuple(map(show_value, mark.keys)) for mark in marks]
    down, across = (list(dict.fromkeys(each)) for each in zip(*named, strict=True))
    if len(across) > len(down):
        named, down, across = [(second, first) for first, second in named], across, down
    found = dict(zip(named, marks, strict=True))
    rows, columns = down[: _CELLS[0]], across[: _CELLS[1]]
    left = min(width * 0.35, max(map(text_width, rows)) + 12)
    size = (width - _RIGHT - left) / len(columns), 28.0
    drawing = _begin(table, measure, theme, width, _TOP + 26 + size[1] * len(rows))
    if len(rows) < len(down) or len(columns) < len(across):
        note = f"{len(rows)} × {len(columns)} of {len(down)} × {len(across)}"
        drawing.text(width - _RIGHT, 40, note, anchor="end", colour="muted")
    largest = max((abs(each.value) for each in found.values()), default=1.0) or 1.0
    for place, name in enumerate(columns):
        drawing.text(
            left + size[0] * (place + 0.5), _TOP + 8, elide(name, size[0] - 4), anchor="middle", size=11
        )
    for index, name in enumerate(rows):
        y = _TOP + 16 + size[1] * index
        drawing.text(left - 8, y + 18, elide(name, left - 12), anchor="end")
        for place, other in enumerate(columns):
            mark = found.get((name, other))
            if mark is not None:
                _heat_cell(drawing, mark, (left + size[0] * place, y), size, largest)
    return drawing


def _heat_cell(
    drawing: Drawing, mark: _Mark, corner: tuple[float, float], size: tuple[float, float], largest: float
) -> None:
    """Draw one cell: its shade is the value, the bar at its foot how far the interval reaches."""
    (x, y), (width, height) = corner, size
    drawing.rect(x + 1, y + 1, width - 2, height - 2, "0" if mark.value >= 0 else "1", tip=mark.tip,
                 opacity=0.08 + 0.5 * abs(mark.value) / largest)  # fmt: skip
    low, high = mark.interval or mark.ends
    drawing.rect(
        x + 3, y + height - 5, (width - 6) * min(1.0, (high - low) / 2 / largest), 2, "ink", opacity=0.6
    )
    shown = readable(mark.value, digits=3)
    if text_width(shown, 11) < width - 6:
        drawing.text(
            x + width / 2, y + 17, shown, anchor="middle", size=11, colour="muted" if mark.faded else "ink"
        )


def _tiles(table: Drawable, measure: str, theme: Theme, width: float) -> Drawing:
    """Draw the one row as large numbers, each with its interval; every measure has a tile."""
    (row,), (intervals,) = table.rows, table.intervals
    across = max(1, min(len(table.measures), int(width // 230)))
    tile, height = width / across, 104.0
    drawing = Drawing(
        width, height * math.ceil(len(table.measures) / across), title=", ".join(table.measures), theme=theme
    )
    for index, name in enumerate(table.measures):
        x, y = tile * (index % across), height * (index // across)
        interval = intervals[name]
        drawing.line([(x, y + 8), (x, y + height - 14)], "0", width=3)
        drawing.text(x + 14, y + 22, elide(name, tile - 24), colour="muted")
        value = show_value(row[name], interval)
        drawing.text(x + 14, y + 54, elide(value, tile - 24, 28), size=28, bold=True)
        said = "chosen by noise, without an interval"
        if interval is not None:
            ends = " to ".join(show_value(end, interval) for end in interval)
            if not all(map(math.isfinite, interval)):
                ends = uneven_ends(row[name], interval) or ends
            said = f"{ends} ({table.confidence:.0%})"
        drawing.text(x + 14, y + 78, elide(said, tile - 24), colour="muted")
    return drawing


_DRAWN: Mapping[Shape, Callable[[Drawable, str, Theme, float], Drawing]] = {
    "tiles": _tiles,
    "bars": _bars,
    "dots": _dots,
    "line": _line,
    "grouped": _grouped,
    "heat": _heat,
}


# Show an answer in a notebook: a chart that fits its shape, its table, and what it cost.

MOST_ROWS = 50


def as_html(table: Drawable, columns: Sequence[str], *, notes: Sequence[str]) -> str:
    """Return the chart and the table as HTML that needs no script: a few kilobytes."""
    chart = draw_chart(table).markup() if table.measures else ""
    shown = list(zip(table.rows, table.intervals, strict=True))[:MOST_ROWS]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(row[name], ends[name]))}</td>" for name in columns) + "</tr>"
        for row, ends in shown
    )
    left_out = len(table.rows) - len(shown)
    more = [f"{left_out} more rows are not shown here."] if left_out else []
    said = "".join(f"<div>{escape(note)}</div>" for note in (*more, *notes))
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{chart}</div>{rows}<small>{said}</small>"
