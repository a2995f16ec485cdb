"""Draw what a question may look like on invented people: what limits cut, and what noise adds.

Tested by: tests/dry_run/test_sketch.py
"""

import math
from collections.abc import Sequence

from discreet.asking.answers import WIDTH, Drawing, Theme, elide, show_value, text_width, ticks
from discreet.asking.dry_run.rehearsal import Cell, DryRun
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import readable, readable_up

_TOP, _ROW, _RIGHT, _MOST = 84.0, 30.0, 20.0, 12


def draw_dry_runs(
    runs: Sequence[DryRun], column: str, *, theme: Theme = "light", width: float = WIDTH
) -> Drawing:
    """Draw one column: a dot for each draw of the noise, and where the value is with and without limits."""
    rows = _rows(runs, column)
    if not rows:
        raise InvalidParameter(
            "column must have a number in some group of every run, got none.", parameter="column"
        )
    title = f"{column}, on {runs[0].people:,} invented people"
    drawing = Drawing(width, _TOP + _ROW * len(rows) + 34, title=title, theme=theme)
    drawing.text(0, 20, elide(title, width, 16), size=16, bold=True)
    _legend(drawing, len(runs))
    values = [value for _, every, bounded, draws in rows for value in (every, bounded, *draws)]
    low, high = min(0.0, *values), max(0.0, *values)
    low, high = (low - 0.04 * (high - low), high + 0.04 * (high - low)) if high > low else (-1.0, 1.0)
    left = min(width * 0.4, max(text_width(label) for label, *_ in rows) + 14)
    bottom = _TOP + _ROW * len(rows)

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (width - _RIGHT - left)

    for value in ticks(low, high):
        drawing.line([(place(value), _TOP - 8), (place(value), bottom)], "muted" if value == 0 else "grid")
        drawing.text(place(value), bottom + 20, readable(value), anchor="middle", colour="muted", size=11)
    for number, (label, every, bounded, draws) in enumerate(rows):
        y = _TOP + _ROW * (number + 0.5)
        drawing.text(left - 12, y + 4, elide(label, left - 12), anchor="end")
        for value in draws:
            drawing.dot(place(value), y, "0", opacity=0.28)
        drawing.line([(place(bounded), y - 11), (place(bounded), y + 11)], "ink", width=2.5)
        drawing.dot(place(every), y, "1", hollow=True, tip=f"every row: {readable(every)}")
    return drawing


def _legend(drawing: Drawing, times: int) -> None:
    drawing.dot(5, 40, "0", opacity=0.5)
    drawing.text(16, 44, f"as released, {times} draws", colour="muted")
    x = 32 + text_width(f"as released, {times} draws")
    drawing.line([(x, 33), (x, 47)], "ink", width=2.5)
    drawing.text(x + 9, 44, "after limits", colour="muted")
    x, y = (x + 25 + text_width("after limits"), 40) if drawing.width > 400 else (5, 60)
    drawing.dot(x, y, "1", hollow=True)
    drawing.text(x + 11, y + 4, "from every row", colour="muted")


def _rows(runs: Sequence[DryRun], column: str) -> list[tuple[str, float, float, list[float]]]:
    """Return, for the first groups, the label, both exact values, and each released one."""
    drawn: dict[str, list[float]] = {}
    for run in runs:
        for cell in _cells(run, column):
            drawn.setdefault(_label(cell), []).append(float(cell.released))  # type: ignore[arg-type]
    return [
        (_label(cell), float(cell.every_row), float(cell.bounded), drawn[_label(cell)])  # type: ignore[arg-type]
        for cell in _cells(runs[0], column)
    ][:_MOST]


def _cells(run: DryRun, column: str) -> list[Cell]:
    return [
        cell
        for cell in run.cells
        if cell.column == column and all(map(_is_number, (cell.every_row, cell.bounded, cell.released)))
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _label(cell: Cell) -> str:
    return ", ".join(map(show_value, cell.keys.values())) or cell.column


def columns_to_draw(run: DryRun) -> tuple[str, ...]:
    """Return the columns that can be drawn."""
    return tuple(dict.fromkeys(cell.column for cell in run.cells if _cells(run, cell.column)))


def say_effects(runs: Sequence[DryRun], column: str) -> str:
    """Say how far limits and noise moved the values of a column."""
    cells = [cell for run in runs for cell in _cells(run, column)]
    cut = max(abs(float(cell.bounded) - float(cell.every_row)) for cell in cells)  # type: ignore[arg-type]
    noise = max(abs(float(cell.released) - float(cell.bounded)) for cell in cells)  # type: ignore[arg-type]
    limits = f"move a value by up to {readable_up(cut, digits=3)}" if cut else "cut nothing"
    return (
        f"{column}: here limits and bounds {limits}; "
        f"noise, in {len(runs)} draws, moves one by up to {readable_up(noise, digits=3)}."
    )
