"""The fully adaptive filter for (epsilon, delta): many small charges cost less than their sum."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.basic import Basic
from discreet.kernel.accounting.bounds import Notion, epsilon_and_delta_at_most
from discreet.kernel.accounting.rule import computed
from discreet.kernel.accounting.units import ONE, Limit, Total, from_units, root_down, units_down, units_up
from discreet.kernel.losses import ApproxDP, PrivacyLoss, PureDP
from discreet.kernel.numerics import Arb, ball, certified_floor


@dataclass(frozen=True)
class Advanced(Basic):
    """Admit while Σ δᵢ <= δ/2, and Σ εᵢ <= ε or √(2·ln(2/δ)·Σ εᵢ²) + ½·Σ εᵢ² <= ε.

    Privacy: the second rule alone is the filter of Whitehouse, Ramdas, Rogers and Wu (2023), with δ' = δ'' =
    δ/2; that either may admit is proved in docs/theory/accounts.md.

    >>> rule = Advanced(ApproxDP(1, 1e-6))
    >>> many = Total(*(400 * part for part in rule.cost(PureDP(0.005))))
    >>> [rule.limit.admits(total) for total in (many, rule.cost(PureDP(1)), rule.cost(PureDP(1.01)))]
    [True, True, False]
    """

    name = "advanced"
    carried: Fraction = Fraction(0)  # what was lost before the budget was last raised

    def __post_init__(self) -> None:
        if not isinstance(self.budget, ApproxDP) or self.budget.delta == 0:
            raise InvalidParameter("filter='advanced' needs a budget with delta > 0.", parameter="filter")

    @property
    def slack(self) -> Fraction:
        """δ': the probability that the sum of squares fails to bound the loss."""
        assert isinstance(self.budget, ApproxDP)
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
        """The rule of a raised budget, and the total it begins with.

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

    def cost_of_promise(self, promise: Notion) -> Total | None:
        cost = super().cost_of_promise(promise)
        if cost is None or not isinstance(promise, PureDP | ApproxDP):
            return None
        return cost._replace(square=units_up(promise.epsilon**2))

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        known = epsilon_and_delta_at_most(loss)
        if known is None:
            return None
        epsilon, delta = known
        return Total(units_up(epsilon), units_up(epsilon**2), units_up(delta))

    def remaining(self, total: Total) -> ApproxDP:
        by_sum = self.limit.main - total.main
        by_squares = root_down(max(0, self.limit.square - total.square))
        delta = from_units(self.limit.delta - total.delta)
        return computed(
            ApproxDP, self.budget.relation, epsilon=from_units(max(by_sum, by_squares, 0)), delta=delta
        )

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
        return computed(ApproxDP, self.budget.relation, epsilon=epsilon, delta=delta)
