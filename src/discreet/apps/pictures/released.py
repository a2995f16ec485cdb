"""An answer as a chart that fits its shape, for a file or a notebook."""

import base64
import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

from discreet.apps.pictures.image import render
from discreet.apps.pictures.picture import check_file
from discreet.apps.pictures.theme import Json
from discreet.asking.answers import (
    COLOURS,
    MARGIN,
    Answer,
    Drawing,
    Table,
    Theme,
    columns_with_intervals,
    draw_chart,
)
from discreet.asking.planning import Plan
from discreet.errors import InvalidParameter


@dataclass(frozen=True)
class Chart:
    """A chart of released rows: one column of numbers, drawn with its intervals."""

    table: Table
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
