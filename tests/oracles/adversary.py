"""The worst adaptive adversary against an account, by exact search over everything it could do.

In each round the adversary, having seen all answers, stops or picks an epsilon that the account admits; the
answer is randomised response, the worst mechanism of that epsilon. Every epsilon is a whole number of steps,
so the privacy loss is one too, and the search over all strategies is a small recursion.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol


class Spending(Protocol):
    def plus(self, cost: "Spending") -> "Spending": ...


Payoff = Callable[[float, Spending], float]  # of the loss and the spending at which the adversary stops


def worst_value(
    payoff: Payoff,
    *,
    step: float,
    prices: Mapping[int, Spending],
    admits: Callable[[Spending], bool],
    start: Spending,
) -> float:
    """The greatest E[payoff] in world P over all adaptive strategies; choices are whole steps."""

    @cache
    def best(loss: int, total: Spending) -> float:
        value = payoff(loss * step, total)
        for choice, price in prices.items():
            after = total.plus(price)
            if admits(after):
                truth = 1 / (1 + math.exp(-choice * step))
                told, lied = best(loss + choice, after), best(loss - choice, after)
                value = max(value, truth * told + (1 - truth) * lied)
        return value

    return best(0, start)


def delta_at(epsilon: float) -> Payoff:
    """The payoff whose mean is δ(ε): (1 − e^(ε−L))₊."""
    return lambda loss, _: max(0.0, -math.expm1(epsilon - loss))


def above(epsilon: float) -> Payoff:
    """The payoff whose mean is Pr[L > ε]."""
    return lambda loss, _: float(loss > epsilon * (1 + 1e-12))


def moment(order: float) -> Payoff:
    """The payoff whose mean is e^((α−1)·D_α)."""
    return lambda loss, _: math.exp((order - 1) * loss)
