"""A released table, with error bars."""

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import bars
from discreet.asking.answers import Answer, columns_with_intervals, show_value
from discreet.asking.planning import Plan
from discreet.errors import InvalidParameter


def answer(released: Answer, column: str | None = None) -> Picture:
    """One noisy column of an answer as bars, an interval on each; the first such column unless one is
    named.
    """
    noisy = [name for name in released.columns if any(row[name] is not None for row in released.intervals)]
    chosen = column or next(iter(noisy), None)
    if chosen is None or chosen not in noisy:
        raise InvalidParameter(
            f"column must be one with intervals ({', '.join(noisy) or 'there is none'}), got {chosen!r}.",
            parameter="column",
        )
    keys = [name for name in released.columns if name not in noisy]
    labels = [_label([row[key] for key in keys]) or chosen for row in released.rows]
    confidence = float(released.plan.confidence)
    price = released.receipt.in_words("price")
    return Picture(
        title=f"{chosen} by {', '.join(keys)}" if keys else chosen,
        subtitle=f"bars show the answer, whiskers its {confidence:.0%} interval · price {price}",
        traces=[_bars(released, labels, chosen)],
        axes={
            "xaxis": axis(", ".join(keys), type="category"),
            "yaxis": axis(chosen),
            "showlegend": False,
        },
    )


def check_answer(plan: Plan) -> None:
    """Refuse what `answer` could not draw, before it is asked: no column would have an interval."""
    if not columns_with_intervals(plan):
        raise InvalidParameter(
            "a picture of an answer must have a column with intervals, and MEDIAN, QUANTILE, MIN, MAX and "
            "MODE have none. Ask without a picture.",
            parameter="plot",
        )


def _label(values: list[object]) -> str:
    return ", ".join(show_value(value) for value in values)  # type: ignore[arg-type]


def _bars(released: Answer, labels: list[str], column: str) -> dict[str, Json]:
    values = [float(row[column] or 0) for row in released.rows]  # type: ignore[arg-type]
    ends = [row[column] for row in released.intervals]
    above = [0.0 if end is None else end.upper - value for end, value in zip(ends, values, strict=True)]
    below = [0.0 if end is None else value - end.lower for end, value in zip(ends, values, strict=True)]
    whiskers: dict[str, Json] = {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "thickness": 1.5,
        "width": 4,
        "color": "@ink",
    }
    return bars(labels, values, name=column, error_y=whiskers)
