"""Pictures of answers: released tables, maps of cities, and shares estimated from local reports.

Tested by: tests/pictures/test_released.py, tests/pictures/test_maps.py,
tests/pictures/test_local_shares.py
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import cos, radians, sqrt
from pathlib import Path

import numpy as np

from discreet.apps.pictures.picture import Picture, check_file, render
from discreet.apps.pictures.theme import Json, axis, bars, line
from discreet.asking.answers import (
    COLOURS,
    MARGIN,
    Answer,
    Drawable,
    Drawing,
    Theme,
    columns_with_intervals,
    draw_chart,
)
from discreet.asking.local import Distribution, Shares
from discreet.asking.planning import Plan
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_whole

# An answer as a chart that fits its shape, for a file or a notebook.


@dataclass(frozen=True)
class Chart:
    """A chart of released rows: one column of numbers, drawn with its intervals."""

    table: Drawable
    measure: str

    def draw(self, theme: Theme = "light") -> Drawing:
        """Draw it in a theme's colours."""
        return draw_chart(self.table, measure=self.measure, theme=theme)

    def to_json(self) -> dict[str, Json]:
        """Return what is drawn, for programs: the labels of each mark, its value and its interval."""
        names = (*self.table.keys, self.measure)
        rows = []
        for row, intervals in zip(self.table.rows, self.table.intervals, strict=True):
            ends = intervals[self.measure]
            rows.append({name: row[name] for name in names} | {"interval": None if ends is None else [*ends]})
        return {"shape": self.table.shape(), "columns": list(names), "rows": rows}

    def save(self, path: str | Path, *, theme: Theme = "light") -> Path:
        """Write the chart (.svg), a page (.html), an image (.png, by a Chromium) or its numbers (.json)."""
        path = check_file(path)
        if path.suffix == ".png":
            path.write_bytes(_as_png(self.draw(theme), path, theme))
        else:
            texts = {".svg": self._svg, ".html": self._page, ".json": self._numbers}
            path.write_text(texts[path.suffix](theme), encoding="utf-8")
        return path

    def _svg(self, theme: Theme) -> str:
        return self.draw(theme).markup(paper=True)

    def _page(self, _: Theme) -> str:
        """Return a page that follows its reader's choice of light or dark."""
        light, dark = self.draw("light"), self.draw("dark")
        dark_style = f"body {{ background: {COLOURS['dark']['paper']}; color: {COLOURS['dark']['ink']}; }}"
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            f"<title>{escape(light.title)}</title><style>"
            f"body {{ margin: 2rem; color: {COLOURS['light']['ink']}; }} .dark {{ display: none; }} "
            f"@media (prefers-color-scheme: dark) {{ {dark_style} .light {{ display: none; }} "
            ".dark { display: block; } }</style>"
            f'<div class="light">{light.markup()}</div><div class="dark">{dark.markup()}</div></html>'
        )

    def _numbers(self, _: Theme) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, default=str)

    def _repr_html_(self) -> str:
        return self.draw().markup()


def answer(released: Answer, column: str | None = None) -> Chart:
    """Return a chart of one noisy column of an answer, an interval on each mark; the first such column unless
    one is named.
    """
    noisy = [name for name in released.columns if any(row[name] is not None for row in released.intervals)]
    chosen = column or next(iter(noisy), None)
    if chosen is None or chosen not in noisy:
        raise InvalidParameter(
            f"column must be one with intervals ({', '.join(noisy) or 'there is none'}), got {chosen!r}.",
            parameter="column",
        )
    return Chart(released.drawable(), chosen)


def check_answer(plan: Plan) -> None:
    """Refuse what `answer` could not draw, before it is asked: no column would have an interval."""
    if not columns_with_intervals(plan):
        raise InvalidParameter(
            "a picture of an answer must have a column with intervals, and MEDIAN, QUANTILE, MIN, MAX and "
            "MODE have none. Ask without a picture.",
            parameter="plot",
        )


def _as_png(drawing: Drawing, path: Path, theme: Theme) -> bytes:
    """Let the browser that draws the other pictures draw this one, as the only image of an empty figure."""
    source = base64.b64encode(drawing.markup(paper=True).encode()).decode()
    image = {
        "source": f"data:image/svg+xml;base64,{source}",
        "xref": "paper", "yref": "paper", "x": 0, "y": 1, "sizex": 1, "sizey": 1, "sizing": "stretch",
    }  # fmt: skip
    hidden = {"visible": False}
    layout = {"images": [image], "margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "xaxis": hidden, "yaxis": hidden}
    paper = {"paper_bgcolor": COLOURS[theme]["paper"], "plot_bgcolor": COLOURS[theme]["paper"]}
    figure = {"data": [], "layout": {**layout, **paper}}
    width, height = (int(side + 2 * MARGIN) for side in (drawing.width, drawing.height))
    return render(figure, path, width=width, height=height)


# The map of a private choice of place: candidates by their probability, people where they live.

Place = tuple[float, float]  # latitude, longitude
MOST_PIXELS = 60  # across the bubble of a certain choice
LEAST_PIXELS = 7  # an improbable place stays visible


def city_map(
    places: Mapping[str, Place],
    probabilities: Mapping[str, float],
    *,
    people: Mapping[str, Place] | None = None,
    middle: Place | None = None,
    subtitle: str = "the area of a bubble is the probability that the place is chosen",
) -> Picture:
    r"""Every candidate place, with its probability; optionally people and their mean position.

    >>> picture = city_map({"Memphis": (35, -90)}, {"Memphis": 1.0})
    >>> picture.to_json()["data"][0]["text"]
    ['\xa0Memphis 100 %\xa0']
    """
    if set(places) != set(probabilities):
        raise InvalidParameter("a map must have one probability for each place.", parameter="probabilities")
    traces = [_bubbles(places, probabilities, [] if middle is None else [middle])]
    if people:
        traces.append(_marks(people.values(), "people", symbol="diamond", index=1))
    if middle is not None:
        traces.append(_marks([middle], "their mean position", symbol="star", index=2))
    shown = [*places.values(), *(people or {}).values()]
    return Picture(
        title="Where to meet, chosen privately", subtitle=subtitle, traces=traces, axes=_axes(shown)
    )


def _axes(shown: Sequence[Place]) -> dict[str, Json]:
    latitudes, longitudes = zip(*shown, strict=True)
    wide = 0.18 * (max(longitudes) - min(longitudes)) + 3
    tall = 0.15 * (max(latitudes) - min(latitudes)) + 2
    stretch = 1 / cos(radians(sum(latitudes) / len(latitudes)))  # one degree north is longer than one east
    return {
        "xaxis": axis("longitude (degrees east)", range=[min(longitudes) - wide, max(longitudes) + wide]),
        "yaxis": axis(
            "latitude (degrees north)",
            range=[min(latitudes) - tall, max(latitudes) + tall],
            scaleanchor="x",
            scaleratio=stretch,
            constrain="domain",
        ),
    }


def _bubbles(
    places: Mapping[str, Place], probabilities: Mapping[str, float], obstacles: Sequence[Place]
) -> dict[str, Json]:
    names = list(places)
    labels = [f"\u00a0{name} {_percent(probabilities[name])}\u00a0" for name in names]  # clear of the bubble
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": "candidate places",
        "x": [float(places[name][1]) for name in names],
        "y": [float(places[name][0]) for name in names],
        "text": labels,
        "textposition": place_labels([places[name] for name in names], labels, obstacles),
        "marker": {
            "size": [max(LEAST_PIXELS, MOST_PIXELS * sqrt(probabilities[name])) for name in names],
            "color": "@0/0.45",
            "line": {"color": "@0", "width": 1.5},
        },
        "cliponaxis": False,
    }


def _percent(probability: float) -> str:
    digits = 0 if probability >= 0.1 else 1
    return f"{100 * probability:.{digits}f} %" if probability >= 0.001 else "< 0.1 %"


def _marks(where: Iterable[Place], name: str, *, symbol: str, index: int) -> dict[str, Json]:
    points = list(where)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [float(longitude) for _, longitude in points],
        "y": [float(latitude) for latitude, _ in points],
        "marker": {
            "symbol": symbol,
            "size": 11,
            "color": f"@{index}",
            "line": {"color": "@paper", "width": 1},
        },
    }


def place_labels(places: Sequence[Place], labels: Sequence[str], obstacles: Sequence[Place]) -> list[str]:
    """A side for each label, where the fewest other places (or obstacles) lie under its letters.

    >>> place_labels([(0, 0), (0, 3), (0, 75)], ["A", "B", "C"], obstacles=[(0, -3)])
    ['top center', 'middle right', 'middle right']
    """
    everything = [*places, *obstacles]
    width = max(longitude for _, longitude in everything) - min(longitude for _, longitude in everything)
    letter = max(width, 1.0) / 75  # degrees: pictures are about 110 letters wide, margins included
    return [
        min(SIDES, key=lambda side: _covered(SIDES[side], place, len(text) * letter, letter, everything))
        for place, text in zip(places, labels, strict=True)
    ]


# Where a label's box begins and ends, east and north of its place: in label lengths and in letters.
SIDES: Mapping[str, tuple[float, float, float, float]] = {
    "middle right": (0, 1, -1, 1),
    "middle left": (-1, 0, -1, 1),
    "top center": (-0.5, 0.5, 1, 4),
    "bottom center": (-0.5, 0.5, -4, -1),
}


def _covered(
    side: tuple[float, float, float, float],
    place: Place,
    length: float,
    letter: float,
    others: Sequence[Place],
) -> int:
    west, east, south, north = side
    pad = 3 * letter  # the bubble between a place and its label
    low, high = place[1] + west * (length + pad), place[1] + east * (length + pad)
    return sum(
        low <= longitude <= high and south * letter <= latitude - place[0] <= north * letter
        for latitude, longitude in others
        if (latitude, longitude) != place
    )


# Shares from local reports, with error bars.


def shares(
    found: Shares | Distribution, *, top: Real = 20, confidence: Real = 0.95, liars: Real = 0
) -> Picture:
    """Draw what a collector found: the largest shares with whiskers that hold together, or a distribution
    function between its bounds.
    """
    if isinstance(found, Distribution):
        return _distribution(found, confidence)
    places = np.argsort(-found.raw, kind="stable")[: exact_whole(top, name="top", least=1)]
    lower, upper = found.intervals(confidence=confidence, simultaneous=True, liars=liars)
    raw = found.raw[places]
    whiskers: dict[str, Json] = {
        "type": "data",
        "symmetric": False,
        "array": (upper[places] - raw).tolist(),
        "arrayminus": (raw - lower[places]).tolist(),
        "color": "@ink",
        "thickness": 1.5,
    }
    lied = f", whatever {float(liars):.3g} of them send" if liars else ""
    labels = [str(found.protocol.values[place]) for place in places.tolist()]
    return Picture(
        title="Shares of people by value",
        subtitle=f"{found.reports:,} reports; whiskers hold for all {len(found):,} values together "
        f"with {float(confidence):.0%} confidence{lied}",
        traces=[bars(labels, raw.tolist(), name="estimated share", error_y=whiskers)],
        axes={"xaxis": axis("value", type="category"), "yaxis": axis("share of people"), "showlegend": False},
    )


def _distribution(found: Distribution, confidence: Real) -> Picture:
    lower, upper = found.bounds(confidence=confidence)
    ends = found.edges[1:].tolist()
    return Picture(
        title="Share of people up to a number",
        subtitle=f"{found.reports:,} reports; the bounds hold at all numbers together "
        f"with {float(confidence):.0%} confidence",
        traces=[
            line(ends, np.cumsum(found.shares).tolist(), name="likeliest distribution"),
            line(ends, lower.tolist(), name="lower bound", index=1),
            line(ends, upper.tolist(), name="upper bound", index=2),
        ],
        axes={"xaxis": axis("number"), "yaxis": axis("share of people", range=[0, 1])},
    )
