"""What an answer would err by, before anything is spent: one interval for each column."""

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.asking.planning import Plan
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import readable_up

MOST = 6  # columns that a picture shows


def forecast(plan: Plan) -> Picture:
    """How far each column may be from the bounded truth, at the plan's confidence: ± its expected error.

    Each column has an axis of its own, because each has a unit of its own. No data is touched.
    """
    errors = [(name, error) for name, error in plan.errors.items() if error is not None][:MOST]
    if not errors:
        raise InvalidParameter("a forecast must have a column whose error is known beforehand, got none.")
    rows = [_row(place, len(errors), name, error) for place, (name, error) in enumerate(errors)]
    return Picture(
        title="Expected error",
        subtitle=f"at {float(plan.confidence):.0%} confidence, how close each value is to the bounded truth",
        traces=[trace for trace, _ in rows],
        axes={
            **{name: value for _, axes in rows for name, value in axes.items()},
            "showlegend": False,
            "annotations": [_label(place, name, error) for place, (name, error) in enumerate(errors)],
        },
    )


def _number(place: int) -> str:
    return "" if place == 0 else str(place + 1)


def _row(place: int, count: int, name: str, error: float) -> tuple[dict[str, Json], dict[str, Json]]:
    """An interval around zero, and the axes of its row."""
    number, height = _number(place), 1 / count
    top = 1 - place * height
    wide = 1.25 * error or 1.0
    interval: dict[str, Json] = {
        "type": "scatter",
        "mode": "markers",
        "x": [0],
        "y": [0],
        "name": name,
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "marker": {"color": "@0", "size": 11},
        "error_x": {"type": "data", "array": [error], "thickness": 3, "width": 9, "color": "@0"},
        "hovertemplate": f"± {readable_up(error)}<extra></extra>",
    }
    across = axis("distance from the bounded truth" if place == count - 1 else "")
    axes: dict[str, Json] = {
        f"xaxis{number}": {**across, "range": [-wide, wide], "anchor": f"y{number}"},
        f"yaxis{number}": {
            "domain": [top - 0.68 * height, top - 0.34 * height],
            "anchor": f"x{number}",
            "visible": False,
            "range": [-1, 1],
        },
    }
    return interval, axes


def _label(place: int, name: str, error: float) -> dict[str, Json]:
    number = _number(place)
    return {
        "text": f"<b>{name}</b> ± {readable_up(error)}",
        "xref": "paper",
        "yref": f"y{number} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
