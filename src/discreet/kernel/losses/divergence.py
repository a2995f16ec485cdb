"""Max divergence and its approximate form, between two finite distributions: what DP bounds, both ways."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, ball, exact_delta, exact_probability, round_up, working_precision

BITS = 256
Distribution: TypeAlias = Mapping[object, Real] | Sequence[Real]


def max_divergence(p: Distribution, q: Distribution) -> float:
    """D_∞(P‖Q) = max over S of ln(P(S)/Q(S)), rounded up.

    Privacy: M is ε-DP exactly if D_∞ <= ε between neighbours, in both directions.

    >>> max_divergence([0.75, 0.25], [0.25, 0.75])  # ln 3
    1.0986122886681098
    """
    return approx_max_divergence(p, q, 0)


def approx_max_divergence(p: Distribution, q: Distribution, delta: Real) -> float:
    """D_∞^δ(P‖Q) = max over S with P(S) >= δ of ln((P(S) − δ)/Q(S)), rounded up; it may be below 0.

    Privacy: M is (ε, δ)-DP exactly if D_∞^δ <= ε between neighbours, in both directions. The best S takes the
    outcomes of the greatest likelihood ratios.

    >>> approx_max_divergence([0.75, 0.25], [0.25, 0.75], 0.25)  # ln((0.75 − 0.25)/0.25)
    0.6931471805599454
    """
    limit = exact_delta(delta)
    rows = sorted(_rows(p, q), key=lambda row: (row[1] == 0, row[0] / row[1] if row[1] else row[0]))
    above, below = Fraction(0), Fraction(0)
    best = Fraction(0)
    for one, other in reversed(rows):
        above, below = above + one, below + other
        if below == 0 and above > limit:
            return math.inf
        if below > 0:
            best = max(best, (above - limit) / below)
    with working_precision(BITS):
        return 0.0 if best == 1 else round_up(ball(best).log())


def _rows(p: Distribution, q: Distribution) -> list[tuple[Fraction, Fraction]]:
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        outcomes = [*p, *(outcome for outcome in q if outcome not in p)]
        pairs = [(p.get(outcome, 0), q.get(outcome, 0)) for outcome in outcomes]
    elif isinstance(p, Mapping) or isinstance(q, Mapping) or len(p) != len(q):
        raise InvalidParameter("p and q must be two mappings, or two sequences of one length.")
    else:
        pairs = list(zip(p, q, strict=True))
    rows = [(exact_probability(a, name="p"), exact_probability(b, name="q")) for a, b in pairs]
    if sum(a for a, _ in rows) != 1 or sum(b for _, b in rows) != 1:
        raise InvalidParameter("p and q must each sum to 1, exactly. Pass fractions.Fraction values.")
    return [(a, b) for a, b in rows if a or b]
