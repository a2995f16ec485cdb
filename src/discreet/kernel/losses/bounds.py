"""What a loss is known to be at most: exact rationals where they are known, safe floats elsewhere.

A float that a loss answers with is never below the truth; here it stands for its binary value, not for the
decimal it prints, so it stays so.

Tested by: tests/accounting/test_bounds.py
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.kernel.losses.family import DIRECTIONS, Family, Relation, Term
from discreet.kernel.losses.loss import PrivacyLoss


def epsilon_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the pure epsilon of a loss; None where there is none."""
    exactly = _worst_sum(loss) if _failure_exactly(loss) == 0 else None
    return _finite(loss.epsilon(delta=0)) if exactly is None else exactly


@lru_cache(maxsize=4096)
def epsilon_and_delta_at_most(loss: PrivacyLoss) -> tuple[Fraction, Fraction] | None:
    """Sums of epsilon and delta that a loss keeps; None where some term has no largest loss."""
    epsilon, delta = _worst_sum(loss), _failure_exactly(loss)
    if epsilon is None or delta is None:
        epsilon, delta = epsilon_at_most(loss), Fraction(0)
    return None if epsilon is None else (epsilon, delta)


def rho_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the rho of a loss; None where there is none."""
    exactly = _sum(loss, lambda family: family.rational_rho())
    return _finite(loss.rho) if exactly is None else exactly


def rho_and_delta_at_most(loss: PrivacyLoss) -> tuple[Fraction, Fraction] | None:
    """The rho of a loss outside an event, and that event's probability; None where there is no rho.

    A term that reveals all with probability δ and else loses at most ε is post-processing of a coin of
    probability δ and an ε-DP mechanism (Kairouz, Oh and Viswanath 2015); such events add up (Bun and Steinke
    2016, Lemma 8.2).
    """
    failure = _failure_exactly(loss)
    parts = [_outside_failure(term, loss.relation) for term in loss.terms]
    known = [part for part in parts if part is not None]
    if failure is None or len(known) < len(parts):
        return None
    rho = rho_at_most(sum(known, PrivacyLoss((), loss.relation)))
    return None if rho is None else (rho, failure)


def _outside_failure(term: Term, relation: Relation) -> PrivacyLoss | None:
    """A term's loss outside the event that it reveals all; None where it is not known."""
    from discreet.kernel.losses.pure import pure  # notions stand on this module
    from discreet.kernel.losses.zcdp import Zcdp, zcdp

    family = term.family
    if all(family.rational_failure(direction) == 0 for direction in DIRECTIONS):
        return PrivacyLoss((term,), relation)
    if isinstance(family, Zcdp):
        return term.count * zcdp(rho=family.rho, relation=relation)
    tops = [family.rational_largest(direction) for direction in DIRECTIONS]
    known = [top for top in tops if top is not None]
    return None if len(known) < len(tops) else term.count * pure(epsilon=max(known), relation=relation)


def renyi_at_most(loss: PrivacyLoss, order: Fraction) -> Fraction | None:
    """An upper bound on the Rényi divergence of a loss at this order; None where there is none."""
    exactly = _sum(loss, lambda family: family.mu_squared())
    return _finite(loss.renyi(order)) if exactly is None else order * exactly / 2


def mu_squared_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the squared mu of a loss; None where there is none."""
    exactly = _sum(loss, lambda family: family.mu_squared())
    if exactly is not None:
        return exactly
    mu = _finite(loss.mu)
    return None if mu is None else mu**2


def keeps_epsilon_and_delta(loss: PrivacyLoss, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether a loss provably is (ε, δ)-DP: by sums, by sums of its pure terms, or by its curve."""
    return (
        (is_at_most(_worst_sum(loss), epsilon) and is_at_most(_failure_exactly(loss), delta))
        or _keeps_apart(loss, epsilon, delta)
        or Fraction(loss.delta(epsilon=epsilon)) <= delta
    )


def _keeps_apart(loss: PrivacyLoss, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a loss keeps a promise by sums: its pure terms by their epsilons, all others by what is left.

    Cheaper than the curve of the whole, and enough for noise that was calibrated draw by draw.
    """
    alone = [PrivacyLoss((term,), loss.relation) for term in loss.terms]
    pure_terms = [each for each in alone if _failure_exactly(each) == 0 and _worst_sum(each) is not None]
    others = [each for each in alone if each not in pure_terms]
    spent = _worst_sum(sum(pure_terms, PrivacyLoss((), loss.relation)))
    if not pure_terms or not others or spent is None or spent >= epsilon:
        return False
    rest = sum(others, PrivacyLoss((), loss.relation))
    return Fraction(rest.delta(epsilon=epsilon - spent)) <= delta


def _worst_sum(loss: PrivacyLoss) -> Fraction | None:
    """The sum of the largest finite losses, in the worse direction, where all are rational."""
    there = _sum(loss, lambda family: family.rational_largest(0))
    back = _sum(loss, lambda family: family.rational_largest(1))
    return None if there is None or back is None else max(there, back)


def _failure_exactly(loss: PrivacyLoss) -> Fraction | None:
    """A bound on the probability that some term reveals all, Σ δᵢ, where all are rational."""
    there = _sum(loss, lambda family: family.failure_at_most(0))
    back = _sum(loss, lambda family: family.failure_at_most(1))
    return None if there is None or back is None else max(there, back)


def _sum(loss: PrivacyLoss, part: Callable[[Family], Fraction | None]) -> Fraction | None:
    """The sum over all terms, each times its count; None where a term has no such part."""
    total = Fraction(0)
    for term in loss.terms:
        value = part(term.family)
        if value is None:
            return None
        total += term.count * value
    return total


def is_at_most(bound: Fraction | None, limit: Fraction) -> bool:
    """Return whether a bound is known and within a limit."""
    return bound is not None and bound <= limit


def _finite(value: float) -> Fraction | None:
    return Fraction(value) if math.isfinite(value) and value >= 0 else None
