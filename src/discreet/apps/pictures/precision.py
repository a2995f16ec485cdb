"""How accurate a release is, against what it costs.

Tested by: tests/pictures/test_precision.py, tests/pictures/test_spending.py
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, dots, line, log_axis
from discreet.asking.answers import WIDTH, Drawing, Theme, text_width, ticks
from discreet.asking.curator import Curator
from discreet.asking.planning import Plan
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import Gaussian, Laplace, RandomizedResponse
from discreet.kernel.numerics import Real, exact, exact_probability, exact_whole, readable, readable_up

_CHARGES = 120  # with a dot each
EPSILONS = tuple(round(10 ** (i / 16 - 2), 5) for i in range(49))  # from 0.01 to 10


class Accurate(Protocol):
    """A mechanism that states its error."""

    def error(self, *, confidence: Real = 0.95, dimension: Real = 1) -> float: ...


Makers = Mapping[str, Callable[[float], Accurate]]

COUNTS: Makers = {
    "Laplace, δ = 0": lambda epsilon: Laplace(epsilon=epsilon, sensitivity=1),
    "Gaussian, δ = 10⁻⁶": lambda epsilon: Gaussian(epsilon=epsilon, delta=1e-6, sensitivity=1),
}


def accuracy(
    makers: Makers = COUNTS,
    *,
    epsilons: Sequence[float] = EPSILONS,
    confidence: float = 0.95,
    dimension: int = 1,
) -> Picture:
    """The error at this confidence against ε, for what each maker makes (default: one count)."""
    curves = []
    for index, (name, make) in enumerate(makers.items()):
        errors = [make(epsilon).error(confidence=confidence, dimension=dimension) for epsilon in epsilons]
        # Whole-number noise can be 0 at this confidence; a logarithmic axis has no place for it.
        curves.append(line(epsilons, [error or math.nan for error in errors], name=name, index=index))
    numbers = "a number lies" if dimension == 1 else f"all {dimension} numbers lie"
    return Picture(
        title="Accuracy against privacy",
        subtitle=f"{numbers} within the error with probability {confidence:g}",
        traces=curves,
        axes={
            "xaxis": log_axis("ε (stronger privacy to the left)"),
            "yaxis": log_axis(f"error at confidence {confidence:g} (units of the query)"),
        },
    )


# Randomised response at work: the estimate after each further report, closing in on the truth.

SHOWN = 160  # estimates along the way
NORMAL = 1.96  # of the 95 % band


def convergence(response: RandomizedResponse, *, share: Real, people: int, plays: int = 3) -> Picture:
    """Estimates (ȳ − 1 + θ)/(2θ − 1) from the first i of n reports, for a few draws, around the true share.

    The band holds 95 % of all draws: ± 1.96·√(q(1 − q)/i)/(2θ − 1), with q the expected share of yes.
    """
    truth = float(response.truth)
    if response.values != (0, 1) or truth == 1 / 2:
        raise InvalidParameter("response must be that of one bit, and tell something.", parameter="response")
    number = exact_whole(people, name="people", least=10)
    yes = float(exact_probability(share, name="share"))
    bits = (np.arange(1, number + 1) * yes).astype(int) - (np.arange(number) * yes).astype(int)
    sizes = np.unique(np.round(np.geomspace(10, number, SHOWN)).astype(int))
    said = response.expected(share)
    half = NORMAL * np.sqrt(said * (1 - said) / sizes) / abs(2 * truth - 1)
    return Picture(
        title="Estimates that close in on the truth",
        subtitle=f"the truth with probability {truth:.4g}; {plays} draws of up to {number:,} people",
        traces=[
            *_band(sizes, yes - half, yes + half),
            *(
                line(
                    sizes,
                    _estimates(response.release(bits), sizes, truth),
                    name=f"draw {play + 1}",
                    index=play,
                )
                for play in range(plays)
            ),
            {
                **line([10, number], [yes, yes], name="true share", index=0),
                "line": {"color": "@ink", "width": 1.5, "dash": "dot"},
            },
        ],
        axes={
            "xaxis": axis("reports", type="log", range=[1, math.log10(number)], dtick=1),
            "yaxis": axis("estimated share of yes", range=[-0.1, 1.1]),
        },
    )


def _estimates(reports: NDArray[np.int64], sizes: NDArray[np.int64], truth: float) -> NDArray[np.float64]:
    shares = np.cumsum(reports)[sizes - 1] / sizes
    return np.asarray((shares - (1 - truth)) / (2 * truth - 1), dtype=np.float64)


def _band(
    sizes: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[dict[str, Json]]:
    edge = {"line": {"width": 0}, "hoverinfo": "skip"}
    lower = {**line(sizes, low, name="lower"), **edge, "showlegend": False}
    upper = {**line(sizes, high, name="95 % of all draws"), **edge, "fill": "tonexty", "fillcolor": "@0/0.15"}
    return [lower, upper]


# What an answer would err by, before anything is spent: one interval for each column.

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


# The budget that was spent, over time.

Moment: TypeAlias = datetime | int | str  # a point in time, its ISO text, or the number of the charge
Entry: TypeAlias = tuple[Moment, Real]  # when, and how much was charged then


def budget_over_time(entries: Iterable[Entry], *, limit: Real | None = None, unit: str = "ε") -> Picture:
    """The running total of charges, in order, against the budget's limit.

    >>> picture = budget_over_time([(1, 0.25), (2, 0.5)], limit=1)
    >>> picture.to_json()["data"][0]["y"]
    [0.0, 0.25, 0.75]
    """
    charges = [(_moment(when), exact(cost, name="cost")) for when, cost in entries]
    if not charges:
        raise InvalidParameter("the entries of a budget's picture must not be empty.", parameter="entries")
    moments: list[str | int] = [when for when, _ in charges]
    if len(set(moments)) == 1:  # all within one tick of the clock: their order is all there is to show
        moments = list(range(1, len(moments) + 1))
    totals = [float(total) for total in accumulate(cost for _, cost in charges)]
    top = totals[-1] if limit is None else float(exact(limit, name="limit"))
    left = "" if limit is None else f" of {top:g}: {max(0.0, top - totals[-1]):.3g} left"
    return Picture(
        title="Budget spent",
        subtitle=f"{len(charges)} charge{'s' * (len(charges) > 1)}, {totals[-1]:.3g}{left}",
        traces=_traces(moments, totals, unit),
        axes={
            "xaxis": axis("time of the charge" if isinstance(moments[0], str) else "charge"),
            "yaxis": axis(f"total spent ({unit})", range=[0, 1.08 * max(top, totals[-1])]),
            "showlegend": False,
            **({} if limit is None else _limit_line(top, unit)),
        },
    )


def draw_spending(
    entries: Iterable[Entry], *, limit: Real, unit: str = "ε", theme: Theme = "light", width: float = WIDTH
) -> Drawing:
    """Draw the running total of charges, in order, against the limit; nothing needs a script."""
    charges = [(_moment(when), exact(cost, name="cost")) for when, cost in entries]
    if not charges:
        raise InvalidParameter("the entries of a budget's picture must not be empty.", parameter="entries")
    totals = [0.0, *(float(total) for total in accumulate(cost for _, cost in charges))]
    top, height = float(exact(limit, name="limit")), 260.0
    drawing = Drawing(width, height, title="Budget spent", theme=theme)
    left = max(text_width(readable(each), 11) for each in ticks(0, top)) + 14
    bottom, high = height - 34, max(top, totals[-1]) * 1.04 or 1.0
    step = (width - 20 - left) / len(charges)

    def y(value: float) -> float:
        return bottom - value / high * (bottom - 28)

    for value in ticks(0, high):
        drawing.line([(left, y(value)), (width - 20, y(value))], "grid")
        drawing.text(left - 8, y(value) + 4, readable(value), anchor="end", colour="muted", size=11)
    stairs = [(left + step * (n + over), y(total)) for n, total in enumerate(totals) for over in (0, 1)][:-1]
    drawing.area([*stairs, (width - 20, bottom), (left, bottom)], "0", opacity=0.15)
    drawing.line([*stairs, (width - 20, y(totals[-1]))], "0", width=2.5)
    for number, ((when, cost), total) in enumerate(zip(charges, totals[1:], strict=True), 1):
        tip = f"{when}: {unit} {readable_up(float(cost))}, total {readable_up(total)}"
        if len(charges) <= _CHARGES:
            drawing.dot(left + step * number, y(total), "0", tip=tip)
    drawing.line([(left, y(top)), (width - 20, y(top))], "1", width=1.5)
    drawing.text(width - 20, y(top) - 7, f"limit {unit} {readable(top)}", anchor="end", colour="muted")
    ends = [str(charges[n][0])[:10] for n in (0, -1)]
    words = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    drawing.text(left, height - 10, f"charges in order, {words}", colour="muted", size=11)
    return drawing


def budget(curator: Curator) -> Picture:
    """What a data set has spent so far, charge by charge, against its budget."""
    names = {"epsilon": "ε", "rho": "ρ", "mu": "μ²"}
    limits = dict(curator.policy.budget)
    name = next(name for name in names if name in limits)
    limit = limits[name] ** 2 if name == "mu" else limits[name]
    charges = [record for record in curator.history if record.kind == "charge"]
    return budget_over_time(
        [(record.time, Decimal(record.cost or 0)) for record in charges], limit=limit, unit=names[name]
    )


def _moment(when: Moment) -> str | int:
    return when.isoformat() if isinstance(when, datetime) else when


def _traces(moments: Sequence[str | int], totals: Sequence[float], unit: str) -> list[dict[str, Json]]:
    start = moments[0] - 1 if isinstance(moments[0], int) else moments[0]
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": [start, *moments],
        "y": [0.0, *totals],
        "name": f"total {unit}",
        "line": {"color": "@0", "width": 2.5, "shape": "hv"},
        "fill": "tozeroy",
        "fillcolor": "@0/0.15",
        "hoverinfo": "skip",
    }
    marks = dots(
        [], totals, name="charges", hovertemplate=f"%{{x}}<br>total %{{y:.4g}} {unit}<extra></extra>"
    )
    return [curve, {**marks, "x": list(moments)}]


def _limit_line(top: float, unit: str) -> dict[str, Json]:
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": top, "y1": top}
    label = {
        "text": f"limit {top:g} {unit}",
        "xref": "paper",
        "x": 1,
        "y": top,
        "xanchor": "right",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": "@1"},
    }
    return {
        "shapes": [{**line, "line": {"color": "@1", "width": 2, "dash": "dash"}}],
        "annotations": [label],
    }
