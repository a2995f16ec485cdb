"""The two extreme algorithms that a δ allows: publish everything, or each row, with probability δ."""

import math

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import log_axis, scientific
from discreet.apps.pictures.traces import dots, line
from discreet.kernel.numerics import Real, exact_delta, exact_whole

SIZES = tuple(10 ** (i / 10) for i in range(91))  # from one person to a thousand million
LEAST = 1e-13


def someone_leaks(delta: Real, *, people: float) -> float:
    """1 − (1 − δ)ⁿ: the probability that at least one of n rows is out, each published with probability δ.

    >>> someone_leaks(0.5, people=2)
    0.75
    """
    return -math.expm1(people * math.log1p(-float(exact_delta(delta))))


def leaks(*, delta: Real, people: int) -> Picture:
    """What (0, δ)-DP allows: all rows at once with probability δ, or somebody's with 1 − (1 − δ)ⁿ."""
    failure, number = exact_delta(delta), exact_whole(people, name="people", least=1)
    chance = someone_leaks(failure, people=number)
    shown = scientific(float(failure))
    return Picture(
        title="A small δ is small only beside 1/n",
        subtitle=f"δ = {shown}, {number:,} people: somebody's row is out with probability {chance:.3g}",
        traces=[
            line(
                SIZES,
                [someone_leaks(failure, people=size) for size in SIZES],
                name="each row with probability δ: somebody is out",
            ),
            line(
                [SIZES[0], SIZES[-1]],
                [float(failure)] * 2,
                name="all with probability δ: everybody is out",
                index=1,
            ),
            dots([number, number], [chance, float(failure)], name=f"n = {number:,}", index=2),
        ],
        axes={
            "xaxis": {**log_axis("people n", range=[0, 9]), "dtick": 3},
            "yaxis": {**log_axis("probability", range=[math.log10(LEAST), 0.4]), "dtick": 3},
        },
    )
