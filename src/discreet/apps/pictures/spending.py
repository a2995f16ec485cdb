"""The budget that was spent, over time."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import TypeAlias

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, dots
from discreet.asking.curator import Curator
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact

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
