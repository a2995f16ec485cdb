"""The privacy loss random variable: L = ln(dP/dQ)(t), t ~ P.

Tested by: tests/losses/test_distribution.py, tests/losses/test_divergence.py
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses import questions
from discreet.kernel.losses.extremes import pair_failure
from discreet.kernel.losses.family import Direction, Term
from discreet.kernel.losses.pair import Pair
from discreet.kernel.numerics import (
    Arb,
    Interval,
    Real,
    ball,
    exact,
    exact_delta,
    exact_positive,
    exact_probability,
    round_up,
    state_up,
    working_precision,
)

BITS = 256
MOST_ATOMS = 4096


@dataclass(frozen=True)
class LossDistribution:
    """The law of the privacy loss in one direction; for guarantees, that of the mechanism that attains them.

    Two numbers often taken for one: Pr[L > ε] <= δ in both directions implies (ε, δ)-DP (`tail`), but the
    exact δ(ε) = E[(1 − e^(ε−L))₊] (`delta`) is never larger.
    """

    terms: tuple[Term, ...]
    direction: Direction

    def _pairs(self) -> list[tuple[Pair, int]]:
        return [(term.family.witness(self.direction), term.count) for term in self.terms]

    @property
    def mean(self) -> float:
        """E[L], the Kullback–Leibler divergence, rounded up."""
        with working_precision(BITS):
            total = arb(0)
            for pair, count in self._pairs():
                one = pair.mean()
                if one is None:
                    return math.inf
                total += one * count
            return state_up(total)

    @property
    def support(self) -> Interval:
        """From the least loss, where it is finite, to the largest."""
        with working_precision(BITS):
            tops = [(pair.largest(), count) for pair, count in self._pairs()]
            top = sum((one * count for one, count in tops if one is not None), arb(0))
            known = all(one is not None for one, _ in tops)
        upper = state_up(top) if known and not self.failure else math.inf
        return Interval(-upper, upper)

    @property
    def failure(self) -> float:
        """Pr[L = ∞], rounded up."""
        with working_precision(BITS):
            return state_up(pair_failure(self._pairs()))

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """(loss, probability) of each point mass, greatest loss first; of many uses, where they are few."""
        with working_precision(BITS):
            laws = [pair.point_masses() for pair, count in self._pairs() for _ in range(min(count, 64))]
            if math.prod(len(law) for law in laws) > MOST_ATOMS:
                return ()
            sums: dict[float, Arb] = {}
            for choice in product(*laws):
                loss = float(sum((one for one, _ in choice), arb(0)).mid())
                sums[loss] = sums.get(loss, arb(0)) + math.prod((mass for _, mass in choice), start=arb(1))
            found = ((loss, float(mass.mid())) for loss, mass in sums.items())
            return tuple(sorted(found, reverse=True))

    def density(self, value: float) -> float:
        """The density of L at a value, beside its atoms; of one use."""
        if len(self.terms) != 1 or self.terms[0].count != 1:
            raise InvalidParameter("density must be asked of one use. Ask tail or delta of a composition.")
        with working_precision(BITS):
            return float(self._pairs()[0][0].density(arb(value)).mid())

    def tail(self, value: Real) -> float:
        """Pr[L > value], never below the truth: a bound on δ(value), and not the exact δ."""
        at = exact(value, name="value")
        pairs = self._pairs_at_work()
        with working_precision(BITS):
            exactly = pairs[0][0].tail(ball(at)) if len(pairs) == 1 and pairs[0][1] == 1 else None
        if exactly is not None:
            return min(state_up(exactly), 1.0)
        return self._tail_from_curve(float(at))

    def _pairs_at_work(self) -> list[tuple[Pair, int]]:
        with working_precision(BITS):
            return self._pairs()

    def _tail_from_curve(self, value: float) -> float:
        # Pr[L > x] <= δ(y)/(1 − e^(y−x)) for every y < x
        best = 1.0
        with working_precision(questions.BITS):
            for gap in (0.1, 0.3, 1.0, 3.0):
                y = arb(value) - arb(gap)
                upper = questions.delta_ends(self.terms, self.direction, y.mid())[1]
                best = min(best, state_up(upper / -(-arb(gap)).expm1()))
        return best

    def epsilon_interval(self, *, delta: Real, width: float = 1e-3) -> Interval:
        """Two ends around the least ε >= 0 with δ(ε) <= delta in this direction alone; delta > 0."""
        limit = exact_delta(delta)
        if limit == 0:
            raise InvalidParameter("delta must be > 0, got 0. Ask support for the largest loss.")
        with working_precision(questions.BITS):
            return questions.epsilon_one_way(
                self.terms, self.direction, limit, float(exact_positive(width, name="width"))
            )

    def delta(self, epsilon: Real) -> float:
        """The exact δ(ε) of this direction, rounded up."""
        with working_precision(questions.BITS):
            return min(
                state_up(
                    questions.delta_ends(self.terms, self.direction, ball(exact(epsilon, name="epsilon")))[1]
                ),
                1.0,
            )


# Max divergence and its approximate form, between two finite distributions: what DP bounds, both ways.

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
