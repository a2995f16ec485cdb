"""The fully adaptive filter for (epsilon, delta): many small charges cost less than their sum.

Tested by: tests/accounting/test_rules.py, tests/accounting/test_limits.py
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.rule import Rule
from discreet.kernel.accounting.units import ONE, Limit, Total, from_units, root_down, units_down, units_up
from discreet.kernel.losses import ApproxDP
from discreet.kernel.numerics import Arb, ball, certified_floor


@dataclass(frozen=True)
class Advanced(Rule[ApproxDP]):
    """Admit while Σ δᵢ <= δ/2, and Σ εᵢ <= ε or √(2·ln(2/δ)·Σ εᵢ²) + ½·Σ εᵢ² <= ε.

    Privacy: the second rule alone is the filter of Whitehouse, Ramdas, Rogers and Wu (2023), with δ' = δ'' =
    δ/2; that either may admit is proved in docs/theory/accounts.md.

    >>> from discreet.kernel.losses import PureDP
    >>> rule = Advanced(ApproxDP(1, 1e-6))
    >>> many = Total(*(400 * part for part in rule.cost(PureDP(0.005))))
    >>> [rule.limit.admits(total) for total in (many, rule.cost(PureDP(1)), rule.cost(PureDP(1.01)))]
    [True, True, False]
    """

    carried: Fraction = Fraction(0)  # what was lost before the budget was last raised

    def __post_init__(self) -> None:
        if self.budget.as_epsilon_and_delta() is None or self.budget.failure == 0:
            raise InvalidParameter("filter='advanced' needs a budget with delta > 0.", parameter="filter")

    @property
    def name(self) -> str:
        return "advanced"

    @property
    def slack(self) -> Fraction:
        """δ': the probability that the sum of squares fails to bound the loss."""
        return self.budget.delta / 2

    @cached_property
    def limit(self) -> Limit:
        squares = certified_floor(lambda: ONE * self._roots()[1] ** 2)
        return Limit(units_down(self.budget.epsilon), squares, units_down(self.slack))

    def _roots(self) -> tuple[Arb, Arb]:
        """s = √(2·ln(1/δ')), and √V* for the V* with s·√V* + V*/2 = ε: √(s² + 2ε) − s.

        Of a raised budget ε is what came on top of what was lost before.
        """
        square = -2 * ball(self.slack).log()
        return square.sqrt(), (square + 2 * ball(self.budget.epsilon - self.carried)).sqrt() - square.sqrt()

    def raised(self, budget: ApproxDP, total: Total) -> tuple["Advanced", Total]:
        """Return the rule of a raised budget, and the total it begins with.

        Privacy: a raise may follow from the answers, so what was lost is closed at its bound, with its slack,
        and the squares begin anew (docs/theory/accounts.md).
        """
        if total == Total():
            return Advanced(budget), total
        kept = self.spent(total)
        rule = Advanced(budget, kept.epsilon)
        return rule, Total(units_up(kept.epsilon), 0, units_up(kept.delta))

    def to_json(self) -> dict[str, Any]:
        carried = {"carried": str(self.carried)} if self.carried else {}
        return {**super().to_json(), **carried}

    def _priced(self, cost: tuple[Fraction, Fraction] | None) -> Total | None:
        priced = super()._priced(cost)
        return None if cost is None or priced is None else priced._replace(square=units_up(cost[0] ** 2))

    def remaining(self, total: Total) -> ApproxDP:
        by_sum = self.limit.main - total.main
        by_squares = root_down(max(0, self.limit.square - total.square))
        delta = from_units(self.limit.delta - total.delta)
        return self.budget.computed(from_units(max(by_sum, by_squares, 0)), delta)

    def spent(self, total: Total) -> ApproxDP:
        """(min of Σ εᵢ and c + s·√V*/2 + (s/√V* + 1)·V/2, Σ δᵢ + δ'): holds whenever one stops.

        c is what was carried over a raise; Σ δᵢ then holds the slack of every budget before.
        """

        def line() -> Arb:
            s, root = self._roots()
            line = (s * root + (s / root + 1) * ball(from_units(total.square))) / 2
            return ONE * (ball(self.carried) + line)

        epsilon = from_units(min(total.main, certified_floor(line) + 1))
        delta = from_units(total.delta) + self.slack
        return self.budget.computed(epsilon, delta)
