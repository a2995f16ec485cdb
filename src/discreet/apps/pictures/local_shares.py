"""Shares from local reports, with error bars."""

import numpy as np

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import bars, line
from discreet.asking.local import Distribution, Shares
from discreet.kernel.numerics import Real, exact_whole


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
