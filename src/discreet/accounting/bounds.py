"""What a loss is known to be at most: exact rationals where they are known, safe floats elsewhere.

A float that a loss answers with is never below the truth; here it stands for its binary value, not for the
decimal it prints, so it stays so.
"""

import math
from fractions import Fraction

from discreet.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP

Notion = PureDP | ApproxDP | ZCDP | GDP | RenyiDP


def epsilon_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the pure epsilon of a loss; None where there is none."""
    known = [term.family.pure_epsilon() for term in loss.terms]
    if all(epsilon is not None for epsilon in known):
        return sum((term.count * epsilon for term, epsilon in zip(loss.terms, known, strict=True)), Fraction(0))  # type: ignore[operator]  # None was excluded
    return _finite(loss.epsilon(delta=0))


def rho_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the rho of a loss; None where there is none."""
    square = mu_squared_exactly(loss)
    return _finite(loss.rho) if square is None else square / 2


def mu_squared_at_most(loss: PrivacyLoss) -> Fraction | None:
    """An upper bound on the squared mu of a loss; None where there is none."""
    square = mu_squared_exactly(loss)
    if square is not None:
        return square
    mu = _finite(loss.mu)
    return None if mu is None else mu * mu


def renyi_at_most(loss: PrivacyLoss, order: Fraction) -> Fraction | None:
    """An upper bound on the Rényi divergence of a loss at this order; None where there is none."""
    square = mu_squared_exactly(loss)
    return _finite(loss.renyi(order)) if square is None else order * square / 2


def mu_squared_exactly(loss: PrivacyLoss) -> Fraction | None:
    """The squared mu of a loss made of Gaussians alone; None for any other."""
    squares = [term.family.mu_squared() for term in loss.terms]
    if any(square is None for square in squares):
        return None
    return sum((term.count * square for term, square in zip(loss.terms, squares, strict=True)), Fraction(0))  # type: ignore[operator]  # None was excluded


def covers(promise: Notion, loss: PrivacyLoss) -> bool:
    """Whether a loss provably keeps a promise.

    >>> from discreet.losses import laplace
    >>> covers(PureDP(0.1), laplace(scale=10, sensitivity=1)), covers(PureDP(0.1), laplace(scale=9, sensitivity=1))
    (True, False)
    """
    match promise:
        case PureDP():
            return _is_at_most(epsilon_at_most(loss), promise.epsilon)
        case ApproxDP():
            pure = epsilon_at_most(loss)
            return _is_at_most(pure, promise.epsilon) or (
                Fraction(loss.delta(epsilon=promise.epsilon)) <= promise.delta
            )
        case ZCDP():
            return _is_at_most(rho_at_most(loss), promise.rho)
        case GDP():
            return _is_at_most(mu_squared_at_most(loss), promise.mu**2)
        case RenyiDP():
            return _is_at_most(renyi_at_most(loss, promise.order), promise.epsilon)


def _is_at_most(bound: Fraction | None, limit: Fraction) -> bool:
    return bound is not None and bound <= limit


def _finite(value: float) -> Fraction | None:
    return Fraction(value) if math.isfinite(value) and value >= 0 else None

