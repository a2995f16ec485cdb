"""ρ is at least D_α/α at every order, by sums and integrals over laws written here; and it adds."""

from fractions import Fraction as F

import mpmath
import pytest

from discreet.kernel.losses import (
    bounded_range,
    discrete_gaussian,
    gaussian,
    laplace,
    parallel,
    pure,
    randomized_response,
)

ORDERS = [mpmath.mpf(x) for x in ("1.0001", "1.1", "2", "8", "40")]


def two_points(p, q):
    """Order to D_α of the laws (p, 1 − p) and (q, 1 − q)."""
    return lambda a: mpmath.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


def response(epsilon):
    truth = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
    return two_points(truth, 1 - truth)


def choice(epsilon):
    """D_α of the exponential mechanism that chooses one of two, at the worst of many scores."""
    span = mpmath.mpf(epsilon)
    tops = [span * i / 400 for i in range(1, 400)]  # losses t and t − ε
    lows = [mpmath.expm1(span - t) / mpmath.expm1(span) for t in tops]  # Q's probability of the first
    laws = [two_points(mpmath.exp(t) * q, q) for t, q in zip(tops, lows, strict=True)]
    return lambda a: max(law(a) for law in laws)


def of_density(density, low, high, kinks=()):
    """D_α of a density and the same moved by 1."""

    def divergence(a):
        total = mpmath.quad(
            lambda x: density(x) ** a * density(x - 1) ** (1 - a),
            [low, *kinks, high],
        )
        return mpmath.log(total / mpmath.quad(density, [low, *kinks, high])) / (a - 1)

    return divergence


def of_weights(weight, reach):
    """D_α of a law on the whole numbers and the same moved by 1."""

    def divergence(a):
        both = [(weight(k), weight(k - 1)) for k in range(-reach, reach + 1)]
        return mpmath.log(
            mpmath.fsum(p**a * q ** (1 - a) for p, q in both) / mpmath.fsum(p for p, _ in both)
        ) / (a - 1)

    return divergence


# A loss, D_α of one of its mechanisms, and how much of ρ that reaches.
LAWS = {
    "gaussian": (
        gaussian(sigma=2),
        of_density(lambda x: mpmath.exp(-(x**2) / 8), -60, 120, (-20, -5, 0, 5, 20, 40, 80)),
        0.999,
    ),
    "discrete gaussian": (
        discrete_gaussian(sigma=2),
        of_weights(lambda k: mpmath.exp(mpmath.mpf(-k * k) / 8), 150),
        0.999,
    ),
    "laplace": (
        laplace(scale=2),
        of_density(lambda x: mpmath.exp(-abs(x) / 2), -150, 150, (-20, 0, 1, 20)),
        0.999,
    ),
    "bounded range": (bounded_range(epsilon=F(1, 2)), choice(0.5), 0.999),
    "wide bounded range": (bounded_range(epsilon=4), choice(4), 0.99),
    "pure": (pure(epsilon=F(1, 2)), response(0.5), 0.999),
    "large pure": (pure(epsilon=4), response(4), 0.99),
    "randomized response": (randomized_response(epsilon=1), response(1), 0.999),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_rho_covers_every_order_and_no_more_alone_repeated_and_among_others(name):
    loss, divergence, reached = LAWS[name]
    other = pure(epsilon=F(1, 3))
    with mpmath.workdps(40):
        least = max(divergence(order) / order for order in ORDERS)
        beside = mpmath.mpf(1) / 3 * mpmath.tanh(mpmath.mpf(1) / 6)
        for found, truth in (
            (loss.rho, least),
            ((7 * loss).rho, 7 * least),
            ((7 * loss + other).rho, 7 * least + beside),  # of several families ρ is added in balls
            (parallel([7 * loss, other]).rho, max(7 * least, beside)),
        ):
            assert reached * found <= truth <= found * (1 + mpmath.mpf(10) ** -20)  # of the oracle's digits
