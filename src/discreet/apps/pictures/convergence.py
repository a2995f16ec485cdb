"""Randomised response at work: the estimate after each further report, closing in on the truth."""

import math

import numpy as np
from numpy.typing import NDArray

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import line
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import RandomizedResponse
from discreet.kernel.numerics import Real, exact_probability, exact_whole

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
