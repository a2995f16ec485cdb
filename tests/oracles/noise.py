"""Slow, obvious samplers in plain rational arithmetic.

The discrete laws follow Canonne, Kamath and Steinke (2020), the continuous Gaussian Karney (2016). Nothing is
shared with the samplers under test: bits come one at a time, and every number is a Fraction.
"""

import secrets
from collections.abc import Callable
from fractions import Fraction
from math import floor


def bernoulli(p: Fraction) -> bool:
    return secrets.randbelow(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction) -> bool:
    while gamma > 1:
        if not bernoulli_exp(Fraction(1)):
            return False
        gamma -= 1
    tries = 1
    while bernoulli(gamma / tries):
        tries += 1
    return tries % 2 == 1


def geometric(scale: Fraction) -> int:
    n, d = scale.numerator, scale.denominator  # exp(-k d/n): exp(-x/n), summed d at a time
    while not bernoulli_exp(Fraction(low := secrets.randbelow(n), n)):
        pass
    high = 0
    while bernoulli_exp(Fraction(1)):
        high += 1
    return (low + n * high) // d


def discrete_laplace(scale: Fraction) -> int:
    while True:
        negative, size = bernoulli(Fraction(1, 2)), geometric(scale)
        if not (negative and size == 0):
            return -size if negative else size


def discrete_gaussian(sigma: Fraction) -> int:
    t = floor(sigma) + 1
    while True:
        k = discrete_laplace(Fraction(t))
        if bernoulli_exp((abs(k) - sigma**2 / t) ** 2 / (2 * sigma**2)):
            return k


class Uniform:
    """A uniform number in [0, 1) known to as many bits as were asked for."""

    def __init__(self) -> None:
        self.low, self.width = Fraction(0), Fraction(1)

    def halve(self) -> None:
        self.width /= 2
        self.low += self.width * secrets.randbelow(2)


def below(x: Uniform, bound: Callable[[Fraction], Fraction], divisor: int) -> bool:
    """Whether a new uniform number is below an increasing function of x, divided."""
    y = Uniform()
    while True:
        if (y.low + y.width) * divisor <= bound(x.low):
            return True
        if y.low * divisor >= bound(x.low + x.width):
            return False
        y.halve()
        x.halve()


def exp_of_minus(x: Uniform, gamma: Callable[[Fraction], Fraction]) -> bool:
    """Heads with probability exp(-gamma(x)), for an increasing gamma <= 1."""
    tries = 1
    while below(x, gamma, tries):
        tries += 1
    return tries % 2 == 1


def falls_off(x: Uniform, k: int) -> bool:
    """Heads with probability exp(-x(2k + x)/2), in k + 1 factors with exponents <= 1."""
    return all(exp_of_minus(x, lambda v: v * (2 * k + v) / (2 * k + 2)) for _ in range(k + 1))


def rounded_gaussian(sigma: Fraction) -> int:
    while True:
        k = 0
        while bernoulli_exp(Fraction(1, 2)):
            k += 1
        if not all(bernoulli_exp(Fraction(1, 2)) for _ in range(k * (k - 1))):
            continue
        x = Uniform()
        if falls_off(x, k):
            break
    sign = 1 if bernoulli(Fraction(1, 2)) else -1
    while True:
        ends = {floor(sign * sigma * (k + end) + Fraction(1, 2)) for end in (x.low, x.low + x.width)}
        if len(ends) == 1:
            return ends.pop()
        x.halve()
