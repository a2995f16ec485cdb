"""Scores are rounded to steps before noise is added: the noise is for how far they are apart then."""

from fractions import Fraction
from math import floor

import pytest

import discreet as dp

STEP = Fraction(1, 4)
SENSITIVITIES = [
    Fraction(1, 4),
    Fraction(3, 8),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(5, 4),
    Fraction(1, 9),
]


def farthest(sensitivity):
    """How many steps two scores may be apart that are one sensitivity apart before they are rounded."""
    places = [Fraction(k, 720) for k in range(721)]
    rounded = [[floor((x + move) / STEP + Fraction(1, 2)) for x in places] for move in (0, sensitivity)]
    return max(after - before for before, after in zip(*rounded, strict=True))


@pytest.mark.parametrize("sensitivity", SENSITIVITIES, ids=str)
@pytest.mark.parametrize(("kind", "movement"), [("general", 2), ("monotone", 1)])
@pytest.mark.parametrize("count", [1, 3])
def test_noise_covers_what_rounding_adds(sensitivity, kind, movement, count):
    declared = {"epsilon": Fraction(1, 2), "sensitivity": sensitivity, "scores": kind, "step": STEP}
    few = {} if count == 1 else {"count": count, "method": "one shot"}
    chosen = (dp.TopK if few else dp.NoisyMax)(**declared, **few)
    needed = count * movement * farthest(sensitivity) * STEP / Fraction(1, 2)
    assert needed <= chosen.scale <= needed + count * movement * STEP / Fraction(1, 2)
