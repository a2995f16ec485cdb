"""Show an answer in a notebook: a chart that fits its shape, its table, and what it cost."""

from collections.abc import Sequence
from html import escape

from discreet.asking.answers.chart import Drawable, draw_chart
from discreet.asking.answers.wording import cell

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
